"""A student's bias moved until its network is closest: forest and model move as one, and the closest move wins."""

from typing import Any

import numpy as np
import pytest

from distill import distil, rollout, trim
from distill.closeness import Distance
from distill.driving import Networks
from distill.options import DistillOptions, RolloutOptions
from netsim.network import MS
from netsim.tolerance import DEFAULT

NETWORKS = Networks([], 0, ["many-to-one:8"], (2 * MS, 4 * MS), 900_000)


def test_a_moved_student_and_its_moved_model_are_each_others(fitted: Any, runs: Any, teacher: Any) -> None:
    student, model = fitted.student, fitted.model
    (before,) = student.forest.bias
    higher = trim.moved(student, 37)
    assert higher.forest.bias == (before + 37,)
    assert (higher.forest.trees, higher.forest.features) == (student.forest.trees, student.forest.features)
    rows = np.zeros((5, len(student.forest.features)), dtype=np.int64)
    copy = distil.boost.read_back(model)
    theirs = distil.boost.sums(trim.moved_model(copy, 37, student.forest.leaf_bits), rows)
    assert theirs - distil.boost.sums(model, rows) == pytest.approx(37 / 2**student.forest.leaf_bits, abs=1e-9)
    again = distil.quantise.quantise(copy, student.forest.features, student.forest.leaf_bits)
    assert again == higher.forest


@pytest.mark.parametrize(("apart", "move"), [([3, 2, 1], 8), ([3, 1, 2], -8), ([1, 2, 3], 0), ([1, 1, 1], 0)])
def test_the_move_that_comes_closest_is_taken_and_none_of_equals(
    apart: list[float], move: int, fitted: Any, teacher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter(apart)
    monkeypatch.setattr(trim, "distance", lambda *_: Distance("many-to-one:8", "latency", 0.0, next(told)))
    original = rollout.teacher_policy(teacher)
    assert trim.best_move(fitted.student, [-8, 8], original, NETWORKS, [3], DEFAULT) == move


def test_a_student_that_was_moved_away_is_moved_back(fitted: Any, teacher: Any) -> None:
    """A hundredth of the rate a decision too much, which no flow settles with."""
    original = rollout.teacher_policy(teacher)
    away = trim.moved(fitted.student, 650)
    assert trim.best_move(away, [-650, 650], original, NETWORKS, [3], DEFAULT) == -650


def test_the_report_says_how_far_the_chosen_student_was_moved(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = small.model_copy(update={"rounds": 0, "trim": [-5, 5]})
    monkeypatch.setattr(distil, "best_move", lambda *_: 5)
    kept = distil.distil(teacher, runs, options, network, seed=1)
    plain = distil.distil(teacher, runs, small.model_copy(update={"rounds": 0}), network, seed=1)
    assert kept.student.report["moved"] == 5
    assert "moved" not in plain.student.report
    assert kept.student.forest == trim.moved(plain.student, 5).forest
    assert kept.points > 0
