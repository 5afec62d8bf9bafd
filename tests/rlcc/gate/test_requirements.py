"""What a policy must reach by itself: reading it, judging it, and what is measured where nothing is required."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.requirements import Requirement, measured, required, requirement
from rlcc.recipe import GateOptions


def runs(scenario: str = "many-to-one:8", **metrics) -> PolicyMetrics:
    """One policy in a scenario; each metric a list of values, one a seed."""
    seeds = tuple(range(len(next(iter(metrics.values())))))
    each = tuple({name: values[seed] for name, values in metrics.items()} for seed in seeds)
    return PolicyMetrics("student", scenario, seeds, each)


@given(st.sampled_from(["goodput", "latency_mean_us", "jain"]), st.booleans(), st.floats(0, 1e9))
def test_a_requirement_is_read_as_it_is_written(metric, least, limit):
    one = Requirement(metric, least, limit)
    assert requirement(f"{metric} {one.sign} {limit:.10f}") == Requirement(metric, least, float(f"{limit:.10f}"))


def test_short_names_are_read():
    assert requirement("latency<=20") == Requirement("latency_mean_us", False, 20.0)


@pytest.mark.parametrize(
    "text", ["goodput", "goodput > 0.9", "goodput >= x", "goodput >= -1", ">= 1", "0.9 <= goodput"]
)
def test_what_is_none_is_refused(text):
    with pytest.raises(InputError, match="METRIC"):
        requirement(text)


def test_an_unknown_metric_is_refused_with_one_that_is_near():
    with pytest.raises(InputError, match="mean goodput"):
        requirement("goodputt >= 0.9")


@pytest.mark.parametrize(
    ("text", "values", "passed"),
    [
        ("goodput >= 0.9", [0.8, 1.0], True),
        ("goodput >= 0.9", [0.8, 0.9], False),
        ("goodput <= 0.9", [0.8, 1.0], True),
        ("goodput >= 0.9", [nan, 1.0], False),
        ("goodput <= 0.9", [nan, 0.0], False),
    ],
)
def test_the_mean_over_the_seeds_is_judged(text, values, passed):
    (check,) = required([runs(goodput=values)], [requirement(text)])
    assert check.passed == passed
    assert check.id == "network.required.goodput[many-to-one:8]"
    assert bool(check.detail) != passed


def test_a_metric_that_no_scenario_has_fails():
    (check,) = required([runs(goodput=[1.0])], [requirement("loss <= 0.1")])
    assert (check.passed, check.id) == (False, "network.no_required[loss]")


def test_scenarios_without_a_metric_are_left_out():
    outcomes = [runs(goodput=[1.0]), runs("long-short:8", loss=[0.0])]
    assert [check.id for check in required(outcomes, [requirement("loss <= 0.1")])] == [
        "network.required.loss[long-short:8]"
    ]


def test_what_is_not_required_is_said_and_fails_only_where_it_was_not_measured():
    rows = measured([runs(goodput=[0.5], latency_mean_us=[nan], loss=[0.0])], [requirement("loss <= 0.1")])
    assert {row.id.partition("[")[0]: row.passed for row in rows} == {
        "network.measured.goodput": True,
        "network.measured.latency_mean_us": False,
    }


def test_a_metric_is_required_once():
    with pytest.raises(InputError, match="required twice"):
        validate(GateOptions, {"budget": "1 us", "require": ["goodput >= 0.5", "goodput <= 1.0"]}, "here")
