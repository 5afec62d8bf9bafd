"""ACC under applications: workloads, RDMA beside TCP, storage, training ([ACC] figures 2, 8, 9, 10 and 13).

python -m papers.acc_applications [--run FOLDER] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER]
                                        [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from netsim.baselines import by_name
from netsim.mixes import Mix, Part
from netsim.network import MS, Network
from netsim.result_store import Kept
from netsim.splitmix import uniform
from papers import acc_storage, acc_training
from papers.acc import RECIPE, at_queues
from papers.acc import STATIC as KNOBS
from papers.acc_bed import FABRIC as BED
from papers.acc_cases import ACC, RDMA, STATIC, TREE, Case, Outcomes, played, with_seeds
from papers.command import add_docs, page_parser, store, written
from rlcc.commands.run_location import place_of
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe
from rlcc.reports.pages import listed, table, wrapped

BESIDE = Mix((Part(RDMA, 50, 0), Part(by_name("dctcp-hpcc-marking"), 50, 1)))
WEIGHTS = (7, 3)
STATIC_ONES = tuple(KNOBS)
WORKLOADS = {
    "web search": ("websearch", Times(400 * MS, (0, 400 * MS))),
    "data mining": ("datamining", Times(1600 * MS, (0, 1600 * MS))),
}
"""In the second half nothing more arrives, and what is there can end."""
STATIC_LOADS = (60, 80, 90)
SHARING = Times(40 * MS, (10 * MS, 40 * MS))
PHASE_PS = 20 * MS
FABRIC = "acc-fabric"
DRAWS, PHASES, GROUPS = 10, 2, 3
LOADS = (60, 70, 80, 90)
LOADS_OF = 1 << 22
"""The stream of a seed's random numbers that loads are drawn from."""
ENDING = {"websearch": 4, "datamining": 0}
"""Phases without arrivals at the end: web search's largest flow takes 10 ms alone, data mining's 320."""
SIZES = ("mice_fct_mean_us", "mice_fct_p99_us", "medium_fct_mean_us", "elephants_fct_mean_us", "fct_mean_us")
ENDED = {"web search": SIZES, "data mining": SIZES[:3]}
"""What is told: the means of flows that end."""
PAPER_13 = {"SECN1": ("-8.7", "-24.3", "-", "-8.6", "-"), "SECN2": ("-28.6", "-58.3", "-", "-", "-21.1")}
"""ACC against these, web search, in %; of mice "up to"."""


def drawn(workload: str, seed: int) -> str:
    """Loads of each phase and group of machines, drawn by the seed ([ACC] section 5.4), and time to end."""
    loads = [LOADS[int(x * len(LOADS))] for x in uniform(PHASES * GROUPS, seed, LOADS_OF)]
    phases = [loads[GROUPS * phase : GROUPS * (phase + 1)] for phase in range(PHASES)]
    parts = ["+".join(f"{workload}:{load}%" for load in each) for each in phases]
    ending = [f"idle*{ENDING[workload]}"] if ENDING[workload] else []
    return ">".join(parts + ending) + f"@{FABRIC}"


def changing_times(workload: str) -> Times:
    """The first 5 ms are left out."""
    end = (PHASES + ENDING[workload]) * PHASE_PS
    return Times(end, (5 * MS, end))


def cases(network: Network, seeds: Sequence[int]) -> dict[int, list[Case]]:
    """By figure of the paper; ``network``: ACC's."""
    lossless = replace(network, lossless=True, buffer_bytes=32 * 2**20)
    sharing, both = replace(lossless, link_gbps=100, class_weights=WEIGHTS), ("SECN1", ACC, TREE)
    draws = range(1, 1 + DRAWS)
    return {
        2: [
            Case(f"{name}, {load} %", with_seeds(f"{workload}:{load}%>idle@{BED}", seeds), times, STATIC_ONES, lossless)
            for name, (workload, times) in WORKLOADS.items()
            for load in STATIC_LOADS
        ],
        8: [
            Case(f"{n} to 1", with_seeds(f"many-to-one:{n}x32", seeds), SHARING, both, sharing, BESIDE) for n in (2, 7)
        ],
        9: acc_storage.cases(lossless, seeds),
        10: acc_training.cases(lossless, seeds),
        13: [
            Case(
                name,
                tuple((drawn(workload, seed), seed) for seed in draws),
                changing_times(workload),
                (*STATIC, ACC, TREE),
                network,
            )
            for name, (workload, _) in WORKLOADS.items()
        ],
    }


