"""Runs over time, by host: what each one sends, and what the network drops. Kept under all that determines them."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.answers import Lost
from netsim.places import Place
from netsim.simulation import Simulation
from netsim.trials import Trial
from papers.runs import Metrics, Run, say

Name = TypeVar("Name")


@dataclass(frozen=True)
class Course:
    """Each row tells of the interval that ends at ``t_ms``."""

    t_ms: NDArray[np.float64]
    host_gbps: NDArray[np.float64]
    """[samples, hosts that send]; payload of each host's flows that was delivered in order."""
    dropped: NDArray[np.int64]
    """[samples]; packets that the switches dropped."""
    queue_bytes: NDArray[np.int64]
    """[samples]; the longest queue of any port at that moment."""
    metrics: Metrics
    """Of the trial's window, which begins and ends with a sample."""


def course(asked: tuple[Trial, int]) -> Course:
    """One run, looked at so many times at even steps; looking changes nothing. ValueError where its window does not
    begin and end with one of them."""
    trial, points = asked
    window = trial.window_ps or (0, trial.duration_ps)
    samples = [trial.duration_ps * step // points for step in range(points + 1)]
    if not set(window) <= set(samples):
        raise ValueError(f"{trial.name}: a window from {window[0]} to {window[1]} ps is not of {points} samples")
    run = Simulation(
        trial.scenario,
        trial.policy,
        seed=trial.seed,
        duration_ps=trial.duration_ps,
        decision_latency_ps=trial.decision_latency_ps,
        network=trial.network,
    )
    host = run.scenario.column("host")
    senders = np.unique(host)
    delivered, dropped = run.delivered(), int(run.ports()["dropped"].sum())
    rows: list[tuple[float, NDArray[np.float64], int, int]] = []
    metrics: Metrics = {}
    for end in samples[1:]:
        begin = run.now_ps
        if begin == window[0]:
            run.reset_window()
        run.run(end)
        if run.now_ps == window[1]:
            metrics = run.metrics()
        before, had_dropped, ports = delivered, dropped, run.ports()
        delivered, dropped = run.delivered(), int(ports["dropped"].sum())
        bits = (delivered - before).astype(np.float64) * run.network.payload_bytes * 8
        gbps = np.bincount(host, weights=bits)[senders] * 1e3 / (run.now_ps - begin)
        rows.append((run.now_ps * 1e-9, gbps, dropped - had_dropped, int(ports["backlog_bytes"].max())))
    t_ms, rates, drops, queues = (np.array(column) for column in zip(*rows, strict=True))
    return Course(t_ms, rates, drops, queues, metrics)


def run_courses(asked: Mapping[Name, tuple[Run, int]], keep: Path, where: Place) -> dict[Name, Course]:
    """By name: the course of each run with so many points. Those in ``keep`` are not run again."""
    trials = {name: (run.trial(), points) for name, (run, points) in asked.items()}
    files = {name: keep / f"course-{points}-{trial.key()}.npz" for name, (trial, points) in trials.items()}
    found = {name: kept for name, file in files.items() if (kept := _read(file)) is not None}
    todo = [name for name in trials if name not in found]
    say(f"{len(found)} of {len(trials)} courses")
    for at, answer in where.answers(course, [trials[name] for name in todo]):
        if isinstance(answer, Lost):
            raise InputError(f"the process of {trials[todo[at]][0]} was lost ({answer.reason}); make the page again")
        _write(files[todo[at]], answer)
        found[todo[at]] = answer
        say(f"{len(found)} of {len(trials)} courses")
    return {name: found[name] for name in asked}


def _read(file: Path) -> Course | None:
    try:
        with np.load(file, allow_pickle=False) as kept:
            arrays: dict[str, Any] = {f.name: kept[f.name] for f in fields(Course)}
            return Course(**(arrays | {"metrics": json.loads(str(arrays["metrics"]))}))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None


def _write(file: Path, content: Course) -> None:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f.name: getattr(content, f.name) for f in fields(Course)}
    arrays["metrics"] = np.array(json.dumps(content.metrics))
    np.savez_compressed(buffer, **arrays)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, buffer.getvalue())
