"""The picture of teacher and student: its numbers against the student's own program and the teacher's own passes."""

import base64
from collections.abc import Callable

import numpy as np
import pytest
from made_judgements import choice, level, scale
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.policy.cells import act
from decision.policy.student import Student
from rlcc.gate.judgement import JudgedStates
from rlcc.reports.html.surface import student_integers, surface
from teachers.inference import decide_states
from teachers.teacher import Teacher

Pair = tuple[Student, Teacher, JudgedStates]


def test_what_a_flow_s_student_decides_is_its_program_s_action() -> None:
    student, _, states = scale()
    rows = states.rows[:, : student.observation.size]
    assert student_integers(student, rows)[:, 0].tolist() == act(student, rows).tolist()


@pytest.mark.parametrize("pair", [level, choice])
def test_what_a_queue_s_student_decides_is_what_its_action_map_gives_of_its_sums(pair: Callable[[], Pair]) -> None:
    student, _, states = pair()
    names = student.forest.features
    rows = np.stack([states.rows[:, n] for n in range(len(names))], axis=1)
    sums = student.forest.evaluate(rows)[:, : student.action.sums]
    decided = student_integers(student, rows)
    if pair is choice:
        table = np.array([list(row.values()) for row in student.action.rows])  # type: ignore[union-attr]
        assert decided.tolist() == table[sums.argmax(axis=1)].tolist()
    else:
        ends = list(student.action.knobs.values())  # type: ignore[union-attr]
        for k, knob in enumerate(ends):
            own = knob.low + (np.clip(sums[:, k], 0, 1 << 16) * (knob.high - knob.low) >> 16)
            assert decided[:, k].tolist() == (np.maximum(own, decided[:, 0]) if k == 1 else own).tolist()


def physical(student: Student, row: NDArray[np.int64]) -> NDArray[np.float64]:
    """What a teacher sees [window, features] where the student sees these integers."""
    kinds, seen = student.observation.features, row[: student.observation.size].astype(np.float64)
    return np.array([kinds[n % len(kinds)].float_of(seen[n : n + 1])[0] for n in range(len(seen))]).reshape(
        -1, len(kinds)
    )


@pytest.mark.parametrize("pair", [scale, level, choice])
def test_a_frame_is_what_the_teacher_decides_there(pair: Callable[[], Pair]) -> None:
    student, teacher, states = pair()
    drawn = surface(student, teacher, states)
    page = drawn.page
    (x, y), grid = page["axes"], page["grid"]
    for slider in page["sliders"]:
        for value, frames in zip(slider["values"], slider["teacher"], strict=True):
            row = np.array(page["base"])
            row[slider["column"]] = value
            for n, quantity in enumerate(drawn.quantities):
                stored = np.frombuffer(base64.b64decode(frames[n]), "<u2")
                told = quantity.low + stored / 65535 * (quantity.high - quantity.low)
                for at in (0, len(grid[0]) - 1, len(told) // 2, len(told) - 1):
                    row[x], row[y] = grid[0][at % len(grid[0])], grid[1][at // len(grid[0])]
                    seen = physical(student, row)
                    own = decide_states(teacher, seen[None], 6)[0, n]
                    assert told[at] == pytest.approx(own, abs=(quantity.high - quantity.low) / 65535 + 1e-6)


def test_a_flow_s_picture_is_over_its_previous_action_and_its_congestion() -> None:
    drawn = surface(*scale())
    assert (drawn.across, drawn.up.split()) == ("previous action", ["rl", "cc", "congestion", "now"])
    assert drawn.older[0].endswith("ago")
    assert all(len(set(axis)) == len(axis) for axis in drawn.page["grid"])
    student = scale()[0]
    asked = student.forest.thresholds()
    assert [len(lines) for lines in drawn.page["thresholds"]] == [len(asked.get(0, [])), len(asked.get(1, []))]


def test_a_teacher_that_nothing_moves_has_no_picture() -> None:
    student, teacher, states = level()
    still = Teacher(teacher.policy, {name: 0 * weights for name, weights in teacher.weights.items()}, teacher.hash)
    with pytest.raises(InputError, match="fewer than two"):
        surface(student, still, states)


def test_a_teacher_that_answers_nothing_has_no_picture() -> None:
    student, teacher, states = scale()
    nothing = {name: np.full_like(weights, np.nan) for name, weights in teacher.weights.items()}
    with pytest.raises(InputError, match="not finite"):
        surface(student, Teacher(teacher.policy, nothing, teacher.hash), states)


def test_where_nothing_older_varies_there_is_one_frame() -> None:
    student, teacher, states = scale()
    rows = states.rows.copy()
    rows[:, 2:] = 5
    drawn = surface(student, teacher, JudgedStates(states.observation, rows))
    assert drawn.older == ()
    assert [(slider["column"], len(slider["teacher"])) for slider in drawn.page["sliders"]] == [(-1, 1)]
