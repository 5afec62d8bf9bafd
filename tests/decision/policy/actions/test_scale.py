"""scale: published values, the range that firmware clamps to, and the integer meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.ir.program import ProgramBuilder
from decision.policy.actions import AnyAction, Choice, Multiplier, Table, TanhMap, scale_of
from decision.policy.actions.scale import ONE


def integer_map(action, value):
    """The action in Q16 that the program makes of the trees' sums ``value``."""
    b = ProgramBuilder(Forest((), (), (0,), action.leaf_bits), FLOW_RATE)
    start = b.state_in("sum", "int32")
    (decided,) = action.integer(b, [start])
    b.state_out("sum", start)
    program = b.finish(b.const(0))
    nothing = dict.fromkeys((*FLOW_RATE.event_names, *FLOW_RATE.param_names), 0)
    return trace(program, nothing, nothing, {"sum": np.asarray(value, dtype=np.int64)})[decided]


def test_the_tanh_map_is_the_published_one():
    action = TanhMap(kind="tanh_map", step=0.2)
    x = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    assert np.allclose(action.multiplier(x), [1 / 1.2, 1 / 1.1, 1.0, 1.1, 1.2])
    assert action.limits_q16() == (-10923, 13107)


@given(st.floats(0.001, 0.499), st.floats(-1, 1))
def test_the_tanh_map_undoes_a_step_up_by_the_same_step_down(step, x):
    action = TanhMap(kind="tanh_map", step=step)
    up, down = action.multiplier(np.array([x, -x]))
    assert up * down == pytest.approx(1.0)
    low, high = action.limits_q16()
    assert low <= round((min(up, down) - 1) * ONE)
    assert round((max(up, down) - 1) * ONE) <= high


def test_a_step_down_of_its_own_changes_the_way_down_alone():
    action = TanhMap(kind="tanh_map", step=0.2, down=1.0)
    x = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    assert np.allclose(action.multiplier(x), [1 / 2, 1 / 1.5, 1.0, 1.1, 1.2])
    assert action.limits_q16() == (-(2**15), 13107)
    assert integer_map(action, [-(2**16), 2**16]).tolist() == [-(2**15), 13107]
    assert action.label(np.array([[0.5]])).tolist() == [[-0.5]]


@given(st.floats(0.001, 0.499), st.floats(0.001, 7), st.floats(-1, 1))
def test_the_tanh_map_stays_within_its_range_in_whole_numbers(step, down, x):
    action = TanhMap(kind="tanh_map", step=step, down=down)
    low, high = action.limits_q16()
    assert low <= round((action.multiplier(np.array([x])).item() - 1) * ONE) <= high


def test_without_a_step_down_of_its_own_the_map_is_the_one_of_before():
    plain, same = TanhMap(kind="tanh_map", step=0.2), TanhMap(kind="tanh_map", step=0.2, down=0.2)
    x = np.linspace(-1, 1, 1001)
    assert np.array_equal(plain.multiplier(x), same.multiplier(x))
    assert len(plain.tape().constants) == len(same.tape().constants) - 1
    assert plain.model_dump() == {"kind": "tanh_map", "step": 0.2}


def test_the_multiplier_spans_its_range_and_clips():
    action = Multiplier(kind="multiplier", low=0.5, high=2.0)
    assert action.multiplier(np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).tolist() == [0.5, 0.5, 1.25, 2.0, 2.0]
    assert action.limits_q16() == (-ONE // 2, ONE)


def test_the_table_takes_the_greatest_logit_and_the_first_on_a_tie():
    action = Table(kind="table", multipliers=[0.5, 1.0, 1.5])
    logits = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 4.0, 4.0]])
    assert action.multiplier(logits).tolist() == [1.5, 0.5, 0.5, 1.0]
    assert action.decided(logits).tolist() == [[1.5], [0.5], [0.5], [1.0]]
    assert action.label(np.array([[0.5], [0.74], [0.76], [1.5]])).tolist() == [[0], [0], [1], [2]]


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=50))
def test_the_integer_table_rounds_to_the_nearest_entry_and_clamps(sums):
    multipliers = [0.5, 0.9, 1.0, 1.25, 3.5]
    action = Table(kind="table", multipliers=multipliers)
    expected = []
    for s in sums:
        nearest = (2 * s + 1024) // 2048  # halves up
        expected.append(round((multipliers[min(max(nearest, 0), 4)] - 1) * ONE))
    assert integer_map(action, sums).tolist() == expected


