"""Student and teacher in the same networks: what is recorded, what is measured, and that a draw is not a difference."""

from typing import Any

import numpy as np
import pytest

from distill import driving, rollout
from distill.closeness import distance
from distill.driving import Networks, later_self, side_by_side
from distill.options import DistillOptions, RolloutOptions
from netsim import simulate
from netsim.network import MS
from netsim.tolerance import DEFAULT

DRAWN = Networks(["all-to-all:4"], 2 * MS, ["all-to-all:4", "many-to-one:8"], (1 * MS, 3 * MS), 900_000)


def test_a_teacher_beside_itself_is_not_off(teacher: Any) -> None:
    """Who talks to whom is drawn: with other seeds the teacher itself is off by some per cent."""
    policy = rollout.teacher_policy(teacher)
    side = side_by_side(policy, policy, DRAWN, [1, 2], DEFAULT)
    assert side.standing.worst.of_tolerance == distance(side.student.metrics, side.teacher).of_tolerance == 0.0
    others = side_by_side(policy, policy, DRAWN, [3, 4], DEFAULT)
    drawn = {(name, seed - 2): metrics for (name, seed), metrics in others.teacher.items()}
    assert distance(drawn, side.teacher).of_tolerance > 0.1


@pytest.mark.parametrize(
    "window", [(1 * MS, 3 * MS), (2 * MS, 3 * MS), (0, 1 * MS), (1 * MS, 2 * MS), (3 * MS, 4 * MS)]
)
def test_what_is_recorded_and_measured_is_what_two_runs_would_give(teacher: Any, window: tuple[int, int]) -> None:
    policy = rollout.teacher_policy(teacher)
    networks = Networks(["many-to-one:8"], 2 * MS, ["many-to-one:8", "many-to-one:2"], window, 900_000)
    side = side_by_side(policy, policy, networks, [5], DEFAULT)
    driven = side.student
    options = RolloutOptions.model_validate({"scenarios": ["many-to-one:8"], "seeds": [5], "duration": "2 ms"})
    (expected,) = rollout.collect(policy, options)
    (found,) = driven.runs
    assert (found.scenario, found.seed) == ("many-to-one:8", 5)
    for name, column in expected.trajectories.columns.items():
        assert np.array_equal(found.trajectories.columns[name], column), name
    assert list(driven.metrics) == list(side.teacher) == [("many-to-one:8", 5), ("many-to-one:2", 5)]
    alone = simulate("many-to-one:2", policy, seed=5, duration_ps=4 * MS, window_ps=window)
    for name, value in alone.metrics.items():
        assert driven.metrics["many-to-one:2", 5][name] == pytest.approx(value, nan_ok=True, abs=0), name


def test_only_what_is_compared_is_measured(teacher: Any) -> None:
    policy = rollout.teacher_policy(teacher)
    networks = Networks(["many-to-one:2"], 1 * MS, ["many-to-one:8"], (0, 1 * MS), 900_000)
    driven = side_by_side(policy, policy, networks, [1], DEFAULT).student
    assert [run.scenario for run in driven.runs] == ["many-to-one:2"]
    assert list(driven.metrics) == [("many-to-one:8", 1)]


def test_what_is_only_learnt_from_runs_along_with_the_first_part(teacher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One simulation after another would leave cores without work at the end of each part."""
    batches: list[list[str]] = []
    simulate_all = driving.run

    def counted(trials: Any, **more: Any) -> Any:
        batches.append(sorted({str(trial.scenario) for trial in trials}))
        return simulate_all(trials, **more)

    monkeypatch.setattr(driving, "run", counted)
    monkeypatch.setenv("PYTHON_CPU_COUNT", "2")
    policy = rollout.teacher_policy(teacher)
    networks = Networks(["many-to-one:4"], 1 * MS, ["many-to-one:8", "many-to-one:2"], (0, 1 * MS), 900_000)
    side = side_by_side(policy, policy, networks, [1], DEFAULT, limit=1.0)
    assert batches == [["many-to-one:4", "many-to-one:8"], ["many-to-one:2"]]
    assert [run.scenario for run in side.student.runs] == ["many-to-one:4"]


def test_a_teacher_ten_nanoseconds_later_is_a_little_off_itself(teacher: Any) -> None:
    policy = rollout.teacher_policy(teacher)
    networks = Networks([], 0, ["many-to-one:64"], (1 * MS, 3 * MS), 900_000)
    side = side_by_side(policy, policy, networks, [1], DEFAULT, later=True)
    assert 0 < distance(side.later, side.teacher, DEFAULT).of_tolerance < 1
    assert side.later == later_self(policy, networks, networks.places([1]))
    assert side_by_side(policy, policy, networks, [1], DEFAULT).later == {}


def test_a_student_that_is_given_up_is_recorded_in_every_network_all_the_same(teacher: Any) -> None:
    """A recorded run that ends early has the decisions of one that goes on: open loops and drawn pairs, too."""
    learn = ["websearch:60%", "hadoop:50%", "all-to-all:4", "many-to-one:64"]
    networks = Networks(learn, 3 * MS, [*learn[:3], "many-to-one:2"], (1 * MS, 6 * MS), 900_000)
    policy = rollout.teacher_policy(teacher)
    whole = side_by_side(policy, policy, networks, [1], DEFAULT)
    short = side_by_side(policy, policy, networks, [1], DEFAULT, limit=-1.0)
    assert (whole.standing.networks, whole.standing.given_up) == (4, False)
    assert (short.standing.networks, short.standing.given_up) == (1, True)
    assert len(short.teacher) == len(short.student.metrics) < len(whole.teacher) == 4
    for a, b in zip(whole.student.runs, short.student.runs, strict=True):
        assert (a.scenario, a.seed) == (b.scenario, b.seed)
        assert a.trajectories.columns.keys() == b.trajectories.columns.keys()
        for name, column in a.trajectories.columns.items():
            assert np.array_equal(column, b.trajectories.columns[name]), (a.scenario, name)


def test_how_many_run_at_once_changes_nothing(teacher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, found = rollout.teacher_policy(teacher), []
    for cores in ("1", "4"):
        monkeypatch.setenv("PYTHON_CPU_COUNT", cores)
        found.append(side_by_side(policy, policy, DRAWN, [1, 2], DEFAULT).student)
    few, many = found
    assert few.metrics.keys() == many.metrics.keys()
    assert distance(many.metrics, few.metrics).of_tolerance == 0.0
    for a, b in zip(few.runs, many.runs, strict=True):
        assert all(
            np.array_equal(a.trajectories.columns[name], b.trajectories.columns[name])
            for name in a.trajectories.columns
        )


def test_networks_are_those_of_the_rollouts_unless_others_are_given(network: RolloutOptions) -> None:
    assert Networks.of(DistillOptions(), network).compare == network.scenarios
    assert Networks.of(DistillOptions(comparison_scenarios=["many-to-one:4"]), network).compare == ["many-to-one:4"]


def test_progress_has_the_name_of_its_phase(teacher: Any) -> None:
    said: list[str] = []
    networks = Networks([], 0, ["many-to-one:2"], (0, 1 * MS), 900_000, progress=said.append)
    later_self(rollout.teacher_policy(teacher), networks.phase("round 3").phase("noise"), [("many-to-one:2", 1)])
    assert [text.split(": ")[:2] for text in said] == [["round 3", "noise"]] * 2
