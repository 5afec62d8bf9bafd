"""When a flow should ask for its RTT: what each schedule of probes costs and saves, and which one a stated rule takes.

A probe of 84 bytes behind each burst of four packets takes 1.9 % of what a flow could send. A policy with `[probes]`
asks more rarely (decision/policy/probes.py). Every schedule runs in the same networks with the same seeds as a probe a
burst. A cell's cost is beside that: half the logarithm of the 99th percentile of latency over its own, and 5 x what
goodput it lacks, where flows go on; where they end the logarithm of the mean slowdown over its own and half that of the
99th percentile; and 20 x the loss beyond it. The rule: of the schedules with which FREED lack at most 1 % of the
goodput that no probe would leave, which is what `rlcc evaluate --suite` takes for level, the one whose mean cost is
least.

    python -m bench.probes [POLICY ...] [--only SCHEDULE ..] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from statistics import mean

from bench.shipped import listed
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.probes import Probes
from netsim.baselines import BaselineSpec
from netsim.network import MS, Network
from netsim.places import Place
from netsim.policies import IntegerPolicy, NativePolicy, PolicySpec
from netsim.result_store import Kept
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import Contender, opened
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "probes.md"
KEPT = ROOT / "build" / "probes"
TEACHER = ROOT / "fixtures" / "teachers" / "robust-in-flight"
MIN_GOODPUT_SHARE = 0.99
"""Of the goodput that no probe would leave: 1024 of 1106 bytes."""

SIZES, TIMES, FIRST = (8, 16, 32, 64), ("64 us", "256 us", "2 ms"), 64


def schedule(kib: int, latest: str | None = None, first: int = 1) -> tuple[str, Probes]:
    """A schedule and what it is called."""
    said = {"after": f"{kib} KiB", "first": first} | ({} if latest is None else {"latest": latest})
    name = f"{kib} KiB" + (f" or {latest}" if latest else "") + (f", {first} at once" if first > 1 else "")
    return name, Probes.model_validate(said)


SCHEDULES: Mapping[str, Probes | None] = {
    "each burst": None,
    **dict(schedule(kib, latest) for kib in SIZES for latest in (None, *TIMES)),
    **dict(schedule(kib, latest, FIRST) for kib in SIZES for latest in (None, TIMES[-1])),
}


@dataclass(frozen=True)
class ProbeCell:
    """Traffic, how long it runs, and from when on it is measured."""

    scenario: str
    duration_ms: int
    from_ms: int


FREED = ("many-to-one:64", "many-to-one:1024")
CELLS = (
    *(ProbeCell(f"many-to-one:{n}", 80, 30) for n in (8, 64, 1024)),
    ProbeCell("many-to-one:8192", 350, 200),  # FIRST decisions take 190 ms
    ProbeCell("many-to-one:256@fat-tree:4", 80, 30),
    *(ProbeCell(f"long-short:{n}", 80, 20) for n in (33, 129)),
    ProbeCell("incast:32", 80, 20),
    ProbeCell("incast:32@leaf-spine:4x16x3", 80, 20),
    *(ProbeCell(f"websearch:{n}%", 40, 10) for n in (30, 60)),
    ProbeCell("hadoop:60%", 20, 5),
)

Metrics = Mapping[str, float]


def wishing(policy: PolicySpec | BaselineSpec, probes: Probes | None) -> PolicySpec:
    """The policy with another schedule."""
    if isinstance(policy, BaselineSpec):
        raise InputError(f"{policy.name} is a baseline, which sends no probes; name a policy")
    if isinstance(policy, NativePolicy):
        return replace(policy, policy=policy.policy.model_copy(update={"probes": probes}))
    if not isinstance(policy, IntegerPolicy) or policy.installed.header is None:
        raise InputError("a policy without a header asks for no probes; name a teacher or firmware of flows")
    header = policy.installed.header.model_copy(update={"probes": probes})
    return replace(policy, installed=replace(policy.installed, header=header))


def cost(ours: Metrics, often: Metrics) -> float:
    """Returns the cost of a cell, compared with one probe per burst."""
    lost = 20 * max(ours["loss"] - often["loss"], 0.0)
    if "slowdown_mean" not in ours:
        lacking = max(1 - ours["goodput"] / often["goodput"], 0.0)
        return lost + 5 * lacking + log(ours["latency_p99_us"] / often["latency_p99_us"]) / 2
    slower = log(ours["slowdown_mean"] / often["slowdown_mean"])
    return lost + slower + log(ours["slowdown_p99"] / often["slowdown_p99"]) / 2


def chosen(figures: Mapping[str, Mapping[str, Metrics]]) -> tuple[str, dict[str, float]]:
    """Returns the schedule that the rule chooses, and the cost of each schedule. ``figures``: by schedule, then
    scenario."""
    often = figures[next(iter(figures))]
    costs = {name: mean(cost(m, often[s]) for s, m in by.items()) for name, by in figures.items()}
    free = Network()
    enough = MIN_GOODPUT_SHARE * free.payload_bytes / free.data_wire_bytes
    level = [name for name, by in figures.items() if all(by[s]["goodput"] >= enough for s in FREED if s in by)]
    return min(level or figures, key=costs.__getitem__), costs


def page(contenders: Sequence[Contender], seeds: Sequence[int], where: Place, only: Sequence[str] = ()) -> str:
    """The tables as Markdown, one a policy; ``only``: of these schedules, beside a probe a burst."""
    schedules = [name for name, probes in SCHEDULES.items() if not only or probes is None or name in only]
    places = [(c, s, cell) for c in contenders for s in schedules for cell in CELLS]
    trials = [
        Trial(
            cell.scenario,
            wishing(c.alone, SCHEDULES[name]),
            seed=seed,
            duration_ps=cell.duration_ms * MS,
            window_ps=(cell.from_ms * MS, cell.duration_ms * MS),
            decision_latency_ps=c.decision_latency_ps,
            name=c.label,
        )
        for c, name, cell in places
        for seed in seeds
    ]
    runs = [outcome.metrics for outcome in run(trials, where, Kept(KEPT))]
    figures: dict[str, dict[str, dict[str, Metrics]]] = {}
    for at, (c, name, cell) in enumerate(places):
        each = runs[at * len(seeds) : (at + 1) * len(seeds)]
        means = {metric: mean(m[metric] for m in each) for metric in each[0]}
        figures.setdefault(c.label, {}).setdefault(name, {})[cell.scenario] = means
    many = counted(len(seeds), "seed")
    text = f"""# When a flow should ask for its RTT
{made_by("python -m bench.probes")}

