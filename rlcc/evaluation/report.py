"""The evaluation artefact: all runs as Parquet, their time series, the table as Markdown and CSV, and the pictures."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from decision.artefact.output import write_atomically, writing
from netsim.network import Network
from rlcc import __version__
from rlcc.evaluation import summary
from rlcc.evaluation.grid import Cell, Results
from rlcc.evaluation.table_warnings import doubts

KIND = "evaluation"
FOLDER = "evaluation"
"""Of the artefact in the run directory."""
STANDING = "standing.md"
RUNS = "finished-runs"
"""Folder of the finished runs beside it."""


def write(
    results: Results,
    folder: Path,
    *,
    metrics: Sequence[str],
    pictures: bool,
    profile: str,
    standing: str | None = None,
    machine: dict[str, Any] | None = None,
) -> list[str]:
    """Write the artefact; the names of its files. ``metrics`` are the columns of the Markdown table; ``standing``: the
    page of a suite; ``machine``: what a real kernel ran on."""
    grid = results.grid
    measured = summary.rows(results)
    details: dict[str, Any] = {
        "policies": [
            {"label": c.label, "name": c.name, "kind": c.kind, "decision_latency_ps": c.decision_latency_ps}
            | summary.on(c)
            for c in grid.contenders
        ],
        "cells": [_cell(cell) for cell in grid.cells],
        "seeds": list(grid.seeds),
        "profile": profile,
        "rlcc": __version__,
    } | ({} if machine is None else {"machine": machine})
    parents = {c.label: c.hash for c in grid.contenders}
    tools = ("numpy", "pyarrow", *(("matplotlib",) if pictures else ()))
    with writing(folder, KIND, parents=parents, tools=tools, seed=grid.seeds[0], details=details) as work:
        pq.write_table(runs_table(results), work / "runs.parquet", compression="zstd")
        pq.write_table(series_table(results), work / "series.parquet", compression="zstd")
        warned = "".join(f"\nWarning: {sentence}.\n" for sentence in doubts(results, measured, metrics))
        write_atomically(work / "table.md", summary.markdown(measured, metrics) + warned)
        write_atomically(work / "table.csv", summary.csv_text(measured))
        if standing is not None:
            write_atomically(work / STANDING, standing)
        if pictures:
            from rlcc.evaluation.pictures import draw

            for name, content in draw(results, measured):
                write_atomically(work / name, content)
        return sorted(p.name for p in work.iterdir())


def _cell(cell: Cell) -> dict[str, Any]:
    """``network``: what in it is not the default."""
    default = asdict(Network())
    network = {name: value for name, value in asdict(cell.network).items() if value != default[name]}
    told = {"name": cell.name, "scenario": cell.scenario} | asdict(cell.times)
    return told | ({"network": network} if cell.path is None else {"path": asdict(cell.path)})


def runs_table(results: Results) -> pa.Table:
    """A row a run; a metric that a run does not have, or could not measure, is null."""
    columns: dict[str, Any] = {}
    runs = results.grid.runs()
    for name in ("label", "name", "kind", "hash", "decision_latency_ps"):
        columns["policy" if name == "label" else name] = [getattr(contender, name) for contender, _, _ in runs]
    for name, kind in zip(summary.ON, (pa.string(), pa.uint32(), pa.string(), pa.uint32()), strict=True):
        columns[name] = pa.array([summary.on(contender)[name] for contender, _, _ in runs], kind)
    columns["scenario"] = [cell.name for _, cell, _ in runs]
    columns["seed"] = [seed for _, _, seed in runs]
    columns["duration_ps"] = [cell.times.duration_ps for _, cell, _ in runs]
    columns["window_begin_ps"] = [cell.times.window_ps[0] for _, cell, _ in runs]
    columns["window_end_ps"] = [cell.times.window_ps[1] for _, cell, _ in runs]
    columns["rlcc"] = [__version__ for _ in runs]
    columns["flows"] = [outcome.flows for outcome in results.outcomes]
    for name in dict.fromkeys(name for outcome in results.outcomes for name in outcome.metrics):
        values = [outcome.metrics.get(name) for outcome in results.outcomes]
        columns[name] = pa.array([v if v is not None and isfinite(v) else None for v in values], pa.float64())
    return pa.table(columns)


def series_table(results: Results) -> pa.Table:
    """A row a sample of each run: time, longest queue, drops, goodput of a flow (mean over all, and up to 16 flows)."""
    parts = []
    for (contender, cell, seed), outcome in zip(results.grid.runs(), results.outcomes, strict=True):
        f = outcome.samples
        assert f is not None
        rows = np.zeros(len(f.t_us), dtype=np.int32)
        parts.append(
            pa.table(
                {
                    "policy": pa.array([contender.label]).take(pa.array(rows)),
                    "scenario": pa.array([cell.name]).take(pa.array(rows)),
                    "seed": np.full(len(rows), seed, dtype=np.int64),
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
    """All metrics as plain data, by cell and contender; what could not be measured is null."""
    told = []
    for cell in results.grid.cells:
        for c in results.grid.contenders:
            metrics = [
                {name: value if isfinite(value) else None for name, value in f.metrics.items()}
                for f in results.of(c, cell)
            ]
            about = {"policy": c.label, "decision_latency_ps": c.decision_latency_ps} | summary.on(c)
            told.append(about | {"scenario": cell.name, "seeds": list(results.grid.seeds), "metrics": metrics})
    return told
