"""What a stage's line says of the student's network."""

from typing import Any

import pytest

from netsim.comparison import Difference
from rlcc.stages import WORDS, _off


def off(metric: str, value: float | None, of_tolerance: float | None) -> dict[str, Any]:
    return {"scenario": "many-to-one:64", "metric": metric, "value": value, "of_tolerance": of_tolerance}


NOISE = off("latency", 0.001, 0.05)


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("latency", -0.01, "mean latency off the teacher's by 1.00% at most"),
        ("goodput", -0.005, "goodput off the teacher's by 0.50% of line rate at most"),
        ("fairness", -0.05, "Jain fairness below the teacher's by 0.0500 at most"),
        ("loss", 0.00005, "loss over the teacher's by 0.0050% at most"),
    ],
)
def test_the_line_names_metric_network_and_noise(metric: str, value: float, said: str) -> None:
    assert _off(off(metric, value, 0.5), NOISE) == f"{said}, in many-to-one:64, 10.0 times the teacher's own noise"


def test_every_metric_that_can_be_worst_has_words() -> None:
    assert set(WORDS) == set(Difference.__dataclass_fields__)


def test_a_network_that_shows_nothing_is_said() -> None:
    assert _off(off("latency", None, None), NOISE) == "latency in many-to-one:64 could not be measured"
