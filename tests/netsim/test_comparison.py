"""Two networks' metrics side by side."""

from math import isnan, nan

import pytest

from netsim.comparison import Difference, difference

REFERENCE = {"goodput": 0.9, "latency_mean_us": 10.0, "jain": 0.98, "loss": 0.0}


def test_latency_is_relative_and_the_rest_absolute() -> None:
    found = difference({"goodput": 0.85, "latency_mean_us": 12.5, "jain": 0.99, "loss": 0.25}, REFERENCE)
    assert vars(found) == pytest.approx({"goodput": -0.05, "latency": 0.25, "fairness": 0.01, "loss": 0.25})
    assert difference(REFERENCE, REFERENCE) == Difference(0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("latency", [nan, 0.0])
def test_no_latency_to_compare_with_is_no_number(latency: float) -> None:
    assert isnan(difference(REFERENCE, REFERENCE | {"latency_mean_us": latency}).latency)
    assert isnan(difference(REFERENCE | {"latency_mean_us": nan}, REFERENCE).latency)
