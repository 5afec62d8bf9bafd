"""The cost that a validation is judged by: what each defect weighs against the others."""

from dataclasses import replace
from math import e, log

import pytest

from teachers.validation import FULL, Changing, Measured

PERFECT = Measured(
    flows=8,
    goodput=0.92,
    utilisation=FULL,
    loss=0.0,
    latency_us=10.0,
    latency_p99_us=10.0,
    inflation=1.5,
    ideal_inflation=1.5,
    jain=1.0,
)


def test_a_perfect_run_costs_nothing() -> None:
    assert PERFECT.cost == 0.0
    assert replace(PERFECT, utilisation=1.0).cost == 0.0


@pytest.mark.parametrize(
    ("defect", "cost"),
    [
        ({"utilisation": FULL - 0.1}, 2.0),
        ({"loss": 0.1}, 2.0),
        ({"inflation": 3.0}, 1.0),
        ({"inflation": 0.75}, 0.5),
        ({"latency_p99_us": 20.0}, 0.5),
        ({"latency_p99_us": 30.0}, 1.0),
        ({"latency_us": 20.0, "latency_p99_us": 30.0}, 0.25),
        ({"jain": 0.5}, 0.25),
    ],
)
def test_each_defect_has_its_weight(defect: dict[str, float], cost: float) -> None:
    assert replace(PERFECT, **defect).cost == pytest.approx(cost)


def test_a_swing_by_the_mean_weighs_as_much_as_an_inflation_off_by_half() -> None:
    swing = replace(PERFECT, latency_p99_us=2 * PERFECT.latency_us)
    assert swing.cost == replace(PERFECT, inflation=1.5 * PERFECT.ideal_inflation).cost


def test_defects_add_up() -> None:
    assert replace(PERFECT, loss=0.1, latency_p99_us=20.0, jain=0.5).cost == pytest.approx(2.0 + 0.5 + 0.25)


IDEAL = Changing("incast:32", goodput=0.4, loss=0.0, slowdown=20.0, ideal_goodput=0.4, ideal_slowdown=20.0)


@pytest.mark.parametrize(
    ("defect", "cost"),
    [
        ({}, 0.0),
        ({"goodput": 0.5, "slowdown": 10.0}, 0.0),
        ({"loss": 0.05}, 1.0),
        ({"goodput": 0.32}, 1.0),
        ({"slowdown": 20.0 * e}, 1.0),
        ({"slowdown": float("nan")}, log(1000.0)),
        ({"loss": 0.05, "goodput": 0.32, "slowdown": 20.0 * e}, 3.0),
    ],
)
def test_changing_traffic_costs_what_it_lacks_of_the_ideal(defect: dict[str, float], cost: float) -> None:
    assert replace(IDEAL, **defect).cost == pytest.approx(cost)
