"""RL-CC's cluster ([RLCC] section 6.3): who is compared in which networks, and when each is measured."""

from dataclasses import replace

from decision.policy.student import Student
from netsim.network import MS
from netsim.policies import interpreted
from netsim.simulation import DECISION_LATENCY_PS
from papers import contenders, telemetry
from papers.contenders import Contender
from papers.runs import Metrics, Run
from papers.traffic import Traffic, named
from rlcc.evaluation.grid import Times

MLP, TREE, ROBUST, DCQCN, SWIFT = LABELS = ("RL-CC MLP", "RL-CC tree", "robust-in-flight", "DCQCN", "Swift")
TOLD = (telemetry.ONE_RTT, telemetry.QUEUE, telemetry.ONE_QUEUE)
"""The MLP, told otherwise how long its path is, or how full."""
CLUSTER = "rl-cc-cluster"
SECOND = 1000 * MS
SETTLED = Times(1500 * MS, (500 * MS, 1500 * MS))
MANY = (
    named(f"many-to-one:504@{CLUSTER}", SETTLED),
    named(f"many-to-one:8192@{CLUSTER}", Times(2000 * MS, (1000 * MS, 2000 * MS))),
    named(f"many-to-one:65536@{CLUSTER}", Times(4000 * MS, (2000 * MS, 4000 * MS))),
    named(f"many-to-one:434176@{CLUSTER}", Times(10_000 * MS, (5000 * MS, 10_000 * MS))),
)
ALL = (
    named(f"all-to-all:16@{CLUSTER}", Times(200 * MS, (100 * MS, 200 * MS))),
    named(f"all-to-all:64@{CLUSTER}", Times(100 * MS, (50 * MS, 100 * MS))),
)
FLOODED = Times(150 * MS, (100 * MS, 150 * MS))
"""Of DCQCN many to one from 8192 flows on: there it loses what all hosts can send, the same in each 25 ms, and a
second of that takes nine minutes to simulate."""


def who(student: Student) -> dict[str, Contender]:
    tree = Contender(TREE, interpreted(student), DECISION_LATENCY_PS)
    told = {label: c for label, c in telemetry.who().items() if label in TOLD}
    return {label: c for label, c in contenders.without_tree().items() if label in LABELS} | told | {TREE: tree}


def times_of(label: str, traffic: Traffic) -> Times:
    """When a contender is measured in a network."""
    return FLOODED if label == DCQCN and traffic.name in [t.name for t in MANY[1:]] else traffic.times


def as_measured(run: Run) -> Run:
    """The run, as long as it is of this contender."""
    return replace(run, traffic=replace(run.traffic, times=times_of(run.contender.label, run.traffic)))


def with_drop_rate(metrics: Metrics, run: Run) -> Metrics:
    """With ``drops_per_flow_s``: packets lost a flow and second of the window, which is not as long for all."""
    begin, end = times_of(run.contender.label, run.traffic).window_ps
    rate = metrics["dropped_packets"] / run.traffic.flows / ((end - begin) / SECOND)
    return metrics | {"drops_per_flow_s": rate}
