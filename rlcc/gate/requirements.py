"""Requirements on a policy in the closed loop by itself, whatever a teacher does: "goodput >= 0.9", "latency <= 20".

Judged is the mean over the gate's seeds, in every scenario that has the metric.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean

from decision.artefact.errors import InputError
from decision.artefact.suggest import alike
from netsim.metric_names import METRICS
from netsim.tolerance import DEFAULT, NUMBER, WORDS
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.names import named
from rlcc.gate.verdict import Check

WRITTEN = re.compile(rf"(?P<name>[a-z0-9_]+) *(?P<sign>>=|<=) *(?P<number>{NUMBER})")


@dataclass(frozen=True)
class Requirement:
    """``metric`` at least (``least``) or at most ``limit``, in the metric's own unit."""

    metric: str
    least: bool
    limit: float

    def holds(self, value: float) -> bool:
        """NaN never does."""
        return value >= self.limit if self.least else value <= self.limit

    def text(self) -> str:
        """As ``requirement`` reads it."""
        return f"{self.metric} {self.sign} {self.limit!r}"

    @property
    def sign(self) -> str:
        return ">=" if self.least else "<="


def requirement(text: str) -> Requirement:
    """Returns what ``text`` requires. InputError where it is no requirement, or there is no such metric."""
    read = WRITTEN.fullmatch(text.strip())
    if read is None:
        raise InputError(f'{text!r} is no requirement; write METRIC >= NUMBER or METRIC <= NUMBER, "goodput >= 0.9"')
    metric = WORDS.get(read["name"], read["name"])
    if metric not in METRICS:
        near = alike(read["name"], [*WORDS, *METRICS])
        mend = f"did you mean {near}?" if near else "docs/explanation/netsim.md lists the metrics"
        raise InputError(f"there is no metric {read['name']!r}; {mend}")
    return Requirement(metric, read["sign"] == ">=", float(read["number"]))


def required(outcomes: Sequence[PolicyMetrics], asked: Sequence[Requirement]) -> list[Check]:
    """Returns a check of each requirement in each scenario of a policy's runs; of a metric that no scenario has, one
    that fails."""
    checks = [_check(outcome, one) for outcome in outcomes for one in asked if _has(outcome, one.metric)]
    return checks + [
        named("network.no_required", of=one.metric)(
            value="in no scenario", limit=f"{one.sign} {one.limit:g}", passed=False
        )
        for one in asked
        if not any(_has(outcome, one.metric) for outcome in outcomes)
    ]


def measured(outcomes: Sequence[PolicyMetrics], asked: Sequence[Requirement]) -> list[Check]:
    """Returns the rows of the metrics that a gate usually judges and for which nothing is required here: what they
    are. They fail where they could not be measured."""
    said = {one.metric for one in asked}
    rows = []
    for outcome in outcomes:
        for metric in (allowed.metric for allowed in DEFAULT.values()):
            if metric not in said and _has(outcome, metric):
                value = _mean(outcome, metric)
                check = named("network.measured.*", part=metric, of=outcome.scenario, metric=_words(metric))
                known = not isnan(value)
                rows.append(
                    check(value=_shown(value, metric), limit="not judged" if known else "measured", passed=known)
                )
    return rows


def _check(outcome: PolicyMetrics, one: Requirement) -> Check:
    value = _mean(outcome, one.metric)
    check = named("network.required.*", part=one.metric, of=outcome.scenario, metric=_words(one.metric))
    passed = one.holds(value)
    worst = (min if one.least else max)(metrics.get(one.metric, nan) for metrics in outcome.metrics)
    detail = "" if passed else f"the worst of {len(outcome.seeds)} seeds has {_shown(worst, one.metric)}"
    return check(value=_shown(value, one.metric), limit=f"{one.sign} {one.limit:g}", passed=passed, detail=detail)


def _has(outcome: PolicyMetrics, metric: str) -> bool:
    return any(metric in metrics for metrics in outcome.metrics)


def _mean(outcome: PolicyMetrics, metric: str) -> float:
    return fmean(metrics.get(metric, nan) for metrics in outcome.metrics)


def _words(metric: str) -> str:
    return METRICS[metric].heading


def _shown(value: float, metric: str) -> str:
    return f"{value:.{METRICS[metric].decimals}f}"
