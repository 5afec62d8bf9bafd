"""Fabrics: their links, shortest paths, ECMP and round-trip times."""

from collections import deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from netsim import Network, Simulation, baselines, topology
from netsim.splitmix import keys
from netsim.topology import RECEIVER, Port, Topology

US = 1_000_000
RATES = st.sampled_from([25, 100, 400])


@st.composite
def fabrics(draw: st.DrawFn) -> Topology:
    delay = draw(st.integers(1, 3 * US))
    if draw(st.booleans()):
        return topology.fat_tree(draw(st.sampled_from([2, 4, 6])), gbps=draw(RATES), link_delay_ps=delay)
    leaves, hosts, spines = (draw(st.integers(1, 5)) for _ in range(3))
    return topology.leaf_spine(
        leaves, hosts, spines, links=draw(st.integers(1, 3)), host_gbps=draw(RATES), spine_gbps=draw(RATES),
        link_delay_ps=delay,
    )  # fmt: skip


def shortest(fabric: Topology, start: int, end: int) -> int:
    """Links between two switches, by breadth-first search."""
    seen, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for port in fabric.ports:
            if port.switch == here and port.to != RECEIVER and port.to not in seen:
                seen[port.to] = seen[here] + 1
                queue.append(port.to)
    return seen[end]


@given(fabrics(), st.integers(0, 2**63), st.randoms(use_true_random=False))
@settings(max_examples=examples(40), deadline=None)
def test_paths_are_connected_and_shortest(fabric: Topology, seed: int, random) -> None:
    hosts = np.array([random.randrange(fabric.hosts) for _ in range(30)])
    receivers = np.array([random.randrange(fabric.receivers) for _ in range(30)])
    offsets, ports = fabric.paths(hosts, receivers, keys(30, seed))
    assert offsets.dtype == ports.dtype == np.uint32
    assert (offsets[0], offsets[-1], offsets.size) == (0, ports.size, 31)
    for flow, (host, receiver) in enumerate(zip(hosts, receivers, strict=True)):
        path = [fabric.ports[port] for port in ports[offsets[flow] : offsets[flow + 1]]]
        assert path[0].switch == fabric.uplink_switch[host]
        assert all(a.to == b.switch for a, b in pairwise(path))
        assert ports[offsets[flow + 1] - 1] == receiver
        assert len(path) == 1 + shortest(fabric, fabric.uplink_switch[host], fabric.ports[receiver].switch)


@given(st.integers(0, 2**63))
@settings(max_examples=5, deadline=None)
def test_a_path_depends_on_its_own_key_only(seed: int) -> None:
    fabric = topology.fat_tree(4)
    hosts, receivers, key = np.arange(200) % 16, np.arange(200) * 7 % 16, keys(200, seed)
    offsets, ports = fabric.paths(hosts, receivers, key)
    for flow in (0, 99, 199):
        alone = fabric.paths(hosts[[flow]], receivers[[flow]], key[[flow]])[1]
        assert alone.tolist() == ports[offsets[flow] : offsets[flow + 1]].tolist()
    assert fabric.paths(hosts, receivers, keys(200, seed + 1))[1].tolist() != ports.tolist()


def used(fabric: Topology, hosts: np.ndarray, receivers: np.ndarray) -> np.ndarray:
    """Flows on each port [ports]."""
    return np.bincount(fabric.paths(hosts, receivers, keys(hosts.size, 5))[1], minlength=len(fabric.ports))


def test_ecmp_spreads_flows_over_all_equal_paths() -> None:
    """From one rack to another: 12 links up, 3 spines, 4 links down each; within five standard deviations."""
    fabric = topology.rl_cc_cluster()
    flows = 12_000
    counts = used(fabric, np.zeros(flows, int), np.full(flows, 63))
    assert counts[63] == flows
    links = {(p.switch, p.to): [] for p in fabric.ports}
    for port, count in zip(fabric.ports, counts, strict=True):
        links[port.switch, port.to].append(count)
    for pair in [(0, spine) for spine in (4, 5, 6)] + [(spine, 3) for spine in (4, 5, 6)]:
        assert len(links[pair]) == 4
        assert (np.abs(np.array(links[pair]) - 1000) < 5 * np.sqrt(1000 * 11 / 12)).all()
    assert sum(map(sum, links.values())) == 3 * flows


