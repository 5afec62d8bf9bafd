"""PCC-RL, figure 4 and section 8: 2^i flows to one, i from 4 to 13, as radars of few flows and of many.

python -m papers.scale [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Sequence
from statistics import fmean

from netsim.network import MS, US, Network
from papers import contenders
from papers.command import add_docs, page_parser, run_sections, store, written
from papers.found import Found
from papers.pictures import radars
from papers.sections import DROPS_FINE, FAIRNESS, GOODPUT, QUEUE, UTILISATION, Section, by_metric
from papers.traffic import TIMES, Traffic, named
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped

PAGE = "scale.md"
PICTURE = "pcc-rl-figure-4"
OURS = "PCC-RL LSTM"
LABELS = (OURS, "DCQCN", "HPCC", "Swift", "RL-CC MLP", "robust-in-flight")
"""The paper's four, with DCQCN for its unpublished successor, and two more of ours."""
NETWORKS = tuple(named(f"many-to-one:{1 << i}", TIMES) for i in range(4, 14))
FEW, MANY = NETWORKS[0], NETWORKS[-1]
COLUMNS = (UTILISATION, FAIRNESS, QUEUE, DROPS_FINE, GOODPUT)
AXES = ("utilisation", "fairness", "queue latency", "drops")
BASE_US = Network().base_rtt_ps / US
LINE_GBPS = 8000 / Network().ps_per_byte


def scores(f: Found, label: str, t: Traffic) -> list[float]:
    """The axes in [0, 1], further out is better: the share of the link that is used, the slowest flow's part of the
    fastest's rate, base RTT / (base RTT + queue latency), 1 - what is dropped / the line rate."""
    queue, drops = f.mean(label, t, "queue_mean_us"), f.mean(label, t, "drop_gbps")
    raw = [
        f.mean(label, t, "utilisation"),
        f.mean(label, t, "fairness_min_max"),
        BASE_US / (BASE_US + queue),
        1 - drops / LINE_GBPS,
    ]
    return [min(max(value, 0.0), 1.0) for value in raw]


def sections() -> list[Section]:
    return by_metric(COLUMNS, LABELS, NETWORKS, [str(t.flows) for t in NETWORKS])


def picture(f: Found) -> bytes:
    """Few flows and many, as the paper has them."""
    panels = {f"{t.flows} to 1": {label: scores(f, label, t) for label in LABELS} for t in (FEW, MANY)}
    return radars(panels, AXES)


def _mean(f: Found, label: str, t: Traffic) -> float:
    return fmean(scores(f, label, t))


def _inside(f: Found) -> str:
    """The mean of the four axes by size."""
    rows = [[label, *(f"{_mean(f, label, t):.3f}" for t in NETWORKS)] for label in LABELS]
    return table(["mean of the four", *(str(t.flows) for t in NETWORKS)], rows)


def _lossless(f: Found) -> str:
    """Who drops nothing that is measured, at any size."""
    clean = [label for label in LABELS if all(f.most(label, t, "dropped_packets") == 0 for t in NETWORKS)]
    return listed(clean) if clean else "nobody"


def _verdict(f: Found) -> str:
    few, many = ({label: _mean(f, label, t) for label in LABELS[:4]} for t in (FEW, MANY))
    apart = max(few.values()) - min(few.values())
    first, second = sorted(many, key=lambda label: -many[label])[:2]
    order = "as in the paper" if first == OURS else "not as in the paper"
    sizes = {label: [str(t.flows) for t in NETWORKS if _mean(f, label, t) > _mean(f, OURS, t)] for label in LABELS[1:]}
    ahead = "; ".join(f"{label} at {listed(of)}" for label, of in sizes.items() if of) or "nobody"
    return f"""The paper: "all methods are competitive at low scale"; with thousands of flows its own alone keeps
utilisation high, latency low and fairness "at a reasonable level", and all others lose packets for long. Here, of its
four: at {FEW.flows} flows the means of the four axes are {apart:.3f} apart; at {MANY.flows} {first} is the furthest
out, {order}: {many[first]:.3f}, next {second} with {many[second]:.3f}.
Further out than {OURS}: {ahead}. Of all rows {_lossless(f)} drop nothing while measured, at any size."""


def page(f: Found, made: Sequence[Section]) -> str:
    """The whole page."""
    head = f"""# PCC-RL, figure 4: few flows to one, and many

{made_by("python -m papers.scale")}

[PCCRL] section 8 runs 2^i flows to one for i from 4 to 13 and draws two of the sizes as radars, without numbers; its
[table 1](tables.md#pcc-rl-table-1-many-to-one) has four of them. One switch, 100 Gb/s, runs of
{TIMES.duration_ps // MS} ms from an empty network, measured from {TIMES.window_ps[0] // MS} to
{TIMES.window_ps[1] // MS} ms; decisions take effect after 0.9 us, baselines act at once. Seeds
{listed([f"{s}" for s in f.seeds])}, ± is the half-width of the 99 % confidence interval of the mean.

![radars of {FEW.flows} and of {MANY.flows} flows to one](figures/{PICTURE}.svg)

Each axis from 0 to 1, further out is better: utilisation; fairness, the slowest flow's rate over the fastest's; queue
latency as base RTT / (base RTT + queue latency); drops as the part of the line rate that is not dropped. How the paper
scales its axes it does not say.

{_verdict(f)}

{_inside(f)}"""
    return wrapped("\n\n".join([head, *(f"## {section.title}\n{section.write(f)}" for section in made)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("scale", "Few flows to one, and many.")
    add_docs(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    made = sections()
    who = contenders.without_tree()
    f = Found(run_sections(made[:1], who, seeds, options), seeds)
    store(options.docs / "figures" / f"{PICTURE}.svg", picture(f))
    store(options.docs / PAGE, page(f, made).encode())


if __name__ == "__main__":
    sys.exit(main())
