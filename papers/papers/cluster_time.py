"""RL-CC's cluster over time ([RLCC] figures 10 and 11), and which hosts get less of one receiver."""

from collections.abc import Mapping

import numpy as np

from decision.ir.interfaces.flow_rate import RATE_FRACTION_BITS
from netsim import topology
from netsim.network import MS, Network
from papers.cluster_networks import (
    ALL,
    CLUSTER,
    DCQCN,
    LABELS,
    MANY,
    MLP,
    SECOND,
    SWIFT,
    TOLD,
    TREE,
    as_measured,
    times_of,
)
from papers.contenders import Contender
from papers.courses import Course
from papers.found import Found
from papers.runs import Run
from papers.sections import GOODPUT, LATENCY, UNFAIRNESS, cell
from papers.theory import BETA, fixed_point
from rlcc.reports.pages import listed, table

LARGEST = {"figure 10": MANY[-1], "figure 11": ALL[-1]}
"""The paper's two largest tests."""
POINTS = {"figure 10": 100, "figure 11": 50, "near and far": 3}
"""At how many points each course is looked at; a window begins and ends with one."""
FLOODED_POINTS = 30
FEW = MANY[0]
COMPARED = (MLP, TREE, *TOLD, SWIFT)
PROPERTIES = "properties.md#rl-cc-mlp"
RESTING, REST_MOST = 8187, 10.487
"""Flows, and the greatest RTT inflation at which so many of the tree's may rest, as proved there."""
RACK = 16
"""Machines of a rack; the receiver is machine 0."""
Courses = Mapping[tuple[str, str], Course]
"""By what it shows and contender."""


def over_time(who: Mapping[str, Contender]) -> dict[tuple[str, str], tuple[Run, int]]:
    """The runs that are shown over time, with the first seed, and at how many points."""
    asked = [(figure, label, t) for figure, t in LARGEST.items() for label in LABELS]
    asked += [("near and far", label, FEW) for label in COMPARED]
    return {(shows, label): (as_measured(Run(who[label], t, 1)), _points(shows, label)) for shows, label, t in asked}


def _points(shows: str, label: str) -> int:
    return FLOODED_POINTS if (shows, label) == ("figure 10", DCQCN) else POINTS[shows]