def test_choices_at_different_levels_are_independent() -> None:
    """One remainder for all levels would leave half of a 4-port tree's cores without a flow."""
    fabric = topology.fat_tree(4)
    flows = 8000
    counts = used(fabric, np.zeros(flows, int), np.full(flows, 15))
    cores = [sum(int(c) for p, c in zip(fabric.ports, counts, strict=True) if p.to == core) for core in range(16, 20)]
    assert all(abs(count - 2000) < 5 * np.sqrt(2000 * 3 / 4) for count in cores)


@pytest.mark.parametrize("gbps", [25, 100])
def test_the_star_is_the_networks(gbps: int) -> None:
    network = Network(link_gbps=gbps, one_way_ps=5 * US, base_rtt_ps=9 * US)
    star = topology.star(3, 2, network)
    assert star.base_rtt_ps == 9 * US
    assert star.uplink_delay_ps == network.uplink_delay_ps
    assert [port.delay_ps for port in star.ports] == [network.downlink_delay_ps] * 2
    assert star.control_delay_ps([0, 2], [1, 0]).tolist() == [network.control_delay_ps] * 2
    offsets, ports = star.paths([0, 1, 2], [1, 0, 1], keys(3, 0))
    assert (offsets.tolist(), ports.tolist()) == ([0, 1, 2, 3], [1, 0, 1])


def test_control_frames_take_each_links_delay_and_their_time_on_it() -> None:
    fabric = topology.acc_fabric()
    at_25, at_100 = 84 * 320, 84 * 80
    near, far = fabric.control_delay_ps([0, 0], [1, 287])
    assert near == 2 * US + 2 * at_25
    assert far == 4 * US + 2 * at_25 + 2 * at_100


@given(fabrics())
@settings(max_examples=examples(40), deadline=None)
def test_base_rtt_is_that_of_a_probe_behind_a_packet(fabric: Topology) -> None:
    """Two frames through FIFO ports, one event after another, on one path of each pair of machines."""
    host, receiver = (pairs.ravel() for pairs in np.meshgrid(np.arange(fabric.hosts), np.arange(fabric.receivers)))
    offsets, ports = fabric.paths(host, receiver, np.zeros(host.size, np.uint64))
    back = fabric.control_delay_ps(host, receiver)
    longest = 0
    for flow in range(0, host.size, 7) if host.size > 500 else range(host.size):
        links = [Port(0, fabric.host_gbps, fabric.uplink_delay_ps)]
        links += [fabric.ports[port] for port in ports[offsets[flow] : offsets[flow + 1]]]
        arrivals = [
            -fabric.data_bytes * 8000 // fabric.host_gbps,
            0,
        ]  # the packet's transmission ends when the probe's begins
        for link in links:
            free, out = arrivals[0], []
            for arrival, size in zip(arrivals, (fabric.data_bytes, fabric.control_bytes), strict=True):
                free = max(free, arrival) + size * 8000 // link.gbps
                out.append(free + link.delay_ps)
            arrivals = out
        longest = max(longest, arrivals[1] + int(back[flow]))
    assert fabric.base_rtt_ps >= longest
    if host.size <= 500:
        assert fabric.base_rtt_ps == longest


def test_base_rtt_by_hand() -> None:
    """Four links of 1 us both ways; at equal rates the packet ahead is waited for at the first port, once."""
    assert topology.rl_cc_cluster().base_rtt_ps == 8 * US + (3 * 1106 + 84 + 4 * 84) * 80
    assert topology.rl_cc_cluster().hops == 3
    assert topology.fat_tree(4).hops == 5


def test_the_fabrics_of_the_papers() -> None:
    cluster, acc = topology.rl_cc_cluster(), topology.acc_fabric()
    assert (cluster.hosts, cluster.switches, len(cluster.ports)) == (64, 7, 64 + 2 * 4 * 3 * 4)
    assert {port.gbps for port in cluster.ports} == {cluster.host_gbps} == {100}
    assert np.bincount(cluster.uplink_switch).tolist() == [16] * 4
    assert (acc.hosts, acc.switches, len(acc.ports)) == (288, 18, 288 + 2 * 12 * 6)
    assert {port.gbps for port in acc.ports[:288]} == {acc.host_gbps} == {25}
    assert {port.gbps for port in acc.ports[288:]} == {100}
    assert np.bincount(acc.uplink_switch).tolist() == [24] * 12
    tree = topology.fat_tree(16)
    assert (tree.hosts, tree.switches, len(tree.ports)) == (1024, 320, 1024 * 5)


