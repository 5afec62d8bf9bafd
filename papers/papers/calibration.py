"""Which short flows PCC-RL's table 8 may have had: the paper gives neither their size nor how often they come.

    python -m papers.calibration [--where PLACE] [--jobs N] [--out FILE]

One round of short flows is simulated for each of CANDIDATES, under HPCC and under Swift. With an interval between
rounds, that says what is dropped a second and what is left to the long flow. Two criteria, each by its worst figure:
drops with 128 and 1024 flows, by their ratio to the paper's, and the long flow's share with 128, 1024 and 2048 flows,
by its difference. The page has the best by either and what lies between: nothing is better by both.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isnan, log
from pathlib import Path
from statistics import mean

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.baselines import by_name
from netsim.network import MS, US, Network
from netsim.places import Place as Where
from netsim.result_store import Kept
from netsim.scenarios import (
    HOSTS_OF_FLOWS,
    MILD_NODE_BYTES,
    MILD_NODES,
    MILD_PERIOD_PS,
    SHORT_NODE_BYTES,
    Scenario,
    long_short,
)
from netsim.trials import Trial, run
from papers import published
from papers.contenders import PAGES, ROOT
from papers.traffic import SELDOM_PERIOD_PS
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped

Place = tuple[str, int]
"""One of JUDGES, and how many flows."""

PAGE = PAGES / "long-short-calibration.md"
KEPT = ROOT / "build" / "papers" / "calibration"

JUDGES = {"HPCC": "hpcc-max-stage-5", "Swift": "swift-htsim"}
FLOWS = (128, 1024, 2048)
DROPS_AT = (128, 1024)
SEEDS = (1, 2, 3)
ROUND_PS = 60 * MS
"""A round has so long; one that is not over by then is no candidate's."""
INTERVALS_MS = (*range(20, 200, 10), *range(200, 420, 20))
ROWS = 12
"""Of the page's first table."""

HOSTS = (8, 16, 32, 64, 0)
HOST_KB = (80, 160, 240, 320, 480, 1000, 2000, 4000)
SPREADS_PS = (10 * US, 1 * MS)


@dataclass(frozen=True)
class Short:
    """Short flows of a round: from so many hosts (0: as many as RL-CC's table has for so many flows), bytes a host (a
    flow has 6 x 200 KiB at most, RL-CC's published code), and within how long they start."""

    hosts: int
    host_bytes: int
    spread_ps: int

    def scenario(self, flows: int) -> Scenario:
        hosts = self.hosts or HOSTS_OF_FLOWS[flows]
        return long_short(flows, period_ps=ROUND_PS, nodes=hosts, node_bytes=self.host_bytes)

    @property
    def cells(self) -> list[str]:
        hosts = f"{self.hosts}" if self.hosts else "/".join(str(HOSTS_OF_FLOWS[n]) for n in FLOWS)
        return [hosts, f"{self.host_bytes // 1000:,}", f"{self.spread_ps / MS:g}"]


CANDIDATES = tuple(
    Short(hosts, kilobytes * 1000, spread_ps) for hosts in HOSTS for kilobytes in HOST_KB for spread_ps in SPREADS_PS
)


@dataclass(frozen=True)
class Round:
    """One round of short flows: Gb dropped, by how many ms at line rate the long flow has less than alone, its share
    when it is alone (%), and when the round is over and the long flow has recovered (ms; NaN: not in time)."""

    dropped_gb: float
    lacks_ms: float
    alone: float
    recovery_ms: float


@dataclass(frozen=True)
class Fit:
    """Such rounds every ``interval_ms``: drops (Gb/s), the long flow's share (%) and recovery (ms)."""

    short: Short
    interval_ms: int
    drops: Mapping[Place, float]
    share: Mapping[Place, float]
    recovery_ms: Mapping[Place, float]

    @property
    def factor(self) -> float:
        """By which the worst of the drops is off the paper's."""
        pairs = [(self.drops[who, n], printed(who, n)[1]) for who in JUDGES for n in DROPS_AT]
        return exp(max(abs(log(ours / theirs)) if ours > 0 else inf for ours, theirs in pairs))

    @property
    def points(self) -> float:
        """By so many the worst of the shares is off the paper's."""
        return max(abs(self.share[who, n] - printed(who, n)[2]) for who in JUDGES for n in FLOWS)


def printed(who: str, flows: int) -> tuple[float, ...]:
    """The paper's recovery (s), drops (Gb/s) and share of the long flow (%)."""
    row = published.TABLE_8[who][published.LONG_SHORT.index(flows)]
    assert row is not None
    return row


