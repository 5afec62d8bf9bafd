"""The gate's rule in the network: a mean over paired seeds, within the tolerance or twice the teacher's own noise."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from netsim.tolerance import Tolerance, tolerance
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.fidelity import LATER, MAX_NOISE_FACTOR, STUDENT, TEACHER, TIMES, compare, network
from rlcc.gate.verdict import Check
from rlcc.reports.legend import terms

Metrics = dict[str, float]
GOOD = {"goodput": 0.95, "latency_mean_us": 20.0, "jain": 0.9, "loss": 0.001}
ALLOWED = tolerance({"goodput": 0.01, "latency": 0.02, "fairness": 0.1, "loss": 0.0001})


def runs(teacher: Metrics, *student: Metrics, later: Metrics | list[Metrics] | None = None) -> list[PolicyMetrics]:
    """One teacher in each seed, and a student and a later teacher each; by default the teacher has no noise."""
    seeds = tuple(range(max(1, len(student))))
    after = later if isinstance(later, list) else [later or teacher] * len(seeds)
    return [
        PolicyMetrics(TEACHER, "many-to-one:8", seeds, (teacher,) * len(seeds)),
        PolicyMetrics(STUDENT, "many-to-one:8", seeds, student),
        PolicyMetrics(LATER, "many-to-one:8", seeds, tuple(after)),
    ]


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+\.?\d*", text)]


def passed(checks: list[Check]) -> bool:
    assert checks
    return all(check.passed for check in checks)


def checked(outcomes: list[PolicyMetrics], allowed: Tolerance) -> list[Check]:
    return network(outcomes, compare(outcomes, allowed), allowed)


def judged(allowed: dict[str, str], outcomes: list[PolicyMetrics]) -> list[Check]:
    """By these metrics only."""
    off = dict.fromkeys(("goodput", "latency", "fairness", "loss"), "any")
    return checked(outcomes, tolerance(off | allowed))


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({}, None),
        ({"goodput": 0.9401}, None),
        ({"goodput": 0.9399}, "goodput"),
        ({"goodput": 0.9599}, None),
        ({"goodput": 0.9601}, "goodput"),  # either way: a student that decides otherwise is not its teacher
        ({"latency_mean_us": 20.39}, None),
        ({"latency_mean_us": 20.41}, "latency"),
        ({"latency_mean_us": 19.61}, None),
        ({"latency_mean_us": 19.59}, "latency"),
        ({"jain": 0.801}, None),
        ({"jain": 0.799}, "fairness"),
        ({"jain": 1.0}, None),  # only a loss of fairness fails
        ({"loss": 0.00109}, None),
        ({"loss": 0.00111}, "loss"),
        ({"loss": 0.0}, None),  # only more loss fails
    ],
)
def test_tolerances_hold_on_the_sides_they_are_meant_for(change: Metrics, failing: str | None) -> None:
    checks = checked(runs(GOOD, GOOD | change), ALLOWED)
    assert len(checks) == 4
    assert [c.id for c in checks if not c.passed] == ([f"network.{failing}[many-to-one:8]"] if failing else [])


@pytest.mark.parametrize(
    ("change", "metric", "used"),
    [
        ({"goodput": 0.945}, "goodput", 0.5),
        ({"goodput": 0.945, "latency_mean_us": 20.3}, "latency_mean_us", 0.75),
        ({"jain": 0.81, "loss": 0.00105}, "jain", 0.9),
        ({"loss": 0.0, "jain": 1.0, "goodput": 0.951}, "goodput", 0.1),  # what is better uses nothing of its limit
        ({"loss": 0.0012}, "loss", 2.0),
        ({"goodput": math.nan, "loss": 0.002}, "goodput", math.inf),
    ],
)
def test_what_is_used_of_a_limit_says_which_check_is_closest_to_it(change: Metrics, metric: str, used: float) -> None:
    closest = max(compare(runs(GOOD, GOOD | change), ALLOWED), key=lambda one: one.used)
    assert closest.metric.metric == metric
    assert closest.used == pytest.approx(used)


# --- noise -----------------------------------------------------------------------------------------------------------

BASE = {"latency_mean_us": 100.0}
ONE_PERCENT = {"latency": "±1 %"}


def latency(of: float) -> Metrics:
    return {"latency_mean_us": of}


@pytest.mark.parametrize(
    ("noise", "student", "passes"),
    [
        (0.4, 101.0, True),  # twice the noise is less than the tolerance: the tolerance holds
        (0.4, 101.01, False),
        (0.8, 101.6, True),
        (0.8, 101.61, False),  # by slightly more than the rule
        (0.8, 98.4, True),
        (0.8, 98.39, False),
        (2.5, 105.0, True),  # five times the tolerance is the most
        (2.5, 105.01, False),
        (2.51, 100.0, False),  # beyond, these runs tell nothing, not even of one that is equal
        (0.0, 101.01, False),
    ],
)
def test_the_limit_is_the_tolerance_or_twice_the_noise_up_to_five_tolerances(
    noise: float, student: float, passes: bool
) -> None:
    (check,) = judged(ONE_PERCENT, runs(BASE, latency(student), later=latency(100 + noise)))
    assert check.passed == passes
    assert (TIMES, MAX_NOISE_FACTOR) == (2, 5)


def test_noise_is_of_a_mean_over_the_seeds() -> None:
    """The root mean square of what the teacher is off itself, by the root of the number of seeds; it has no sign."""
    later = [latency(100 + off) for off in (3.0, -3.0, 3.0, -3.0)]
    (one,) = compare(runs(BASE, *[latency(100.5)] * 4, later=later), {"latency": ALLOWED["latency"]})
    assert (one.noise, one.itself) == pytest.approx((0.015, 0.0))
    assert (one.difference, one.value) == pytest.approx((0.005, 100.5))


def test_the_mean_over_the_seeds_is_judged() -> None:
    high, low = latency(103.0), latency(97.5)
    assert passed(judged(ONE_PERCENT, runs(BASE, high, low)))
    assert not passed(judged(ONE_PERCENT, runs(BASE, high, high, low)))


def test_each_seed_counts_beside_its_own_teacher() -> None:
    """A student that is equal to its teacher in each of two very different networks is not off; one that has them the
    other way round is equal in the mean, and relatively off."""
    easy, hard = latency(10.0), latency(1000.0)
    both = [
        replace(one, seeds=(1, 2), metrics=metrics)
        for one, metrics in zip(runs(BASE, BASE), [(easy, hard), (easy, hard), (easy, hard)], strict=True)
    ]
    assert passed(judged(ONE_PERCENT, both))
    assert not passed(judged(ONE_PERCENT, [both[0], replace(both[1], metrics=(hard, easy)), both[2]]))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda teacher, student, later: [teacher, student, replace(later, seeds=(7,))],
        lambda teacher, student, later: [teacher, student, replace(later, scenario="long-short:33")],
        lambda teacher, student, later: [teacher, student, replace(later, policy=STUDENT)],
        lambda teacher, student, later: [teacher, student, replace(teacher, policy="teacher, 1 us later")],
        lambda teacher, student, later: [student, teacher, later],
        lambda teacher, student, later: [teacher, replace(student, seeds=(7,)), later],
    ],
)
def test_noise_of_other_runs_is_refused(wrong: Any) -> None:
    """It is the teacher's, in the very network, with the very seeds: any other could be as loud as is needed."""
    with pytest.raises(ValueError, match="teacher, 10 ns later"):
        checked(wrong(*runs(GOOD, GOOD)), ALLOWED)


