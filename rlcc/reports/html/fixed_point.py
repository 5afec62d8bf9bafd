"""Fixed point of N flows to one receiver, compared with target * sqrt(N) + beta (RL-CC, section 4), as a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from decision.policy.policy import Policy
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.reports.html.frame import HtmlFrame
from rlcc.reports.html.network import OtherMetrics, rests

FRAME = HtmlFrame(480.0, 290.0)
APART = 5.0
"""Between teacher and student at the same number of flows, so that neither hides the other."""
LABEL = 38.0
"""Of a tick; one that would touch the one before is left out."""


@dataclass(frozen=True)
class Mark:
    """A mean over the seeds, and from where to where they reach."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Plot:
    """In pixels of the drawing. ``ticks``: place and text."""

    rests: list[OtherMetrics]
    theory: list[tuple[float, float]]
    teacher: list[Mark]
    student: list[Mark]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    frame: HtmlFrame = FRAME


def plot(policy: Policy, outcomes: Sequence[PolicyMetrics]) -> Plot | None:
    """None where there is no such theory, or no such scenario."""
    found = rests(policy, outcomes)
    if not found:
        return None
    first, last = found[0].flows, found[-1].flows
    ends = (first / 1.3, last * 1.3)
    target, beta = found[0].target, found[0].beta
    most = 1.06 * max(target * sqrt(ends[1]) + beta, *(max(*rest.teacher, *rest.student) for rest in found))
    step = _step(most)

    def x(flows: float) -> float:
        return FRAME.x(log2(flows / ends[0]) / log2(ends[1] / ends[0]))

    def y(inflation: float) -> float:
        return FRAME.y(inflation / most)

    def mark(rest: OtherMetrics, values: tuple[float, ...], aside: float) -> Mark:
        return Mark(round(x(rest.flows) + aside, 2), y(float(np.mean(values))), y(min(values)), y(max(values)))

    named = found[:1]
    for rest in found:
        if x(rest.flows) - x(named[-1].flows) >= LABEL:
            named.append(rest)
    return Plot(
        found,
        [(x(flows), y(target * sqrt(flows) + beta)) for flows in np.geomspace(*ends, 60).tolist()],
        [mark(rest, rest.teacher, -APART) for rest in found],
        [mark(rest, rest.student, APART) for rest in found],
        [(x(rest.flows), f"{rest.flows:,}") for rest in named],
        [(y(value), f"{value:g}") for value in np.arange(0, most, step).tolist()],
    )


def _step(most: float) -> float:
    """Returns the step of the axis: up to six ticks."""
    rough = most / 6
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= rough))
