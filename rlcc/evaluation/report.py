"""The evaluation artefact: all runs as Parquet, their time series, the table as Markdown and CSV, and the pictures."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from decision.documents import write_atomically
from decision.manifest import writing
from rlcc import __version__
from rlcc.evaluation import summary
from rlcc.evaluation.grid import Results

KIND = "evaluation"
FOLDER = "evaluation"
"""Of the artefact in the run directory."""
RUNS = "finished-runs"
"""Folder of the finished runs beside it."""


def write(results: Results, folder: Path, *, metrics: Sequence[str], pictures: bool, profile: str) -> list[str]:
    """Write the artefact; the names of its files. ``metrics`` are the columns of the Markdown table."""
    grid = results.grid
    found = summary.rows(results)
    details: dict[str, Any] = {
        "policies": [
            {"label": c.label, "name": c.name, "kind": c.kind, "decision_latency_ps": c.decision_latency_ps}
            | summary.on(c)
            for c in grid.contenders
        ],
        "scenarios": list(grid.scenarios),
        "seeds": list(grid.seeds),
        "duration_ps": grid.times.duration_ps,
        "window_ps": list(grid.times.window_ps),
        "profile": profile,
        "network": asdict(grid.network),
        "rlcc": __version__,
    }
    parents = {c.label: c.hash for c in grid.contenders}
    tools = ("numpy", "pyarrow", *(("matplotlib",) if pictures else ()))
    with writing(folder, KIND, parents=parents, tools=tools, seed=grid.seeds[0], details=details) as work:
        pq.write_table(runs_table(results), work / "runs.parquet", compression="zstd")
        pq.write_table(series_table(results), work / "series.parquet", compression="zstd")
        write_atomically(work / "table.md", summary.markdown(found, metrics))
        write_atomically(work / "table.csv", summary.csv_text(found))
        if pictures:
            from rlcc.evaluation.pictures import draw

            for name, content in draw(results, found):
                write_atomically(work / name, content)
        return sorted(p.name for p in work.iterdir())


def runs_table(results: Results) -> pa.Table:
    """A row a run; a metric that a run does not have, or could not measure, is null."""
    columns: dict[str, Any] = {}
    todo = results.grid.runs()
    columns["policy"] = [r.contender.label for r in todo]
    columns["name"] = [r.contender.name for r in todo]
    columns["kind"] = [r.contender.kind for r in todo]
    columns["hash"] = [r.contender.hash for r in todo]
    columns["decision_latency_ps"] = [r.contender.decision_latency_ps for r in todo]
    for name, kind in zip(summary.ON, (pa.string(), pa.uint32(), pa.string(), pa.uint32()), strict=True):
        columns[name] = pa.array([summary.on(r.contender)[name] for r in todo], kind)
    columns["scenario"] = [r.scenario for r in todo]
    columns["seed"] = [r.seed for r in todo]
    columns["duration_ps"] = [r.times.duration_ps for r in todo]
    columns["window_begin_ps"] = [r.times.window_ps[0] for r in todo]
    columns["window_end_ps"] = [r.times.window_ps[1] for r in todo]
    columns["rlcc"] = [__version__ for _ in todo]
    columns["flows"] = [f.flows for f in results.finished]
    for name in dict.fromkeys(name for f in results.finished for name in f.metrics):
        values = [f.metrics.get(name) for f in results.finished]
        columns[name] = pa.array([v if v is not None and isfinite(v) else None for v in values], pa.float64())
    return pa.table(columns)


def series_table(results: Results) -> pa.Table:
    """A row a sample of each run: time, longest queue, drops, goodput of a flow (mean over all, and up to 16 flows)."""
    parts = []
    for run, f in zip(results.grid.runs(), results.finished, strict=True):
        samples = np.zeros(len(f.t_us), dtype=np.int32)
        parts.append(
            pa.table(
                {
                    "policy": pa.array([run.contender.label]).take(pa.array(samples)),
                    "scenario": pa.array([run.scenario]).take(pa.array(samples)),
                    "seed": np.full(len(samples), run.seed, dtype=np.int64),
                    "t_us": f.t_us,
                    "queue_bytes": f.queue_bytes,
                    "dropped": f.dropped,
                    "mean_gbps": f.mean_gbps,
                    "flow_gbps": pa.array(f.flow_gbps.tolist(), pa.list_(pa.float32())),
                }
            )
        )
    return pa.concat_tables(parts)


def outcomes(results: Results) -> list[dict[str, Any]]:
    """All metrics as plain data, by scenario and contender; what could not be measured is null."""
    found = []
    for scenario in results.grid.scenarios:
        for c in results.grid.contenders:
            metrics = [
                {name: value if isfinite(value) else None for name, value in f.metrics.items()}
                for f in results.of(c, scenario)
            ]
            about = {"policy": c.label, "decision_latency_ps": c.decision_latency_ps} | summary.on(c)
            found.append(about | {"scenario": scenario, "seeds": list(results.grid.seeds), "metrics": metrics})
    return found
