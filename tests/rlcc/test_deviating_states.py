"""Where a student is outside its teacher: in the cells of its forest, and where they show nothing, by the proof."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.ir.formats import FEATURE_LIMIT
from decision.policy.student import NAME, Student, load_student
from rlcc import deviating_states as place
from rlcc.deviating_states import FROM, outside
from rlcc.gate.neighbourhood import furthest
from rlcc.recipe import Neighbourhood
from teachers.inference import decide_states
from teachers.load import load
from teachers.teacher import Teacher
from verify.deviation.distance import distance

AROUND = Neighbourhood()


@pytest.fixture(scope="module")
def pair(good: Path) -> tuple[Student, Teacher]:
    return load_student(good / "student" / NAME), load(good / "teacher")


def labels_of(teacher: Teacher, student: Student, rows: Any) -> Any:
    """By hand: what the teacher sees in rows of (action, congestion) now and before."""
    seen = np.stack([rows[:, :2], rows[:, 2:]], axis=1).astype(float)
    for f, feature in enumerate(student.observation.features):
        seen[:, :, f] = feature.float_of(seen[:, :, f])
    return decide_states(teacher, seen, 0) - 1.0


def test_the_states_of_cells_are_those_of_the_gate_with_the_teachers_labels(pair: tuple[Student, Teacher]) -> None:
    greatest = furthest(*pair, AROUND).distance
    rows, labels, far = outside(*pair, AROUND, 0.9 * greatest)
    assert far.max() == pytest.approx(greatest)
    assert (far > FROM * 0.9 * greatest).all()
    assert len(rows) == len(far) > 1
    assert labels == pytest.approx(labels_of(pair[1], pair[0], rows))


def test_where_cells_hold_the_limit_the_proof_has_a_state_and_what_is_around_it(
    pair: tuple[Student, Teacher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells that were not looked into: the proof misses none."""
    student, teacher = pair
    monkeypatch.setattr(place, "_in_cells", lambda *_: (np.zeros((0, 4), np.int64), np.zeros((0, 1)), np.zeros(0)))
    claim = distance(student, teacher.policy, teacher.weights, teacher.hash, AROUND.around)
    rows, labels, far = outside(student, teacher, AROUND, 0.01)
    assert (far == claim.bound).all()
    assert rows[0].tolist() == list(claim.witness.values())
    assert len(rows) == 9, "each signal as it is and at either end; past actions as they are"
    assert (rows[:, ::2] == rows[0, ::2]).all()
    assert rows[:, 1].min() == pytest.approx(0.8 * rows[0, 1], abs=1)
    assert labels == pytest.approx(labels_of(teacher, student, rows))


def test_no_state_around_one_has_a_feature_of_more_than_24_bits(
    pair: tuple[Student, Teacher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CatBoost's float32 holds no more, and no feature grows larger."""
    student, teacher = pair
    monkeypatch.setattr(place, "_in_cells", lambda *_: (np.zeros((0, 4), np.int64), np.zeros((0, 1)), np.zeros(0)))
    claim = distance(student, teacher.policy, teacher.weights, teacher.hash, AROUND.around)
    first, *others = claim.witness
    witness = {first: claim.witness[first]} | dict.fromkeys(others, FEATURE_LIMIT - 1)
    monkeypatch.setattr(place, "distance", lambda *_: claim.model_copy(update={"witness": witness}))
    rows, labels, _ = outside(student, teacher, AROUND, 0.01)
    assert rows[:, 1].max() == FEATURE_LIMIT - 1
    assert len(labels) == len(rows) == 9
