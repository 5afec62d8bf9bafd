"""RL-CC, section 6.3: its cluster of 64 hosts (figures 9 to 12), and a topology that is further from its training.

python -m bench.papers.cluster [--student FILE] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from bench.papers import contenders, telemetry
from bench.papers.command import add_docs, add_student, page_parser, store, student_of, written
from bench.papers.contenders import Contender
from bench.papers.courses import Course, run_courses
from bench.papers.found import Found, listed, table, wrapped
from bench.papers.pictures import Bubbles, bubbles, courses, curves
from bench.papers.runs import Run, run_all, with_drops
from bench.papers.sections import (
    DROPS_PER_FLOW,
    FAIRNESS,
    GOODPUT,
    LATENCY,
    LOSS,
    UNFAIRNESS,
    Picture,
    Section,
    one_metric,
    several,
    wanted,
)
from bench.papers.traffic import Traffic, named, on, unlike
from bench.where.options import place_of
from decision.student import Student
from netsim import topology
from netsim.network import MS
from netsim.policies import interpreted
from netsim.simulation import DECISION_LATENCY_PS
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by

MLP, TREE, ROBUST, DCQCN, SWIFT = LABELS = ("RL-CC MLP", "RL-CC tree", "robust-in-flight", "DCQCN", "Swift")
CLUSTER = "rl-cc-cluster"
SETTLED = Times(1500 * MS, (500 * MS, 1500 * MS))
MANY = (
    named(f"many-to-one:512@{CLUSTER}", SETTLED),
    named(f"many-to-one:8192@{CLUSTER}", Times(2000 * MS, (1000 * MS, 2000 * MS))),
    named(f"many-to-one:65536@{CLUSTER}", Times(4000 * MS, (2000 * MS, 4000 * MS))),
    named(f"many-to-one:434176@{CLUSTER}", Times(10_000 * MS, (5000 * MS, 10_000 * MS))),
)
ALL = (
    named(f"all-to-all:16@{CLUSTER}", Times(200 * MS, (100 * MS, 200 * MS))),
    named(f"all-to-all:64@{CLUSTER}", Times(100 * MS, (50 * MS, 100 * MS))),
)
FLOODED = Times(150 * MS, (100 * MS, 150 * MS))
"""Of DCQCN many to one from 8192 flows on. It goes on losing what all hosts can send, a thousandth less from one
50 ms to the next, and each of them takes as long to simulate as a second of the others."""
SECOND = 1000 * MS
LARGEST = {"figure 10": (MANY[-1], 100), "figure 11": (ALL[-1], 50)}
"""What is looked at over time, and at how many points: the paper's two largest tests."""
SLOW_SPINE = unlike("leaf-spine:4x4x2", slow_spine=1, gbps=25)
UNSEEN = (
    named("many-to-one:256@fat-tree:4", SETTLED),
    named("all-to-all:16@fat-tree:4", ALL[0].times),
    named("many-to-one:256@fat-tree:4:25", SETTLED),
)
UNLIKE = (
    on("all-to-all:16", SLOW_SPINE, ALL[0].times),
    on("many-to-one:64", SLOW_SPINE, SETTLED),
)
COLUMNS = (GOODPUT, LATENCY, UNFAIRNESS, DROPS_PER_FLOW)
TOLD = (telemetry.ONE_RTT, telemetry.QUEUE, telemetry.ONE_QUEUE)
"""The MLP, told otherwise how long its path is, or how full."""
Courses = Mapping[tuple[str, str], Course]
"""By figure and contender."""


def who(student: Student) -> dict[str, Contender]:
    tree = Contender(TREE, interpreted(student), DECISION_LATENCY_PS)
    told = {label: c for label, c in telemetry.who().items() if label in TOLD}
    return {label: c for label, c in contenders.without_tree().items() if label in LABELS} | told | {TREE: tree}


def sections() -> list[Section]:
    groups = (("many-to-one", MANY), ("all-to-all", ALL))
    panels = [
        Bubbles(name, x, GOODPUT, {label: [(label, t) for t in traffic] for label in LABELS})
        for name, traffic in groups
        for x in (LATENCY, DROPS_PER_FLOW)
    ]
    return [
        Section(
            "Figure 9: over flows",
            LABELS,
            (*MANY, *ALL),
            _figure_9,
            (Picture("rl-cc-figure-9", partial(curves, groups=groups, columns=COLUMNS, contenders=LABELS)),),
        ),
        Section(
            "Figure 12: goodput against latency and loss",
            LABELS,
            (*MANY, *ALL),
            _figure_12,
            (Picture("rl-cc-figure-12", partial(bubbles, panels=panels)),),
        ),
        Section("Who gets less of one receiver", (MLP, TREE, *TOLD, SWIFT), MANY[:1], _near),
        Section("A topology further from its training", LABELS, UNSEEN, _unseen),
        Section("Links of unlike speed", LABELS, UNLIKE, _unlike),
    ]


