"""The interfaces: what they say of themselves, and how a file names them."""

import json

import pytest

from decision.artefact.errors import InputError
from decision.ir.interface import Knob, Signal, Uniform
from decision.ir.interfaces import INTERFACES, from_json, to_json
from decision.ir.interfaces.grid import grid

MODEL = grid([Signal("x_q4", "", "x", Uniform(-5, 9), "int32")], [Knob("out_0", "", "value", -9, 9, "int32")])


def test_each_file_s_interfaces_are_known_by_their_names():
    """Those of a flow's options too; a grid is made for its model."""
    assert {"flow_rate", "queue_marking"} < set(INTERFACES)
    assert "grid" not in INTERFACES
    assert all(INTERFACES[name].name == name for name in INTERFACES)
    with pytest.raises(InputError, match=r"interface 'door'; .*"):
        from_json("door")


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
        with pytest.raises(InputError, match="one stands twice"):
            from_json(to_json(MODEL) | {group: entries})


@pytest.mark.parametrize("data", [{"name": "grid"}, {"name": "net", "event": [], "knobs": []}, {"event": 3}])
def test_a_grid_that_is_none_is_refused(data):
    with pytest.raises(InputError, match="is not readable"):
        from_json(data)
