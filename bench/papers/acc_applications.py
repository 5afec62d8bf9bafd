"""ACC under applications: workloads, RDMA beside TCP, storage, training ([ACC] figures 2, 8, 9, 10 and 13).

python -m bench.papers.acc_applications [--run FOLDER] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER]
                                        [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.papers import acc_storage, acc_training
from bench.papers.acc import RECIPE, at_queues
from bench.papers.acc_cases import ACC, RDMA, STATIC_AND_OURS, TREE, Case, Outcomes, played, with_seeds
from bench.papers.command import add_docs, page_parser, store, written
from bench.papers.found import listed, table, wrapped
from bench.where.options import place_of
from netsim.baselines import by_name
from netsim.kept import Kept
from netsim.mixes import Mix, Part
from netsim.network import MS, Network
from netsim.splitmix import uniform
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe

BESIDE = Mix((Part(RDMA, 50, 0), Part(by_name("dctcp"), 50, 1)))
WEIGHTS = (7, 3)
STATIC_ONES = ("SECN0", "SECN1", "SECN2")
WORKLOADS = {
    "web search": ("websearch", Times(400 * MS, (100 * MS, 400 * MS))),
    "data mining": ("datamining", Times(1000 * MS, (200 * MS, 1000 * MS))),
}
STATIC_LOADS = (60, 80, 90)
SHARING = Times(40 * MS, (10 * MS, 40 * MS))
CHANGING = Times(40 * MS, (5 * MS, 40 * MS))
BED, FABRIC = "leaf-spine:2x12x2:25/100", "acc-fabric"
DRAWS, PHASES, GROUPS = 10, 2, 3
LOADS = (60, 70, 80, 90)
LOADS_OF = 1 << 22
"""The stream of a seed's random numbers that loads are drawn from."""
SIZES = ("mice_fct_mean_us", "mice_fct_p99_us", "medium_fct_mean_us", "elephants_fct_mean_us", "fct_mean_us")
PAPER_13 = {"SECN1": ("-8.7", "-24.3", "-", "-8.6", "-"), "SECN2": ("-28.6", "-58.3", "-", "-", "-21.1")}
"""ACC against these, web search, "up to", in %."""


def drawn(workload: str, seed: int) -> str:
    """Loads of each phase and group of machines, drawn by the seed ([ACC] section 5.4)."""
    loads = [LOADS[int(x * len(LOADS))] for x in uniform(PHASES * GROUPS, seed, LOADS_OF)]
    phases = [loads[GROUPS * phase : GROUPS * (phase + 1)] for phase in range(PHASES)]
    return ">".join("+".join(f"{workload}:{load}%" for load in each) for each in phases) + f"@{FABRIC}"


def cases(network: Network, seeds: Sequence[int]) -> dict[int, list[Case]]:
    """By figure of the paper; ``network``: ACC's."""
    lossless = replace(network, lossless=True, buffer_bytes=32 * 2**20)
    sharing, both = replace(lossless, link_gbps=100, class_weights=WEIGHTS), ("SECN1", ACC, TREE)
    draws = range(1, 1 + DRAWS)
    return {
        2: [
            Case(f"{name}, {load} %", with_seeds(f"{workload}:{load}%@{BED}", seeds), times, STATIC_ONES, lossless)
            for name, (workload, times) in WORKLOADS.items()
            for load in STATIC_LOADS
        ],
        8: [
            Case(f"{n} to 1", with_seeds(f"many-to-one:{n}x32", seeds), SHARING, both, sharing, BESIDE) for n in (2, 7)
        ],
        9: acc_storage.cases(lossless, seeds),
        10: acc_training.cases(lossless, seeds),
        13: [
            Case(name, tuple((drawn(load, seed), seed) for seed in draws), CHANGING, STATIC_AND_OURS, network)
            for name, load in (("web search", "websearch"), ("data mining", "datamining"))
        ],
    }


def _static(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        us = [o.figure(case, who, "fct_mean_us").text(0) for who in STATIC_ONES]
        rows.append([case.name, *us, *(o.against(case, who, "SECN0", "fct_mean_us") for who in STATIC_ONES[1:])])
    heads = ["mean FCT, us", *STATIC_ONES, *(f"{who} against SECN0 %" for who in STATIC_ONES[1:])]
    return f"""The test bed of the paper's section 2: 24 hosts at 25 Gb/s, 2 leaves, 2 spines. Its loads are not
printed.

{table(heads, rows)}
The paper: SECN2 has the lowest mean FCT with data mining, SECN1 with web search; SECN0 with neither."""


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
    heads = ["%, ours / the paper's", "mice mean", "mice p99", "in between mean", "elephants mean", "all"]
    return f"""As in the paper {DRAWS} runs on its 288 hosts, each with loads drawn anew from 60, 70, 80 and 90 %: here
for each of {GROUPS} groups of 4 leaves, and again at half of the 40 ms; flows go to all machines. The paper prints "up
to" of its means.

{table(heads, rows)}
"""


def page(found: Mapping[int, Sequence[Case]], o: Outcomes, seeds: int) -> str:
    """The whole page."""
    top = f"""# ACC under applications: workloads, RDMA beside TCP, storage, training
{made_by("rlcc run recipes/acc.toml && python -m bench.papers.acc_applications")}

"""
    head = f"""[ACC] sections 2 and 5.2 to 5.4. *{ACC}* is the teacher of [ACC on its 288 hosts](papers-acc.md),
*{TREE}* the C of its
student; both decide every 50 us. DCQCN sends, unless said otherwise. SECN1 and SECN2 are the paper's static settings.
The networks of figures 2 to 10 are lossless (PFC, 32 MiB of buffer), as the paper's are. {seeds} seeds; ± is half of
the 99 % interval of the mean."""
    parts = [
        ("Figure 2: static settings", _static(o, found[2])),
        ("Figure 8: RDMA beside TCP", _sharing(o, found[8])),
        ("Figure 9: storage", acc_storage.section(o, found[9])),
        ("Figure 10: training", acc_training.section(o, found[10])),
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
    found = cases(deployment.network, range(1, 1 + options.seeds))
    everything = [case for each in found.values() for case in each]
    with at_queues(options.run) as deciders:
        outcomes = played(everything, deployment, deciders, place_of(options), Kept(options.work / "runs"))
    store(options.docs / "papers-acc-applications.md", page(found, outcomes, options.seeds).encode())


if __name__ == "__main__":
    sys.exit(main())
