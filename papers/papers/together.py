"""Policies together on one port and in fabrics that change: no paper's figure, but what stands before deploying one.

python -m papers.together [--student FILE] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from netsim.failures import Failure
from netsim.mixes import Mix, Part, Steering
from netsim.network import MS, Network
from netsim.policies import PolicySpec, interpreted
from netsim.simulation import DECISION_LATENCY_PS
from papers import contenders
from papers.command import add_docs, add_student, page_parser, run_sections, store, student_of, written
from papers.contenders import Contender
from papers.found import Found
from papers.sections import GOODPUT, LOSS, Column, Section, cell
from papers.traffic import named
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped

TREE, ROBUST, DCQCN, SWIFT, DCTCP = ALONE = ("RL-CC tree", "robust-in-flight", "DCQCN", "Swift", "DCTCP")
LEARNT, OTHERS = ALONE[:2], ALONE[2:]
PORT = named("many-to-one:64", Times(60 * MS, (30 * MS, 60 * MS)))
PERCENTS = (5, 25, 50, 75, 95)
CURES = {
    "one queue": Network(),
    "a class each, 1 : 1": Network(class_weights=(1, 1)),
    "a class each, 1 : 3": Network(class_weights=(1, 3)),
    "1 : 3, half of what is free": Network(class_weights=(1, 3), dynamic_threshold=0.5),
    "1 : 3, PFC and 32 MiB": replace(contenders.LOSSLESS, class_weights=(1, 3)),
    "strict, the learnt one first": Network(class_weights=(0, 1)),
}
"""The learnt policy's class first."""
EVEN, BOUNDED, PAUSED = "a class each, 1 : 3", "1 : 3, half of what is free", "1 : 3, PFC and 32 MiB"
MINORITY = 25
FABRIC = "all-to-all:8@leaf-spine:4x2x2"
DOWN, UP, END = 6, 12, 18
BEFORE, DURING, AFTER = (
    replace(named(FABRIC, Times(END * MS, (begin * MS, end * MS))), name=f"{FABRIC}, {begin} to {end} ms")
    for begin, end in ((2, DOWN), (DOWN, UP), (UP, END))
)
LINK = "leaf0-spine1"
REROUTED = {"at once": 0, "after 1 ms": 1}
SPRAYED = replace(named(FABRIC, Times(12 * MS, (4 * MS, 12 * MS))), name=f"{FABRIC}, sprayed")
TRANSPORTS = {
    "a path a flow": Network(),
    "sprayed, go back N": Network(spray=True),
    "sprayed, 64 held": Network(spray=True, reorder_packets=64),
    "sprayed, 256 held": Network(spray=True, reorder_packets=256),
}
LATENCY_P99 = Column("p99 latency us", "latency_p99_us", 1, 1, -1)
FAIR = Column("fairness, min/max", "fairness_min_max", 1, 2, 1)
NACKS = Column("NACKs", "nacks", 1, 0, -1)


def mixed(learnt: str, other: str, percent: int, cure: str = "one queue") -> str:
    return f"{learnt} {percent} %, {other}, {cure}"


def cut(who: str, reroute: str) -> str:
    return f"{who}, routes {reroute}"


def sprayed(who: str, transport: str) -> str:
    return f"{who}, {transport}"


def who(tree: PolicySpec) -> dict[str, Contender]:
    """All contenders by label: each alone, in mixes, where a link fails, sprayed."""
    alone = {label: c for label, c in contenders.without_tree().items() if label in ALONE}
    alone[TREE] = Contender(TREE, tree, DECISION_LATENCY_PS)
    found = dict(alone)
    for learnt in LEARNT:
        for other in OTHERS:
            cases = [(percent, "one queue") for percent in PERCENTS] + [(MINORITY, cure) for cure in CURES]
            for percent, cure in dict.fromkeys(cases):
                net = CURES[cure]
                klass = len(net.class_weights) - 1
                parts = (Part(_alone(alone[learnt]), percent, 0), Part(_alone(alone[other]), 100 - percent, klass))
                label = mixed(learnt, other, percent, cure)
                found[label] = Contender(label, Mix(parts), DECISION_LATENCY_PS, net)
    for label in ALONE:
        for reroute, ms in REROUTED.items():
            net = Network(failures=(Failure(LINK, DOWN * MS, (UP - DOWN) * MS),), reroute_ps=ms * MS)
            found[cut(label, reroute)] = replace(alone[label], label=cut(label, reroute), network=net)
        for transport, net in TRANSPORTS.items():
            found[sprayed(label, transport)] = replace(alone[label], label=sprayed(label, transport), network=net)
    return found