@given(st.integers(-(2**31), 2**31 - 1))
def test_other_maps_clamp_to_the_teachers_range(value):
    for action in (TanhMap(kind="tanh_map", step=0.2), Multiplier(kind="multiplier", low=0.25, high=3.9)):
        low, high = action.limits_q16()
        assert integer_map(action, [value]).tolist() == [min(max(value, low), high)]


@pytest.mark.parametrize(
    ("action", "storage"),
    [
        ({"kind": "tanh_map", "step": 0.2}, "int16"),
        ({"kind": "tanh_map", "step": 0.4999999}, "int32"),  # rounds to 32768
        ({"kind": "tanh_map", "step": 0.2, "down": 1.0}, "int16"),
        ({"kind": "tanh_map", "step": 0.2, "down": 1.001}, "int32"),
        ({"kind": "multiplier", "low": 0.75, "high": 1.4999}, "int16"),
        ({"kind": "multiplier", "low": 0.75, "high": 1.5}, "int32"),
        ({"kind": "multiplier", "low": 0.4999, "high": 1.25}, "int32"),
        ({"kind": "table", "multipliers": [0.5, 1.25]}, "int16"),
        ({"kind": "table", "multipliers": [0.5, 3.25]}, "int32"),
    ],
)
def test_a_past_action_is_stored_in_the_narrowest_type_that_holds_it(action, storage):
    assert TypeAdapter(AnyAction).validate_python(action).storage == storage


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "tanh_map", "step": float("nan")},
        {"kind": "tanh_map", "step": 0.0},
        {"kind": "tanh_map", "step": 0.2, "down": 0.0},
        {"kind": "tanh_map", "step": 0.2, "down": 7.5},
        {"kind": "multiplier", "low": 1.1, "high": 1.2},
        {"kind": "multiplier", "low": 0.5, "high": float("inf")},
        {"kind": "table", "multipliers": [1.0]},
        {"kind": "table", "multipliers": [1.0, 0.5]},
        {"kind": "table", "multipliers": [1.0, 1.0]},
        {"kind": "table", "multipliers": [0.5, float("nan")]},
        {"kind": "table", "multipliers": [0.0, 1.0]},
        {"kind": "table", "multipliers": [0.5, 4.0]},
        {"kind": "tanh_map", "step": 0.2, "low": 1},
    ],
)
def test_refused(wrong):
    with pytest.raises(ValidationError):
        TypeAdapter(AnyAction).validate_python(wrong)


def test_what_goes_with_a_scale_only_says_so():
    table = {"kind": "choice", "rows": [{"a": 1}, {"a": 2}]}
    with pytest.raises(InputError, match=r"int8 network .*; choice"):
        scale_of(Choice.model_validate(table), "an int8 network")


def test_a_scale_multiplies_a_knob_in_force():
    action = TanhMap(kind="tanh_map", step=0.2)
    action.check(FLOW_RATE)
    with pytest.raises(ValueError, match=r"queue_marking .*choice or .*level"):
        action.check(QUEUE_MARKING)


def test_the_loss_is_the_root_mean_square_by_weight():
    action = TanhMap(kind="tanh_map", step=0.2)
    sums, label = np.array([[0.1], [0.4]]), np.array([[0.0], [0.0]])
    assert action.loss(sums, label, np.array([3.0, 1.0])) == pytest.approx(np.sqrt((3 * 0.01 + 0.16) / 4))
