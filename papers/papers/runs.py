"""The runs of a page: a contender in a network with a seed, each kept under all that determines it."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial
from netsim.trials import run as run_trials
from papers.contenders import Contender
from papers.traffic import Traffic

Metrics = dict[str, float]


def percent_off(ours: Sequence[Metrics], theirs: Sequence[Metrics], metric: str) -> list[float]:
    """Seed by seed."""
    return [100 * (our[metric] / their[metric] - 1) for our, their in zip(ours, theirs, strict=True)]


def spread(off: Sequence[float]) -> str:
    """In percent: mean, and from the least to the greatest."""
    return f"{np.mean(off):+.1f} ({min(off):+.1f} to {max(off):+.1f})"


@dataclass(frozen=True)
class Run:
    contender: Contender
    traffic: Traffic
    seed: int

    @property
    def place(self) -> tuple[str, str, int]:
        """Where its metrics are found: contender, traffic and seed."""
        return self.contender.label, self.traffic.name, self.seed

    def trial(self) -> Trial:
        return Trial(
            self.traffic.scenario,
            self.contender.policy,
            seed=self.seed,
            duration_ps=self.traffic.times.duration_ps,
            window_ps=self.traffic.times.window_ps,
            decision_latency_ps=self.contender.decision_latency_ps,
            network=self.contender.network,
            name=self.contender.label,
        )


def run_all(runs: Iterable[Run], keep: Path, where: Place) -> dict[tuple[str, str, int], Metrics]:
    """Every metric of netsim, and ``drops_per_flow`` (RL-CC, figures 7 and 8), by contender, traffic and seed. Those in
    ``keep`` are not run again."""
    todo = {r.place: r for r in runs}
    # The longest first, so that no process ends alone.
    order = sorted(todo, key=lambda place: -todo[place].traffic.flows)
    outcomes = run_trials([todo[place].trial() for place in order], where, Kept(keep), say)
    metrics = dict(zip(order, (outcome.metrics for outcome in outcomes), strict=True))
    return {place: with_drops(metrics[place], run.traffic) for place, run in todo.items()}


def with_drops(metrics: Metrics, traffic: Traffic) -> Metrics:
    """With ``drops_per_flow``."""
    return metrics | {"drops_per_flow": metrics["dropped_packets"] / traffic.flows}


def say(text: str) -> None:
    print(f"papers: {text}", file=sys.stderr, flush=True)
