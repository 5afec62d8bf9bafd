"""ACC under distributed storage ([ACC] section 5.3.1, table 1 and figure 9): reads and writes in a closed loop."""

from collections.abc import Sequence

from bench.papers.acc_cases import ACC, TREE, VENDOR, Case, Outcomes, with_seeds
from bench.papers.found import table
from netsim.network import MS, Network
from rlcc.evaluation.grid import Times

FABRIC = "leaf-spine:2x12x2:25/100"
COPIES = 3
"""Of a written block, as GFS and Ceph have them; how many the paper's storage makes it does not say."""
SHORT, LONG = Times(100 * MS, (20 * MS, 100 * MS)), Times(500 * MS, (100 * MS, 500 * MS))
DEPTHS = {2: SHORT, 16: SHORT, 128: LONG}
"""Outstanding requests of a computing node: of the paper's 16 and 128 it has figures. A request of 128 waits long."""
LOADS = {
    "OLTP": ("50%:512B-64KB", "-"),
    "OLAP": ("50%:256KB-4MB", "-"),
    "VDI": ("20%:1KB-64KB", "+5 at depth 16, +15.3 at 128"),
    "Exchange server": ("60%:32KB-512KB", "-"),
    "video streaming": ("20%:64KB", "-"),
    "file backup": ("40%:16KB-64KB", "up to +30"),
}
"""Share of reads and block sizes ([ACC] table 1), and ACC's IOPS against the vendor's setting in %."""


def cases(network: Network, seeds: Sequence[int]) -> list[Case]:
    return [
        Case(
            f"{name}, depth {depth}",
            with_seeds(f"blocks:{mix}x{depth}:{COPIES}copies@{FABRIC}", seeds),
            times,
            (VENDOR, ACC, TREE),
            network,
            paper=paper,
        )
        for name, (mix, paper) in LOADS.items()
        for depth, times in DEPTHS.items()
    ]


def section(o: Outcomes, made: Sequence[Case]) -> str:
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
round more often. A storage node passes what is written on to the two that come next and answers when they have it:
{COPIES} copies, which the paper does not count. Storage nodes take no time. The vendor's setting: Kmin 30 KB, Kmax 270
KB, 10 %. Per cent against it, seed by seed (least to greatest):

{table(heads, rows)}
Of the paper's gain there is nothing beyond {most:+.1f} % in the mean of a row; the worst row has {least:+.1f} %. In a
closed loop that keeps the storage nodes' links busy, IOPS are what those links carry, whatever marks the queue."""
