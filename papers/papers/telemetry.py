"""RL-CC, section 4: "in more complex networks, we conjecture that queue-length will be more robust" than RTT. Measured.

python -m papers.telemetry [--seeds N] [--where PLACE] [--jobs N] [--out FILE] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.output import write_atomically
from netsim.network import MS
from netsim.policies import NativePolicy, Where
from netsim.simulation import DECISION_LATENCY_PS
from netsim.sites import Paths
from papers import contenders
from papers.command import page_parser, run_sections, written
from papers.contenders import PAGES, TEACHERS, Contender
from papers.found import Found
from papers.sections import GOODPUT, LOSS, Column, Section, cell
from papers.summary import compared
from papers.traffic import Traffic, named
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped
from teachers.load import load

PAGE = PAGES / "telemetry.md"
RTT, QUEUE = "RTT", "queue length"
ONE_RTT, ONE_QUEUE = "RTT, one base RTT", "queue length, one base RTT"
LABELS = (RTT, QUEUE, ONE_RTT, ONE_QUEUE)
P99 = Column("p99 us", "latency_p99_us", 1, 1, -1)
MEAN = Column("latency us", "latency_mean_us", 1, 1, -1)
JAIN = Column("Jain", "jain", 1, 3, 1)
COLUMNS = (GOODPUT, MEAN, P99, JAIN, LOSS)

SHORT, LONGER = Times(16 * MS, (10 * MS, 16 * MS)), Times(120 * MS, (60 * MS, 120 * MS))
NETWORKS = (
    named("many-to-one:512@rl-cc-cluster", LONGER),
    named("all-to-all:16@rl-cc-cluster", SHORT),
    named("all-to-all:32@rl-cc-cluster", SHORT),
    named("all-to-all:16@leaf-spine:4x4x1", LONGER),
    named("all-to-all:16@leaf-spine:4x4x2:25/100", LONGER),
    named("many-to-one:256@fat-tree:4", LONGER),
    named("all-to-all:16@fat-tree:4", LONGER),
)


@dataclass(frozen=True)
class ToldOne(NativePolicy):
    """A teacher to whom every flow has the fabric's longest base RTT, as where nobody measures each path."""

    def build(self, agents: int, where: Where | None = None) -> Any:
        if isinstance(where, Paths):
            where = replace(where, base_rtt_ns=np.full_like(where.base_rtt_ns, where.base_rtt_ns.max()))
        return super().build(agents, where)


def who() -> dict[str, Contender]:
    mlp = load(TEACHERS / "rl-cc-mlp")
    found = {}
    for label, signal in ((RTT, "rtt"), (QUEUE, "queue")):
        policy = contenders.retargeted(mlp, None, signal)
        found[label] = policy
        found[f"{label}, one base RTT"] = ToldOne(policy.policy, policy.weights)
    return {label: Contender(label, policy, DECISION_LATENCY_PS) for label, policy in found.items()}


def sections() -> list[Section]:
    return [Section(t.name, LABELS, (t,), lambda f, t=t: _one(f, t)) for t in NETWORKS]  # type: ignore[misc]


def _one(f: Found, t: Traffic) -> str:
    rows = [[label, *(cell(f, label, t, column) for column in COLUMNS)] for label in LABELS]
    return table(["", *(c.heading for c in COLUMNS)], rows)


def _judged(f: Found, ours: str, theirs: str) -> str:
    """How often the first is better, level, worse than the second, by metric."""
    lines = []
    for column in COLUMNS:
        verdicts = [
            compared(f.figure(ours, t, column.metric), f.figure(theirs, t, column.metric), column) for t in NETWORKS
        ]
        lines.append([column.heading, *(str(verdicts.count(v)) for v in ("wins", "level", "loses"))])
    return table([f"{ours} beside {theirs}", "better", "level", "worse"], lines)


def _moved(f: Found, label: str) -> str:
    """What telling one base RTT for each flow's own does to the mean latency and goodput, at the most."""
    one = f"{label}, one base RTT"
    latency = [f.mean(one, t, "latency_mean_us") / f.mean(label, t, "latency_mean_us") - 1 for t in NETWORKS]
    goodput = [f.mean(one, t, "goodput") - f.mean(label, t, "goodput") for t in NETWORKS]
    fair = [f.mean(one, t, "jain") - f.mean(label, t, "jain") for t in NETWORKS]
    most = {name: max(values, key=abs) for name, values in (("l", latency), ("g", goodput), ("j", fair))}
    return f"{label}: mean latency {most['l']:+.1%}, goodput {most['g']:+.4f}, Jain's index {most['j']:+.3f}"


def page(f: Found, made: Sequence[Section]) -> str:
    """The whole page."""
    head = f"""# RTT or queue length, in fabrics

{made_by("python -m papers.telemetry")}

[RLCC] section 4 finds its policy by RTT and by queue length alike on one switch
([figure 4 here](tables.md#rl-cc-figure-4-rtt-queue-length-and-swift)), and goes on: "In more complex networks, we
conjecture that queue-length will be more robust, though we leave this for future work." Its reasons: the base RTT
differs from host to host, and of a path's switches the most congested one is what counts. So here, in fabrics, are the
weights of RL-CC's MLP by RTT inflation and by the longest queue on the path (its equation 6), each flow told its own
base RTT; and both again with one base RTT for all flows, the longest of the fabric: what a policy has that nobody told
where its flow's ends are. Decisions take effect after 0.9 us; measured late in runs of
{listed([str(t // MS) for t in sorted({n.times.duration_ps for n in NETWORKS})])} ms. Seeds
{listed([f"{s}" for s in f.seeds])}, ± is the half-width of the 99 % confidence interval of the mean.

## The conjecture
Over the {len(NETWORKS)} networks below; a difference counts beyond both confidence intervals and in shown digits.

{_judged(f, QUEUE, RTT)}
{_judged(f, ONE_QUEUE, ONE_RTT)}
One base RTT in place of each flow's own moves, at the most: {_moved(f, RTT)}; {_moved(f, QUEUE)}.

{_verdict(f)}"""
    return wrapped("\n\n".join([head, *(f"## {section.title}\n{section.write(f)}" for section in made)]))


def _verdict(f: Found) -> str:
    def better(ours: str, theirs: str) -> int:
        """Networks in which the first is better in something and worse in nothing."""
        count = 0
        for t in NETWORKS:
            verdicts = [compared(f.figure(ours, t, c.metric), f.figure(theirs, t, c.metric), c) for c in COLUMNS]
            count += "wins" in verdicts and "loses" not in verdicts
        return count

    told = better(QUEUE, RTT), better(RTT, QUEUE)
    untold = better(ONE_QUEUE, ONE_RTT), better(ONE_RTT, ONE_QUEUE)
    return f"""Better in something and worse in nothing, each told its own base RTT: queue length in {told[0]} of
{len(NETWORKS)} networks, RTT in {told[1]}; with one base RTT for all: queue length in {untold[0]}, RTT in
{untold[1]}."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("telemetry", "RTT or queue length.")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    made = sections()
    runs = run_sections(made, who(), seeds, options)
    write_atomically(options.out, page(Found(runs, seeds), made).encode())


if __name__ == "__main__":
    sys.exit(main())
