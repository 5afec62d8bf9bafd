"""How far a network is from another, which student is kept, and when rounds no longer pay."""

import json
from math import inf, nan

import pytest

from decision.artefact.errors import InputError
from distill.closeness import Distance, Round, check_measurable, choose, distance, pays
from netsim.tolerance import DEFAULT

TEACHER = {"goodput": 0.9, "latency_mean_us": 10.0, "jain": 0.98, "loss": 0.0}
A, B, C = ("many-to-one:2", 1), ("many-to-one:8", 1), ("many-to-one:8", 2)
SAME = {A: TEACHER, B: TEACHER, C: TEACHER}


def off(place: tuple[str, int], **changes: float) -> dict[tuple[str, int], dict[str, float]]:
    return SAME | {place: TEACHER | changes}


def test_a_network_in_which_nothing_arrives_says_nothing() -> None:
    silent = {"goodput": 0.0, "latency_mean_us": nan, "jain": nan, "loss": 0.0}
    check_measurable(SAME | {A: silent})
    with pytest.raises(InputError, match=r"distill\.comparison_window"):
        check_measurable({A: silent, B: silent})


def test_noise_that_cannot_be_measured_excuses_nobody() -> None:
    far, endless = Distance("s", "latency", 9.0, 500.0), Distance("s", "latency", nan, inf)
    rounds = [Round(1, 0.0, 0.02, Distance("s", "latency", 0.0, 0.1), 1), Round(1, 0.0, 0.01, far, 1)]
    assert pays([rounds[1], rounds[0]], endless, 1)


def test_a_network_is_not_off_itself() -> None:
    assert distance(SAME, SAME).of_tolerance == 0.0


@pytest.mark.parametrize("place", [A, B, C])
@pytest.mark.parametrize(
    ("change", "metric", "value", "times"),
    [
        ({"goodput": 0.88}, "goodput", -0.02, 4.0),
        ({"goodput": 0.93}, "goodput", 0.03, 6.0),
        ({"latency_mean_us": 9.0}, "latency", -0.1, 10.0),
        ({"latency_mean_us": 10.5}, "latency", 0.05, 5.0),
        ({"jain": 0.58}, "fairness", -0.4, 4.0),
        ({"loss": 0.001}, "loss", 0.001, 10.0),
        ({"latency_mean_us": nan}, "latency", nan, inf),
        ({"jain": nan, "latency_mean_us": 10.5}, "fairness", nan, inf),
    ],
)
def test_the_worst_metric_of_the_worst_network_counts(
    place: tuple[str, int], change: dict[str, float], metric: str, value: float, times: float
) -> None:
    found = distance(off(place, **change), SAME)
    assert (found.scenario, found.metric) == (place[0], metric)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert found.of_tolerance == pytest.approx(times)


def test_each_metric_is_weighed_by_what_the_gate_allows() -> None:
    most = {name: allowed.most for name, allowed in DEFAULT.items()}
    for change, limit in (
        ({"goodput": 0.9 - most["goodput"]}, "goodput"),
        ({"latency_mean_us": 10 * (1 + most["latency"])}, "latency"),
        ({"jain": 0.98 - most["fairness"]}, "fairness"),
        ({"loss": most["loss"]}, "loss"),
    ):
        found = distance(off(B, **change), SAME)
        assert (found.metric, found.of_tolerance) == (limit, pytest.approx(1.0))


def test_more_fairness_is_not_held_against_a_student() -> None:
    assert distance(off(B, jain=1.0), SAME).of_tolerance == 0.0


def test_what_the_teacher_does_not_show_cannot_be_missed() -> None:
    """Flows that are done deliver nothing in the window, whoever decides."""
    silent = TEACHER | {"latency_mean_us": nan, "jain": nan, "loss": nan, "goodput": 0.0}
    assert distance({A: silent}, {A: silent}).of_tolerance == 0.0
    assert distance({A: TEACHER}, {A: silent}).metric == "goodput"


def test_what_is_not_measured_is_null_in_the_report() -> None:
    written = json.loads(json.dumps(Distance("many-to-one:2", "latency", nan, inf).to_json(), allow_nan=False))
    assert written == {"scenario": "many-to-one:2", "metric": "latency", "value": None, "of_tolerance": None}


def rounds(*given: tuple[float, float]) -> list[Round]:
    return [Round(100, 0.0, rmse, apart(times), 9) for times, rmse in given]


def apart(times: float) -> Distance:
    return Distance("many-to-one:8", "latency", times * 0.02, times)


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ([(9.0, 0.001), (1.0, 0.009), (1.2, 0.001)], 1),  # closer, whatever the error
        ([(1.0, 0.009), (1.0, 0.008), (1.1, 0.001)], 1),  # as close: the least error
        ([(1.2, 0.008), (1.0, 0.009), (1.0, 0.009)], 1),  # and as exact: the earliest
        ([(inf, 0.001), (inf, 0.0005), (3.0, 0.9)], 2),
        ([(inf, 0.001), (inf, 0.0005)], 1),
    ],
)
def test_the_closest_student_is_kept(given: list[tuple[float, float]], chosen: int) -> None:
    assert choose(rounds(*given), apart(0.01)) == chosen


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ([(1.0, 0.009), (1.4, 0.001), (1.6, 0.0001)], 1),  # within the floor: the least error
        ([(1.0, 0.001), (0.0, 0.009)], 1),
        ([(1.0, 0.009), (1.0, 0.009)], 0),
    ],
)
def test_without_noise_students_within_the_floor_are_as_close(given: list[tuple[float, float]], chosen: int) -> None:
    assert choose(rounds(*given), apart(0.0)) == chosen


@pytest.mark.parametrize(
    ("noise", "patience", "given", "more"),
    [
        (0.1, 2, [5.0, 4.0], True),  # nothing to compare with yet
        (0.1, 2, [5.0, 4.0, 4.5], True),
        (0.1, 2, [5.0, 4.95, 4.91], False),  # closer, but not beyond the noise
        (0.1, 2, [5.0, 4.95, 4.89], True),
        (0.1, 2, [5.0, 1.0, 2.0, 3.0], False),
        (0.1, 3, [5.0, 1.0, 2.0, 3.0], True),
        (0.1, 1, [inf, inf], False),
        (0.1, 1, [inf, 5.0], True),
        (0.0, 1, [5.0, 4.6], False),  # no noise: not beyond the floor
        (0.0, 1, [5.0, 4.4], True),
    ],
)
def test_rounds_end_when_the_last_ones_brought_none_that_is_closer(
    noise: float, patience: int, given: list[float], more: bool
) -> None:
    assert pays(rounds(*((times, 0.01) for times in given)), apart(noise), patience) is more


def test_a_round_in_the_report_says_all_that_decided() -> None:
    written = rounds((1.5, 0.01))[0].to_json()
    assert set(written) == {"decisions", "fit_rmse", "rmse", "distance", "networks"}
    assert written["distance"] == {"scenario": "many-to-one:8", "metric": "latency", "value": 0.03, "of_tolerance": 1.5}