def _static(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        us = [o.figure(case, who, "fct_mean_us").text(0) for who in STATIC_ONES]
        rows.append([case.name, *us, *(o.against(case, who, "SECN0", "fct_mean_us") for who in STATIC_ONES[1:])])
    heads = ["mean FCT, us", *STATIC_ONES, *(f"{who} against SECN0 %" for who in STATIC_ONES[1:])]
    less = [
        case.name for case in made if all(o.always_less(case, who, "SECN0", "fct_mean_us") for who in STATIC_ONES[1:])
    ]
    first, *others = (f"{kmin // 1000} and {kmax // 1000}" for kmin, kmax, _ in KNOBS.values())
    apart = max(abs(o.mean_off(case, "SECN2", "SECN1", "fct_mean_us")) for case in made)
    return f"""The test bed of the paper's section 2: 24 hosts at 25 Gb/s, 2 leaves, 2 spines; half of the time nothing
more arrives, and what is there can end. Kmin and Kmax are {first} KB, {", ".join(others)}; Pmax, 1 % of the last
two, is ours, and so are the loads.

{table(heads, rows)}
The paper: SECN2 has the lowest mean FCT with data mining, SECN1 with web search, SECN0 with neither. Here both
take less than SECN0 with every seed in {listed(less) or "nothing"}; else seeds differ in the sign. SECN1 and SECN2 are
within {apart:.1f} % of each other: which is the lower cannot be told."""


def _sharing(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        for who in case.who:
            us = [o.figure(case, who, f"{part}_latency_{what}_us").text(1) for part in "ab" for what in ("mean", "p99")]
            rows.append([f"{case.name}, {who}", o.share(case, who).text(1), *us, o.figure(case, who, "loss").text(4)])
    told = [f"{o.share(c, who).mean:.0f} % with {who} ({c.name})" for c in made for who in ("SECN1", ACC)]
    changed = [f"{o.mean_off(c, ACC, 'SECN1', 'a_latency_mean_us'):+.0f} % ({c.name})" for c in made]
    heads = ["", "RDMA's share %", "RDMA mean us", "p99", "TCP mean us", "p99", "loss"]
    return f"""32 flows a sender at 100 Gb/s, half of them DCQCN's (RDMA) in a class of weight {WEIGHTS[0]}, half
DCTCP's (TCP) in one of weight {WEIGHTS[1]}; ACC sets the marking of both classes' queues, the static setting is SECN1.
70 % is RDMA's part.

{table(heads, rows)}
The paper: with the static setting TCP has 10 to 20 % more of the bandwidth than its weight says, with ACC the shares
are kept; its latency is up to 65.1 % lower with ACC, p99 up to 25.3 %. Ours: RDMA has {listed(told)}; with ACC RDMA's
mean latency changes by {listed(changed)}: no gain. The paper's senders have 1 to 32 connections, at random; its TCP
takes 25 us to RDMA's 1.7, where DCTCP heeds marks and has the RTT of the others."""


def _changing(o: Outcomes, made: Sequence[Case]) -> str:
    rows, told = [], []
    for case in made:
        for other, papers in PAPER_13.items():
            printed = papers if case.name == "web search" else ("-",) * len(papers)
            for who in (ACC, TREE):
                cells = [
                    f"{o.against(case, who, other, metric) if metric in ENDED[case.name] else '-'} / {paper}"
                    for metric, paper in zip(SIZES, printed, strict=True)
                ]
                rows.append([f"{case.name}, {who} against {other}", *cells])
            better = [o.mean_off(case, ACC, other, metric) < 0 for metric in ENDED[case.name]]
            told.append(f"{sum(better)} of {len(better)} against {other} with {case.name}")
    heads = ["%, ours / the paper's", "mice mean", "mice p99", "in between mean", "elephants mean", "all"]
    return f"""As in the paper {DRAWS} runs on its 288 hosts, each with loads drawn anew from 60, 70, 80 and 90 %: here
for each of {GROUPS} groups of 4 leaves, and again after 20 ms of 40; flows go to all machines, the first 5 ms are left
out. Web search's flows are followed to their end. Of data mining's, which take up to 320 ms alone, elephants are left
out, and those in between are the ones that ended. The paper's of mice are "up to".

{table(heads, rows)}
The paper: ACC is better than both, with both. Here its means of the draws are better in {listed(told)}."""


def page(found: Mapping[int, Sequence[Case]], o: Outcomes, seeds: int) -> str:
    """The whole page."""
    top = f"""# ACC under applications: workloads, RDMA beside TCP, storage, training
{made_by("rlcc run recipes/acc.toml && python -m papers.acc_applications")}

"""
    head = f"""[ACC] sections 2 and 5.2 to 5.4. *{ACC}* is the teacher of [ACC on its 288 hosts](acc.md),
*{TREE}* the C of its
student; both decide every 50 us. DCQCN sends, unless said otherwise. SECN1 and SECN2 are the paper's static settings.
The networks of figures 2 to 10 are lossless (PFC; 32 MiB of buffer). {seeds} seeds, of figure 13 {DRAWS}; ± is half of
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
        keep = Kept(options.work / "runs")
        outcomes = played(everything, deciders, deployment.period_ps, place_of(options), keep)
    store(options.docs / "acc-applications.md", page(found, outcomes, options.seeds).encode())


if __name__ == "__main__":
    sys.exit(main())
