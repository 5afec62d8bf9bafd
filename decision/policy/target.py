"""The target as the operator's: `target_ratio` of an observation turns it, without a training ([PCCRL] section 8.2).

    congestion seen = congestion * (trained target / target)^2          in the C: congestion_gain_q28, 2^28 as trained

A policy steers its congestion feature to the target that it was trained for. Its input is scaled so that it sees its
own target when the network is at the operator's target: delta = target (1 - excess sqrt(rate) / turned target). One
parameter turns all congestion features alike; RTTs and queue lengths that are features of their own, and the thresholds
of a flow's start, stay as they are. A past decision's congestion is kept as it was shown then: after a turn the
window's decisions pass until all of them are on the new scale.
"""

from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator

from decision.ir.interfaces.flow_rate import GAIN_BITS, GAINS

RATIOS = (0.25, 16.0)
"""Of the turned target over the trained one."""


def target_ratio(value: object) -> float:
    """ValueError where it is none that can be set."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number: the target, in units of the trained one")
    if not RATIOS[0] <= value <= RATIOS[1]:
        raise ValueError(f"{value:g} times the trained target is not within {RATIOS[0]:g} and {RATIOS[1]:g}")
    return float(value)


TargetRatio = Annotated[float, BeforeValidator(target_ratio)]


def congestion_gain_q28(ratio: float) -> int:
    """The operator's parameter of a target so many times the trained one, to the nearest."""
    least, most = GAINS
    return min(max(round(Fraction(1 << GAIN_BITS) / Fraction(ratio) ** 2), least), most)