def test_names() -> None:
    assert topology.by_name("acc-fabric") == topology.acc_fabric()
    assert topology.by_name("leaf-spine:2x3x4").host_gbps == 100
    named = topology.by_name("leaf-spine:2x3x4:2x25/400")
    assert (named.hosts, named.switches, named.host_gbps) == (6, 6, 25)
    assert [port.gbps for port in named.ports[6:]] == [400] * (2 * 2 * 4 * 2)
    assert (
        topology.by_name("leaf-spine:2x3x4:25/400").ports[6:]
        == topology.leaf_spine(2, 3, 4, host_gbps=25, spine_gbps=400).ports[6:]
    )
    assert topology.by_name("fat-tree:4:25").host_gbps == 25
    jumbo = Network(payload_bytes=4096)
    assert topology.by_name("star:5", jumbo) == topology.star(5, 5, jumbo)
    assert topology.by_name("rl-cc-cluster", jumbo).data_bytes == 4096 + 82


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ring:4", "unknown fabric 'ring:4'"),
        ("leaf-spine:4x16", "unknown fabric"),
        ("star:0", "0 hosts; 1 to 8192"),
        ("star:9000", "9000 hosts; 1 to 8192"),
        ("leaf-spine:1000x9x1", "9000 hosts; 1 to 8192"),
        ("leaf-spine:1000x1x100", "1100 switches; 1 to 1024"),
        ("leaf-spine:2x2x2:65x100/100", "65 links .*; 1 to 64"),
        ("leaf-spine:2x2x2:30/100", "a link of 30 Gb/s"),
        ("fat-tree:5", "even number"),
        ("fat-tree:18", "even number"),
    ],
)
def test_fabrics_that_cannot_be_built(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        topology.by_name(name)


def built(**changes: object) -> Topology:
    """One host, two switches in line, one receiver."""
    given = {
        "name": "hand-made", "hosts": 1, "receivers": 1, "switches": 2, "host_gbps": 100, "uplink_switch": (0,),
        "uplink_delay_ps": 1, "ports": (Port(1, 100, 1), Port(0, 100, 1, 1)),
    }  # fmt: skip
    return Topology(**(given | changes))


def test_links_need_not_be_alike() -> None:
    slow = built(ports=(Port(1, 10, 5), Port(0, 100, 7, 1)))
    assert slow.base_rtt_ps == 1 + 1106 * 80 + 7 + 1106 * 800 + 84 * 800 + 5 + (1 + 7 + 5 + 84 * (80 + 80 + 800))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hosts": 0}, "0 hosts"),
        ({"hosts": 2}, "host .*an uplink"),
        ({"receivers": 3}, "receiver a port"),
        ({"uplink_switch": (2,)}, "switch that does"),
        ({"ports": (Port(1, 100, 1), Port(0, 100, 1, 2))}, "switch that does"),
        ({"ports": (Port(0, 100, 1, 1), Port(1, 100, 1))}, "must .*first"),
        ({"ports": (Port(1, 100, 0), Port(0, 100, 1, 1))}, "takes no time"),
        ({"ports": (Port(1, 100, 1), Port(1, 100, 1, 0))}, "no path"),
        ({"host_gbps": 0}, "a link of 0 Gb/s"),
    ],
)
def test_topologies_that_cannot_be(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=f"topology hand-made: .*{sentence}"):
        built(**changes)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leaf-spine:200x8x100", "ports; 32500 .*possible"),
        ("leaf-spine:0x1x1", "0 leaves; 1 to 1024"),
        ("star:0", "0 hosts; 1 to 8192"),
        ("leaf-spine:2x3x1:1/1", ""),
    ],
)
def test_what_the_simulator_cannot_hold_is_refused_and_slow_links_are_not(name: str, message: str) -> None:
    if message:
        with pytest.raises(InputError, match=message):
            topology.by_name(name)
    else:
        run = Simulation(f"many-to-one:4@{name}", baselines.by_name("dctcp"), seed=1)
        run.run(10_000 * US)
        assert run.metrics()["goodput"] > 0.5
