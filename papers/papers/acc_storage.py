"""ACC under distributed storage ([ACC] section 5.3.1, table 1 and figure 9): reads and writes in a closed loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netsim.network import MS, Network
from papers.acc_bed import FABRIC as BED
from papers.acc_cases import ACC, TREE, VENDOR, VENDORS, Case, Outcomes, with_seeds
from rlcc.evaluation.grid import Times
from rlcc.reports.pages import Figure, table

COPIES = 3
"""Of a written block, as GFS and Ceph have them; how many the paper's storage makes it does not say."""
DEPTHS = (2, 16, 128)
"""Outstanding requests of a computing node. Of 16 and 128 the paper's text has figures."""
ENDED = 0.2
"""Of the window: where a p99 is longer, too many requests have not ended in it."""


@dataclass(frozen=True)
class Load:
    """Share of reads and block sizes ([ACC] table 1); ACC's IOPS against the vendor's setting in %, as printed, by
    depth; how many times as long as others' it is run."""

    mix: str
    paper: Mapping[int, str] = field(default_factory=dict)
    longer: int = 1


LOADS = {
    "OLTP": Load("50%:512B-64KB"),
    "OLAP": Load("50%:256KB-4MB", longer=8),
    "VDI": Load("20%:1KB-64KB", {16: "+5", 128: "+15.3"}),
    "Exchange server": Load("60%:32KB-512KB", longer=2),
    "video streaming": Load("20%:64KB"),
    "file backup": Load("40%:16KB-64KB", {16: "up to +30", 128: "up to +30"}),
}


def times(load: Load, depth: int) -> Times:
    """More outstanding requests wait longer."""
    ms = load.longer * (500 if depth == max(DEPTHS) else 100)
    return Times(ms * MS, (ms // 5 * MS, ms * MS))


def cases(network: Network, seeds: Sequence[int]) -> list[Case]:
    return [
        Case(
            f"{name}, depth {depth}",
            with_seeds(f"blocks:{load.mix}x{depth}:{COPIES}copies@{BED}", seeds),
            times(load, depth),
            (VENDOR, ACC, TREE),
            network,
            paper=load.paper.get(depth, "-"),
        )
        for name, load in LOADS.items()
        for depth in DEPTHS
    ]


def section(o: Outcomes, made: Sequence[Case]) -> str:
    rows = []
    for case in made:
        iops = o.figure(case, VENDOR, "rounds_per_s").times(1e-3).text(1)
        us = o.figure(case, VENDOR, "round_mean_us").text(0)
        marked = Figure.of([1000 * m["cnps"] / m["data_packets"] for m in o.metrics[case.name, VENDOR]]).text(2)
        more = [o.against(case, who, VENDOR, "rounds_per_s") for who in (ACC, TREE)]
        judged = ended(o, case)
        p99 = [o.against(case, who, VENDOR, "round_p99_us") if judged else "-" for who in (ACC, TREE)]
        rows.append([case.name, iops, us, marked, case.paper, *more, *p99])
    gains = {case.name: o.mean_off(case, ACC, VENDOR, "rounds_per_s") for case in made}
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    heads = ["vendor's: thousand IOPS", "us", "CNPs in 1000 packets", "paper, ACC %", "ACC %", "ACC tree %"]
    kmin, kmax, percent = VENDORS
    return f"""18 computing and 6 storage nodes of `{BED}` in a closed loop (the paper's has 4 leaves, and two ports a
node): reads and writes as in the paper's table 1, sizes even over their logarithms, so many outstanding a computing
node; each keeps its size and kind, so that small ones and reads come round more often than they stand in the table. A
storage node passes what is written on to the two
that come next and answers when they have it: {COPIES} copies, which the paper does not count. Storage nodes take no
time. The vendor's setting: Kmin {kmin // 1000} KB, Kmax {kmax // 1000} KB, {percent} %. IOPS and p99 in per cent
against it, seed by seed (least to greatest); "-" where a p99 is over {ENDED:.0%} of the window.

{table(["", *heads, "p99 us, ACC %", "ACC tree %"], rows)}
The paper's gain is not here: ACC's IOPS are {gains[most]:+.1f} % at best ({most}) and {gains[least]:+.1f} % at worst
({least}). The paper, too, has little at low depth, with "almost no ECN-marked packets" (of OLTP, VDI and file backup),
and its gains with more outstanding, where here both come out alike: what is marked is another matter, as the column of
CNPs says, than what a closed loop gets."""


def ended(o: Outcomes, case: Case) -> bool:
    """Whether next to all requests came round in the window, with everybody."""
    begin, end = case.times.window_ps
    return all(m["round_p99_us"] * 1e6 <= ENDED * (end - begin) for who in case.who for m in o.metrics[case.name, who])
