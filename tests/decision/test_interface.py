"""Interfaces: what they say of themselves, programs over others than a flow's, and how a file names them."""

import json

import numpy as np
import pytest

from decision.errors import InputError
from decision.forest import Forest, oblivious
from decision.interface import Knob, Signal, Uniform
from decision.interfaces import INTERFACES, from_json, to_json
from decision.interfaces.grid import grid
from decision.interfaces.queue_marking import QUEUE_MARKING
from decision.interpret import trace
from decision.program import Op, Program, ProgramBuilder

MODEL = grid([Signal("x_q4", "", "x", Uniform(-5, 9), "int32")], [Knob("out_0", "", "value", -9, 9, "int32")])


def marking() -> Program:
    """Both thresholds from the queue, the probability fixed."""
    b = ProgramBuilder(Forest(("queue",), (oblivious(((0, 5000),), (1000, 9000)),), (500,), 0), QUEUE_MARKING)
    queue = b.add(Op.MIN, (b.event("queue_bytes"), b.const(2**24 - 1)))
    kmin = b.add(Op.MAX, (b.add(Op.TREES, (queue,)), b.const(0)))
    return b.finish(kmin, b.add(Op.SHL, (kmin,), 2), b.const(655))


@pytest.mark.parametrize("interface", INTERFACES.values(), ids=lambda i: i.name)
def test_names_of_an_interface_are_told_apart_and_its_data_refers_to_what_it_has(interface):
    for group in (interface.event_names, interface.param_names, interface.knob_names):
        assert len(set(group)) == len(group)
    signals = interface.signals()
    for key, signal in signals.items():
        assert key.startswith("params.") == (signal.plausible is None)
        assert set(signal.beside) <= signals.keys()
        since = interface.since(key)
        assert since is None or since in signals
    assert {key for mix in interface.mixes for group in mix for key in group} <= signals.keys()


@pytest.mark.parametrize("interface", [*INTERFACES.values(), MODEL], ids=lambda i: i.name)
def test_a_file_says_which_interface_it_means(interface):
    assert from_json(json.loads(json.dumps(to_json(interface)))) == interface


@pytest.mark.parametrize(
    ("group", "change"),
    [
        ("event", {"name": "a; int x[99]"}),
        ("event", {"name": ["x"]}),
        ("event", {"storage": "nonsense"}),
        ("event", {"range": [-5, 2**70]}),
        ("event", {"range": [9, -5]}),
        ("event", {"unit": "*/ x /*"}),
        ("knobs", {"range": [0, 2**31]}),
        ("knobs", {"storage": "uint16", "range": [-1, 3]}),
        ("knobs", {"meaning": "two\nlines"}),
    ],
)
def test_a_grid_that_no_c_could_hold_is_refused(group, change):
    data = to_json(MODEL)
    data[group][0] |= change
    with pytest.raises(InputError, match="is not readable"):
        from_json(data)


@pytest.mark.parametrize("group", ["event", "knobs"])
def test_a_grid_has_signals_and_knobs_each_once(group):
    for entries in ([], to_json(MODEL)[group] * 2):
        with pytest.raises(InputError, match="none in C, or one stands twice"):
            from_json(to_json(MODEL) | {group: entries})


@pytest.mark.parametrize("data", [{"name": "grid"}, {"name": "net", "event": [], "knobs": []}, {"event": 3}])
def test_a_grid_that_is_none_is_refused(data):
    with pytest.raises(InputError, match="is not readable"):
        from_json(data)


def test_a_program_gives_a_value_for_each_knob():
    program = marking()
    again = Program.from_json(json.loads(json.dumps(program.to_json())))
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
