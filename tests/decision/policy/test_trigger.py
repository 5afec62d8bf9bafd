"""A trigger: what it keeps, when the choice is made anew, and what documents may say of it."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from queue_actions import LEVEL
from triggered_students import OBSERVATION, ROWS, triggered_student

from decision.ir.interfaces.queue_marking import QUEUE_TRIGGERED
from decision.ir.interpret import evaluate
from decision.ir.program import Program
from decision.policy.policy import Policy
from decision.policy.student import load_student
from decision.policy.trigger import ROW

POLICY: dict[str, Any] = {
    "format": 1,
    "name": "triggered",
    "architecture": {"kind": "mlp", "hidden": [8], "bias": True},
    "observation": OBSERVATION,
    "action": {"kind": "choice", "rows": ROWS},
    "trigger": {"hidden": [6], "saved": 1},
}


def drawn(program: Program, count: int, seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    event = {name: rng.integers(0, 400_000, count) for name in program.interface.event_names}
    context = {s.name: rng.integers(0, 250, count) for s in program.state} | {ROW: rng.integers(0, 9, count)}
    return event, {"capacity_bytes": 625_000}, context


def test_without_a_trigger_row_and_what_was_saved_stay_and_with_it_both_are_new() -> None:
    program = triggered_student(4, fires=900).program()
    assert program.interface is QUEUE_TRIGGERED
    event, params, context = drawn(program, 4000, 1)
    knobs, after = evaluate(program, event, params, context)
    fired = knobs[-1] == 1
    assert 0.01 < fired.mean() < 0.99
    held = np.clip(context[ROW], 1, len(ROWS)) - 1
    assert (after[ROW][~fired] == held[~fired] + 1).all()
    assert (after[ROW][fired] != held[fired] + 1).any()
    for place, name in enumerate(ROWS[0]):
        assert (knobs[place] == np.array([row[name] for row in ROWS])[after[ROW] - 1]).all()
    saved = [name for name in context if name.startswith("saved_")]
    assert saved
    for name in saved:
        assert (after[name][~fired] == context[name][~fired]).all()
        assert (after[name][fired] != context[name][fired]).any()


def test_a_new_agent_chooses_whatever_its_trigger_says() -> None:
    program = triggered_student(4, fires=900).program()
    event, params, context = drawn(program, 500, 2)
    zeros = dict.fromkeys(context, np.zeros(500, dtype=np.int64))
    assert (evaluate(program, event, params, zeros)[0][-1] == 1).all()
    assert (evaluate(program, event, params, context | {ROW: np.ones(500, np.int64)})[0][-1] == 0).any()


def test_a_student_with_a_trigger_reads_back(tmp_path: Any) -> None:
    student = triggered_student(4)
    student.save(tmp_path)
    assert load_student(tmp_path / "student.json") == student


def test_a_table_says_which_agents_they_are_and_leaving_it_out_takes_that_back() -> None:
    policy = Policy.model_validate(POLICY)
    assert policy.observation.agents is QUEUE_TRIGGERED
    assert policy.saved_size == 3
    assert Policy.model_validate(policy.model_dump(mode="json")) == policy
    alone = policy.untriggered()
    assert (alone.observation.interface, alone.trigger) == ("queue_marking", None)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"trigger": {"hidden": [6], "saved": 3}}, "of 2 .*3 .*saved"),
        ({"trigger": {"hidden": [6], "saved": 0}}, "saved"),
        ({"trigger": {"hidden": [0], "saved": 1}}, "hidden"),
        ({"trigger": {"saved": 1}}, "hidden"),
        ({"trigger": {"hidden": [6], "saved": 1, "price": 1}}, "price"),
        ({"trigger": None, "observation": OBSERVATION | {"interface": "queue_marking_triggered"}}, "there is none"),
        ({"action": LEVEL}, "action .*level"),
        (
            {
                "architecture": {"kind": "lstm", "hidden": [], "lstm": 4, "bias": True},
                "observation": OBSERVATION | {"window": 1},
            },
            "did not see",
        ),
        (
            {
                "observation": OBSERVATION
                | {"features": [*OBSERVATION["features"], {"kind": "previous_knob", "knob": "triggered"}]}
            },
            "triggered",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Policy.model_validate(POLICY | change)
