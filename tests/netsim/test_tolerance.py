"""What is allowed between two networks' metrics, as a text and as a judgement."""

from math import inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from netsim.tolerance import DEFAULT, Allowance, allowance, tolerance

REFERENCE = {"goodput": 0.9, "latency_mean_us": 10.0, "jain": 0.98, "loss": 0.0}


def test_latency_is_relative_and_the_rest_absolute() -> None:
    metrics = {"goodput": 0.85, "latency_mean_us": 12.5, "jain": 0.99, "loss": 0.25}
    found = {name: one.difference(metrics, REFERENCE) for name, one in DEFAULT.items()}
    assert found == pytest.approx({"goodput": -0.05, "latency": 0.25, "fairness": 0.01, "loss": 0.25})
    assert all(one.difference(REFERENCE, REFERENCE) == 0.0 for one in DEFAULT.values())


@pytest.mark.parametrize("latency", [nan, 0.0])
def test_nothing_to_compare_with_is_no_number(latency: float) -> None:
    latencies = DEFAULT["latency"]
    assert isnan(latencies.difference(REFERENCE, REFERENCE | {"latency_mean_us": latency}))
    assert isnan(latencies.difference(REFERENCE | {"latency_mean_us": nan}, REFERENCE))
    assert isnan(latencies.difference({}, REFERENCE))


def test_nothing_beside_nothing_is_no_difference() -> None:
    assert Allowance("loss", "+", 0.05, relative=True).difference(REFERENCE, REFERENCE) == 0.0


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("±0.01", Allowance("rtt_mean_us", "±", 0.01)),
        ("+-0.01", Allowance("rtt_mean_us", "±", 0.01)),
        ("+/- 0.01", Allowance("rtt_mean_us", "±", 0.01)),
        ("+5 %", Allowance("rtt_mean_us", "+", 0.05, relative=True)),
        ("-7%", Allowance("rtt_mean_us", "-", 0.07, relative=True)),
        ("-1e-3", Allowance("rtt_mean_us", "-", 0.001)),
        ("-1 or 0.5%", Allowance("rtt_mean_us", "-", 1.0, share=0.005)),
        ("any", None),
    ],
)
def test_one_side_or_both_absolute_or_relative(text: str, allowed: Allowance | None) -> None:
    assert allowance("rtt_mean_us", text) == allowed


@pytest.mark.parametrize(
    "text",
    [
        "0.01",
        "±",
        "± %",
        "5 percent",
        "+nan",
        "+inf",
        "++1",
        "+1 us",
        "",
        "+1\n",
        "+1 or 2",
        "+1 or +2 %",
        "+1 % or 2 %",
        "+1 or 2 % or 3 %",
        "any or 1 %",
    ],
)
def test_what_is_no_tolerance_is_told(text: str) -> None:
    with pytest.raises(InputError, match="is no tolerance"):
        allowance("goodput", text)


@given(st.sampled_from("±+-"), st.floats(0, 1e12, allow_subnormal=False), st.booleans(), st.sampled_from([0, 0.01, 2]))
def test_a_text_is_read_as_it_was_written(sign: str, most: float, relative: bool, share: float) -> None:
    allowed = Allowance("goodput", sign, 0.0 if most < 1e-12 else most, relative, 0.0 if relative else share)
    assert allowance("goodput", allowed.text()) == allowed


@pytest.mark.parametrize(
    ("sign", "difference", "times"),
    [("±", 0.5, 2.0), ("±", -0.5, 2.0), ("+", 0.5, 2.0), ("+", -0.5, -2.0), ("-", 0.5, -2.0), ("-", -0.5, 2.0)],
)
def test_only_the_side_that_is_judged_counts(sign: str, difference: float, times: float) -> None:
    allowed = Allowance("goodput", sign, 0.25)
    assert allowed.times(difference, REFERENCE) == times


def test_nothing_is_allowed_and_nan_never_holds() -> None:
    strict = Allowance("timeouts", "+", 0.0)
    assert (strict.times(0.0, {}), strict.times(1.0, {})) == (0.0, inf)
    assert isnan(strict.times(nan, {}))


def test_a_share_of_what_the_reference_has_is_allowed_where_that_is_more() -> None:
    allowed = allowance("loss", "+0.001 or 2 %")
    assert allowed == Allowance("loss", "+", 0.001, share=0.02)
    assert allowed.text() == "+0.001 or 2 %"
    assert [allowed.limit({"loss": loss}) for loss in (0.0, 0.05, 0.1, nan)] == [0.001, 0.001, 0.002, 0.001]
    assert allowed.limit({}) == 0.001
    assert allowed.times(0.004, {"loss": 0.1}) == 2.0
    assert allowed.times(0.004, {"loss": 0.0}) == 4.0


def test_the_default_with_what_is_said_otherwise() -> None:
    read = tolerance({"latency": 0.5, "loss": "any", "fairness": "±0.2", "latency_p99_us": "+10 %"})
    assert list(read) == ["goodput", "latency", "fairness", "latency_p99_us"]
    assert read["goodput"] == DEFAULT["goodput"]
    assert read["latency"] == Allowance("latency_mean_us", "±", 0.5, relative=True)
    assert read["fairness"] == Allowance("jain", "±", 0.2)
    assert tolerance({name: one.text() for name, one in read.items()} | {"loss": "any"}) == read


def test_a_metric_of_the_default_is_the_same_by_its_full_name() -> None:
    assert tolerance({"latency_mean_us": "+5 %", "jain": "any"}) == tolerance({"latency": "+5 %", "fairness": "any"})
    with pytest.raises(InputError, match=r"latency .*latency_mean_us .*one metric"):
        tolerance({"latency": "+5 %", "latency_mean_us": "any"})


@pytest.mark.parametrize(
    ("name", "what", "words"),
    [
        ("speed", "±1", "speed: there is"),
        ("speed", 0.1, "speed: there is"),
        ("godput", 0.1, "godput: there is"),
        ("goodput", 2, "goodput: 2 is"),
        ("goodput", -0.1, "goodput: -0.1 is"),
        ("goodput", nan, "goodput: nan is"),
        ("goodput", True, "goodput: True is"),
        ("cnps", 0.1, "cnps: a number"),
        ("cnps", [], "cnps: [] is"),
    ],
)
def test_the_metric_that_is_wrong_is_named(name: str, what: object, words: str) -> None:
    with pytest.raises(InputError) as refused:
        tolerance({name: what})
    assert str(refused.value).startswith(words)
