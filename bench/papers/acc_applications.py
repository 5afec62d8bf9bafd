"""ACC under applications: RDMA beside TCP, storage, training, loads that differ ([ACC] figures 8, 9, 10 and 13).

python -m bench.papers.acc_applications [--run FOLDER] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER]
                                        [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.papers.acc import RECIPE, STATIC, at_queues, setting
from bench.papers.acc_bed import Deciders
from bench.papers.command import add_docs, page_parser, store, written
from bench.papers.found import Figure, listed, table, wrapped
from bench.papers.runs import Metrics, percent_off, say, spread
from bench.where.options import place_of
from netsim.baselines import by_name
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.kept import Kept
from netsim.mixes import Mix, Part, Steering
from netsim.network import MS, Network
from netsim.places import Place
from netsim.trials import Trial
from netsim.trials import run as run_trials
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe

ACC, TREE = "ACC", "ACC tree"
VENDOR = "vendor's"
SETTINGS = STATIC | {VENDOR: (30_000, 270_000, 10)}
"""Of storage: Kmin, Kmax and Pmax in % ([ACC] section 5.3.1)."""

RDMA, TCP = by_name("dcqcn"), by_name("dctcp")
BESIDE = Mix((Part(RDMA, 50, 0), Part(TCP, 50, 1)))
WEIGHTS = (7, 3)
FABRIC = "leaf-spine:2x12x2:25/100"
LOADED = "leaf-spine:4x8x2:25/100"


@dataclass(frozen=True)
class Case:
    """A network of a figure, who is compared in it, and when it is measured."""

    name: str
    scenario: str
    times: Times
    who: tuple[str, ...]
    network: Network
    flows: Steering | Mix = RDMA
    paper: str = "-"


SHARING = Times(40 * MS, (10 * MS, 40 * MS))
STORING = Times(60 * MS, (20 * MS, 60 * MS))
TRAINING = Times(220 * MS, (20 * MS, 220 * MS))
CHANGING = Times(40 * MS, (5 * MS, 40 * MS))
STORAGE = {
    "OLTP": ("50%:512B-64KB", (16, 128), "-"),
    "OLAP": ("50%:256KB-4MB", (2, 16), "-"),
    "VDI": ("20%:1KB-64KB", (16, 128), "+5 at depth 16, +15.3 at 128"),
    "Exchange server": ("60%:32KB-512KB", (16, 128), "-"),
    "video streaming": ("20%:64KB", (16, 128), "-"),
    "file backup": ("40%:16KB-64KB", (16, 128), "up to +30"),
}
"""Share of reads and block sizes ([ACC] table 1), I/O depths, and ACC's IOPS against the vendor's setting in %."""
PHASES = "{0}:60%+{0}:80%>{0}:90%+{0}:70%"
SIZES = ("mice_fct_mean_us", "mice_fct_p99_us", "elephants_fct_mean_us", "fct_mean_us")
PAPER_13 = {"SECN1": ("-8.7", "-24.3", "-8.6", "-"), "SECN2": ("-28.6", "-58.3", "-", "-21.1")}
"""ACC against these, web search, "up to", in %."""


def cases(network: Network) -> dict[int, list[Case]]:
    """By figure of the paper; ``network``: ACC's."""
    lossless = replace(network, lossless=True, buffer_bytes=32 * 2**20)
    sharing = replace(lossless, link_gbps=100, class_weights=WEIGHTS)
    both, vendors, all_four = ("SECN1", ACC, TREE), (VENDOR, ACC, TREE), ("SECN1", "SECN2", ACC, TREE)
    return {
        8: [Case(f"{n} to 1", f"many-to-one:{n}x32", SHARING, both, sharing, BESIDE) for n in (2, 7)],
        9: [
            Case(f"{name}, depth {depth}", f"blocks:{mix}x{depth}@{FABRIC}", STORING, vendors, lossless, paper=paper)
            for name, (mix, depths, paper) in STORAGE.items()
            for depth in depths
        ],
        10: [
            Case("7 workers, 10 MB", "parameter-server:7x10MB", TRAINING, all_four, lossless),
            Case("7 workers, 1 MB", "parameter-server:7x1MB", TRAINING, all_four, lossless),
        ],
        13: [
            Case(name, f"{PHASES.format(load)}@{LOADED}", CHANGING, all_four, network)
            for name, load in (("web search", "websearch"), ("data mining", "datamining"))
        ],
    }  # fmt: skip


