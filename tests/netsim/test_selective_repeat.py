"""Selective repeat: small cases by hand, and that whatever is lost is repeated once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from netsim import Failure, Mix, Network, Part, Scenario, Simulation, baselines
from netsim.devices import on_device
from netsim.network import MS, US
from netsim.network_file import from_table
from netsim.scenarios import Flow

PACKET = 1106 * 80
"""On a link of 100 Gb/s, ps."""
FRAME = 1106 - 20
THERE, BACK = 4_000_000, 8_192_000 - (4_000_000 - PACKET + 84 * 80)
"""A data packet's way and its ACK's, ps."""
FIFTH_BUCKET = 2 * FRAME + 20
"""Of a policer of half the line rate: packets 0, 1, 2 and 4 of a flow pass at line rate, 3 finds no tokens."""
NAMES = ("dcqcn", "swift", "dctcp", "cubic", "policy")


def one_flow(packets, transport, **network):
    values = {"policer_gbps": 50, "policer_burst_bytes": FIFTH_BUCKET, "start_jitter_ps": 0, **network}
    simulation = Simulation(
        Scenario("one flow", 1, 1, (Flow(0, 0, packets),)),
        baselines.by_name("dctcp"),
        seed=1,
        network=Network(transport=transport, **values),
    )
    simulation.run(2 * MS)
    return simulation


def sent(simulation):
    return int(simulation.window()["sent_packets"].sum())


def test_a_packet_that_is_lost_is_repeated_alone():
    """Packet 4 reports that 3 is missing; 3 leaves as soon as the report is there."""
    simulation = one_flow(5, "selective-repeat")
    metrics = simulation.metrics()
    assert (sent(simulation), metrics["dropped_packets"], metrics["nacks"], metrics["timeouts"]) == (6, 1, 1, 0)
    reported = 4 * PACKET + THERE + BACK
    assert simulation.window()["completed_finish_ps"].tolist() == [reported + THERE + BACK]


def test_going_back_sends_what_had_come_again():
    simulation = one_flow(5, "go-back-n")
    metrics = simulation.metrics()
    assert (sent(simulation), metrics["dropped_packets"], metrics["nacks"], metrics["timeouts"]) == (7, 1, 1, 0)
    reported = 4 * PACKET + THERE + BACK
    assert simulation.window()["completed_finish_ps"].tolist() == [reported + PACKET + THERE + BACK]


def test_the_last_packet_is_repeated_after_the_timeout():
    """Nothing comes behind it that could report it. The timer starts when the ACK of packet 2 comes."""
    timeout = 1 * MS
    simulation = one_flow(4, "selective-repeat", retransmit_timeout_ps=timeout)
    metrics = simulation.metrics()
    assert (sent(simulation), metrics["dropped_packets"], metrics["nacks"], metrics["timeouts"]) == (5, 1, 0, 1)
    heard = 2 * PACKET + THERE + BACK
    assert simulation.window()["completed_finish_ps"].tolist() == [heard + timeout + THERE + BACK]


def test_a_gap_waits_for_what_may_only_be_late():
    """Packets 3 and 5 are dropped, 6 comes last: 3 further than the former, 1 further than the latter."""
    found = [one_flow(7, "selective-repeat", reorder_packets=wait).metrics() for wait in (0, 1, 2, 3)]
    assert [each["nacks"] for each in found] == [2, 1, 1, 0]
    assert [each["timeouts"] for each in found] == [0, 1, 1, 1]
    assert [each["dropped_packets"] for each in found] == [2, 2, 2, 2]


@given(
    hosts=st.integers(2, 6),
    packets=st.sampled_from([1, 17, 300, 1500]),
    name=st.sampled_from(NAMES),
    classes=st.booleans(),
    policed=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(25), deadline=None)
def test_every_loss_is_repeated_once(steering, hosts, packets, name, classes, policed, seed):
    """A packet is sent once, and again for each time that it was dropped; more only after a timeout."""
    network = Network(
        transport="selective-repeat",
        buffer_bytes=40_000,
        class_weights=(1, 2) if classes else (1,),
        policer_gbps=50 if policed else None,
    )
    scenario = Scenario("drawn", hosts, 1, tuple(Flow(host, 0, packets) for host in range(hosts)))
    policy = steering() if name == "policy" else baselines.by_name(name)
    simulation = Simulation(scenario, policy, seed=seed, network=network)
    simulation.run(400 * MS)
    assert simulation.conservation()["holds"]
    np.testing.assert_array_equal(simulation.delivered(), packets)
    metrics = simulation.metrics()
    repeated = sent(simulation) - hosts * packets
    assert repeated == metrics["dropped_packets"] or (metrics["timeouts"] > 0 and repeated > 0)
    assert (simulation.window()["completed_flow"].size) == hosts


@given(link=st.sampled_from(["leaf0-spine1", "spine0-leaf3"]), name=st.sampled_from(NAMES), seed=st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_packets_that_are_spread_and_lost_are_all_delivered(steering, link, name, seed):
    network = Network(
        transport="selective-repeat",
        spray=True,
        reorder_packets=64,
        failures=(Failure(link, 50 * US, 100 * US),),
        reroute_ps=50 * US,
    )
    policy = steering() if name == "policy" else baselines.by_name(name)
    simulation = Simulation("incast:8x300KB@leaf-spine:4x4x2", policy, seed=seed, network=network)
    simulation.run(9 * MS)
    assert simulation.conservation()["holds"]
    assert (simulation.delivered() == simulation.scenario.column("packets")).all()


def test_a_network_without_losses_is_the_same_under_both():
    found = [
        Simulation("many-to-one:8", baselines.by_name("swift"), seed=1, network=Network(transport=transport))
        for transport in ("go-back-n", "selective-repeat", None)
    ]
    for simulation in found:
        simulation.run(2 * MS)
        assert simulation.metrics()["dropped_packets"] == 0
        np.testing.assert_array_equal(simulation.delivered(), found[0].delivered())


def test_tcp_repairs_by_itself_beside_a_go_back_n_transport():
    """CUBIC's losses are repeated alone, DCQCN's are gone back to."""
    mix = Mix((Part(baselines.by_name("dcqcn"), 50), Part(baselines.by_name("cubic"), 50)))
    network = Network(buffer_bytes=300_000)
    simulation = Simulation("many-to-one:4", mix, seed=1, network=network)
    simulation.run(40 * MS)
    window = simulation.window()
    cubic = np.asarray(window["flow_cohort"]) == 1
    again = window["sent_packets"] - simulation.delivered()
    assert simulation.conservation()["holds"]
    assert window["shares"][1]["dropped"] > 0
    assert again[cubic].sum() <= window["shares"][1]["dropped"] + 2 * 4096


def test_a_transport_that_there_is_not_is_refused():
    for wrong in ("go back", "", 3):
        with pytest.raises(InputError):
            Network(transport=wrong)


def test_a_device_names_its_transport_and_has_no_other():
    assert on_device(Network(), "falcon").selective_repeat
    assert not on_device(Network(), "bluefield3").selective_repeat
    assert on_device(Network(transport="selective-repeat"), "ideal").selective_repeat
    for device, transport in (("bluefield3", "selective-repeat"), ("falcon", "go-back-n")):
        with pytest.raises(InputError):
            on_device(Network(transport=transport), device)
    assert from_table({"device": "falcon"}, "network").transport == "selective-repeat"


@pytest.mark.parametrize("reorder_packets", [1, 16, 64])
@pytest.mark.parametrize("baseline", ["dctcp", "swift"])
def test_a_repeat_that_has_just_come_leaves_nothing_to_send(baseline, reorder_packets):
    """Packets come before any is far enough behind to be missing. A burst of none would travel as a probe."""
    network = Network(
        buffer_bytes=14 * 1106, transport="selective-repeat", reorder_packets=reorder_packets, burst_packets=4
    )
    simulation = Simulation("many-to-one:40", baselines.by_name(baseline), seed=1, network=network, duration_ps=2 * MS)
    simulation.run(2 * MS)
    assert simulation.conservation()["holds"]
    counts = simulation.window()["counts"]
    assert counts["data_dropped"] > 0
    assert (counts["probes_sent"], counts["probes_arrived"]) == (0, 0)