def test_runs_that_are_not_three_a_scenario_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        checked(runs(GOOD, GOOD)[:2], ALLOWED)


@pytest.mark.parametrize(
    ("noise", "off", "value", "limit", "figures"),
    [
        (0.4, 0.3, "100.30 us (+0.30%, noise 0.40%)", "±1.0%", []),
        (0.9, 0.3, "100.30 us (+0.30%, noise 0.90%)", "±1.80%, 2 x noise", []),
        (1.2, 0.3, "100.30 us (+0.30%, noise 1.20%, itself +1.20%)", "±2.40%, 2 x noise", []),
        (-1.2, 0.3, "100.30 us (+0.30%, noise 1.20%, itself -1.20%)", "±2.40%, 2 x noise", []),
        (
            6.0,
            0.3,
            "100.30 us (+0.30%, noise 6.00%, itself +6.00%)",
            "±12.00%, 2 x noise",
            [2.5, 1.0],
        ),
    ],
)
def test_the_noise_stands_beside_the_difference(
    noise: float, off: float, value: str, limit: str, figures: list[float]
) -> None:
    """And where the teacher would fail beside itself, that does too."""
    (check,) = judged(ONE_PERCENT, runs(BASE, latency(100 + off), later=latency(100 + noise)))
    assert (check.value, check.limit, numbers(check.detail)) == (value, limit, figures)
    assert bool(check.detail) == bool(figures)


