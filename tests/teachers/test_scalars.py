"""Powers and means of single numbers: within half a last place, and what they make of the ends."""

from fractions import Fraction
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teachers.scalars import geometric_mean, power


@given(st.floats(0.5, 1.0), st.integers(0, 400))
def test_a_power_is_the_nearest_float(base: float, exponent: int) -> None:
    assert power(base, exponent) == float(Fraction(base) ** exponent)


def test_the_ends() -> None:
    assert (power(0.0, 0), power(0.9, 10**6)) == (1.0, 0.0)
    assert isnan(geometric_mean([1.0, nan]))
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4, rel=1e-15)
