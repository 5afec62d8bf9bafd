"""What a stage's line says of the student's network."""

from typing import Any

import pytest

from netsim.tolerance import DEFAULT, tolerance
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
    assert (
        _off(off(metric, value, 0.5), NOISE, DEFAULT)
        == f"{said}, in many-to-one:64, 10.0 times the teacher's own noise"
    )


def test_every_metric_that_is_judged_by_default_has_words() -> None:
    assert set(WORDS) == set(DEFAULT)


def test_another_metric_is_called_by_its_name() -> None:
    judged = tolerance({"latency_p99_us": "+5 %", "queue_max_bytes": "±1000"})
    said = "latency_p99_us over the teacher's by 10.00% at most, in many-to-one:64, 10.0 times the teacher's own noise"
    assert _off(off("latency_p99_us", 0.1, 0.5), NOISE, judged) == said
    assert "queue_max_bytes below the teacher's by 1.234e+04 at most" in _off(
        off("queue_max_bytes", -12341.0, 0.5), NOISE, judged
    )


def test_a_network_that_shows_nothing_is_said() -> None:
    assert _off(off("latency", None, None), NOISE, DEFAULT) == "latency in many-to-one:64 could not be measured"
