"""The papers' networks: their scenarios by name, and those of small clusters that netsim has no name for."""

from dataclasses import dataclass, replace

import numpy as np

from netsim import scenarios, topology
from netsim.network import MS, Network
from netsim.scenarios import HOSTS_OF_FLOWS, SHORT_NODE_BYTES, SHORT_PERIOD_PS, Flows, Scenario, long_short
from netsim.topology import Topology
from rlcc.evaluation.grid import Times

TIMES = Times(200 * MS, (50 * MS, 170 * MS))
"""RL-CC, published code: 200 ms, measured from 50 to 170 ms."""
QUICK = Times(40 * MS, (10 * MS, 34 * MS))
START = Times(50 * MS, (0, 50 * MS))
"""What the window above leaves out: all flows begin at once."""
LONG = Times(1000 * MS, (500 * MS, 1000 * MS))
"""RL-CC, section 4: 1 s, of which 0.5 s are measured."""

MILD = Times(710 * MS, (170 * MS, 710 * MS))
"""Three rounds of `long-short-mild`."""
SELDOM = Times(390 * MS, (90 * MS, 390 * MS))
"""Three rounds of `seldom_long_short`."""
SELDOM_PERIOD_PS = 100 * MS

FAIR_MS = 10
"""Between two flows of ``joining`` that come."""

CLUSTER = 7
"""Hosts of RL-CC's small cluster."""


@dataclass(frozen=True)
class Traffic:
    """A scenario, and when it is measured."""

    name: str
    scenario: Scenario
    times: Times

    @property
    def flows(self) -> int:
        return len(self.scenario.flows)


def named(name: str, times: Times) -> Traffic:
    """One of netsim's own; nothing in these is drawn from the seed but paths."""
    return Traffic(name, scenarios.instantiate(name, 0, times.duration_ps, Network()), times)


def unlike(fabric: str, slow_spine: int, gbps: int) -> Topology:
    """A leaf-spine fabric of which every link to and from one spine is slower; spines are the last switches."""
    whole = topology.by_name(fabric)
    leaves = len(set(whole.uplink_switch))
    slow = leaves + slow_spine
    ports = tuple(replace(port, gbps=gbps) if slow in (port.switch, port.to) else port for port in whole.ports)
    return replace(whole, name=f"{fabric}, spine {slow_spine} at {gbps} Gb/s", ports=ports)


def on(traffic: str, fabric: Topology, times: Times) -> Traffic:
    """all-to-all:N or many-to-one:N in a fabric that has no name."""
    kind, _, number = traffic.partition(":")
    make = scenarios.all_to_all if kind == "all-to-all" else scenarios.many_to_one
    name = f"{traffic}, {fabric.name}"
    return Traffic(name, replace(make(int(number), fabric), name=name), times)


def seldom_long_short(flows: int, times: Times) -> Traffic:
    """Short flows as RL-CC's published code has them, from as many hosts as its table says, but every 100 ms: so often
    that HPCC and Swift leave the long flow what PCC-RL's table 8 says (papers.calibration)."""
    hosts = HOSTS_OF_FLOWS[flows]
    scenario = long_short(flows, period_ps=SELDOM_PERIOD_PS, nodes=hosts, node_bytes=SHORT_NODE_BYTES)
    return Traffic(f"seldom, long-short:{flows}", scenario, times)


def four_to_one(flows: int, times: Times) -> Traffic:
    """RL-CC, section 4: 4 hosts to 1."""
    scenario = Scenario(f"4 hosts, {flows} flows", 4, 1, Flows(host=np.arange(flows) * 4 // flows))
    return Traffic(scenario.name, scenario, times)


def seven_many_to_one(flows: int, times: Times) -> Traffic:
    """Six hosts to the seventh."""
    senders = CLUSTER - 1
    scenario = Scenario(f"seven, many-to-one:{flows}", senders, 1, Flows(host=np.arange(flows) * senders // flows))
    return Traffic(scenario.name, scenario, times)


def seven_all_to_all(flows: int, times: Times) -> Traffic:
    """``flows`` / 42 from each host to each other."""
    pair = np.arange(flows) * CLUSTER * (CLUSTER - 1) // flows
    host, other = np.divmod(pair, CLUSTER - 1)
    columns = Flows(host=host, receiver=(host + 1 + other) % CLUSTER)
    return Traffic(f"seven, all-to-all:{flows}", Scenario("all-to-all", CLUSTER, CLUSTER, columns), times)


def seven_long_short(short: int, times: Times) -> Traffic:
    """One host's flow without end; every 10 ms each of five others sends 4 MB in ``short`` / 5 flows; one receives."""
    nodes = CLUSTER - 2
    each = SHORT_NODE_BYTES * nodes // short
    payload = Network().payload_bytes
    came = np.arange(1 + short) > 0
    columns = Flows(
        host=np.concatenate([[0], 1 + np.arange(short) * nodes // short]),
        packets=np.where(came, -(-each // payload), 0),
        last_bytes=np.where(came, each % payload, 0),
        start_ps=np.where(came, SHORT_PERIOD_PS, 0),
        period_ps=np.where(came, SHORT_PERIOD_PS, 0),
    )
    return Traffic(f"seven, long-short:{short}", Scenario("long-short", nodes + 1, 1, columns, long_flow=0), times)


def joining(flows: int) -> Traffic:
    """A flow from a host of its own every FAIR_MS. Each has as much to send as, with fair shares of all that the link
    can carry, lasts ``flows`` times as long: so they leave as they came, one by one."""
    net = Network()
    share_bytes = net.link_gbps * 1e9 / 8 * net.payload_bytes / net.data_wire_bytes * FAIR_MS * 1e-3
    number = [min(k, flows, 2 * flows - k) for k in range(1, 2 * flows)]  # of flows in the k-th interval
    each = [round(share_bytes * sum(1 / n for n in number[i : i + flows])) for i in range(flows)]
    columns = Flows(
        host=np.arange(flows),
        packets=[-(-size // net.payload_bytes) for size in each],
        start_ps=np.arange(flows) * FAIR_MS * MS,
    )
    duration = (2 * flows + 1) * FAIR_MS * MS
    return Traffic(f"joining:{flows}", Scenario(f"joining:{flows}", flows, 1, columns), Times(duration, (0, duration)))
