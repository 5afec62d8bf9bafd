"""RL-CC, section 6.3: its cluster of 64 hosts (figures 9 to 12), and a topology that is further from its training.

python -m papers.cluster [--student FILE] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from netsim.network import MS
from papers import cluster_time
from papers.cluster_networks import (
    ALL,
    CLUSTER,
    DCQCN,
    FLOODED,
    LABELS,
    MANY,
    MLP,
    ROBUST,
    SECOND,
    SETTLED,
    SWIFT,
    TREE,
    as_measured,
    who,
    with_drop_rate,
)
from papers.cluster_time import COMPARED, FEW, LARGEST, Courses
from papers.command import add_docs, add_student, page_parser, store, student_of, written
from papers.courses import run_courses
from papers.found import Found
from papers.pictures import Bubbles, bubbles, courses, curves
from papers.runs import run_all
from papers.sections import (
    FAIRNESS,
    GOODPUT,
    LATENCY,
    LOSS,
    UNFAIRNESS,
    Column,
    Picture,
    Section,
    one_metric,
    several,
    wanted,
)
from papers.traffic import Traffic, named, on, unlike
from rlcc.commands.run_location import place_of
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped

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
DROP_RATE = Column("packets lost a flow and s", "drops_per_flow_s", 1, 1, -1)
COLUMNS = (GOODPUT, LATENCY, UNFAIRNESS, DROP_RATE)
NEAR = "Who gets less of one receiver"


def sections(shown: Courses) -> list[Section]:
    """``shown``: what is told of the runs over time."""
    groups = (("many-to-one", MANY), ("all-to-all", ALL))
    panels = [
        Bubbles(name, x, GOODPUT, {label: [(label, t) for t in traffic] for label in LABELS})
        for name, traffic in groups
        for x in (LATENCY, DROP_RATE)
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
        Section(NEAR, COMPARED, (FEW,), lambda f: cluster_time.near_and_far(f, shown)),
        Section("A topology further from its training", LABELS, UNSEEN, _unseen),
        Section("Links of unlike speed", LABELS, UNLIKE, _unlike),
    ]


def _figure_9(f: Found) -> str:
    rows = [(label, None) for label in LABELS]
    text = ""
    for name, traffic in (("many-to-one", MANY), ("all-to-all", ALL)):
        heads = (
            [f"{name} {t.flows:,}" for t in traffic] if traffic is MANY else [f"{t.flows:,}, {_short(t)}" for t in ALL]
        )
        text += "".join(one_metric(f, column, traffic, heads, rows) + "\n" for column in COLUMNS)
    times = [f.mean(SWIFT, t, "latency_mean_us") / f.mean(TREE, t, "latency_mean_us") for t in MANY]
    least = [f"{_short(t)}: {listed(_least(f, t))}" for t in (*MANY, *ALL)]
    behind = [f"{t.flows:,}" for t in MANY if _ahead(f, SWIFT, TREE, t)]
    unfair = max(f.mean(TREE, t, "unfairness") for t in (*MANY, *ALL))
    all_latency = [f.mean(TREE, t, "latency_mean_us") / f.mean(SWIFT, t, "latency_mean_us") - 1 for t in ALL]
    return f"""{text}
![goodput, latency, unfairness and loss over flows](figures/rl-cc-figure-9.svg)

Many-to-one, Swift's latency over the tree's, from few flows to many: {listed([f"{x:.2f}" for x in times])}. All-to-all,
the tree's latency against Swift's: {listed([f"{x:+.1%}" for x in all_latency])}. The tree's greatest unfairness:
{unfair:.3f}. Fewest packets lost, as printed: {"; ".join(least)}. Swift is ahead of the tree in all four with
{listed(behind) or "none"} flows to one.

