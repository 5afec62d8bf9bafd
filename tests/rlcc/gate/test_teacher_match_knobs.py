"""Agents that set knobs anew: what the program sets in a recorded state, and in which unit it is off its teacher."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import queue_actions

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.actions import Choice, Level, TanhMap
from decision.policy.policy import Observation
from decision.policy.tree_decision import build
from rlcc.gate import teacher_match
from rlcc.gate.teacher_match import Errors, actions, compare, spans

OBSERVATION = Observation.model_validate(
    {
        "interface": "queue_marking",
        "window": 1,
        "params": {"capacity_bytes": 625_000},
        "features": [
            {"kind": "level", "signal": "queue_bytes", "unit": 1024},
            {"kind": "level", "signal": "marked_bytes", "unit": 1024},
            {"kind": "previous_knob", "knob": "kmin_bytes", "unit": 1000},
        ],
    }
)
LEVEL = Level.model_validate(queue_actions.LEVEL)
ONE, HALF, QUARTER = 1 << 16, 1 << 15, 1 << 14


def recorded(rows: list[list[int]]) -> Any:
    """States whose integer features are these."""
    seen = np.ones(len(rows), bool)
    own = np.ones(len(rows), bool)
    return SimpleNamespace(
        integer_rows=lambda observation, params: (np.array(rows), seen), of_policy=lambda: own, network=""
    )


def test_a_program_sets_its_knobs_from_the_recorded_features() -> None:
    """Level: low + sum (high - low), each knob by its own sum; the trees see the columns by their names."""
    below = Branch(2, 20, Leaf((QUARTER, 0, 0)), Leaf((0, QUARTER, ONE)))
    queue = Branch(0, 10, Leaf((HALF, ONE, 0)), below)
    names = (*(feature.name for feature in OBSERVATION.features[:2]), "kmin_bytes_set_1")
    assert teacher_match.seen_names(OBSERVATION, None) == names
    program = build(OBSERVATION, LEVEL, Forest(names, (queue,), (0, 0, 0), LEVEL.leaf_bits))
    states = recorded([[11, 0, 0], [10, 0, 21], [10, 99, 20], [0, 0, 0]])
    # kmax of the second row would be its low end, 10,000, and is raised to kmin.
    assert actions(program, OBSERVATION, OBSERVATION.params, states).tolist() == [
        [101_000, 400_000, 655],
        [51_500, 51_500, 655],
        [2_000, 107_500, 65_536],
        [2_000, 107_500, 65_536],
    ]


def test_an_error_of_a_knob_is_a_part_of_the_range_over_which_it_is_set() -> None:
    assert spans(LEVEL).tolist() == [198_000, 390_000, 64_881]
    rows = [{"kmin_bytes": kmin, "kmax_bytes": 500_000, "pmax_q16": pmax} for kmin, pmax in ((5, 7), (25, 9), (15, 8))]
    assert spans(Choice.model_validate({"kind": "choice", "rows": rows})).tolist() == [20, 1, 2], "1: it never moves"
    assert spans(TanhMap.model_validate({"kind": "tanh_map", "step": 0.2})).tolist() == [1]


def test_knobs_are_compared_with_the_teachers_knob_by_knob(monkeypatch: pytest.MonkeyPatch) -> None:
    told = np.array([[101_000.0, 400_000.0, 655.0], [2_000.0, 107_500.0, 65_536.0]])
    off = np.array([[0, -39_000, 0], [49_500, 0, 64_881 / 8]])
    monkeypatch.setattr(teacher_match, "decide", lambda teacher, states: (told, np.ones(2, bool)))
    monkeypatch.setattr(teacher_match, "actions", lambda *_: told + off)
    of_queues: Any = SimpleNamespace(agents=QUEUE_MARKING)
    teacher: Any = SimpleNamespace(policy=SimpleNamespace(action=LEVEL, trigger=None))
    program: Any = None
    errors = compare(program, of_queues, {}, teacher, [recorded([[0], [0]])], "the test's")
    assert errors == Errors(
        "the test's", 2, rmse=pytest.approx(np.sqrt((0.1**2 + 0.25**2) / 2)), p99=0.25, maximum=0.25
    )
    with pytest.raises(InputError, match="its whole history"):
        compare(program, of_queues, {}, teacher, [], "test's")
