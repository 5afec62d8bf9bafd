"""Powers and means of single numbers, the same on every processor.

The C library's power differs in its last bit between processors with and without fused multiply-add. Here it is made of
decimal integers and rounded once, to what the C library gives for all that the shipped recipes ask for.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from math import isnan

import numpy as np

from decision.ir import exact

_CONTEXT = Context(prec=30)
"""Digits; a float has 17."""


def power(base: float, exponent: int) -> float:
    """Returns base to the exponent, 0 or more."""
    return float(_CONTEXT.power(Decimal(base), exponent)) if exponent else 1.0


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the geometric mean of one or more numbers above 0; NaN where one is NaN."""
    mean = float(np.mean(exact.log(values)))
    return mean if isnan(mean) else float(exact.exp(mean))
