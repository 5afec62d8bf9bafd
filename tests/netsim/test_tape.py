"""Tapes: every operator is the IEEE operation, in NumPy as in the simulator's C++."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.ir.tape import FloatOp, Names, Reading, TapeBuilder, evaluate
from netsim import _core

FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e12, max_value=1e12),
    st.sampled_from([0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 2.0**32, 1.0]),
)
U32 = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**32 - 1]))
BINARY = [FloatOp.ADD, FloatOp.SUB, FloatOp.MUL, FloatOp.DIV, FloatOp.MIN, FloatOp.MAX, FloatOp.BELOW]


def every_operator(t: TapeBuilder) -> list[int]:
    """Each over two signals, what is known, what is in force, and each other."""
    a, b = t.signal("a"), t.signal("b")
    c = t.step(FloatOp.SUB, t.known("k"), t.const(0.75))
    d = t.step(FloatOp.MUL, t.step(FloatOp.IN_FORCE), t.const(-(2.0**-7)))
    found = [t.elapsed("a", "b"), t.elapsed("b", "a"), c, d]
    found += [t.step(op, x, y) for op in BINARY if op is not FloatOp.DIV for x, y in ((a, b), (b, a), (c, d), (d, c))]
    found.append(t.step(FloatOp.DIV, c, t.step(FloatOp.ADD, a, t.const(3.0))))
    found += [t.step(op, x) for op in (FloatOp.FLOOR, FloatOp.ROUND) for x in (c, d)]
    found += [t.step(FloatOp.SQRT, b), t.step(FloatOp.SELECT, t.step(FloatOp.BELOW, a, b), c, d)]
    return found


def in_cxx(tape, event, known, in_force):
    """The results as a decider observes them: a feature each, float32."""
    steps = [(int(s.op), s.a, s.b, s.c) for s in tape.steps]
    features = [_core.TapeConfig(list(tape.constants), steps, [result], []) for result in tape.results]
    nothing = _core.TapeConfig([0.0], [], [0, 0], [])
    zero = _core.TapeConfig([0.0], [], [0], [])
    network = _core.NetworkWeights()
    network.output = _core.Layer.make(np.zeros((1, len(features)), np.float32), np.zeros(1, np.float32))
    config = _core.NativeConfig(len(event), 1, features, [0.0] * len(features), 1, [known], nothing, 1, zero, in_force)
    core = _core.NativeDecider(config, network, 1)
    assert core.decide(0, list(event)) == [0]
    return core.observations(1)


@settings(max_examples=examples(200), deadline=None)
@given(U32, U32, FLOATS, U32)
def test_cxx_and_numpy_agree_to_the_bit(a: int, b: int, known: float, in_force: int) -> None:
    t = TapeBuilder(Names(("a", "b"), ("k",)))
    tape = t.finish(*every_operator(t))
    read = Reading({"a": np.array([float(a)]), "b": np.array([float(b)])}, {"k": known}, float(in_force))
    registers = evaluate(tape, read)
    with np.errstate(over="ignore"):
        here = np.array([np.broadcast_to(registers[result], 1)[0] for result in tape.results]).astype(np.float32)
    np.testing.assert_array_equal(in_cxx(tape, (a, b), known, in_force), here)


@pytest.mark.parametrize(
    ("value", "rounded"), [(0.49999999999999994, 0), (0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-2.5, -3), (-0.4, 0)]
)
def test_halves_are_rounded_away_from_zero(value: float, rounded: float) -> None:
    t = TapeBuilder(Names())
    tape = t.finish(t.step(FloatOp.ROUND, t.const(value)))
    assert float(evaluate(tape, Reading())[tape.results[0]]) == rounded


def test_equal_steps_are_shared_and_constants_come_first() -> None:
    t = TapeBuilder(Names(("a",)))
    double = t.step(FloatOp.ADD, t.signal("a"), t.signal("a"))
    tape = t.finish(t.step(FloatOp.MUL, double, t.const(3.0)))
    assert tape.constants == (3.0,)
    assert [(s.op, s.a, s.b) for s in tape.steps] == [(FloatOp.SIGNAL, 0, 0), (FloatOp.ADD, 1, 1), (FloatOp.MUL, 2, 0)]
    assert tape.results == (3,)


def test_a_table_is_read_where_the_greatest_output_says() -> None:
    t = TapeBuilder(Names())
    t.const(9.0)
    tape = t.finish(t.step(FloatOp.AT, t.table([5.0, 6.0, 7.0]), t.step(FloatOp.BEST, 0, 3)))
    outputs = np.array([[0.0, 1.0, 1.0], [3.0, 1.0, 3.0], [0.0, 0.0, 0.5]])
    assert evaluate(tape, Reading(outputs=outputs))[tape.results[0]].tolist() == [6.0, 5.0, 7.0]


@pytest.mark.parametrize(
    "steps",
    [
        [(int(FloatOp.SIGNAL), 1, 0, 0)],
        [(int(FloatOp.ELAPSED), 0, 1, 0)],
        [(int(FloatOp.KNOWN), 1, 0, 0)],
        [(int(FloatOp.DECIDED), 1, 0, 0)],
        [(int(FloatOp.OUTPUT), 0, 0, 0)],
        [(int(FloatOp.BEST), 0, 0, 0)],
        [(int(FloatOp.BEST), 0, 1, 0)],
        [(int(FloatOp.PAST), 0, 0, 0)],
        [(int(FloatOp.ADD), 0, 1, 0)],
        [(int(FloatOp.SELECT), 0, 0, 1)],
        [(int(FloatOp.AT), 0, 0, 0)],
    ],
)
def test_cxx_refuses_a_tape_that_reads_what_is_not_there(steps: list[tuple[int, int, int, int]]) -> None:
    network = _core.NetworkWeights()
    network.output = _core.Layer.make(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
    zero = _core.TapeConfig([0.0], [], [0], [])
    nothing = _core.TapeConfig([0.0], [], [0, 0], [])
    wrong = _core.TapeConfig([0.0], steps, [1], [])
    with pytest.raises(ValueError, match="reads what"):
        _core.NativeDecider(_core.NativeConfig(1, 1, [wrong], [0.0], 1, [0.0], nothing, 1, zero, None), network, 1)
    with pytest.raises(TypeError):
        _core.TapeConfig([0.0], [(len(FloatOp), 0, 0)], [0], [])
    with pytest.raises(ValueError, match="unknown operator"):
        _core.TapeConfig([0.0], [(len(FloatOp), 0, 0, 0)], [0], [])