def _alone(contender: Contender) -> Steering:
    assert not isinstance(contender.policy, Mix)
    return contender.policy


def sections() -> list[Section]:
    shares = tuple(mixed(a, b, p) for a in LEARNT for b in OTHERS for p in PERCENTS)
    cures = tuple(mixed(a, b, MINORITY, c) for a in LEARNT for b in OTHERS for c in CURES)
    cuts = tuple(cut(label, reroute) for label in ALONE for reroute in REROUTED)
    sprays = tuple(sprayed(label, transport) for label in ALONE for transport in TRANSPORTS)
    return [
        Section("Who starves whom", (*ALONE, *shares), (PORT,), _shares),
        Section("Which queue class cures it", cures, (PORT,), _cures),
        Section("A link that fails and comes back", cuts, (BEFORE, DURING, AFTER), _failing),
        Section("Packet spraying", sprays, (SPRAYED,), _spraying),
    ]


def _fair(f: Found, label: str, part: str) -> str:
    return f.figure(label, PORT, f"{part}_fair").text(2)


def _us(f: Found, label: str, part: str) -> str:
    return f.figure(label, PORT, f"{part}_latency_p99_us").text(1)


def _shares(f: Found) -> str:
    alone = [[label, *(cell(f, label, PORT, c) for c in (GOODPUT, LATENCY_P99, LOSS, FAIR))] for label in ALONE]
    rows = []
    starved = []
    for a in LEARNT:
        for b in OTHERS:
            labels = [mixed(a, b, p) for p in PERCENTS]
            rows.append([f"{a} beside {b}", *(_fair(f, label, "a") for label in labels)])
            rows.append([f"{b} beside {a}", *(_fair(f, label, "b") for label in labels)])
            for part, one, other in (("a", a, b), ("b", b, a)):
                least = min(f.mean(label, PORT, f"{part}_fair") for label in labels)
                if least < 0.5:
                    starved.append(f"{one} by {other} (down to {least:.2f})")
    heads = ["share of the flows that are the learnt policy's", *(f"{p} %" for p in PERCENTS)]
    pairs = [(a, b) for a in LEARNT for b in OTHERS]
    both = [[f"{a} and {b}", *(cell(f, mixed(a, b, p), PORT, LATENCY_P99) for p in PERCENTS)] for a, b in pairs]
    return f"""64 flows to one receiver over one switch, in one queue, measured from 30 to 60 ms. Each alone:

{table(["", "goodput", "p99 latency us", "loss", "fairness, min/max"], alone)}
What a flow of each has over what the mean flow has, where some of the flows are the other's: 1 is its part.

{table(heads, rows)}
Left less than half of their part, at some share: {listed(starved) or "nobody"}. The learnt policies slow down at a
queue of a few microseconds, which none of the others clears: in one queue the one that stands the longest queue has the
link, whatever the share.

p99 latency of all packets in us:

{table(heads, both)}
The queue has one marking: DCQCN's or DCTCP's own thresholds where they are in it, the network's otherwise."""


def _cures(f: Found) -> str:
    rows = []
    for a in LEARNT:
        for b in OTHERS:
            for cure in CURES:
                label = mixed(a, b, MINORITY, cure)
                figures = (_fair(f, label, "a"), _fair(f, label, "b"), _us(f, label, "a"), _us(f, label, "b"))
                whole = (cell(f, label, PORT, GOODPUT), cell(f, label, PORT, LOSS))
                rows.append([f"{a} beside {b}, {cure}", *figures, *whole])
    heads = ["", "learnt, of its part", "other", "learnt, p99 us", "other", "goodput", "loss"]
    even = [mixed(a, b, MINORITY, EVEN) for a in LEARNT for b in OTHERS]
    full = {cure: min(f.mean(mixed(a, DCQCN, MINORITY, cure), PORT, "goodput") for a in LEARNT) for cure in CURES}
    least = min(min(f.mean(label, PORT, f"{part}_fair") for part in "ab") for label in even)
    return f"""{MINORITY} % of the flows are the learnt policy's. Queues are served by deficit round robin with the
weights given, the learnt policy's class first; weight 0 is strict priority. "Half of what is free": a queue
holds at most that of the switch's buffer (a dynamic threshold). "PFC": a lossless network.

{table(heads, rows)}
With a class each and weights as the flows are, 1 to 3, everybody has at least {least:.2f} of its part, and each class
its own queue and marking. Equal weights give the few as much as the many; strict priority gives the others what is
left. Classes share the buffer: DCQCN, which is made for lossless networks, fills it from its own class, and then both
lose packets (least goodput of the two rows: {full[EVEN]:.3f}). A threshold on each queue keeps the learnt policy's
latency low and has DCQCN lose (goodput {full[BOUNDED]:.3f}); with PFC nobody loses (goodput {full[PAUSED]:.3f})."""


