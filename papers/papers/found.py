"""Results of the runs: means over seeds, by contender and traffic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from papers.runs import Metrics
from papers.traffic import Traffic
from rlcc.reports.pages import NONE, Figure


@dataclass(frozen=True)
class Found:
    """All runs of a page, by contender, traffic and seed."""

    runs: Mapping[tuple[str, str, int], Metrics]
    seeds: Sequence[int]

    def figure(self, contender: str, traffic: Traffic, metric: str) -> Figure:
        """Seeds in which nothing was measured leave the mean; if any was, it is NaN only where all are."""
        values = [self.runs[contender, traffic.name, seed].get(metric, nan) for seed in self.seeds]
        known = [v for v in values if not isnan(v)]
        return Figure.of(known) if known else Figure(nan)

    def mean(self, contender: str, traffic: Traffic, metric: str) -> float:
        return self.figure(contender, traffic, metric).mean

    def most(self, contender: str, traffic: Traffic, metric: str) -> float:
        """Of all seeds."""
        return max(self.runs[contender, traffic.name, seed][metric] for seed in self.seeds)


def beside(ours: str, theirs: float | None) -> str:
    """`ours / theirs`."""
    return f"{ours} / {NONE if theirs is None else f'{theirs:g}'}"


def yes(truth: bool) -> str:
    return "yes" if truth else "no"
