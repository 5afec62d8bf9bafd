"""One run: a contender in a scenario with a seed. What determines it makes its key; a file keeps what it gave."""

import io
import json
import zipfile
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import emulator
import netsim
from decision.documents import dump_json, write_atomically
from decision.manifest import sha256
from emulator.compile import find_compiler
from emulator.profile import load_profile
from netsim import scenarios
from netsim.network import Network
from netsim.scenarios import Scenario
from netsim.series import joined, record
from netsim.simulation import Simulation
from rlcc import __version__
from rlcc.evaluation.contenders import Contender

FORMAT = 1
"""Of the file of a finished run."""

SOURCES = (".py", ".toml", ".csv", ".cpp", ".hpp", ".sv", ".S", ".ld", ".c")
"""Files of a package that what it computes may depend on, beside what was compiled."""

SAMPLES = 400
"""Points of a run's time series."""
SHOWN_FLOWS = 16
"""Flows whose goodput over time is kept, evenly spaced; of all the others only the mean."""


@dataclass(frozen=True)
class Times:
    """Length of each run and the window it is measured in, ps."""

    duration_ps: int
    window_ps: tuple[int, int]


@dataclass(frozen=True)
class Run:
    """What is to be run."""

    contender: Contender
    scenario: str
    seed: int
    times: Times
    network: Network = field(default_factory=Network)


@dataclass(frozen=True)
class Finished:
    """What a run gave. Arrays over time have a row a sample; ``t_us`` is the end of its interval."""

    metrics: dict[str, float]
    flows: int
    t_us: NDArray[np.float32]
    queue_bytes: NDArray[np.float32]
    """[samples]; of the switch port with the longest queue."""
    flow_gbps: NDArray[np.float32]
    """[samples, up to 16]; payload delivered in order."""
    mean_gbps: NDArray[np.float32]
    """[samples]; the same, mean over all flows."""
    dropped: NDArray[np.int32]
    """[samples]; packets."""
    completed_bytes: NDArray[np.int64]
    """[completions in the window]; the size of each flow that finished."""
    completed_slowdown: NDArray[np.float32]
    """[completions in the window]; time to finish / the same in an empty network."""


def execute(run: Run) -> Finished:
    """One whole run from an empty network. Sampling it changes nothing: the metrics are those of `simulate`."""
    begin, end = run.times.window_ps
    duration = run.times.duration_ps
    scenario = scenarios.instantiate(run.scenario, run.seed, duration, run.network)
    simulation = Simulation(
        scenario,
        run.contender.policy,
        seed=run.seed,
        decision_latency_ps=run.contender.decision_latency_ps,
        network=run.network,
        engines=run.contender.engines,
    )
    number = len(scenario.column("host"))
    shown = np.unique(np.linspace(0, number - 1, min(SHOWN_FLOWS, number)).astype(int)).tolist()
    every = max(duration // SAMPLES, 1)
    parts = [record(simulation, begin, every, shown)]
    simulation.reset_window()
    parts.append(record(simulation, end, every, shown))
    metrics, window = simulation.metrics(), simulation.window()
    parts.append(record(simulation, duration, every, shown))
    series = joined(parts)
    sizes, slowdown = _completions(scenario, simulation.network, window)
    return Finished(
        metrics=metrics,
        flows=number,
        t_us=(series.t_ps * 1e-6).astype(np.float32),
        queue_bytes=series.queue_bytes.max(axis=1).astype(np.float32),
        flow_gbps=series.flow_gbps.astype(np.float32),
        mean_gbps=series.mean_gbps.astype(np.float32),
        dropped=series.dropped.astype(np.int32),
        completed_bytes=sizes,
        completed_slowdown=slowdown,
    )


def key(run: Run) -> str:
    """A hash of all that determines what the run gives; its label does not."""
    return sha256(
        dump_json(
            {
                "format": [FORMAT, SAMPLES, SHOWN_FLOWS],
                "rlcc": __version__,
                "simulator": simulator_hash(),
                "policy": [run.contender.kind, run.contender.hash],
                "decision_latency_ps": run.contender.decision_latency_ps,
                "core": _core_key(run.contender),
                "engines": None if run.contender.engines is None else asdict(run.contender.engines),
                "scenario": run.scenario,
                "seed": run.seed,
                "duration_ps": run.times.duration_ps,
                "window_ps": list(run.times.window_ps),
                "network": asdict(run.network),
            }
        ).encode()
    )


def _core_key(contender: Contender) -> list[str | None] | None:
    """What the cycles of a core come from."""
    if contender.core is None:
        return None
    compiler = find_compiler("clang", load_profile(contender.core.profile).core.isa).version
    return [contender.core.how, contender.core_hash, emulator_hash(), compiler]


def simulator_hash() -> str:
    """Over the simulator's own files: another build of it may give other results."""
    return _hash(Path(netsim.__file__).parent, Path(netsim._core.__file__))


def emulator_hash() -> str:
    """Over the emulator's own files: another build of it may take other cycles."""
    from emulator import _fast

    return _hash(Path(emulator.__file__).parent, Path(_fast.__file__))


@cache
def _hash(folder: Path, compiled: Path) -> str:
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    lines = [f"{p.relative_to(folder)} {sha256(p.read_bytes())}" for p in files if p.suffix in SOURCES]
    return sha256("\n".join([*lines, sha256(compiled.read_bytes())]).encode())


def save(finished: Finished, path: Path) -> None:
    """Write a finished run, whole or not at all."""
    arrays: dict[str, Any] = {f.name: getattr(finished, f.name) for f in fields(Finished)}
    arrays["metrics"] = np.array(json.dumps(finished.metrics))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def load(path: Path) -> Finished | None:
    """A run that was kept; None where there is none or where it cannot be read: then it is run again."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            read = {f.name: kept[f.name] for f in fields(Finished)}
        read["metrics"] = {name: float(value) for name, value in json.loads(str(read["metrics"])).items()}
        read["flows"] = int(read["flows"])
        return Finished(**read)
    except (OSError, EOFError, KeyError, ValueError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _completions(
    scenario: Scenario, network: Network, window: dict[str, Any]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Size and slowdown of the flows that finished in the window."""
    flow = np.asarray(window["completed_flow"], dtype=np.int64)
    took = (window["completed_finish_ps"] - window["completed_start_ps"]).astype(np.float64)
    slowdown = took / window["completed_alone_ps"]
    return scenario.size_bytes(network.payload_bytes)[flow], slowdown.astype(np.float32)
