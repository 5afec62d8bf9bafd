"""Standing of a policy against a baseline in a cell: it wins, it loses, each is better in something, or all is level.

These metrics count, for flows that go on, for flows that end, and for flows that wait for one another:

    goodput                       mean slowdown                     mean time of a round
    99th percentile of latency    99th percentile of slowdown       99th percentile of it
    loss                          loss                              loss
    Jain's index of goodputs      Jain's index of 1 / slowdown, and how many flows were completed

One is better in something where the means differ by more than either's 99 % interval over the seeds, and by more than
1 % of the larger. A policy that is at least level in all metrics and better in one wins the cell, and the other one
loses it. Completions count because a slowdown is that of the flows that were done: who starves the others has no better
one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Literal

from decision.artefact.errors import InputError
from rlcc.evaluation.summary import Row

Standing = Literal["win", "level", "mixed", "loss"]
STANDINGS: tuple[Standing, ...] = ("win", "level", "mixed", "loss")
MIN_DIFFERENCE = 0.01
"""Of the larger mean: less is no difference, however sure."""


@dataclass(frozen=True)
class StandingAxis:
    """Something that counts. ``sign``: 1 where more of it is better, -1 where less is."""

    word: str
    metric: str
    sign: int


GOES_ON = (
    StandingAxis("goodput", "goodput", 1),
    StandingAxis("p99", "latency_p99_us", -1),
    StandingAxis("loss", "loss", -1),
    StandingAxis("fairness", "jain", 1),
)
ENDS = (
    StandingAxis("slowdown", "slowdown_mean", -1),
    StandingAxis("p99", "slowdown_p99", -1),
    StandingAxis("loss", "loss", -1),
    StandingAxis("fairness", "slowdown_jain", 1),
    StandingAxis("completions", "completions", 1),
)
WAITS = (
    StandingAxis("round", "round_mean_us", -1),
    StandingAxis("p99", "round_p99_us", -1),
    StandingAxis("loss", "loss", -1),
)


@dataclass(frozen=True)
class StandingComparison:
    """A policy beside a baseline in one cell: the axes in which it is better, and those in which it is worse."""

    ours: Row
    theirs: Row
    better: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def standing(self) -> Standing:
        if self.better:
            return "mixed" if self.worse else "win"
        return "loss" if self.worse else "level"


def axes(row: Row) -> tuple[StandingAxis, ...]:
    """Returns the metrics that count in the cell of a row."""
    if "round_mean_us" in row.mean:
        return WAITS
    return ENDS if "slowdown_mean" in row.mean else GOES_ON


def compare(ours: Row, theirs: Row) -> StandingComparison:
    """Rows of one cell. InputError where there was one seed only."""
    signs = {axis.word: axis.sign * difference(ours, theirs, axis.metric) for axis in axes(ours)}
    better = tuple(word for word, sign in signs.items() if sign > 0)
    return StandingComparison(ours, theirs, better, tuple(word for word, sign in signs.items() if sign < 0))


def difference(a: Row, b: Row, metric: str) -> int:
    """1 where ``a`` has more of it, -1 where it has less, 0 where they are level. A side without a figure (nothing
    arrived, or no flow was done) is worse than one with it."""
    x, y = a.mean.get(metric, nan), b.mean.get(metric, nan)
    if isnan(x) or isnan(y):
        worst = -1 if next(axis.sign for axis in axes(a) if axis.metric == metric) > 0 else 1
        return 0 if isnan(x) and isnan(y) else worst if isnan(x) else -worst
    halves = [row.half_width.get(metric, nan) for row in (a, b)]
    if not all(isfinite(half) for half in halves):
        raise InputError(f"{a.scenario}: one seed says nothing of what is chance; give two at least")
    apart = abs(x - y)
    if apart <= max(halves) or apart <= MIN_DIFFERENCE * max(abs(x), abs(y)):
        return 0
    return 1 if x > y else -1


def tally(comparisons: Iterable[StandingComparison]) -> dict[Standing, int]:
    """How many cells of each kind."""
    standings: Sequence[Standing] = [comparison.standing for comparison in comparisons]
    return {standing: standings.count(standing) for standing in STANDINGS}