def times_of(label: str, traffic: Traffic) -> Times:
    """When a contender is measured in a network."""
    return FLOODED if label == DCQCN and traffic.name in [t.name for t in MANY[1:]] else traffic.times


def as_measured(run: Run) -> Run:
    """The run, as long as it is of this contender."""
    return replace(run, traffic=replace(run.traffic, times=times_of(run.contender.label, run.traffic)))


def over_time(who: Mapping[str, Contender]) -> dict[tuple[str, str], tuple[Run, int]]:
    """The runs that figures 10 and 11 show, with the first seed."""
    return {
        (figure, c): (as_measured(Run(who[c], t, 1)), points) for figure, (t, points) in LARGEST.items() for c in LABELS
    }


def _figure_9(f: Found) -> str:
    rows = [(label, None) for label in LABELS]
    text = ""
    for name, traffic in (("many-to-one", MANY), ("all-to-all", ALL)):
        heads = [f"{name} {t.flows:,}" for t in traffic]
        text += "".join(one_metric(f, column, traffic, heads, rows) + "\n" for column in COLUMNS)
    times = [f.mean(SWIFT, t, "latency_mean_us") / f.mean(TREE, t, "latency_mean_us") for t in MANY]
    least = {t.name: _best(f, t, "dropped_packets", 1) for t in (*MANY, *ALL)}
    unfair = max(f.mean(TREE, t, "unfairness") for t in (*MANY, *ALL))
    all_latency = [f.mean(TREE, t, "latency_mean_us") / f.mean(SWIFT, t, "latency_mean_us") - 1 for t in ALL]
    return f"""{text}
![goodput, latency, unfairness and loss over flows](papers/rl-cc-figure-9.svg)

Many-to-one, Swift's latency over the tree's, from few flows to many: {listed([f"{x:.2f}" for x in times])}. All-to-all,
the tree's latency against Swift's: {listed([f"{x:+.1%}" for x in all_latency])}. The tree's greatest unfairness:
{unfair:.3f}. Fewest packets lost, each network's first: {listed([f"{who} ({name})" for name, who in least.items()])}.

The paper: RL-CC's goodput is competitive with Swift's in both; its latency is below DCQCN's and an order of magnitude
below Swift's in many-to-one, slightly below Swift's in all-to-all; its unfairness is the highest, about 0.01; its loss
is the lowest in all scenarios. Differences: 60 s of cards there, {ALL[-1].times.duration_ps / SECOND:g} to
{MANY[-1].times.duration_ps / SECOND:g} s of a simulator here, of which the later half or more is measured; of DCQCN,
many to one from {MANY[1].flows:,} flows on, {FLOODED.duration_ps // MS} ms: it goes on losing what all hosts can send.
"""


def _best(f: Found, t: Traffic, metric: str, sign: int) -> str:
    return min(LABELS, key=lambda label: sign * f.mean(label, t, metric))


def _figure_12(f: Found) -> str:
    frontier = {t.name: _undominated(f, t) for t in (*MANY, *ALL)}
    lines = [[name, listed(labels)] for name, labels in frontier.items()]
    return f"""![goodput against latency and against packets lost a flow](papers/rl-cc-figure-12.svg)

Upper left is better; the larger a bubble, the more flows. Who is beaten by nobody else in goodput and latency at once:

{table(["", "on the front of goodput and latency"], lines)}
The paper: RL-CC has the best overall tradeoff: in many-to-one much less latency and the least loss for slightly less
goodput, in all-to-all high goodput at the others' latency with the least loss.
"""


def _undominated(f: Found, t: Traffic) -> list[str]:
    at = {label: (f.mean(label, t, "goodput"), f.mean(label, t, "latency_mean_us")) for label in LABELS}

    def beaten(label: str) -> bool:
        goodput, latency = at[label]
        return any(g >= goodput and late <= latency and (g, late) != (goodput, latency) for g, late in at.values())

    return [label for label in LABELS if not beaten(label)]


def _near(f: Found) -> str:
    (traffic,) = MANY[:1]
    fabric = topology.by_name(CLUSTER)
    near, far = (int(ps) / 1e6 for ps in fabric.base_rtts_ps([1, 17], [0, 0]))
    rows = [(label, label, traffic) for label in (MLP, TREE, *TOLD, SWIFT)]
    return f"""Of the 63 hosts that send to one, 15 are in its rack: their base RTT is {near:.1f} us, that of the others
{far:.1f}. RL-CC's reward is best where (RTT inflation - 1.5) times the root of the rate is the same for all (the
paper's equation 1), and the same queue inflates the RTT of who is near more: so who is near gets less, and for good.
Told by telemetry how full the queues are, and of one base RTT for all, its unfairness is near what the paper says. On
cards much of a base RTT is within the hosts, and it differs less. With {traffic.flows} flows:

{several(f, (GOODPUT, LATENCY, UNFAIRNESS, FAIRNESS), rows, "")}"""


