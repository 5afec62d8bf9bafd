"""`rlcc import`: a log becomes rollouts with their labels, which `rlcc distill` takes without a network of rlcc's.

The labels are recorded once, as integers, and hashed with the rows: equal bytes are promised from that record on. In a
manifest the record's hash stands where a teacher's would; labels of a teacher's weights keep that teacher's.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.arrays import Integers
from decision.policy.policy import Header
from decision.policy.records import ACTION, Trajectories
from distill.log.columns import LABEL, Layout, column_of, layout, resolved
from distill.log.features import FEATURES, SIGNALS, FeatureStates
from distill.log.files import Log
from distill.log.labels import ColumnLabels, Labels, first_impossible
from distill.log.record import KNOWN, LabelledRun, column_bytes, hashed_columns
from distill.log.runs import LogRun, read_runs
from distill.rollout import IMPORT, KIND, label_columns, part_name, run_table

Progress = Callable[[str], None]
SLICE = 1 << 18
"""Rows that are written at a time."""
PART_BYTES = 32 * 2**20
"""Of a file; a long log has several (decision.artefact.documents: what a file has at most)."""


@dataclass(frozen=True)
class Imported:
    """Rollouts that were written. ``unread``: signals that the log does not have and no feature looks at."""

    rows: int
    runs: int
    agents: int
    gaps: int
    unread: tuple[str, ...]
    labels: dict[str, Any]


def import_log(
    log: Log,
    name: str,
    header: Header,
    labels: Labels | None,
    folder: Path,
    *,
    columns: Sequence[str] = (),
    allow_gaps: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Write the rollouts of a log. ``labels``: who decides, where the log has no label columns; ``columns``:
    "NAME=COLUMN in UNIT" of each column of another name. InputError names row and column of what is wrong."""
    if header.trigger is not None:
        raise InputError("a policy with a trigger is distilled from its network only; use rlcc rollout")
    of = layout(header)
    found = resolved(of, columns, log.columns, log.where)
    labels = _labels(labels, of, {*found}, log.where)
    rows = read_runs(log, of, found, allow_gaps=allow_gaps, progress=progress, run_name=Path(log.where).stem or "log")
    _check_applied(rows.applied, labels, of, log.where)
    if progress is not None:
        progress("labels")
    runs = [labelled(run, number, labels, header, log.where, rows.applied) for number, run in enumerate(rows.runs)]
    details = {
        IMPORT: {
            "log": {"name": Path(log.where).name, "sha256": log.hash},
            "policy": {"name": name, **header.model_dump(mode="json")},
            "columns": {each.name: each.source + (f" in {each.unit}" if each.unit else "") for each in found.values()},
            "labels": labels.details(),
            "applied": "column" if rows.applied else "label",
            "observed": FEATURES if isinstance(runs[0].trajectories, FeatureStates) else SIGNALS,
            "gaps": rows.gaps,
        },
        "rows": len(rows),
    }
    said = labels.details()
    teacher = str(said["sha256"]) if said["from"] == "teacher" else record_hash(name, header, runs)
    _write(runs, header, folder, details, teacher)
    unread = () if {*of.features} & {*found} else tuple(signal for signal in of.unread if signal not in found)
    return Imported(len(rows), len(runs), rows.agents, rows.gaps, unread, said)


def labelled_log(
    log: Log, header: Header, labels: Labels | None, columns: Sequence[str], run_name: str
) -> list[LabelledRun]:
    """The runs of a log with their labels, not written. ``columns``: "NAME=COLUMN in UNIT" of columns that it may have;
    others stand under rlcc's names."""
    of = layout(header)
    there = [text for text in columns if column_of(text) in log.columns]
    found = resolved(of, there, log.columns, log.where)
    labels = _labels(labels, of, {*found}, log.where)
    rows = read_runs(log, of, found, run_name=run_name)
    _check_applied(rows.applied, labels, of, log.where)
    return [labelled(run, number, labels, header, log.where, rows.applied) for number, run in enumerate(rows.runs)]


def labelled(run: LogRun, number: int, labels: Labels, header: Header, where: str, applied: bool) -> LabelledRun:
    """The run with what should have been decided; where its log does not say what was applied, that was. InputError
    names the row of a label that the action map cannot set."""
    decided, known = labels.decided(run.states, run.labels)
    if (at := first_impossible(decided, header)) is not None:
        raise InputError(
            f"{where}, row {run.rows[at]}: the label {', '.join(map(str, decided[at]))} is none that the action map "
            f"{header.action.kind} can set"
        )
    states = run.states if applied else _applying(run.states, decided, header)
    return LabelledRun(run.name, number, states, decided, known)


def record_hash(name: str, header: Header, runs: Sequence[LabelledRun]) -> str:
    """SHA-256 over policy, rows and labels: the decisions that stand for a teacher."""
    digest = hashlib.sha256(json.dumps([name, header.model_dump(mode="json")], sort_keys=True).encode())
    for run in runs:
        digest.update(f"\n{run.scenario}\n".encode())
        for part in column_bytes(hashed_columns(run, LABEL)):
            digest.update(part)
    return digest.hexdigest()


def _check_applied(applied: bool, labels: Labels, of: Layout, where: str) -> None:
    """InputError where a policy looks at earlier decisions, and neither the log nor its labels say what they were."""
    looks_back = any(feature.decided is not None for feature in of.header.observation.features)
    if looks_back and labels.needs_applied and not applied:
        raise InputError(
            f"{where} has no column {of.applied[0]}, and the policy looks at its earlier decisions; say what was "
            f"applied with --column {of.applied[0]}=COLUMN"
        )


def _labels(asked: Labels | None, of: Layout, there: set[str], where: str) -> Labels:
    has_own = {*of.labels} <= there
    if asked is None and not has_own:
        raise InputError(
            f"{where} has no column {of.labels[0]}; say which one holds what should be decided with "
            f"--column {of.labels[0]}=COLUMN, or who decides with --teacher or --labels"
        )
    if asked is not None and has_own:
        raise InputError(f"{where} has labels of its own, and --teacher or --labels is given; leave out one of the two")
    return asked or ColumnLabels(of.labels)


def _applying(states: Trajectories, decided: Integers, header: Header) -> Trajectories:
    """The same decisions, each of which was applied."""
    names = (ACTION,) if states.interface.context else header.action.values
    columns = dict(states.columns)
    for place, name in enumerate(names):
        columns[name] = decided[:, place].astype(columns[name].dtype)
    return replace(states, columns=columns)


def _write(runs: Sequence[LabelledRun], header: Header, folder: Path, details: dict[str, Any], teacher: str) -> None:
    import pyarrow.parquet as pq

    with writing(folder, KIND, parents={"teacher": teacher}, tools=("numpy", "pyarrow"), details=details) as work:
        number, writer = 0, None
        for run in runs:
            table = _table(run, header)
            for begin in range(0, len(table), SLICE):
                if writer is None:
                    number += 1
                    writer = pq.ParquetWriter(work / part_name(number), table.schema, compression="zstd")
                writer.write_table(table.slice(begin, SLICE))
                if (work / part_name(number)).stat().st_size > PART_BYTES:
                    writer.close()
                    writer = None
        if writer is not None:
            writer.close()


def _table(run: LabelledRun, header: Header) -> "Any":
    return run_table(run, header, label_columns(header, run.labels) | {KNOWN: run.known.astype(np.uint8)})
