"""What a stage's line says of the student's network."""

from types import SimpleNamespace
from typing import Any, get_args

import pytest

from netsim.tolerance import DEFAULT, tolerance
from rlcc.recipe import Neighbourhood
from rlcc.stages import FOUND, WORDS, _off, deviation_figure, findings, only_bounded
from verify.behaviour.finding import Verdict
from verify.trusted.certificate import WorstCase


def off(metric: str, value: float | None, of_tolerance: float | None) -> dict[str, Any]:
    return {"scenario": "many-to-one:64", "metric": metric, "value": value, "of_tolerance": of_tolerance}


NOISE = off("latency", 0.001, 0.05)


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("latency", -0.01, "1.00%"),
        ("goodput", -0.005, "0.50%"),
        ("fairness", -0.05, "0.0500"),
        ("loss", 0.00005, "0.0050%"),
    ],
)
def test_the_line_names_metric_network_and_noise(metric: str, value: float, said: str) -> None:
    shown = _off(off(metric, value, 0.5), NOISE, DEFAULT)
    assert shown.startswith(WORDS[metric].partition(" ")[0])
    assert [said in shown, "many-to-one:64" in shown, "10.0 times" in shown] == [True] * 3


def test_every_metric_that_is_judged_by_default_has_words() -> None:
    assert set(WORDS) == set(DEFAULT)


def test_another_metric_is_called_by_its_name() -> None:
    judged = tolerance({"latency_p99_us": "+5 %", "queue_max_bytes": "±1000"})
    over = _off(off("latency_p99_us", 0.1, 0.5), NOISE, judged)
    below = _off(off("queue_max_bytes", -12341.0, 0.5), NOISE, judged)
    assert [text in over for text in ("latency_p99_us", "10.00%", "higher")] == [True] * 3
    assert [text in below for text in ("queue_max_bytes", "1.234e+04", "lower")] == [True] * 3


def test_a_network_that_shows_nothing_is_said() -> None:
    said = _off(off("latency", None, None), NOISE, DEFAULT)
    assert said.startswith("latency in many-to-one:64 ")
    assert said.endswith("not be measured")


@pytest.mark.parametrize(
    ("verdicts", "parts"),
    [
        (["holds"], ["1 property holds"]),
        (["holds", "holds"], ["2 properties hold"]),
        (["fails", "holds", "undecided", "fails"], ["1 property holds", "2 fail", "1 undecided"]),
        ([], ["no property"]),
    ],
)
def test_properties_are_counted_with_one_noun_and_agreeing_verbs(verdicts: list[str], parts: list[str]) -> None:
    assert findings(verdicts).split(", ") == parts


def test_each_verdict_on_a_property_has_words() -> None:
    assert set(FOUND) == set(get_args(Verdict))


@pytest.mark.parametrize(
    ("neighbourhood", "wide"),
    [
        (None, True),
        ({"limit": 0.21}, True),
        ({"limit": 0.2}, False),
        ({"limit": 0.1}, False),
        ({"limit": 0.4, "proved_limit": 0.2}, False),
        ({"limit": 0.4, "proved_limit": 0.3}, True),
    ],
)
def test_only_a_deviation_at_the_gates_limit_is_reported_with_it(
    neighbourhood: dict[str, float] | None, wide: bool
) -> None:
    said = deviation_figure(0.2, None if neighbourhood is None else Neighbourhood.model_validate(neighbourhood))
    assert ("gate.neighbourhood" not in said) == wide
    assert "0.20000" in said


@pytest.mark.parametrize(
    ("made", "kept", "told"),
    [
        (100, None, True),
        (100, 100, False),
        (None, None, False),  # a bound by design, on an engine whose model is one
    ],
)
def test_a_certificate_of_a_bound_is_reported_where_an_exact_one_was_made(
    made: int | None, kept: int | None, told: bool
) -> None:
    def certificate(exact: int | None) -> Any:
        worst = WorstCase(bound=130, exact=exact, witness={}, outputs={}, rtl_cycles=100)
        return SimpleNamespace(claims=SimpleNamespace(worst_case=worst))

    verification: Any = SimpleNamespace(
        certificate=certificate(made), proof=SimpleNamespace(worst=SimpleNamespace(exact=100))
    )
    figures = only_bounded(verification, certificate(kept))
    assert bool(figures) is told
    assert not told or {"130", "100"} <= set(figures["certified"].replace(";", "").split())