@dataclass(frozen=True)
class Outcomes:
    """Metrics of each seed, by case and who decided at the queues."""

    metrics: Mapping[tuple[str, str], Sequence[Metrics]]

    def figure(self, case: Case, who: str, metric: str) -> Figure:
        values = [m[metric] for m in self.metrics[case.name, who]]
        return Figure.of(values)

    def mean_off(self, case: Case, who: str, other: str, metric: str) -> float:
        """By how many percent, seed by seed, in the mean."""
        return float(np.mean(self._off(case, who, other, metric)))

    def against(self, case: Case, who: str, other: str, metric: str) -> str:
        """By how many percent, seed by seed: mean, and from the least to the greatest."""
        return spread(self._off(case, who, other, metric))

    def _off(self, case: Case, who: str, other: str, metric: str) -> list[float]:
        return percent_off(self.metrics[case.name, who], self.metrics[case.name, other], metric)

    def share(self, case: Case, who: str) -> Figure:
        """RDMA's of what both deliver, in %."""
        values = [100 * m["a_goodput"] / m["goodput"] for m in self.metrics[case.name, who]]
        return Figure.of(values)


def played(
    deployment: Deployment, deciders: Deciders, seeds: Sequence[int], where: Place, keep: Kept
) -> tuple[dict[int, list[Case]], Outcomes]:
    """All cases with everybody."""
    found = cases(deployment.network)
    known = {**deciders, VENDOR: (setting(*SETTINGS[VENDOR]), 0)}
    places = [(case, who) for each in found.values() for case in each for who in case.who]
    trials = []
    for case, who in places:
        policy, late_ps = known[who]
        at_queues = Cohort(policy, deployment.period_ps, late_ps)
        begin_end = (case.times.duration_ps, case.times.window_ps)
        trials += [
            Trial(case.scenario, case.flows, seed, *begin_end, network=case.network, cohorts=(at_queues,), name=who)
            for seed in seeds
        ]
    outcomes = iter(run_trials(trials, where, keep, say))
    return found, Outcomes({(case.name, who): [next(outcomes).metrics for _ in seeds] for case, who in places})