Each cell measured after its start, mean over {many}, the same for every schedule. "8 KiB or 2 ms": a
probe once 8 KiB of payload have left since the flow's last response, or 2 ms after its last probe. "{FIRST} at once":
in a flow's first {FIRST} decisions with each burst. Where flows go on: goodput / 99th percentile of the latency in us;
where they end: mean / 99th percentile of the slowdown; then what is lost, if it is more than 0. Cost: beside a probe a
burst, less is better (`bench/probes.py` has the weights). **Chosen**: of the schedules with which
{" and ".join(f"`{s}`" for s in FREED)} lack at most 1 % of the goodput that no probe would leave, the one that costs
least.

"""
    text += listed(contenders)
    for c in contenders:
        best, costs = chosen(figures[c.label])
        rows = [
            [
                f"**{s}**: chosen" if s == best else s,
                f"{costs[s]:+.3f}",
                *(_figures(figures[c.label][s][cell.scenario]) for cell in CELLS),
            ]
            for s in schedules
        ]
        text += f"\n## {c.label}\n\n{table(['probe after', 'cost', *(cell.scenario for cell in CELLS)], rows)}"
    return text


def _figures(m: Metrics) -> str:
    """`0.917 / 12.6`, `28.1 / 41.9, 2 % lost`."""
    lost = f", {100 * m['loss']:.2g} % lost" if m["loss"] > 0 else ""
    if "slowdown_mean" in m:
        return f"{m['slowdown_mean']:.3g} / {m['slowdown_p99']:.3g}{lost}"
    return f"{m['goodput']:.4f} / {m['latency_p99_us']:.1f}{lost}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.probes", description="When a flow should ask for its RTT.")
    parser.add_argument("policies", nargs="*", help="as `rlcc evaluate` takes them; by default the flagship's teacher")
    parser.add_argument(
        "--only", action="append", default=[], choices=list(SCHEDULES), metavar="SCHEDULE", help="repeat"
    )
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=2, metavar="N", help="runs of each; 2")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    seeds = range(1, options.seeds + 1)
    try:
        with opened(options.policies or [str(TEACHER)], decision_latency_ps=900_000, profile="ibex-small") as who:
            write_atomically(options.out, page(who, seeds, place_of(options), options.only))
    except InputError as error:
        print(f"probes: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