def test_a_difference_that_rounds_to_0_has_no_minus() -> None:
    (check,) = judged(ONE_PERCENT, runs(BASE, latency(100 * (1 - 1e-6))))
    assert "(+0.00%, noise" in check.value


def test_a_failure_names_network_and_seed_and_what_usually_mends_it() -> None:
    (check,) = judged(ONE_PERCENT, runs(BASE, latency(101), latency(96), latency(99)))
    assert not check.passed
    assert all(word in check.detail for word in ("many-to-one:8", "seed 1, -4.00%;", "latency"))
    assert "more distill.rounds (in " in check.detail
    assert judged(ONE_PERCENT, runs(BASE, latency(101)))[0].detail == ""
    (check,) = judged(ONE_PERCENT, runs(BASE, latency(101), latency(math.nan)))
    assert all(word in check.detail for word in ("many-to-one:8", "seed 1, not measured"))


@pytest.mark.parametrize(
    ("noise", "figures"),
    [
        (0.4, []),
        (0.9, [2, 1.8, 1.0]),
        (1.2, [2, 2.4, 1.0, 10, 1.2]),
    ],
)
def test_a_tolerance_below_the_noise_and_a_teacher_that_fails_itself_are_marked(
    noise: float, figures: list[float]
) -> None:
    """Whether the student passes or not, in every report."""
    for off in (0.3, 9.0):
        outcomes = runs(BASE, latency(100 + off), later=latency(100 + noise))
        (check,) = judged(ONE_PERCENT, outcomes)
        assert numbers(check.note) == figures
        assert bool(check.note) == bool(figures)
        assert ("noise" in terms([check]), "itself" in terms([check])) == (True, noise > 1)
        told = compare(outcomes, {"latency": tolerance(ONE_PERCENT)["latency"]})[0].to_json()  # type: ignore[arg-type]
        assert (told["below_noise"], told["teacher_passes"]) == (2 * noise > 1, noise <= 1)
        assert told["seeds"] == {"0": pytest.approx(off / 100)}


@pytest.mark.parametrize(
    ("jain", "later", "marked"),
    [
        (0.0142, None, True),
        (0.1, None, True),
        (0.1001, None, False),
        (0.3, 0.2, False),
        (0.15, 0.07, True),  # the noise widens the limit to 0.16
        (0.3, 0.0, False),  # such runs cannot judge a student, and the check fails
    ],
)
def test_a_limit_below_0_that_no_student_can_fail_is_marked(jain: float, later: float | None, marked: bool) -> None:
    outcomes = runs({"jain": jain}, {"jain": 0.0}, later=None if later is None else {"jain": later})
    (check,) = judged({"fairness": "-0.1"}, outcomes)
    assert ("can fail it" in check.note) == marked
    assert check.passed or not marked


def test_of_what_is_judged_on_one_side_the_teacher_fails_on_that_side_only() -> None:
    def shown(later: float) -> str:
        (check,) = judged({"fairness": "-0.1"}, runs({"jain": 0.9}, {"jain": 0.9}, later={"jain": later}))
        return check.value

    assert shown(0.79) == "0.9000 (+0.0000, noise 0.1100, itself -0.1100)"
    assert shown(1.01) == "0.9000 (+0.0000, noise 0.1100)"
    (just,) = judged({"fairness": "-0.25"}, runs({"jain": 0.75}, {"jain": 0.75}, later={"jain": 0.5}))
    assert "itself" not in just.value


