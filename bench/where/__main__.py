"""Cost of a trial at each place, and speed of two processors there: docs/results/where.md.

    python -m bench.where [--rounds N] [--out FILE]

Places take turns, so that what else the machine does falls on all alike. CPU time is that of this process and of all
that descend from it: of Ray's own servers too.
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.cpu import children_s
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim import baselines
from netsim.network import MS, US
from netsim.places import Place, named
from netsim.trials import Trial, run
from rlcc.origin import made_by

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "where.md"
PLACES = ("here", "threads", "processes", "ray")
JOBS = 2
SMALL, MANY = 300, 8
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class PlaceCost:
    wall_s: float
    cpu_s: float


def small(seeds: Sequence[int]) -> list[Trial]:
    """Over before they begin: what is left is what the place costs."""
    return [Trial("many-to-one:2", baselines.by_name("dcqcn"), seed, 10 * US, (0, 10 * US)) for seed in seeds]


def usual(seeds: Sequence[int]) -> list[Trial]:
    """As an evaluation has them."""
    return [Trial("many-to-one:64", baselines.by_name("dcqcn"), seed, 200 * MS, (50 * MS, 170 * MS)) for seed in seeds]


def cost(trials: Sequence[Trial], place: Place) -> PlaceCost:
    begin, cpu = time.perf_counter(), cpu_s()
    run(trials, place)
    return PlaceCost(time.perf_counter() - begin, cpu_s() - cpu)


def cpu_s() -> float:
    """Returns the CPU time of this process, of its children that have ended, and of all living descendants."""
    mine = resource.getrusage(resource.RUSAGE_SELF)
    living = sum(ticks * TICK_S for ticks in _descendants(os.getpid()))
    return mine.ru_utime + mine.ru_stime + children_s() + living


def _descendants(pid: int) -> list[float]:
    """CPU ticks of each, with those of its own children that have ended (proc(5): fields 4, 14 to 17)."""
    fields: dict[int, list[str]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields[int(file.parent.name)] = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since
            continue
    found, ticks = {pid}, []
    while new := {each for each, its in fields.items() if int(its[1]) in found} - found:
        found |= new
        ticks += [float(sum(map(int, fields[each][11:15]))) for each in new]
    return ticks


def measured(trials: Callable[[Sequence[int]], list[Trial]], number: int, rounds: int) -> dict[str, list[PlaceCost]]:
    """Every place once a round; a first time before that, in which workers start."""
    places = {name: named(name, 1 if name == "here" else JOBS) for name in PLACES}
    for place in places.values():
        run(trials(range(JOBS)), place)
    costs: dict[str, list[PlaceCost]] = {name: [] for name in PLACES}
    for round_ in range(rounds):
        for name, place in places.items():
            costs[name].append(cost(trials(range(round_ * number, (round_ + 1) * number)), place))
    return costs


def page(rounds: int) -> str:
    load = os.getloadavg()[0]
    idle = measured(small, SMALL, rounds)
    busy = measured(usual, MANY, rounds)
    here_ms = 1e3 * median(c.wall_s for c in idle["here"]) / SMALL

    def each(costs: Sequence[PlaceCost], number: int) -> str:
        wall, cpu = (1e3 * median(getattr(c, what) for c in costs) / number for what in ("wall_s", "cpu_s"))
        return f"{wall:.2f} | {cpu:.2f}"

    def beside(name: str) -> str:
        pairs = list(zip(busy[name], busy["processes"], strict=True))
        ratios = [a.wall_s / b.wall_s for a, b in pairs], [a.cpu_s / b.cpu_s for a, b in pairs]
        return " | ".join(f"{median(r):.2f} ({min(r):.2f} to {max(r):.2f})" for r in ratios)

    overhead = "\n".join(f"| `{name}` | {each(idle[name], SMALL)} |" for name in PLACES)
    speed = "\n".join(f"| `{name}` | {each(busy[name], MANY)} | {beside(name)} |" for name in PLACES)
    cpu_ms = 1e3 * median(c.cpu_s for c in busy["ray"]) / MANY
    hours = cpu_ms * 1e6 / 1e3 / 3600
    return f"""# What a place costs
{made_by("python -m bench.where")}

Medians of {rounds} round{"s" * (rounds > 1)}, in which places take turns, {JOBS} trials at a time; the cluster of
`ray` is one of this machine, started before. CPU time is that of all processes, Ray's servers among them. The load was
{load:.1f} as this began and {os.getloadavg()[0]:.1f} at its end: wall time says what that left.

## A trial that is over at once
{SMALL} trials of 10 us in the network, which take {here_ms:.2f} ms each here: what a place adds to a trial. That of
`processes` holds the start of its processes, which it makes anew each time.

| place | wall, ms a trial | CPU, ms a trial |
|---|---:|---:|
{overhead}

## A trial of 64 flows and 200 ms
{MANY} of them, and the same round by round beside `processes`: median, least and greatest.

| place | wall, ms a trial | CPU, ms a trial | wall beside `processes` | CPU beside `processes` |
|---|---:|---:|---:|---:|
{speed}

## A million of them
{cpu_ms:.0f} ms of one of these processors each, Ray's part with it, are {hours:,.0f} processor hours:
{60 * hours / 512:.0f} min on 512 processors that do nothing else. At a price of 0.04 a processor hour, to name one,
that is {hours * 0.04:,.2f}.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.where", description="What a place to run trials costs.")
    parser.add_argument("--rounds", type=int, choices=range(1, 100), default=3, metavar="N", help="3")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        write_atomically(options.out, page(options.rounds))
    except InputError as error:
        print(f"where: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
