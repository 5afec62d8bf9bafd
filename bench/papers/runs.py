"""One run: a contender in a network with a seed. A file named by all that determines it keeps what it gave."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite, nan
from pathlib import Path

from bench.papers.contenders import Contender
from bench.papers.traffic import Traffic
from decision.documents import dump_json, write_atomically
from decision.manifest import sha256
from netsim import simulate
from netsim.sweep import over_processes
from rlcc.evaluation.runs import simulator_hash

FORMAT = 1
"""Of the file of a run."""

Metrics = dict[str, float]


@dataclass(frozen=True)
class Run:
    contender: Contender
    traffic: Traffic
    seed: int


def execute(run: Run) -> Metrics:
    """Every metric of netsim, and ``drops_per_flow`` (RL-CC, figures 7 and 8)."""
    found = simulate(
        run.traffic.scenario,
        run.contender.policy,
        seed=run.seed,
        duration_ps=run.traffic.times.duration_ps,
        window_ps=run.traffic.times.window_ps,
        decision_latency_ps=run.contender.decision_latency_ps,
        network=run.contender.network,
    ).metrics
    return found | {"drops_per_flow": found["dropped_packets"] / run.traffic.flows}


def key(run: Run) -> str:
    """A hash of all that determines what a run gives."""
    scenario = run.traffic.scenario
    flows = {name: sha256(column.tobytes()) for name, column in sorted(scenario.flows.columns.items())}  # type: ignore[union-attr]
    return sha256(
        dump_json(
            {
                "format": FORMAT,
                "simulator": simulator_hash(),
                "policy": run.contender.identity,
                "decision_latency_ps": run.contender.decision_latency_ps,
                "network": asdict(run.contender.network),
                "scenario": [scenario.hosts, scenario.receivers, scenario.long_flow, flows],
                "seed": run.seed,
                "times": asdict(run.traffic.times),
            }
        ).encode()
    )


def run_all(runs: Iterable[Run], keep: Path, jobs: int) -> dict[tuple[str, str, int], Metrics]:
    """What each run gave, by contender, traffic and seed. Those in ``keep`` are not run again."""
    todo = list({(r.contender.label, r.traffic.name, r.seed): r for r in runs}.values())
    files = [keep / f"{key(r)}.json" for r in todo]
    found = {i: kept for i, file in enumerate(files) if (kept := load(file)) is not None}
    # The longest first, so that no process ends alone.
    missing = sorted((i for i in range(len(todo)) if i not in found), key=lambda i: -todo[i].traffic.flows)
    _say(f"{len(todo)} runs, {len(found)} of them kept from before")
    for at, metrics in over_processes(execute, [todo[i] for i in missing], jobs):
        found[missing[at]] = metrics
        save(metrics, files[missing[at]])
        if len(found) % 50 == 0:
            _say(f"{len(found)} of {len(todo)} runs")
    return {(r.contender.label, r.traffic.name, r.seed): found[i] for i, r in enumerate(todo)}


def save(metrics: Metrics, path: Path) -> None:
    """Whole or not at all; what could not be measured (NaN) is null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {name: value if isfinite(value) else None for name, value in metrics.items()}
    write_atomically(path, json.dumps(plain).encode())


def load(path: Path) -> Metrics | None:
    """A run that was kept; None where there is none or where it cannot be read."""
    try:
        kept = json.loads(path.read_text())
        return {str(name): nan if value is None else float(value) for name, value in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _say(text: str) -> None:
    print(f"papers: {text}", file=sys.stderr, flush=True)