def test_of_a_teachers_loss_that_was_not_measured_no_part_is_allowed() -> None:
    (check,) = judged({"loss": "+0.0001 or 1 %"}, runs({"loss": math.nan}, {"loss": 0.2}))
    assert (check.passed, check.limit) == (False, "+0.0001")


def test_a_hundredth_of_the_teachers_own_loss_is_allowed_where_that_is_more() -> None:
    lossy = {"loss": 0.2}
    rule = {"loss": "+0.0001 or 1 %"}
    (fine,) = judged(rule, runs(lossy, {"loss": 0.2019}))
    assert (fine.passed, fine.limit) == (True, "+0.0020, 1 % of its teacher's")
    assert not passed(judged(rule, runs(lossy, {"loss": 0.2021})))
    (none,) = judged(rule, runs({"loss": 0.0}, {"loss": 0.0001}))
    assert (none.passed, none.limit) == (True, "+0.0001")
    assert not passed(judged(rule, runs({"loss": 0.0}, {"loss": 0.00011})))


def test_what_the_verdict_holds_of_it() -> None:
    (one,) = compare(runs(BASE, latency(100.5), later=latency(math.nan)), {"latency": ALLOWED["latency"]})
    assert one.to_json() == {
        "scenario": "many-to-one:8",
        "metric": "latency_mean_us",
        "value": 100.5,
        "difference": pytest.approx(0.005),
        "itself": None,
        "noise": None,
        "allowed": 0.02,
        "limit": 0.02,
        "seeds": {"0": pytest.approx(0.005)},
        "teacher_passes": None,
        "below_noise": False,
        "passed": False,
    }
    assert "not be measured" in one.check().detail
    assert one.check().limit == "±2.0%"


# --- what is judged, and where ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", sorted(GOOD))
@pytest.mark.parametrize("side", ["teacher", "student", "both"])
def test_what_was_not_measured_never_passes(metric: str, side: str) -> None:
    broken = GOOD | {metric: math.nan}
    teacher, student = (broken if side in (who, "both") else GOOD for who in ("teacher", "student"))
    failed = [check.name for check in checked(runs(teacher, student), ALLOWED) if not check.passed]
    assert len(failed) == 1


def test_one_seed_that_was_not_measured_fails_the_mean() -> None:
    assert not passed(checked(runs(GOOD, GOOD, GOOD | {"jain": math.nan}), ALLOWED))


def test_each_tolerance_may_just_be_reached() -> None:
    base = {"goodput": 0.5, "latency_mean_us": 16.0, "jain": 0.5, "loss": 0.25}
    allowed = tolerance({"goodput": 0.125, "latency": 0.25, "fairness": 0.25, "loss": 0.125})
    for edge in (
        {"goodput": 0.625, "latency_mean_us": 20.0, "jain": 0.25, "loss": 0.375},
        {"goodput": 0.375, "latency_mean_us": 12.0},
    ):
        assert passed(checked(runs(base, base | edge), allowed))
    beyond = {"goodput": 0.6251, "latency_mean_us": 20.01, "jain": 0.2499, "loss": 0.3751}
    for metric, value in beyond.items():
        assert not passed(checked(runs(base, base | {metric: value}), allowed))


def test_any_metric_may_be_judged_either_way_or_one_absolute_or_relative() -> None:
    teacher = {"latency_p99_us": 20.0, "queue_max_bytes": 1000.0, "slowdown_mean": 2.0}
    student = {"latency_p99_us": 21.1, "queue_max_bytes": 1100.0, "slowdown_mean": 1.0}
    checks = judged(
        {"latency_p99_us": "+5 %", "queue_max_bytes": "±100", "slowdown_mean": "+0.25 %"}, runs(teacher, student)
    )
    assert [(check.id, check.value, check.limit, check.passed) for check in checks] == [
        ("network.latency_p99_us[many-to-one:8]", "21.10 (+5.50%, noise 0.00%)", "+5.0%", False),
        ("network.queue_max_bytes[many-to-one:8]", "1100 (+100, noise 0)", "±100", True),
        ("network.slowdown_mean[many-to-one:8]", "1.00 (-50.00%, noise 0.00%)", "+0.25 %", True),
    ]


