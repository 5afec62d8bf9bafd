"""A network on a device: what of its file becomes of NICs, and that the ideal one changes nothing."""

import pytest

from decision.artefact.errors import InputError
from decision.devices import load_device, names
from netsim import Network, Simulation
from netsim.devices import chosen, on_device
from netsim.network import MS, US
from netsim.network_file import from_table


def test_the_ideal_device_changes_nothing():
    network = Network(link_gbps=25, rtt_noise_ps=7, decision_loss=0.1)
    assert on_device(network, "ideal") == network


@pytest.mark.parametrize("name", names())
def test_what_a_file_says_is_what_the_nics_do(name):
    device, network = load_device(name), on_device(Network(), name)
    assert network.context_flows == device.contexts.flows.value
    assert network.rtt_noise_ps == device.events.jitter.value
    assert network.event_reorder == device.events.reorder.value
    assert network.rate_scale == 1 - device.rates.offset.value
    assert network.rate_step_q30 << device.rates.bits.value == 1 << 30
    assert network.actuation_ps == 1000 * device.rates.actuation.value


def test_flows_a_context_may_be_said():
    assert on_device(Network(), "bluefield3:4").context_flows == 4
    assert chosen("bluefield3:4").name == "bluefield3:4"
    assert on_device(Network(), "bluefield3:1") == on_device(Network(), "bluefield3-source-qp")


def test_losses_of_a_device_come_on_top_of_the_networks(tmp_path):
    path = tmp_path / "lossy.toml"
    text = (load_device.__globals__["FOLDER"] / "ideal.toml").read_text()
    assert text.count("[events.loss]\nvalue = 0.0") == 1
    path.write_text(text.replace("[events.loss]\nvalue = 0.0", "[events.loss]\nvalue = 0.5"))
    network = on_device(Network(decision_loss=0.2), str(path))
    assert network.decision_loss == pytest.approx(0.6)


def reordering(share: str, by: str, threads: str = "true") -> str:
    text = (load_device.__globals__["FOLDER"] / "bluefield3.toml").read_text()
    for key, old, new in (
        ("reorder", "0.0", share),
        ("reorder_by", '"0 ns"', f'"{by}"'),
        ("interleaved", "true", threads),
    ):
        assert text.count(f"[events.{key}]\nvalue = {old}") == 1
        text = text.replace(f"[events.{key}]\nvalue = {old}", f"[events.{key}]\nvalue = {new}")
    return text


def test_events_that_a_device_reorders_come_on_top_of_the_networks(tmp_path):
    path = tmp_path / "reordering.toml"
    path.write_text(reordering("0.5", "5 us"))
    own = on_device(Network(), str(path))
    assert (own.event_reorder, own.event_reorder_by_ps) == (0.5, 5 * US)
    both = on_device(Network(event_reorder=0.2, event_reorder_by_ps=7 * US), str(path))
    assert (both.event_reorder, both.event_reorder_by_ps) == (pytest.approx(0.6), 7 * US)


@pytest.mark.parametrize("wrong", [("0.5", "5 us", "false"), ("0.5", "0 ns"), ("0.0", "5 us"), ("1.0", "5 us")])
def test_a_reordering_that_cannot_be_is_refused(wrong, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(reordering(*wrong))
    with pytest.raises(InputError, match="reorder"):
        load_device(str(path))


@pytest.mark.parametrize(
    "name", ["bluefield3:0", "bluefield3:4097", "bluefield3:-1", "bluefield3:x", "bluefield3:", "x"]
)
def test_what_is_no_device_is_refused(name):
    with pytest.raises(InputError):
        on_device(Network(), name)


def test_the_network_of_a_file_names_its_device():
    network = from_table({"device": "bluefield3:8", "probe_gap": "2 us"}, "network")
    assert (network.context_flows, network.probe_gap_ps) == (8, 2 * US)
    for wrong in ({"device": 3}, {"device": "bluefield9"}):
        with pytest.raises(InputError):
            from_table(wrong, "network")


def test_flows_that_do_not_fill_their_contexts_are_refused(steering):
    for scenario, flows, fits in (("many-to-one:4x16", 5, False), ("many-to-one:4x16", 8, True), ("incast:4", 5, True)):
        network = on_device(Network(), f"bluefield3:{flows}")
        if fits:
            Simulation(scenario, steering(), seed=1, network=network, duration_ps=MS)
            continue
        with pytest.raises(InputError):
            Simulation(scenario, steering(), seed=1, network=network, duration_ps=MS)
