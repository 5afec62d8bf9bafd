"""AuTO's figures 13 to 16 ([AUTO] section 6.2): sRLA's thresholds beside an optimiser's, flow times by size with both,
and how evenly lRLA spreads long flows over links.

    rlcc run recipes/auto-srla.toml && rlcc run recipes/auto-lrla.toml
    python -m papers.auto_detail [--seeds N] [--where PLACE]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.ir.interfaces.mlfq_thresholds import MLFQ_THRESHOLDS
from netsim.demotion import thresholds
from netsim.network import MS
from netsim.places import Place as Where
from netsim.result_store import Kept
from netsim.simulation import Simulation
from netsim.trials import run as run_trials
from papers import contenders, pictures
from papers.auto import (
    ANY_ROW,
    PATH_PS,
    PLACES,
    Contender,
    Deciders,
    Outcomes,
    Place,
    came,
    deciders_of,
    deciding_flows,
    fixed,
    search,
    searched_name,
    setting_thresholds,
)
from papers.command import store
from papers.runs import say
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.reports.pages import table

PAGE, PICTURE = "auto-detail.md", "auto-16.svg"
LOADS = (
    Place("Web search, 60 %", ((("websearch", 60),),), 600 * MS, 5, "64 packets, the optimiser's 87"),
    Place("Data mining, 60 %", ((("datamining", 60),),), 1500 * MS, 8, "not printed, the same is said"),
)
"""``paper``: the last threshold (figure 13)."""
THEORY, SEARCHED = "theory", searched_name("theory")
SIZES = {"": "all", "mice_": "to 100 KB", "medium_": "to 10 MB", "elephants_": "over"}
CHANGING = PLACES[-1]
"""Where the paper counted long flows: in its section 6.1.3."""
BALANCE_SEEDS = 3
STAYING = "lRLA, tree, had no flow moved"
EVEN = 10
"""What the paper says the difference is below, most of the time."""


def agents(place: Place, seeds: int, keep: Path, where: Where, deciders: Deciders) -> Outcomes:
    """Everybody whose thresholds are compared in one network."""
    searched = search([place], keep, where)
    of_load = thresholds(*place.phases[0][0], 4, "sent")
    chosen = searched[place.title]["QLAS"]
    who = [fixed(THEORY, "sent", of_load), fixed(SEARCHED, "sent", chosen), *setting_thresholds(deciders)]
    trials = [contender.trial(place, seed) for contender in who for seed in range(1, seeds + 1)]
    outcomes = run_trials(trials, where, Kept(keep), say)
    by_name = {each.name: outcomes[n * seeds : (n + 1) * seeds] for n, each in enumerate(who)}
    set_kb = {(place.title, name): [b / 1000 for b in row] for name, row in ((THEORY, of_load), (SEARCHED, chosen))}
    for name, each in by_name.items():
        recorded = [r for outcome in each for r in outcome.records if MLFQ_THRESHOLDS.knob_names[0] in r]
        if recorded:
            set_kb[place.title, name] = [
                float(np.mean([record[knob].mean() for record in recorded])) / 1000
                for knob in MLFQ_THRESHOLDS.knob_names
            ]
    metrics = {(place.title, name): [outcome.metrics for outcome in each] for name, each in by_name.items()}
    return Outcomes(seeds, metrics, set_kb, searched, {}, {place.title: came(place, seeds)})


@dataclass(frozen=True)
class Stays:
    """Long flows on their paths, a row for each time that one is on one: from when to when, which flow, which path."""

    begin_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    flow: NDArray[np.int64]
    path: NDArray[np.int64]


def stays(records: Mapping[str, NDArray[np.generic]], ends_ps: NDArray[np.int64], moves: bool) -> Stays:
    """From lRLA's decisions: each flow is on the path that it was found on, and, where it ``moves``, on the one decided
    from PATH_PS after each decision on. ``ends_ps``: of all flows."""
    flow = np.asarray(records[LONG_FLOW.agent], dtype=np.int64)
    at = np.asarray(records["t_ps"], dtype=np.int64)
    order = np.lexsort((at, flow))
    flow, at = flow[order], at[order]
    first = np.concatenate([[True], flow[1:] != flow[:-1]])
    found = np.asarray(records["active_0_path"], dtype=np.int64)[order]
    begin, path, whose = at[first], found[first], flow[first]
    if moves:
        begin = np.concatenate([begin, at + PATH_PS])
        path = np.concatenate([path, np.asarray(records["path_number"], dtype=np.int64)[order]])
        whose = np.concatenate([whose, flow])
    order = np.lexsort((begin, whose))
    begin, path, whose = begin[order], path[order], whose[order]
    last = np.concatenate([whose[1:] != whose[:-1], [True]])
    end = np.minimum(np.where(last, ends_ps[whose], np.roll(begin, -1)), ends_ps[whose])
    lives = begin < end
    return Stays(begin[lives], end[lives], whose[lives], path[lives])


def spread(
    long: Stays, ends: tuple[NDArray[np.int64], NDArray[np.int64]], machines: int, planes: int, times: NDArray[np.int64]
) -> NDArray[np.int64]:
    """At each time (ps) the number of long flows on the link that has the most, less that on the one that has the
    least; a link is what a machine sends or receives by on one plane. ``ends``: of all flows the machines at both."""
    counts = np.zeros((len(times) + 1, 2 * machines * planes), dtype=np.int64)
    for machine in (ends[0], machines + ends[1]):
        link = machine[long.flow] * planes + long.path
        np.add.at(counts, (np.searchsorted(times, long.begin_ps), link), 1)
        np.add.at(counts, (np.searchsorted(times, long.end_ps), link), -1)
    there = np.cumsum(counts[:-1], axis=0, dtype=np.int64)
    return np.asarray(there.max(axis=1) - there.min(axis=1), dtype=np.int64)


def balance(contender: Contender, seed: int, times_ps: NDArray[np.int64]) -> dict[bool, NDArray[np.int64]]:
    """The differences in one run, with its moves and without."""
    trial = contender.trial(CHANGING, seed)
    run = Simulation(
        trial.scenario,
        trial.policy,
        seed=seed,
        duration_ps=trial.duration_ps,
        record=True,
        network=trial.network,
        cohorts=trial.cohorts,
    )
    run.run(trial.duration_ps)
    window, flows = run.window(), len(run.scenario.flows)
    ends = np.full(flows, trial.duration_ps, dtype=np.int64)
    ends[window["completed_flow"]] = window["completed_finish_ps"]
    fabric = run.scenario.topology
    assert fabric is not None
    machines = fabric.hosts // fabric.planes
    sender, receiver = (run.scenario.column(name).astype(np.int64) // fabric.planes for name in ("host", "receiver"))
    records = run.drain_records(1)
    return {
        moves: spread(stays(records, ends, moves), (sender, receiver), machines, fabric.planes, times_ps)
        for moves in (True, False)
    }


def balances(deciders: Deciders, times_ps: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """By who decides [seeds, times]."""
    rows: dict[str, list[NDArray[np.int64]]] = {}
    for contender in deciding_flows(deciders):
        for seed in range(1, BALANCE_SEEDS + 1):
            found = balance(contender, seed, times_ps)
            rows.setdefault(contender.name, []).append(found[True])
            if STAYING.startswith(contender.name):
                rows.setdefault(STAYING, []).append(found[False])
            say(f"long flows of links: {contender.name}, seed {seed}")
    return {name: np.array(each) for name, each in rows.items()}


def page(found: Sequence[tuple[Place, Outcomes]], even: Mapping[str, NDArray[np.int64]]) -> str:
    seeds = found[0][1].seeds
    lines = [
        "# AuTO's thresholds and paths, looked into",
        made_by("rlcc run recipes/auto-srla.toml && rlcc run recipes/auto-lrla.toml && python -m papers.auto_detail"),
        "",
        "[AUTO] section 6.2, in the networks of [its page](auto.md). *theory*: the thresholds that theory gives "
        "for this very load (`netsim/demotion.py`), which stands for the paper's optimiser; *searched*: the best of "
        "some in one run; *sRLA* starts from what theory gives for web search at 80 %. All flows are followed to their "
        f"end; {seeds} seeds, ± half of the 99 % interval of the mean of paired differences.",
        "",
        "## Figure 13: thresholds",
        "KB at 60 % load; sRLA's are means over the runs. The paper prints the last one of web search: 64 packets of "
        "sRLA, 87 of the optimiser, some 100 and 130 KB.",
        "",
    ]
    names = [name for _, name in found[0][1].set_kb]
    rows = [
        [place.title, *(", ".join(f"{kb:,.0f}" for kb in o.set_kb[place.title, name]) for name in names)]
        for place, o in found
    ]
    lines += [*table(["", *names], rows).splitlines(), "", "## Figures 14 and 15: flow times by size", ""]
    lines += [
        "us, mean and 99th percentile, and what that is more than with theory's thresholds, %. The paper says of both "
        'sets of thresholds that "the difference in FCT is small in all groups".',
    ]
    for place, o in found:
        lines += ["", f"### {place.title}", f"`{place.scenario}`", ""]
        rows = []
        for name in names:
            for what in ("mean", "p99"):
                metrics = [f"{size}fct_{what}_us" for size in SIZES]
                cells = [f"{o.mean(place, name, m):,.0f} ({o.against(place, name, THEORY, m)})" for m in metrics]
                rows.append([name, what, *cells])
        lines += table(["", "", *SIZES.values()], rows).splitlines()
    lines += [
        "",
        "## Figure 16: long flows on the fullest link less those on the emptiest",
        f"`{CHANGING.scenario}` while flows come, every ms, {BALANCE_SEEDS} seeds. Of the {2 * 32 * 3} links of the "
        "machines, a flow is on two: its sender's and its receiver's on its path, from when lRLA first sees it to its "
        f"end. *{STAYING}*: the same runs, each flow left where it was found. The paper: less than {EVEN} most of the "
        "time.",
        "",
    ]
    rows = [
        [name, f"{each.mean():.2f}", f"{np.percentile(each, 99):.0f}", f"{each.max()}", f"{(each < EVEN).mean():.1%}"]
        for name, each in even.items()
    ]
    lines += table(["", "mean", "p99", "most", f"below {EVEN}"], rows).splitlines()
    return "\n".join([*lines, "", f"![Long flows over time](figures/{PICTURE})"]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.auto_detail", description="AuTO's figures 13 to 16.")
    parser.add_argument("--short", type=Path, default=Path("runs/auto-srla"), help="what rlcc run wrote of sRLA")
    parser.add_argument("--long", type=Path, default=Path("runs/auto-lrla"), help="what it wrote of lRLA")
    parser.add_argument("--seeds", type=int, choices=range(2, 100), metavar="N", default=8)
    add_options(parser)
    parser.add_argument("--docs", type=Path, default=contenders.PAGES, help="where page and picture go")
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    times_ps = np.arange(1, CHANGING.arrivals_ps // MS + 1, dtype=np.int64) * MS
    try:
        with deciders_of(options.short / "firmware", options.long / "firmware") as deciders:
            keep, where = options.work / "runs", place_of(options)
            found = [(place, agents(place, options.seeds, keep, where, deciders)) for place in LOADS]
            even = balances(deciders, times_ps)
        shown = {n: (times_ps / MS, even[n].astype(np.float64)) for n in ("lRLA, tree", STAYING, ANY_ROW)}
        store(options.docs / "figures" / PICTURE, pictures.bands({"long flows, fullest less emptiest": shown}, "ms"))
        store(options.docs / PAGE, page(found, even).encode())
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