def _failing(f: Found) -> str:
    rows = []
    for label in ALONE:
        for reroute in REROUTED:
            c = cut(label, reroute)
            cells = [x for t in (BEFORE, DURING, AFTER) for x in (cell(f, c, t, GOODPUT), cell(f, c, t, LATENCY_P99))]
            rows.append([c, *cells, cell(f, c, DURING, LOSS), cell(f, c, AFTER, LOSS)])
    spans = (f"{BEFORE.times.window_ps[0] // MS} to {DOWN}", f"{DOWN} to {UP}", f"{UP} to {END}")
    heads = [
        "",
        *(f"{what}, {span} ms" for span in spans for what in ("goodput", "p99 us")),
        "loss while down",
        "after",
    ]
    return f"""`{FABRIC}`: 8 hosts on 4 leaves, two spines, 16 flows a host. {LINK} is down from {DOWN} to {UP} ms:
what is on it or waits for it is lost, and what comes for it until the routes follow. Then flows that had it take the
other spine, so that two hosts share one link, and go back to it when it is up again, as late.

{table(heads, rows)}"""


def _spraying(f: Found) -> str:
    rows = []
    for label in ALONE:
        for transport in TRANSPORTS:
            c = sprayed(label, transport)
            rows.append([c, *(cell(f, c, SPRAYED, column) for column in (GOODPUT, LATENCY_P99, FAIR, LOSS, NACKS))])
    goodput = {t: [f.mean(sprayed(a, t), SPRAYED, "goodput") for a in ALONE] for t in TRANSPORTS}
    pairs = zip(goodput["sprayed, go back N"], goodput["a path a flow"], strict=True)
    lost = max(1 - back / whole for back, whole in pairs)
    return f"""The same fabric, whole. Sprayed, every packet takes any of the equal next ports, at random. A receiver
that goes back N takes a packet that overtakes another for a loss, throws it away and asks for the missing one (NACK),
and the sender sends everything from there again. One that holds up to so many packets beyond the missing one waits for
it, and reports a gap only when a packet comes that is further off. What is lost at a flow's end is found by the
timeout.

{table(["", "goodput", "p99 latency us", "fairness, min/max", "loss", "NACKs"], rows)}
Going back N costs up to {lost:.0%} of the goodput."""


def page(f: Found, made: Sequence[Section]) -> str:
    """The whole page."""
    head = f"""# Together: policies on one port, links that fail, packet spraying

{made_by("python -m papers.together")}

No paper's figures: they have one policy in a network that does not change. "{TREE}" is the student of
`recipes/rl-cc.toml`, run as its integer program; "{ROBUST}" is the flagship's teacher
([what it is](../../fixtures/teachers/README.md)); decisions take effect after 0.9 us.
[DCQCN, Swift and DCTCP](../../docs/reference/baselines.md) have their defaults. Links of unlike speed:
[RL-CC's cluster](cluster.md). Seeds {listed([f"{s}" for s in f.seeds])}; ± is the half-width of the 99 %
confidence interval of the mean."""
    return wrapped("\n\n".join([head, *(f"## {section.title}\n{section.write(f)}" for section in made)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("together", "Policies together, links that fail, packet spraying.")
    add_docs(parser)
    add_student(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    made = sections()
    runs = run_sections(made, who(interpreted(student_of(options))), seeds, options)
    store(options.docs / "together.md", page(Found(runs, seeds), made).encode())


if __name__ == "__main__":
    sys.exit(main())
