"""PCC-RL, figures 3 and 9: what flows do over time when others come and go.

python -m papers.traces [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netsim.network import MS, Network
from papers import contenders
from papers.command import add_docs, page_parser, store, written
from papers.contenders import Contender
from papers.courses import Course, run_courses
from papers.found import Found
from papers.pictures import join_and_leave, long_flow
from papers.runs import Run
from papers.sections import LONG_BANDWIDTH, RECOVERY, Column, cell
from papers.traffic import FAIR_MS, Traffic, joining, named
from rlcc.commands.run_location import place_of
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, listed, table, wrapped

OURS, LOOSE, MLP = "PCC-RL LSTM", "target 0.64", "RL-CC MLP"
PAPER = (OURS, "DCQCN", "HPCC", "Swift")
"""PCC-RL's figure 3: its own, DC2QCN (for which DCQCN stands here), HPCC, Swift."""
FOUR = (OURS, LOOSE, MLP, "Swift")
TIMES = Times(50 * MS, (8 * MS, 50 * MS))
LONG_SHORT = (named("long-short:2", TIMES), named("long-short:8", TIMES))
POINTS = 500
"""Of a course: each 0.1 ms, or 0.2 where flows come and go for longer."""
FLOWS = 4
COME_AND_GO = joining(FLOWS)
NEAR = 0.2
"""Of its fair share: what a flow is called near."""
FULLEST = Column("fullest buffer %", "queue_share", 100, 1, -1)
DROPPED = Column("packets lost", "dropped_packets", 1, 0, -1)
Seen = Mapping[tuple[str, str, int], Course]


def asked(who: Mapping[str, Contender], seeds: Sequence[int]) -> dict[tuple[str, str, int], tuple[Run, int]]:
    pairs = [(c, t) for t in LONG_SHORT for c in PAPER] + [(c, COME_AND_GO) for c in FOUR]

    def points(t: Traffic) -> int:
        return t.times.duration_ps // (MS // 5) if t is COME_AND_GO else POINTS

    return {(c, t.name, seed): (Run(who[c], t, seed), points(t)) for c, t in pairs for seed in seeds}