def _sharing(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        for who in case.who:
            us = [o.figure(case, who, f"{part}_latency_{what}_us").text(1) for part in "ab" for what in ("mean", "p99")]
            rows.append([f"{case.name}, {who}", o.share(case, who).text(1), *us, o.figure(case, who, "loss").text(4)])
    told = [f"{o.share(c, who).mean:.0f} % with {who} ({c.name})" for c in made for who in ("SECN1", ACC)]
    heads = ["", "RDMA's share %", "RDMA mean us", "p99", "TCP mean us", "p99", "loss"]
    return f"""32 flows a sender at 100 Gb/s, half of them DCQCN's (RDMA) in a class of weight {WEIGHTS[0]}, half
DCTCP's (TCP) in one of weight {WEIGHTS[1]}; ACC sets the marking of both classes' queues, the static setting is SECN1.
70 % is RDMA's part.

{table(heads, rows)}
The paper: with the static setting TCP has 10 to 20 % more of the bandwidth than its weight says, with ACC the shares
are kept. Ours: RDMA has {listed(told)}. DCTCP heeds marks and has the RTT of the others; the paper's TCP takes 25 us to
RDMA's 1.7."""


def _storage(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        iops = o.figure(case, VENDOR, "rounds_per_s").times(1e-3).text(1)
        us = o.figure(case, VENDOR, "round_mean_us").text(0)
        more = [o.against(case, who, VENDOR, "rounds_per_s") for who in (ACC, TREE)]
        p99 = [o.against(case, who, VENDOR, "round_p99_us") for who in (ACC, TREE)]
        rows.append([case.name, iops, us, case.paper, *more, *p99])
    gains = [o.mean_off(case, ACC, VENDOR, "rounds_per_s") for case in made]
    most, least = max(gains), min(gains)
    heads = ["", "thousand IOPS, vendor's", "us", "paper, ACC %", "ACC %", "ACC tree %", "p99 us, ACC %", "ACC tree %"]
    return f"""18 computing and 6 storage nodes of `{FABRIC}` in a closed loop: reads and writes as in the paper's table
1, sizes even over their logarithms, so many outstanding a computing node; each keeps its size, so that small ones come
round more often. Storage nodes do not copy data to one another
here, and take no time. The vendor's setting: Kmin 30 KB, Kmax 270 KB, 10 %. Per cent against it, seed by seed (least
to greatest):

{table(heads, rows)}
Of the paper's gain there is nothing beyond {most:+.1f} % in the mean of a row; the worst row has {least:+.1f} %. In a
closed loop that keeps the storage nodes' links busy, IOPS are what those links carry, whatever marks the queue."""


def _training(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        for who in case.who:
            rows.append(
                [
                    f"{case.name}, {who}",
                    o.figure(case, who, "round_mean_us").times(1e-3).text(3),
                    *(o.against(case, who, other, "round_mean_us") for other in ("SECN1", "SECN2")),
                    o.figure(case, who, "latency_mean_us").text(1),
                    o.figure(case, who, "loss").text(4),
                ]
            )
    heads = ["", "a round, ms", "against SECN1 %", "against SECN2 %", "latency us", "loss"]
    return f"""7 workers and a parameter server at 25 Gb/s on one switch: gradients to the server, parameters back, 1 ms
of computing.

{table(heads, rows)}
The paper, ResNet-50: up to +7 % against SECN1 and +12 % against SECN2, and a lower latency. Its gradients are ten times
as large and its GPUs compute longer; less time a round is more speed."""


def _changing(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        for other, papers in PAPER_13.items():
            printed = papers if case.name == "web search" else ("-",) * len(papers)
            for who in (ACC, TREE):
                cells = [
                    f"{o.against(case, who, other, metric)} / {paper}"
                    for metric, paper in zip(SIZES, printed, strict=True)
                ]
                rows.append([f"{case.name}, {who} against {other}", *cells])
    heads = ["%, ours / the paper's", "mice mean", "mice p99", "elephants mean", "all"]
    return f"""`{PHASES.format("websearch")}@{LOADED}`, and data mining: half of the machines load their links with
60 %, the other half with 80 %; then with 90 and 70. The paper draws loads from 60 to 90 % on 288 hosts, and prints "up
to".

{table(heads, rows)}
Against SECN1 ACC's mice gain what the paper's do, and its elephants wait longer where the paper's wait less; against
SECN2 mice gain a third of it in the mean, and their tail is longer."""


def page(found: Mapping[int, Sequence[Case]], o: Outcomes, seeds: int) -> str:
    """The whole page."""
    top = f"""# ACC under applications: RDMA beside TCP, storage, training
{made_by("rlcc run recipes/acc.toml && python -m bench.papers.acc_applications")}

"""
    head = f"""[ACC] sections 5.2 to 5.4. *{ACC}* is the teacher of [ACC on its 288 hosts](papers-acc.md),
*{TREE}* the C of its
student; both decide every 50 us. DCQCN sends, unless said otherwise. SECN1 and SECN2 are the paper's static settings.
The networks of figures 8 to 10 are lossless (PFC, 32 MiB of buffer), as the paper's are. {seeds} seeds; ± is half of
the 99 % interval of the mean."""
    parts = [
        ("Figure 8: RDMA beside TCP", _sharing(o, found[8])),
        ("Figure 9: storage", _storage(o, found[9])),
        ("Figure 10: training", _training(o, found[10])),
        ("Figure 13: loads that differ in time and place", _changing(o, found[13])),
    ]
    return top + wrapped("\n\n".join([head, *(f"## {title}\n{text}" for title, text in parts)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("acc_applications", "ACC under applications.")
    add_docs(parser)
    parser.add_argument("--run", type=Path, default=Path("runs/acc"), help="what rlcc run recipes/acc.toml wrote")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    deployment = deployment_of(load_recipe(RECIPE), RECIPE)
    seeds = range(1, 1 + options.seeds)
    with at_queues(options.run) as deciders:
        found, outcomes = played(deployment, deciders, seeds, place_of(options), Kept(options.work / "runs"))
    store(options.docs / "papers-acc-applications.md", page(found, outcomes, options.seeds).encode())


if __name__ == "__main__":
    sys.exit(main())