def _unseen(f: Found) -> str:
    rows = [(f"{t.name}: {label}", label, t) for t in UNSEEN for label in LABELS]
    return f"""The policies were trained on one switch of 100 Gb/s. The paper's step away from it is the cluster above;
here are three levels, and then links of 25 Gb/s, a quarter of what they were trained at.

{several(f, (GOODPUT, LATENCY, FAIRNESS, LOSS), rows, "traffic@fabric")}"""


def _unlike(f: Found) -> str:
    rows = [(f"{t.name}: {label}", label, t) for t in UNLIKE for label in LABELS]
    return f"""Four leaves of four hosts and two spines, all at 100 Gb/s but the links of the second spine, at 25:
a hash sends half of the flows between leaves that way, whatever it carries. Not in the paper.

{several(f, (GOODPUT, LATENCY, FAIRNESS, LOSS), rows, "traffic")}"""


def _over_time(shown: Courses) -> str:
    lines = []
    for figure, (t, _) in LARGEST.items():
        for label in LABELS:
            c = shown[figure, label]
            late = c.t_ms > times_of(label, t).window_ps[0] / MS + 1e-9
            rates = c.host_gbps[late]
            by_host = rates.mean(axis=0)
            swings = [f"{x:,.2f}" for x in (by_host.min(), by_host.mean(), by_host.max())]
            lost, goes_on = int(c.dropped.sum()), int(c.dropped[late].sum())
            lines.append([f"{t.name}: {label}", *swings, f"{lost / t.flows:,.1f}", f"{goes_on / t.flows:,.1f}"])
    heads = ["least", "mean", "most", "lost a flow", "of them in the window"]
    begin_ms, end_ms = (ps // MS for ps in ALL[-1].times.window_ps)
    still = [
        label
        for label in LABELS
        if shown["figure 11", label].dropped[shown["figure 11", label].t_ms > begin_ms + 1e-9].sum()
    ]
    return f"""A line a host: what its flows deliver; below it what the switches drop. Seed 1.

![rates of hosts and drops over time](papers/rl-cc-figures-10-11.png)

Gb/s of the hosts in the window, and packets lost:

{table(["", *heads], lines)}
The paper, a sample a second: all three hold a stable goodput and are fair; all lose packets while they start, and
RL-CC alone loses none after that in all-to-all. Here all-to-all goes on losing from {begin_ms} to {end_ms} ms with:
{listed(still) or "nobody"}. One packet of each of many-to-one's 434,176 flows is 92 times the buffer of a switch, and
each starts with a burst of four.
"""


def page(f: Found, made: Sequence[Section], shown: Courses) -> str:
    """The whole page."""
    head = f"""# RL-CC's cluster of 64 hosts

{made_by("python -m bench.papers.cluster")}

[RLCC] section 6.3, figures 9 to 12: `{CLUSTER}` has 4 racks of 16 hosts and 3 spines
([the fabric](../scenarios.md#fabrics)). "{MLP}" is the teacher, "{TREE}" its student of `recipes/rl-cc.toml`, run as
its integer program; "{ROBUST}" is no paper's
([what it is](../../fixtures/teachers/README.md)). The paper has the tree, DCQCN and Swift; theirs are ConnectX's, ours
are [these](../baselines.md). Policies and baselines start at line rate, "{ROBUST}" below it; decisions take effect
after 0.9 us. Each network is measured late in its run. Seeds
{listed([f"{s}" for s in f.seeds])},
± is the half-width of the 99 % confidence interval of the mean."""
    parts = [f"## {section.title}\n{section.write(f)}" for section in made]
    parts.insert(1, f"## Figures 10 and 11: over time\n{_over_time(shown)}")
    return wrapped("\n\n".join([head, *parts]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("cluster", "RL-CC's large cluster.")
    add_docs(parser)
    add_student(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    keep = options.work / "runs"
    compete, made = who(student_of(options)), sections()
    shown = run_courses(over_time(compete), keep, place_of(options))
    seen = {(label, LARGEST[figure][0].name, 1) for figure, label in shown}
    todo = [r for r in wanted(made, compete, seeds) if (r.contender.label, r.traffic.name, r.seed) not in seen]
    runs = run_all(map(as_measured, todo), keep, place_of(options))
    for (figure, label), kept in shown.items():
        t = LARGEST[figure][0]
        runs[label, t.name, 1] = with_drops(kept.metrics, t)
    found = Found(runs, seeds)
    for section in made:
        for picture in section.pictures:
            store(options.docs / "papers" / f"{picture.name}.svg", picture.draw(found))
    rows = [(t.name.partition("@")[0], {c: shown[figure, c] for c in LABELS}) for figure, (t, _) in LARGEST.items()]
    store(options.docs / "papers" / "rl-cc-figures-10-11.png", courses(rows))
    store(options.docs / "papers-cluster.md", page(found, made, shown).encode())


if __name__ == "__main__":
    sys.exit(main())