def fair_share(t_ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of line rate: what each flow has [times, flows] where shares are fair, while it is there; else 0."""
    came = np.arange(FLOWS) * FAIR_MS
    there = (t_ms[:, None] > came) & (t_ms[:, None] <= came + FLOWS * FAIR_MS)
    return np.asarray(there / np.maximum(there.sum(axis=1), 1)[:, None], np.float64)


def settled_ms(shown: Course) -> list[float]:
    """After each flow that comes, and each that should go: until all that should be there are near their fair share of
    what is delivered, for a fifth of the time to the next change. NaN where that is never so."""
    share = fair_share(shown.t_ms)
    total = shown.host_gbps.sum(axis=1, keepdims=True)
    near = (np.abs(shown.host_gbps - share * total) <= NEAR * share * total + 1e-9).all(axis=1) & (total[:, 0] > 0)
    step = shown.t_ms[1] - shown.t_ms[0]
    for_so_many = max(round(FAIR_MS / 5 / step), 1)
    found = []
    for change in range(1, 2 * FLOWS - 1):
        within = (shown.t_ms > change * FAIR_MS + 1e-9) & (shown.t_ms <= (change + 1) * FAIR_MS + 1e-9)
        good = near[within]
        starts = [i for i in range(good.size - for_so_many + 1) if good[i : i + for_so_many].all()]
        found.append(float(starts[0] * step) if starts else float("nan"))
    return found


def _figure_3(f: Found) -> str:
    rows = [
        [
            f"{t.flows} flows: {c}",
            *(cell(f, c, t, column) for column in (LONG_BANDWIDTH, RECOVERY, FULLEST, DROPPED)),
        ]
        for t in LONG_SHORT
        for c in PAPER
    ]
    heads = [c.heading for c in (LONG_BANDWIDTH, RECOVERY, FULLEST, DROPPED)]
    lossless = [c for c in PAPER if all(f.most(c, t, "dropped_packets") == 0 for t in LONG_SHORT)]
    slow = {c: f.mean(c, LONG_SHORT[0], "recovery_us") for c in PAPER}
    known = [c for c in PAPER if np.isfinite(slow[c])]
    order = sorted(known, key=lambda c: slow[c])
    return f"""One flow without end, and 1 or 7 short ones every 10 ms: the long flow's goodput, and how much of the
buffer's {Network().buffer_bytes // 2**20} MiB waits at the fullest port, looked at every 0.1 ms; seed 1.

![the long flow and the buffer over time](figures/pcc-rl-figure-3.png)

{table(["long-short", *heads], rows)}
No packet is lost, with any seed, by: {listed(lossless) or "nobody"}. With 2 flows the long one is back soonest with
{listed(order)}, in this order; it does not come back between two rounds with:
{listed([c for c in PAPER if c not in known]) or "nobody"}.

The paper: none of the four loses a packet; DC2QCN does not recover within a reasonable time; HPCC's long flow never
has the whole link, even alone. Differences: the size and the interval of the paper's short flows are not printed, and
[none fits all of its table 8](long-short-calibration.md); DCQCN stands for DC2QCN.
"""


def _figure_9(seen: Seen, seeds: Sequence[int]) -> str:
    rows = []
    for c in FOUR:
        by_seed = [settled_ms(seen[c, COME_AND_GO.name, seed]) for seed in seeds]
        cells = []
        for of_change in zip(*by_seed, strict=True):
            known = [x for x in of_change if np.isfinite(x)]
            figure = Figure.of(known) if known else Figure(float("nan"))
            cells.append(figure.text(1) + ("" if len(known) in (0, len(of_change)) else f" ({len(known)})"))
        rows.append([c, *cells])
    heads = [f"flow {i + 1} comes" for i in range(1, FLOWS)] + [f"flow {i + 1} goes" for i in range(FLOWS - 1)]
    return f"""Four hosts with a flow each to one receiver: a flow begins every {FAIR_MS} ms, and each has as much to
send that with fair shares they also leave one by one, {FAIR_MS} ms apart. A colour a flow, dashed its fair share of the
link; seed 1.

![four flows that come and go](figures/pcc-rl-figure-9.png)

Milliseconds until all flows that should be there are within {NEAR:.0%} of their share of what is delivered, and stay so
for {FAIR_MS // 5} ms; `-`: not before the next change, in brackets the seeds in which they are:

{table(["", *heads], rows)}
The paper: four flows, of which one is alone at the beginning and at the end, "quickly converge to a region of the fair
transmission rate"; its flows' times and sizes are not printed.
"""


def page(f: Found, seen: Seen) -> str:
    """The whole page."""
    head = f"""# PCC-RL's flows over time

{made_by("python -m papers.traces")}

[PCCRL] figures 3 and 9. "{OURS}" has PCC-RL's network and RL-CC's reward
([what differs](tables.md#the-papers-tables-beside-ours)); "{LOOSE}" is the same at ten times the target. One switch of
100 Gb/s; decisions take effect after 0.9 us. Policies and baselines start at line rate. Seeds
{listed([f"{s}" for s in f.seeds])}, ± is the half-width of the 99 % confidence interval of the mean."""
    parts = [
        f"## Figure 3: a long flow and short ones\n{_figure_3(f)}",
        f"## Figure 9: four flows that come and go\n{_figure_9(seen, f.seeds)}",
    ]
    return wrapped("\n\n".join([head, *parts]))


def figures(seen: Seen, seeds: Sequence[int]) -> Found:
    """What the runs of figure 3 say beside their courses."""
    buffer = Network().buffer_bytes
    named_runs = {
        place: course.metrics | {"queue_share": float(course.queue_bytes.max()) / buffer}
        for place, course in seen.items()
        if course.metrics
    }
    return Found(named_runs, seeds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("traces", "PCC-RL's flows over time.")
    add_docs(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    wanted = asked(contenders.without_tree(), seeds)
    seen = run_courses(wanted, options.work / "runs", place_of(options))
    panels = [(t, {c: seen[c, t.name, 1] for c in PAPER}) for t in LONG_SHORT]
    store(options.docs / "figures" / "pcc-rl-figure-3.png", long_flow(panels, Network().buffer_bytes))
    shown = {c: seen[c, COME_AND_GO.name, 1] for c in FOUR}
    store(options.docs / "figures" / "pcc-rl-figure-9.png", join_and_leave(shown, fair_share))
    store(options.docs / "traces.md", page(figures(seen, seeds), seen).encode())


if __name__ == "__main__":
    sys.exit(main())