@pytest.mark.parametrize(
    ("allowed", "shown"), [("+5 %", "+5.0%"), ("+12.5 %", "+12.5%"), ("+1.25 %", "+1.25 %"), ("+0.125 %", "+0.125 %")]
)
def test_a_limit_is_shown_as_exactly_as_it_was_given(allowed: str, shown: str) -> None:
    same = {"latency_p99_us": 20.0}
    (check,) = judged({"latency_p99_us": allowed}, runs(same, same))
    assert check.limit == shown


def test_a_metric_that_no_scenario_has_fails_and_one_that_another_has_is_left_out() -> None:
    (check,) = judged({"recovery_us": "+1"}, runs(GOOD, GOOD))
    assert (check.id, check.value, check.passed) == ("network.no_scenario[recovery_us]", "in no scenario", False)
    there = GOOD | {"recovery_us": 5.0}
    long = [replace(each, scenario="long") for each in runs(there, there)]
    options = tolerance({"recovery_us": "+1"})
    checks = checked([*runs(GOOD, GOOD), *long], options)
    assert passed(checks)
    assert [check.id for check in checks if "recovery" in check.id] == ["network.recovery_us[long]"]
    one_sided = checked([*runs(GOOD, GOOD), *runs(there, GOOD)], options)
    assert [check.passed for check in one_sided if "recovery" in check.id] == [False]
    beside = checked([*runs(there, GOOD), *long], options)
    assert [check.passed for check in beside if "recovery" in check.id] == [False, True]
    of_the_student = checked([*runs(GOOD, there), *long], options)
    assert [check.passed for check in of_the_student if "recovery" in check.id] == [False, True]


def test_each_scenarios_teacher_stands_beside_its_own_student() -> None:
    low, high = GOOD, GOOD | {"goodput": 0.5}
    outcomes = [
        replace(outcome, scenario=name)
        for name, metrics in (("a", low), ("b", high), ("c", low))
        for outcome in runs(metrics, metrics)
    ]
    checks = checked(outcomes, ALLOWED)
    assert passed(checks)
    assert [check.id[-2] for check in checks] == ["a"] * 4 + ["b"] * 4 + ["c"] * 4


def test_a_latency_of_less_than_a_microsecond_is_compared_too() -> None:
    teacher = GOOD | {"latency_mean_us": 0.5}
    assert passed(checked(runs(teacher, GOOD | {"latency_mean_us": 0.505}), ALLOWED))
    assert not passed(checked(runs(teacher, GOOD | {"latency_mean_us": 0.6}), ALLOWED))


def test_a_teacher_that_delivers_nothing_cannot_vouch_for_anyone() -> None:
    nothing = {"goodput": 0.0, "latency_mean_us": 0.0, "jain": math.nan, "loss": math.nan}
    assert not passed(checked(runs(nothing, nothing), ALLOWED))


def test_no_outcome_at_all_does_not_pass() -> None:
    assert not passed(checked([], ALLOWED))
    assert not passed(checked([], {}))
    assert not passed(checked(runs(GOOD), ALLOWED))  # outcomes without a seed
    assert compare(runs(GOOD), ALLOWED) == []
    assert [check.id for check in checked(runs(GOOD), ALLOWED)] == ["network.closed_loop"]


def test_a_metric_that_only_the_student_has_is_judged_and_fails() -> None:
    """Else a teacher without it would excuse any student."""
    lacking = {name: value for name, value in GOOD.items() if name != "loss"}
    checks = checked(runs(lacking, GOOD), ALLOWED)
    assert [check.id for check in checks if not check.passed] == ["network.loss[many-to-one:8]"]
