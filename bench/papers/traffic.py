"""The papers' networks: their scenarios by name, and those of small clusters that netsim has no name for."""

from dataclasses import dataclass

import numpy as np

from netsim import scenarios
from netsim.network import MS, Network
from netsim.scenarios import HOSTS_OF_FLOWS, SHORT_NODE_BYTES, SHORT_PERIOD_PS, Flows, Scenario, long_short
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
    """One of netsim's own, on one switch; nothing in these is drawn from the seed."""
    return Traffic(name, scenarios.instantiate(name, 0, times.duration_ps, Network()), times)


def seldom_long_short(flows: int, times: Times) -> Traffic:
    """Short flows as RL-CC's published code has them, from as many hosts as its table says, but every 100 ms: so often
    that HPCC and Swift leave the long flow what PCC-RL's table 8 says (bench/papers/calibration.py)."""
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
