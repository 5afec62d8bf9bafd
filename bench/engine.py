"""Load that an engine sustains, and the effect of its overload on the network: trees, MLP and LSTM with decisions that
wait.

Prints the tables of docs/explanation/engine-in-the-loop.md and draws its picture. Teachers are those of fixtures/; the
trees' firmware is what `make demo` leaves behind. Some minutes on two cores.

    python -m bench.engine [firmware]
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim import Engines
from netsim.baselines import BaselineSpec
from netsim.network import MS, US
from netsim.policies import PolicySpec
from netsim.result_store import Outcome
from netsim.samples import Sampling
from netsim.trials import Trial
from netsim.trials import run as run_trials
from rlcc.core_policy import CoreName
from rlcc.policies import by_path, on_core

FIRMWARE = Path("runs/rl-cc/firmware")
TEACHERS = Path("fixtures/teachers")
PICTURE = Path("docs/explanation/engine-in-the-loop/many-to-one-64.svg")

WINDOW_MS = (50, 170)  # RL-CC, published code
LENGTH_MS = 400
SEEDS = (1, 2, 3)
ENGINES = (1, 4, 16)
FLOWS = ("many-to-one:4x2", "many-to-one:4x16", "many-to-one:4x128")  # [RLCC] section 4: 4 hosts
OVERLOAD = (
    Engines(1),
    Engines(1, "drop", 1),
    Engines(1, "drop", 4),
    Engines(1, "coalesce"),
    Engines(1, "coalesce", 4),
)


@dataclass(frozen=True)
class EngineDecider:
    """A decider, and the time of its decision; 0: the core gives it."""

    name: str
    policy: PolicySpec
    latency_ps: int


@contextmanager
def deciders(firmware: Path) -> Iterator[dict[str, EngineDecider]]:
    """[RLCC] table 1: trees 0.9 us, MLP 17 us, small LSTM 450 us; our trees on the core, the LSTM were it fast."""
    with ExitStack() as stack:

        def of(folder: Path) -> PolicySpec:
            policy = stack.enter_context(by_path(folder)).policy
            assert not isinstance(policy, BaselineSpec)
            return policy

        core = on_core(firmware, CoreName("ibex-small")).policy
        assert not isinstance(core, BaselineSpec)
        mlp, lstm = of(TEACHERS / "rl-cc-mlp"), of(TEACHERS / "rl-cc-lstm-small")
        found = (
            EngineDecider("trees on ibex-small", core, 0),
            EngineDecider("trees, 0.9 us", of(firmware), 900_000),
            EngineDecider("MLP, 17 us", mlp, 17 * US),
            EngineDecider("LSTM, 450 us", lstm, 450 * US),
            EngineDecider("LSTM, 0.9 us", lstm, 900_000),
        )
        yield {decider.name: decider for decider in found}


@dataclass(frozen=True)
class EngineFigures:
    """One run: metrics of the window, and a millisecond a row what happened."""

    metrics: dict[str, float]
    queue_kb: NDArray[np.float64]
    goodput: NDArray[np.float64]
    drops_until_ms: float


@dataclass(frozen=True)
class EngineTask:
    """Deciders and networks, on engines: with several seeds, or the first only."""

    decider: EngineDecider
    scenario: str
    engines: Engines | None
    length_ms: int = LENGTH_MS
    seeds: tuple[int, ...] = SEEDS

    def trials(self) -> list[Trial]:
        begin, end = WINDOW_MS
        return [
            Trial(
                self.scenario,
                self.decider.policy,
                seed=seed,
                duration_ps=self.length_ms * MS,
                window_ps=(begin * MS, end * MS),
                sampling=Sampling(self.length_ms, 0),
                decision_latency_ps=self.decider.latency_ps,
                engines=self.engines,
                name=self.decider.name,
            )
            for seed in self.seeds
        ]


def run(tasks: Sequence[EngineTask]) -> list[list[EngineFigures]]:
    """Returns the figures of each seed of each task."""
    trials = [trial for task in tasks for trial in task.trials()]
    found = iter([_found(outcome) for outcome in run_trials(trials)])
    return [list(islice(found, len(task.seeds))) for task in tasks]


def _found(outcome: Outcome) -> EngineFigures:
    samples = outcome.samples
    assert samples is not None
    return EngineFigures(
        outcome.metrics,
        samples.queue_bytes.astype(np.float64) / 1e3,
        samples.mean_gbps.astype(np.float64) * outcome.flows / 100,
        float(np.flatnonzero(samples.dropped)[-1] + 1) if samples.dropped.any() else 0.0,
    )


def mean(found: list[EngineFigures], name: str) -> float:
    return float(np.mean([f.metrics.get(name, nan) for f in found]))


def table(heading: tuple[str, ...], rows: list[list[str]]) -> None:
    print("| " + " | ".join(heading) + " |\n|" + "---|" * len(heading))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def sustained(who: dict[str, EngineDecider]) -> None:
    """A NIC that sends at line rate from 256 queue pairs, a probe a burst: more events than one engine can handle."""
    print("## Decisions that one engine sustains, many-to-one:1x256\n")
    rows = []
    for name in ("trees on ibex-small", "trees, 0.9 us", "MLP, 17 us", "LSTM, 450 us"):
        m = run([EngineTask(who[name], "many-to-one:1x256", Engines(1), WINDOW_MS[1], SEEDS[:1])])[0][0].metrics
        rows.append(
            [
                name,
                f"{m['engine_service_mean_us']:.3f}",
                f"{m['engine_decisions_s']:,.0f}",
                f"{m['engine_utilisation']:.3f}",
                f"{m['decision_latency_mean_us']:,.1f}",
                f"{m['decision_latency_p99_us']:,.1f}",
                f"{m['engine_queue_mean']:.0f}",
            ]
        )
    table(("", "handler us", "decisions/s", "busy", "event to rate us", "p99 us", "waiting"), rows)


def overload(who: dict[str, EngineDecider]) -> dict[tuple[str, str, int], list[EngineFigures]]:
    """Flows that share the engines of four NICs."""
    names = ("trees on ibex-small", "MLP, 17 us", "LSTM, 450 us", "LSTM, 0.9 us")
    tasks = [(scenario, name, engines) for scenario in FLOWS for name in names for engines in ENGINES]
    found = run([EngineTask(who[name], scenario, Engines(engines)) for scenario, name, engines in tasks])
    print(f"## Flows of four NICs, {WINDOW_MS[0]} to {WINDOW_MS[1]} ms; drops within {LENGTH_MS} ms\n")
    rows = []
    for (scenario, name, engines), runs in zip(tasks, found, strict=True):
        rows.append(
            [
                scenario.split(":")[1],
                name,
                str(engines),
                f"{mean(runs, 'engine_utilisation'):.2f}",
                f"{mean(runs, 'decision_latency_mean_us'):,.1f}",
                f"{mean(runs, 'goodput'):.3f}",
                f"{mean(runs, 'latency_mean_us'):.1f}",
                f"{mean(runs, 'latency_p99_us'):.1f}",
                f"{mean(runs, 'loss'):.3f}",
                f"{np.mean([f.drops_until_ms for f in runs]):.0f}",
            ]
        )
    heading = ("flows", "", "engines", "busy", "event to rate us", "goodput", "latency us", "p99 us", "loss")
    table((*heading, "drops until ms"), rows)
    return dict(zip(tasks, found, strict=True))


def policies_of_overload(who: dict[str, EngineDecider]) -> None:
    tasks = [(name, engines) for name in ("MLP, 17 us", "LSTM, 450 us") for engines in OVERLOAD]
    found = run([EngineTask(who[name], "many-to-one:4x16", engines) for name, engines in tasks])
    print("## What overload does, many-to-one:4x16 on one engine a NIC\n")
    rows = []
    for (name, engines), runs in zip(tasks, found, strict=True):
        queue = "" if engines.depth is None else f" {engines.depth}"
        events = mean(runs, "engine_events")
        rows.append(
            [
                name,
                engines.overload + queue,
                f"{mean(runs, 'decision_latency_mean_us'):,.0f}",
                f"{mean(runs, 'engine_dropped') / events:.2f}",
                f"{mean(runs, 'engine_coalesced') / events:.2f}",
                f"{mean(runs, 'goodput'):.3f}",
                f"{mean(runs, 'latency_mean_us'):.1f}",
                f"{mean(runs, 'latency_p99_us'):.1f}",
                f"{mean(runs, 'loss'):.3f}",
                f"{np.mean([f.drops_until_ms for f in runs]):.0f}",
            ]
        )
    heading = ("", "overload", "event to rate us", "dropped", "coalesced", "goodput", "latency us", "p99 us", "loss")
    table((*heading, "drops until ms"), rows)


def traffic_that_changes(who: dict[str, EngineDecider]) -> None:
    names = ("trees on ibex-small", "MLP, 17 us", "LSTM, 450 us", "LSTM, 0.9 us")
    tasks = [(name, engines) for name in names for engines in (*ENGINES, None)]
    found = run(
        [EngineTask(who[name], "websearch:60%", None if n is None else Engines(n), length_ms=200) for name, n in tasks]
    )
    print("## Flows that come and go, websearch:60%, 16 hosts\n")
    rows = []
    for (name, engines), runs in zip(tasks, found, strict=True):
        busy, late = mean(runs, "engine_utilisation"), mean(runs, "decision_latency_mean_us")
        rows.append(
            [
                name,
                "one a flow" if engines is None else str(engines),
                "" if np.isnan(busy) or engines is None else f"{busy:.2f}",
                "" if np.isnan(late) or engines is None else f"{late:,.1f}",
                f"{mean(runs, 'completions'):,.0f}",
                f"{mean(runs, 'slowdown_mean'):.1f}",
                f"{mean(runs, 'slowdown_p99'):.0f}",
                f"{mean(runs, 'latency_mean_us'):.1f}",
                f"{mean(runs, 'latency_p99_us'):.0f}",
                f"{mean(runs, 'loss'):.3f}",
            ]
        )
    heading = ("", "engines", "busy", "event to rate us", "completions", "slowdown", "p99", "latency us", "p99 us")
    table((*heading, "loss"), rows)


def draw(found: dict[tuple[str, str, int], list[EngineFigures]]) -> None:
    """Queue and goodput of 64 flows over time, the first seed: one engine a NIC, and more of them for the LSTM."""
    lines = (
        ("trees on ibex-small", 1, "#0072B2"),
        ("MLP, 17 us", 1, "#009E73"),
        ("LSTM, 450 us", 1, "#D55E00"),
        ("LSTM, 450 us", 4, "#E69F00"),
        ("LSTM, 450 us", 16, "#CC79A7"),
    )
    figure = Figure(figsize=(8.0, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for front, (name, engines, colour) in zip((5, 3, 4, 2, 1), lines, strict=True):
        f = found["many-to-one:4x16", name, engines][0]
        t = np.arange(1, f.goodput.size + 1)
        label = f"{name}, {engines} engine{'s' if engines > 1 else ''} a NIC"
        look: dict[str, Any] = {"color": colour, "linewidth": 1.5 if front > 3 else 0.7}
        above.plot(t, f.queue_kb, zorder=front, label=label, **look)
        below.plot(t, f.goodput, zorder=front, **look)
    above.set_yscale("symlog", linthresh=10)
    above.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    above.set_ylim(bottom=0)
    above.set_ylabel("queue, KB (5,243 KB: full)")
    below.set_ylabel("goodput / line rate")
    below.set_xlabel("time, ms")
    below.set_xlim(0, LENGTH_MS)
    for axes in (above, below):
        axes.grid(linewidth=0.6, color="#DDDDDD")
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle("64 flows of 4 NICs to one receiver, all from line rate; events wait for their engine", fontsize=10)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    scratch = PICTURE.with_suffix(".tmp.svg")
    with rc_context({"svg.hashsalt": "rlcc"}):  # the same bytes from the same run
        figure.savefig(scratch, metadata={"Date": None, "Creator": None})
    write_atomically(PICTURE, scratch.read_bytes())
    scratch.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description="Decisions that wait for engines.")
    parser.add_argument("firmware", nargs="?", type=Path, default=FIRMWARE, help="folder; that of `make demo`")
    firmware = parser.parse_args().firmware
    if not firmware.is_dir():
        raise InputError(f"there is no {firmware}; make it with `make demo`, or name another firmware folder")
    with deciders(firmware) as who:
        sustained(who)
        found = overload(who)
        draw(found)
        policies_of_overload(who)
        traffic_that_changes(who)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