The paper: RL-CC's goodput is competitive with Swift's in both; its latency is below DCQCN's and an order of magnitude
below Swift's in many-to-one, slightly below Swift's in all-to-all; its unfairness is the highest, about 0.01; its loss
is the lowest in all scenarios, over 60 s on real cards. Here the start is left out:
{ALL[-1].times.duration_ps / SECOND:g} to {MANY[-1].times.duration_ps / SECOND:g} s of a simulator, of
which the later half or more is measured; of DCQCN, many to one from {MANY[1].flows:,} flows on,
{FLOODED.window_ps[0] // MS} to {FLOODED.window_ps[1] // MS} ms, in which it loses
what all hosts can send. Unfairness is the paper's, of what hosts send: who floods is even. Where it comes from:
[below](#{NEAR.lower().replace(" ", "-")}).
"""


def _short(t: Traffic) -> str:
    return t.name.partition("@")[0]


def _least(f: Found, t: Traffic) -> list[str]:
    """Who loses least, as it is printed."""
    lost = {label: round(f.mean(label, t, DROP_RATE.metric), DROP_RATE.decimals) for label in LABELS}
    return [label for label, rate in lost.items() if rate == min(lost.values())]


def _ahead(f: Found, who: str, other: str, t: Traffic) -> bool:
    """In every column."""
    return all(c.better * (f.mean(who, t, c.metric) - f.mean(other, t, c.metric)) > 0 for c in COLUMNS)


def _figure_12(f: Found) -> str:
    frontier = {t.name: _undominated(f, t) for t in (*MANY, *ALL)}
    lines = [[name, listed(labels)] for name, labels in frontier.items()]
    return f"""![goodput against latency and against packets lost a flow and s](figures/rl-cc-figure-12.svg)

Upper left is better; the larger a bubble, the more flows. Who is beaten by nobody else in goodput and latency at once,
be it by digits that are not printed:

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


def _unseen(f: Found) -> str:
    rows = [(f"{t.name}: {label}", label, t) for t in UNSEEN for label in LABELS]
    return f"""The policies were trained on one switch of 100 Gb/s. The paper's step away from it is the cluster above;
here are three levels, and then links of 25 Gb/s, a quarter of what they were trained at. Fairness is of what flows
get: the least of the {UNSEEN[0].flows} to one has {100 * f.mean(TREE, UNSEEN[0], "fairness_min_max"):.0f} % of the
greatest with the tree, {100 * f.mean(SWIFT, UNSEEN[0], "fairness_min_max"):.0f} % with Swift.

{several(f, (GOODPUT, LATENCY, FAIRNESS, LOSS), rows, "traffic@fabric")}"""


def _unlike(f: Found) -> str:
    rows = [(f"{t.name}: {label}", label, t) for t in UNLIKE for label in LABELS]
    return f"""Four leaves of four hosts and two spines, all at 100 Gb/s but the links of the second spine, at 25:
a hash sends half of the flows between leaves that way, whatever it carries. Not in the paper.

{several(f, (GOODPUT, LATENCY, FAIRNESS, LOSS), rows, "traffic")}"""


def page(f: Found, made: Sequence[Section], shown: Courses) -> str:
    """The whole page."""
    head = f"""# RL-CC's cluster of 64 hosts

{made_by("python -m papers.cluster")}

[RLCC] section 6.3, figures 9 to 12: `{CLUSTER}` has 4 racks of 16 hosts and 3 spines
([the fabric](../../docs/reference/scenarios.md#fabrics)). "{MLP}" is the teacher, "{TREE}" its student of
`recipes/rl-cc.toml`, run as its integer program; "{ROBUST}" is no paper's
([what it is](../../fixtures/teachers/README.md)). The paper has the tree, DCQCN and Swift; theirs are ConnectX's, ours
are [these](../../docs/reference/baselines.md). Policies and baselines start at line rate, "{ROBUST}" below it; a
policy's decisions take effect after 0.9 us, the tree's time (the paper has 17 us for its MLP), baselines' at once. Each
network is measured late in its run; {DCQCN} many to one from 8192 flows on early. Seeds
{listed([f"{s}" for s in f.seeds])},
± is the half-width of the 99 % confidence interval of the mean; what is told over time is of seed 1."""
    parts = [f"## {section.title}\n{section.write(f)}" for section in made]
    parts.insert(1, f"## Figures 10 and 11: over time\n{cluster_time.figures_10_and_11(shown)}")
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
    compete = who(student_of(options))
    asked = cluster_time.over_time(compete)
    shown = run_courses(asked, keep, place_of(options))
    made = sections(shown)
    todo = wanted(made, compete, seeds)
    seen = {run.place: shown[name].metrics for name, (run, _) in asked.items()}
    fresh = [as_measured(run) for run in todo if run.place not in seen]
    metrics = run_all(fresh, keep, place_of(options)) | seen
    runs = {run.place: with_drop_rate(metrics[run.place], run) for run in todo}
    found = Found(runs, seeds)
    for section in made:
        for picture in section.pictures:
            store(options.docs / "figures" / f"{picture.name}.svg", picture.draw(found))
    rows = [(_short(t), {c: shown[figure, c] for c in LABELS}) for figure, t in LARGEST.items()]
    store(options.docs / "figures" / "rl-cc-figures-10-11.png", courses(rows))
    store(options.docs / "cluster.md", page(found, made, shown).encode())


if __name__ == "__main__":
    sys.exit(main())