def figures_10_and_11(shown: Courses) -> str:
    lines = []
    for figure, t in LARGEST.items():
        for label in LABELS:
            c, (begin, end) = shown[figure, label], times_of(label, t).window_ps
            late = _late(c, begin)
            by_host = c.host_gbps[late].mean(axis=0)
            swings = [f"{x:,.2f}" for x in (by_host.min(), by_host.mean(), by_host.max())]
            lost, each_s = int(c.dropped.sum()), _lost(shown, figure, label)
            measured = f"{begin / SECOND:g} to {end / SECOND:g} s"
            lines.append([f"{t.name}: {label}", measured, *swings, f"{lost / t.flows:,.1f}", f"{each_s:,.1f}"])
    heads = ["measured", "least", "mean", "most", "lost a flow, whole run", "a flow and s, measured"]
    still = [label for label in LABELS if _goes_on_losing(shown, "figure 11", label)]
    many = [label for label in LABELS if _goes_on_losing(shown, "figure 10", label)]
    gaining = [label for label in LABELS if label != DCQCN and _gains(shown["figure 10", label])]
    begin_ms, end_ms = (ps // MS for ps in ALL[-1].times.window_ps)
    base_us = topology.by_name(CLUSTER).base_rtt_ps / 1e6
    network, flows = Network(), LARGEST["figure 10"].flows
    settled, resting = fixed_point(flows), fixed_point(RESTING)
    full_us = base_us + network.buffer_bytes * network.ps_per_byte / 1e6
    rest_us = ((settled - BETA) * (REST_MOST - BETA) / (resting - BETA) + BETA) * base_us
    half_step = flows / (1 << RATE_FRACTION_BITS) / 2
    first = flows * network.data_wire_bytes / network.buffer_bytes
    offered = [f"{1 + _lost_share(shown, label, network):.2f} ({label})" for label in LABELS[:3]]
    return f"""A line a host: what its flows deliver; below it what the switches drop. Seed 1. Each has a time axis of
its own.

![rates of hosts and drops over time](figures/rl-cc-figures-10-11.png)

Gb/s of the hosts while they are measured, and packets lost:

{table(["", *heads], lines)}
The paper, a sample a second for 60 s: all three hold a stable goodput and are fair; all lose packets while they start,
and RL-CC alone loses none after that in all-to-all. Here all-to-all goes on losing from {begin_ms} to {end_ms} ms with:
{listed(still) or "nobody"}; many-to-one while it is measured with: {listed(many) or "nobody"}. One packet of each of
many-to-one's {flows:,} flows is {first:.0f} times the buffer of a switch, and each starts with a burst of four. By the
paper's equation 2 so many of RL-CC settle at an RTT of {settled * base_us:.0f} us at the most; a full buffer makes it
{full_us:.0f}, and it stands full while it is measured: with what is lost, they offer {listed(offered)} times what the
link carries. Still gaining in the last tenth of the time, over 1 % of the tenth before: {listed(gaining) or "nobody"}.
The tree rests within a range, [with {RESTING} flows]({PROPERTIES}) up to an inflation of {REST_MOST:g} in place of
{resting:.3f}, and who comes from a flood stops at its upper end: with {flows:,} flows that is an RTT of
{rest_us:.0f} us, more than the full buffer makes. So its losses do not end. And what a device takes is a step of
2^-20 above the floor: in the mean half a step more than was decided, {half_step:.0%} of a flow's share here."""


def _late(c: Course, begin_ps: int) -> np.ndarray:
    late: np.ndarray = c.t_ms > begin_ps / MS + 1e-9
    return late


def _lost(shown: Courses, figure: str, label: str) -> float:
    """Packets a flow and second while it is measured."""
    c, t = shown[figure, label], LARGEST[figure]
    begin, end = times_of(label, t).window_ps
    return float(c.dropped[_late(c, begin)].sum()) / t.flows / ((end - begin) / SECOND)


def _goes_on_losing(shown: Courses, figure: str, label: str) -> bool:
    """As it is printed."""
    return _lost(shown, figure, label) >= 0.05


def _lost_share(shown: Courses, label: str, network: Network) -> float:
    """Of what the receiver's link carries, in the largest test."""
    each_s = _lost(shown, "figure 10", label) * LARGEST["figure 10"].flows
    return each_s * network.data_wire_bytes * network.ps_per_byte / SECOND


def _gains(c: Course) -> bool:
    """Whether the last tenth of a course delivers over 1 % more than the one before."""
    tenth = c.t_ms.size // 10
    return bool(c.host_gbps[-tenth:].mean() > 1.01 * c.host_gbps[-2 * tenth : -tenth].mean())


def near_and_far(f: Found, shown: Courses) -> str:
    fabric = topology.by_name(CLUSTER)
    near_us, far_us = (int(ps) / 1e6 for ps in fabric.base_rtts_ps([1, RACK], [0, 0]))
    near: dict[str, float] = {}
    rows = []
    for label in COMPARED:
        c = shown["near and far", label]
        rates = c.host_gbps[_late(c, FEW.times.window_ps[0])].mean(axis=0)  # of machines 1, 2, ..
        near[label] = float(rates[: RACK - 1].mean() / rates[RACK - 1 :].mean())
        rows.append(
            [label, *(cell(f, label, FEW, column) for column in (GOODPUT, LATENCY, UNFAIRNESS)), f"{near[label]:.2f}"]
        )
    one_rtt, queue, one_queue = (f"{near[label]:.2f}" for label in TOLD)
    heads = ["", "goodput", "latency us", "unfairness", "near over far, seed 1"]
    return f"""{FEW.flows} flows, 8 of each of the 63 other hosts. 15 of these are in the receiver's rack: their base
RTT is {near_us:.1f} us, that of the others {far_us:.1f}. RL-CC's reward is best where (RTT inflation - {BETA}) times
the root of the rate is the same for all (the paper's equation 1), and the same queue is more inflation to who is near:
the MLP gives a host that is near {near[MLP]:.2f} of what it gives one that is far, for good. "{TOLD[1]}" has the
inflation from telemetry of queues (equation 6), "one base RTT" the fabric's longest for every flow
([who they are](telemetry.md#rtt-or-queue-length-in-fabrics)).

{table(heads, rows)}
Near over far, of what is delivered, is {queue} where queues are told and each flow's own base RTT; {one_rtt} with RTTs
over one base RTT, by which the queue of who is near seems {far_us - near_us:.1f} us shorter; {one_queue} with queues
over one base RTT. From 65,536 flows on, where the buffer overflows, this is no longer all of it. The paper's unfairness
is about 0.01, with base RTTs that it does not print."""
