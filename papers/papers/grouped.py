"""RL-CC, figure 4, as it groups it: by the number of flows, over several combinations of hosts and flows of each.

python -m papers.grouped [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import cache

from netsim.network import MS
from papers import contenders
from papers.command import add_docs, page_parser, run_sections, store, written
from papers.contenders import Contender
from papers.found import Found
from papers.pictures import curves
from papers.runs import Metrics
from papers.sections import GOODPUT, INFLATION, LATENCY, LOSS, UNFAIRNESS, Section, by_metric
from papers.summary import compared
from papers.traffic import TIMES, Traffic, named
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped

PAGE = "combinations.md"
PICTURE = "rl-cc-figure-4-combinations"
MLP, MLP_QUEUE = "RL-CC MLP", "RL-CC MLP, queue length"
LSTM, LSTM_QUEUE = "RL-CC LSTM", "RL-CC LSTM, queue length"
SWIFT = "Swift"
LABELS = (MLP, MLP_QUEUE, LSTM, LSTM_QUEUE, SWIFT)
COLUMNS = (GOODPUT, LATENCY, UNFAIRNESS, INFLATION, LOSS)
COMBINATIONS: Mapping[int, Sequence[tuple[int, int]]] = {
    16: ((4, 4), (8, 2), (16, 1)),
    64: ((4, 16), (16, 4), (64, 1)),
    256: ((4, 64), (16, 16), (64, 4)),
    1024: ((4, 256), (16, 64), (64, 16)),
    4096: ((4, 1024), (16, 256), (64, 64)),
    8192: ((4, 2048), (32, 256), (64, 128)),
}
"""Hosts and flows of each, by flows in all; four hosts are those of the paper's section 4."""


@cache
def networks(flows: int) -> tuple[Traffic, ...]:
    """All that are one group."""
    return tuple(named(f"many-to-one:{hosts}x{each}", TIMES) for hosts, each in COMBINATIONS[flows])


GROUPS = tuple(Traffic(f"{flows} flows", networks(flows)[0].scenario, TIMES) for flows in COMBINATIONS)
"""One stands for all of its group."""


def who() -> dict[str, Contender]:
    """Both networks by RTT and by queue length, and Swift."""
    found = contenders.without_tree()
    return {label: found[label] for label in LABELS}


def grouped(runs: Mapping[tuple[str, str, int], Metrics], seeds: Sequence[int]) -> Found:
    """The runs by group: each combination with each seed is one run of it."""
    together: dict[tuple[str, str, int], Metrics] = {}
    for group, flows in zip(GROUPS, COMBINATIONS, strict=True):
        of = [(t.name, seed) for t in networks(flows) for seed in seeds]
        for label in LABELS:
            together |= {(label, group.name, k): runs[label, name, seed] for k, (name, seed) in enumerate(of, 1)}
    return Found(together, range(1, 1 + len(of)))


def sections() -> list[Section]:
    return by_metric(COLUMNS, LABELS, GROUPS, [g.name for g in GROUPS])


def picture(f: Found) -> bytes:
    return curves(f, (("", GROUPS),), (GOODPUT, LATENCY, UNFAIRNESS), LABELS)


def _judged(f: Found) -> str:
    """Ours beside Swift, by group."""
    rows = []
    for label in LABELS[:-1]:
        verdicts = [
            ", ".join(
                f"{c.heading} {compared(f.figure(label, g, c.metric), f.figure(SWIFT, g, c.metric), c)}"
                for c in (GOODPUT, LATENCY)
            )
            for g in GROUPS
        ]
        rows.append([label, *verdicts])
    return table(["beside Swift", *(g.name for g in GROUPS)], rows)


def _apart(f: Found, one: str, other: str) -> str:
    """By how much two differ at the most, in goodput and latency."""
    found = [
        (abs(f.mean(other, g, metric) / f.mean(one, g, metric) - 1), g.name)
        for g in GROUPS
        for metric in ("goodput", "latency_mean_us")
    ]
    most, where = max(found)
    return f"{one} and {other}: {most:.1%} at the most, with {where}"


def _spread(f: Found) -> str:
    """The widest interval of a group, as a part of its mean."""
    found = [
        (figure.half / figure.mean, label, g.name)
        for label in LABELS
        for g in GROUPS
        if (figure := f.figure(label, g, "latency_mean_us")).half > 0
    ]
    most, label, where = max(found, default=(0.0, LABELS[0], GROUPS[0].name))
    return f"the widest interval of a group's latency is {most:.0%} of its mean ({label}, {where})"


def page(f: Found, made: Sequence[Section], seeds: Sequence[int]) -> str:
    """The whole page."""
    combinations = [[f"{n:,}", ", ".join(f"{h} x {e}" for h, e in c)] for n, c in COMBINATIONS.items()]
    head = f"""# RL-CC, figure 4: several combinations of hosts and flows

{made_by("python -m papers.grouped")}

[RLCC] figure 4 groups its results "by total number of flows", "obtained with multiple host/flow combinations", and
shows "group means and 99% confidence intervals"; which combinations it does not say.
[Its page here](tables.md#rl-cc-figure-4-rtt-queue-length-and-swift) has one a size. Many to one, runs of
{TIMES.duration_ps // MS} ms, measured from {TIMES.window_ps[0] // MS} to {TIMES.window_ps[1] // MS} ms, seeds
{listed([f"{s}" for s in seeds])} of each combination; ± is the half-width of the 99 % confidence interval of a group's
mean, all its runs taken as drawn alike. Decisions take effect after 0.9 us, Swift acts at once.

{table(["flows", "hosts x flows of each"], combinations)}
![goodput, latency and unfairness over flows](figures/{PICTURE}.svg)

## Beside the paper's words
"Swift sustains a higher goodput and similar latency to RL-CC when the number of flows is low. However, RL-CC
demonstrates favorable goodput and latency when the number of increases"; and by RTT and by queue length it is
"similar". A difference counts beyond both intervals and in shown digits.

{_judged(f)}
A probe in each burst of four packets takes 1.9 % of the link from RL-CC; our Swift has none, so that more goodput than
a Swift that fills the link cannot be had. What is below 0.909 is lost and sent again. RTT and queue length:
{_apart(f, MLP, MLP_QUEUE)}; {_apart(f, LSTM, LSTM_QUEUE)}. How many hosts the flows are of matters where they are many:
{_spread(f)}."""
    return wrapped("\n\n".join([head, *(f"## {section.title}\n{section.write(f)}" for section in made)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("grouped", "Several combinations of hosts and flows.")
    add_docs(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    all_ = [Section("", LABELS, tuple(t for flows in COMBINATIONS for t in networks(flows)), lambda f: "")]
    f = grouped(run_sections(all_, who(), seeds, options), seeds)
    store(options.docs / "figures" / f"{PICTURE}.svg", picture(f))
    store(options.docs / PAGE, page(f, sections(), seeds).encode())


if __name__ == "__main__":
    sys.exit(main())
