"""Flows whose bursts their policy makes shorter, by the BDP: the NIC's own length is the longest."""

import numpy as np
import pytest

from netsim import Network, Simulation
from netsim.network import MS, US

SLOW = Network(link_gbps=10)
SCENARIOS = ["many-to-one:8", "long-short:9"]


def recorded(spec, scenario, network):
    run = Simulation(scenario, spec, seed=3, record=True, network=network, duration_ps=4 * MS)
    run.run(4 * MS)
    return run.drain_records() | {"sent": run.window()["sent_packets"]}


def same(some, others):
    return all(np.array_equal(some[name], others[name]) for name in some)


def with_bursts(network, packets):
    return Network(link_gbps=network.link_gbps, base_rtt_ps=network.base_rtt_ps, burst_packets=packets)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    ("bdp", "network", "packets"),
    [
        (0.05, SLOW, 1),  # 512 bytes: one packet may always leave
        (0.25, SLOW, 2),  # 2,560 bytes, packets of 1,106
        (1.0, SLOW, 4),  # never longer than the NIC's
        (0.05, Network(), 4),  # 5,120 bytes
        (0.04, Network(), 3),
        (0.04, Network(base_rtt_ps=16 * US), 4),  # by the network's own base RTT
    ],
)
def test_bursts_are_the_networks_with_as_many_packets(steering, scenario, bdp, network, packets):
    asked = recorded(steering(bursts={"bdp": bdp}), scenario, network)
    lengths = {n: same(asked, recorded(steering(), scenario, with_bursts(network, n))) for n in (1, 2, 3, 4)}
    assert [n for n, alike in lengths.items() if alike] == [packets]


def test_a_nic_with_shorter_bursts_keeps_them(steering):
    two = with_bursts(Network(), 2)
    assert same(
        recorded(steering(bursts={"bdp": 0.05}), "many-to-one:8", two), recorded(steering(), "many-to-one:8", two)
    )


@pytest.mark.parametrize(("scenario", "network"), [("many-to-one:4", SLOW), ("many-to-one:4@fat-tree:4:25", Network())])
def test_decisions_from_outside_come_when_those_inside_do(steering, from_outside, scenario, network):
    teacher = steering(bursts={"bdp": 0.05})
    rows = recorded(teacher, scenario, network)
    outside = from_outside(teacher, rows, scenario, seed=3, duration_ps=4 * MS, network=network)
    for name in ("t_ps", "flow", "rate_q30", "action_q16"):
        np.testing.assert_array_equal(outside[name], rows[name], name)
