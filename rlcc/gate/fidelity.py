"""A student beside its teacher in the network: is it off by more than the recipe allows, and than its teacher is off
itself?

Judged is the mean over the gate's seeds of what the student has more than its teacher with the same seed. Queues are
chaotic: even the teacher, deciding 10 ns later, is off itself. The root mean square of that over the same seeds, as
the error of a mean of so many, is its noise. The limit is the tolerance, or TIMES the noise where that is more. If that
would be more than MAX_NOISE_FACTOR times the tolerance, these runs tell nothing and the check fails, whatever the
student does. Making a network more chaotic gains no more than that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, isnan, nan
from statistics import fmean
from typing import Any

from netsim.metric_names import METRICS
from netsim.tolerance import Allowance, Tolerance
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.names import named
from rlcc.gate.remedies import mend
from rlcc.gate.verdict import Check

TEACHER, STUDENT, LATER = ROLES = ("teacher", "student", "teacher, 10 ns later")
"""Who decides, in the order in which each scenario has them."""

TIMES = 2.0
"""How many times its teacher's own noise a student may be off; a mean without bias is further off one time in
twenty."""

MAX_NOISE_FACTOR = 5.0
"""And how many times the tolerance at most, whatever the noise is."""

SHOWN = {"latency_mean_us": ("mean latency", 2, " us"), "jain": ("Jain fairness", 4, ""), "loss": ("loss", 4, "")}
"""Metrics with words of their own: name, decimals, unit; others are called as in every table."""

Metrics = Mapping[str, float]


@dataclass(frozen=True)
class FidelityComparison:
    """One metric in one scenario, means over the seeds: the student's ``value``, its ``differences`` to its teacher a
    seed, the teacher's to itself 10 ns later (``itself``), that one's ``noise``, and what is ``allowed`` beside none.
    NaN where something could not be measured."""

    scenario: str
    name: str
    metric: Allowance
    seeds: tuple[int, ...]
    value: float
    differences: tuple[float, ...]
    itself: float
    noise: float
    allowed: float

    @property
    def difference(self) -> float:
        """Returns the difference that is judged."""
        return fmean(self.differences)

    @property
    def limit(self) -> float:
        """Returns the difference that is allowed with this noise."""
        return max(self.allowed, TIMES * self.noise)

    @property
    def conclusive(self) -> bool:
        """Whether these runs can tell a student that is off from one that is not."""
        return TIMES * self.noise <= MAX_NOISE_FACTOR * self.allowed

    @property
    def passed(self) -> bool:
        """NaN never does."""
        return self.conclusive and self.metric.off(self.difference) <= self.limit

    @property
    def used(self) -> float:
        """Returns the difference as a share of its limit: above 1, and only then, the check fails."""
        off = self.metric.off(self.difference)
        if off <= 0 and self.conclusive:
            return 0.0
        return off / self.limit if self.limit and self.conclusive and not isnan(off) else inf

    @property
    def teacher_passes(self) -> bool:
        """Whether its teacher, 10 ns later, keeps the tolerance beside itself."""
        return not self.metric.off(self.itself) > self.allowed

    @property
    def below_noise(self) -> bool:
        """Whether the tolerance is less than such noise lets anybody keep."""
        return TIMES * self.noise > self.allowed

    def to_json(self) -> dict[str, Any]:
        """Plain data; what could not be measured is null."""
        names = ("value", "difference", "itself", "noise", "allowed", "limit")
        figures = {name: _number(getattr(self, name)) for name in names}
        seeds = {str(seed): _number(off) for seed, off in zip(self.seeds, self.differences, strict=True)}
        itself = None if isnan(self.itself) else self.teacher_passes
        judged = {"seeds": seeds, "teacher_passes": itself, "below_noise": self.below_noise, "passed": self.passed}
        return {"scenario": self.scenario, "metric": self.metric.metric, **figures, **judged}

    def check(self) -> Check:
        """As people read it: the noise beside the difference, and where its teacher itself would fail, that too."""
        name, decimals, unit = _words(self.metric.metric)
        off = [self._text(self.difference), f"noise {self._text(self.noise, sign='')}"]
        if not self.teacher_passes:
            off.append(f"itself {self._text(self.itself)}")
        return named("network.*", part=self.name, of=self.scenario, metric=name)(
            value=f"{self.value:.{decimals}f}{unit} ({', '.join(off)})",
            limit=self._limit(),
            passed=self.passed,
            detail="" if self.passed else self._furthest() if self.conclusive else self._too_noisy(),
            note=self._note(),
        )

    def _text(self, number: float, sign: str = "+") -> str:
        decimals = _words(self.metric.metric)[1]  # z: no -0.0000
        return f"{number:{sign}z.2%}" if self.metric.relative else f"{number:{sign}z.{decimals}f}"

    def _limit(self) -> str:
        if self.limit == self.metric.most:
            return limit_text(self.metric)
        of = (
            f"{TIMES:g} x noise"
            if self.limit > self.allowed
            else self.metric.text().partition(" or ")[2] + " of its teacher's"
        )
        return f"{self.metric.sign}{self._text(self.limit, sign='')}, {of}"

    def _furthest(self) -> str:
        """The seed whose network is furthest off, and what usually brings such a student nearer."""
        offs = [inf if isnan(off) else self.metric.off(off) for off in self.differences]
        at = offs.index(max(offs))
        most = "not measured" if isnan(self.differences[at]) else self._text(self.differences[at])
        return f"{self.scenario} is furthest off with seed {self.seeds[at]}, {most}{mend(self.name)}"

    def _note(self) -> str:
        """Returns what weakens the check, in words: noise above the tolerance, or a limit below 0."""
        allowed = f"{self.metric.sign}{self._text(self.allowed, sign='')}"
        said = []
        if self.below_noise:
            twice = self._text(TIMES * self.noise, sign="")
            said.append(f"{TIMES:g} times the teacher's own noise, {twice}, is more than the tolerance, {allowed}")
        if not self.teacher_passes:
            said.append(
                f"deciding 10 ns later, the teacher itself differs by {self._text(self.itself)}, more than the "
                "tolerance"
            )
        teacher = self.value - self.difference
        if self.conclusive and self.metric.sign == "-" and not self.metric.relative and teacher <= self.limit:
            said.append(f"no student can fail it: the teacher's own figure is {self._text(teacher, sign='')}")
        return "; ".join(said)

    def _too_noisy(self) -> str:
        if isnan(self.noise):
            return "the teacher that decides 10 ns later could not be measured; judge a longer window"
        return (
            f"the teacher's own noise is more than {MAX_NOISE_FACTOR / TIMES:g} times the tolerance, "
            f"{self._text(self.allowed, sign='')}, so these runs cannot judge the student; give more seeds, or "
            "a longer window"
        )


def compare(outcomes: Sequence[PolicyMetrics], tolerance: Tolerance) -> list[FidelityComparison]:
    """Each scenario's runs of teacher, student and later teacher, one after the other, by every metric that the
    scenario has; none where one of them has no seed. ValueError where they are not such runs: noise of other ones says
    nothing of these."""
    comparisons: list[FidelityComparison] = []
    if any(not outcome.metrics for outcome in outcomes):
        return comparisons
    for teacher, student, later in zip(outcomes[::3], outcomes[1::3], outcomes[2::3], strict=True):
        runs = (teacher, student, later)
        if tuple(one.policy for one in runs) != ROLES or len({(one.scenario, one.seeds) for one in runs}) != 1:
            raise ValueError(f"runs of {teacher.scenario} are not of {', '.join(ROLES)} with the same seeds")
        for name, metric in tolerance.items():
            if any(metric.metric in metrics for one in (teacher, student) for metrics in one.metrics):
                comparisons.append(_comparison(teacher, name, metric, *(one.metrics for one in runs)))
    return comparisons


def network(
    outcomes: Sequence[PolicyMetrics], comparisons: Sequence[FidelityComparison], tolerance: Tolerance
) -> list[Check]:
    """The student beside its teacher, scenario by scenario; ``comparisons``: those of the outcomes (``compare``). NaN
    never passes, nor does a metric that no scenario has."""
    if not outcomes or any(not outcome.metrics for outcome in outcomes):
        return [named("network.closed_loop")(value="nothing ran", limit="a scenario", passed=False)]
    missing = [name for name in tolerance if name not in {one.name for one in comparisons}]
    return [one.check() for one in comparisons] + [
        named("network.no_scenario", of=name)(value="in no scenario", limit=limit_text(tolerance[name]), passed=False)
        for name in missing
    ]


def _comparison(
    of: PolicyMetrics,
    name: str,
    metric: Allowance,
    teacher: Sequence[Metrics],
    student: Sequence[Metrics],
    later: Sequence[Metrics],
) -> FidelityComparison:
    """Metrics a seed, of the same seeds in the same order; ``of``: one of the runs."""
    itself = [metric.difference(*pair) for pair in zip(later, teacher, strict=True)]
    return FidelityComparison(
        of.scenario,
        name,
        metric,
        of.seeds,
        value=fmean(metrics.get(metric.metric, nan) for metrics in student),
        differences=tuple(metric.difference(*pair) for pair in zip(student, teacher, strict=True)),
        itself=fmean(itself),
        noise=hypot(*itself) / len(itself),
        allowed=metric.limit({metric.metric: fmean(metrics.get(metric.metric, nan) for metrics in teacher)}),
    )


def limit_text(metric: Allowance) -> str:
    """Returns the allowed difference without noise, as text."""
    if not metric.relative:
        return f"{metric.sign}{metric.most:g}"
    return f"{metric.sign}{metric.most:.1%}" if round(metric.most, 3) == metric.most else metric.text()


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


def _words(metric: str) -> tuple[str, int, str]:
    """Its name, decimals and unit."""
    column = METRICS[metric]
    return SHOWN.get(metric, (column.heading, column.decimals, ""))
