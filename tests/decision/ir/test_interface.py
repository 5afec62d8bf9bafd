"""Programs over other interfaces than a flow's."""

import json

import numpy as np

from decision.ir.forest import Forest, oblivious
from decision.ir.interface import Knob, Signal, Uniform
from decision.ir.interfaces.grid import grid
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.program_json import program_from_json, program_to_json

MODEL = grid([Signal("x_q4", "", "x", Uniform(-5, 9), "int32")], [Knob("out_0", "", "value", -9, 9, "int32")])


def marking() -> Program:
    """Both thresholds from the queue, the probability fixed."""
    b = ProgramBuilder(Forest(("queue",), (oblivious(((0, 5000),), (1000, 9000)),), (500,), 0), QUEUE_MARKING)
    queue = b.add(Op.MIN, (b.event("queue_bytes"), b.const(2**24 - 1)))
    kmin = b.add(Op.MAX, (b.add(Op.TREES, (queue,)), b.const(0)))
    return b.finish(kmin, b.add(Op.SHL, (kmin,), 2), b.const(655))


def test_a_program_gives_a_value_for_each_knob():
    program = marking()
    again = program_from_json(json.loads(json.dumps(program_to_json(program))))
    assert again == program
    event = {"queue_bytes": [0, 5000, 5001, 2**32 - 1], "sent_bytes": [0], "marked_bytes": [0]}
    values = trace(program, event, {"capacity_bytes": [1]}, {})
    kmin, kmax, pmax = (values[result] for result in program.results)
    assert kmin.tolist() == [1500, 1500, 9500, 9500]
    assert np.array_equal(kmax, 4 * kmin)
    assert set(pmax.tolist()) == {655}


def test_a_signal_has_the_range_of_its_storage():
    b = ProgramBuilder(Forest((), (), (0,), 0), MODEL)
    x = b.event("x_q4")
    assert (b.nodes[x].low, b.nodes[x].high) == (-(2**31), 2**31 - 1)
    assert b.finish(x).results == (x,)