def rounds_of(candidates: Sequence[Short], where: Where, kept: Kept) -> list[Mapping[Place, Round]]:
    """A round of each, means over SEEDS."""
    places = [(who, n) for who in JUDGES for n in FLOWS]
    alone = [_trial(CANDIDATES[0], (who, 2), SEEDS[0], (ROUND_PS // 2, ROUND_PS)) for who in JUDGES]
    window_ps = (ROUND_PS, 2 * ROUND_PS)
    trials = [_trial(short, place, seed, window_ps) for short in candidates for place in places for seed in SEEDS]
    outcomes = iter(run([*alone, *trials], where, kept))
    base = {who: 100 * next(outcomes).metrics["long_bandwidth"] for who in JUDGES}

    def one(who: str) -> Round:
        metrics = [next(outcomes).metrics for _ in SEEDS]
        share = 100 * mean(m["long_bandwidth"] for m in metrics)
        return Round(
            dropped_gb=mean(m["drop_gbps"] for m in metrics) * ROUND_PS / (1000 * MS),
            lacks_ms=(base[who] - share) / 100 * ROUND_PS / MS,
            alone=base[who],
            recovery_ms=mean(m["recovery_us"] for m in metrics) / 1000,
        )

    return [{place: one(place[0]) for place in places} for _ in candidates]


def _trial(short: Short, place: Place, seed: int, window_ps: tuple[int, int]) -> Trial:
    who, flows = place
    network = Network(start_jitter_ps=short.spread_ps)
    return Trial(short.scenario(flows), by_name(JUDGES[who]), seed, window_ps[1], window_ps, network=network)


def fits_of(short: Short, rounds: Mapping[Place, Round]) -> list[Fit]:
    """At each of INTERVALS_MS by which every round is over."""
    over = max(inf if isnan(each.recovery_ms) else each.recovery_ms for each in rounds.values())
    return [
        Fit(
            short,
            interval,
            drops={place: each.dropped_gb * 1000 / interval for place, each in rounds.items()},
            share={place: each.alone - 100 * each.lacks_ms / interval for place, each in rounds.items()},
            recovery_ms={place: each.recovery_ms for place, each in rounds.items()},
        )
        for interval in INTERVALS_MS
        if interval > over
    ]


def frontier(fits: Sequence[Fit]) -> list[Fit]:
    """Those than which none is better by both criteria, from the best by drops to the best by share."""
    best: list[Fit] = []
    for fit in sorted(fits, key=lambda each: (each.factor, each.points)):
        if not best or fit.points < best[-1].points:
            best.append(fit)
    return best


USED = {
    "long-short-mild": (Short(MILD_NODES, MILD_NODE_BYTES, Network().start_jitter_ps), MILD_PERIOD_PS // MS),
    "seldom": (Short(0, SHORT_NODE_BYTES, Network().start_jitter_ps), SELDOM_PERIOD_PS // MS),
}
"""What table 8 is made with, beside today's."""


def page(fits: Sequence[Fit]) -> str:
    """The page."""
    front = frontier(fits)
    heading = ["hosts", "KB a host", "spread ms", "interval ms", "drops off by", "share off by"]
    mild, seldom = (next(f for f in fits if (f.short, f.interval_ms) == used) for used in USED.values())
    return wrapped(f"""# Which short flows PCC-RL's table 8 may have had

{made_by("python -m papers.calibration")}

The paper gives neither size nor interval of the short flows, so HPCC and Swift are run with {len(CANDIDATES)} kinds of
them: from {listed([f"{h}" for h in HOSTS if h])} hosts, or as many as RL-CC has for so many flows
({"/".join(f"{HOSTS_OF_FLOWS[n]}" for n in FLOWS)} for {"/".join(f"{n}" for n in FLOWS)}); {HOST_KB[0]} to
{HOST_KB[-1]:,} KB a host (a flow has 6 x 200 KiB at most, RL-CC's published code); all within
{listed([f"{s / MS:g}" for s in SPREADS_PS])} ms; every {INTERVALS_MS[0]} to {INTERVALS_MS[-1]} ms. Mean over seeds
{listed([f"{s}" for s in SEEDS])}, one round each.

"drops off by": the greatest ratio of the drops to the paper's, either way, with
{listed([f"{n}" for n in DROPS_AT])} flows. "share off by": the greatest difference of the long flow's share, in
percentage points, with {listed([f"{n}" for n in FLOWS])}. Of all, nothing is better by both than any of these:

{table(heading, [_row(f) for f in _thinned(front)])}

So no size, number of hosts and interval has both: short flows that take what the paper's take drop several times as
much. Two of them are used: [table 8](robust.md) is made with either, beside RL-CC's own.

## By drops: `long-short-mild`
{_said(mild)}

{_figures(mild)}

## By the long flow's share
{_said(seldom)}

{_figures(seldom)}
""")


def _row(fit: Fit) -> list[str]:
    return [*fit.short.cells, f"{fit.interval_ms}", f"{fit.factor:.2f}", f"{fit.points:.0f}"]


def _said(fit: Fit) -> str:
    hosts, kilobytes, _ = fit.short.cells
    return f"""{hosts} hosts, {kilobytes} KB each, every {fit.interval_ms} ms: drops off by a factor of
{fit.factor:.2f}, the long flow's share by {fit.points:.0f} points."""


def _thinned(front: Sequence[Fit]) -> list[Fit]:
    """The two ends, and what lies evenly between them."""
    last = len(front) - 1
    return [front[i] for i in sorted({round(k * last / (ROWS - 1)) for k in range(ROWS)})]


def _figures(fit: Fit) -> str:
    """Ours / the paper's."""
    rows = [
        [
            f"{who}, {n}",
            f"{fit.drops[who, n]:.2f} / {printed(who, n)[1]:g}",
            f"{fit.share[who, n]:.0f} / {printed(who, n)[2]:g}",
            f"{fit.recovery_ms[who, n]:.0f} / {1000 * printed(who, n)[0]:g}",
        ]
        for who in JUDGES
        for n in FLOWS
    ]
    return table(["ours / the paper's", "drops Gb/s", "long flow %", "recovery ms"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.calibration", description="Short flows of table 8.")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        rounds = rounds_of(CANDIDATES, place_of(options), Kept(KEPT))
        fits = [fit for short, each in zip(CANDIDATES, rounds, strict=True) for fit in fits_of(short, each)]
        write_atomically(options.out, page(fits))
    except InputError as error:
        print(f"calibration: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
