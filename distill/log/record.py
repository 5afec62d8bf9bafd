"""Recorded decisions: runs with their labels, which `rlcc import` writes, and `rlcc distill` and the gate read."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, of_kind
from decision.ir.arrays import Floats, Integers
from decision.ir.formats import ACTION_BITS
from decision.policy.actions import Scale
from decision.policy.policy import Header, header_of
from decision.policy.records import Columns, record_columns
from distill.log.features import FeatureStates, observed_features, recorded_columns, recorded_states
from distill.rollout import IMPORT, KIND, Rollout, label_names, runs_of
from distill.source import DecisionSource

KNOWN = "known"
"""Column: 1 where the label counts, 0 where its history is not on record."""


@dataclass(frozen=True)
class LabelledRun(Rollout):
    """A run, what should have been decided in each row [N, values] (as label columns keep it), and which rows count."""

    labels: Integers
    known: NDArray[np.bool_]


@dataclass(frozen=True)
class Recorded:
    """Decisions that stand for a teacher. ``hash``: of the artefact; ``labels``: where they come from; ``columns``:
    where the log has each, "NAME=COLUMN in UNIT"."""

    source: DecisionSource
    runs: Sequence[LabelledRun]
    hash: str
    labels: dict[str, Any]
    columns: tuple[str, ...] = ()


def read_recorded(source: Path | Opened, *, most_rows: int | None = None) -> Recorded:
    """Reads rollouts of `rlcc import`. InputError where they are of `rlcc rollout`, not readable, or have more rows
    than ``most_rows``."""
    manifest = of_kind(source, KIND)
    details = manifest.details.get(IMPORT)
    where = str(manifest.folder)
    if not isinstance(details, dict):
        raise InputError(f"{where} holds no labels: it is of rlcc rollout; give its teacher too")
    try:
        name = str(details["policy"]["name"])
        header = header_of(details["policy"], where)
        labels = dict(details["labels"])
        log_columns = tuple(f"{column}={source}" for column, source in dict(details["columns"]).items())
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} does not say whose decisions it holds ({error!r}); import the log again") from None
    interface, columns = header.observation.agents, label_names(header)
    names = [*record_columns(interface), *columns, KNOWN]
    observed = observed_features(details, header)
    names += recorded_columns(observed)
    runs = []
    for scenario, seed, part in runs_of(manifest, names, most_rows):
        order = np.lexsort((part["t_ps"], part[interface.agent]))
        decided = np.stack([part[column].astype(np.int64)[order] for column in columns], axis=1)
        known = part[KNOWN][order] == 1
        states = recorded_states(part, interface, observed)
        runs.append(LabelledRun(scenario, seed, states, decided, known))
    source_of = DecisionSource(name, header, manifest.parent("teacher", manifest.folder))
    return Recorded(source_of, runs, manifest.hash, labels, log_columns)


def rows_hash(runs: Sequence[LabelledRun]) -> str:
    """SHA-256 over the decisions and their labels, whatever their log or runs are called, and in which file they
    stood."""
    digest = hashlib.sha256()
    for run in runs:
        for part in column_bytes(hashed_columns(run, "labels")):
            digest.update(part)
    return digest.hexdigest()


def hashed_columns(run: LabelledRun, label: str) -> Columns:
    """Returns what a run records: signals or features, labels as ``label``, and which of them count."""
    states = run.trajectories
    features = {"features": states.features} if isinstance(states, FeatureStates) else {}
    return {**states.columns, label: run.labels, KNOWN: run.known, **features}


def column_bytes(columns: Columns) -> Iterator[bytes]:
    """Returns names, shapes and values of columns as they are hashed, the same on every machine."""
    for name, values in columns.items():
        yield f"{name} {values.shape}\n".encode()
        yield np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()


def decided_in(run: LabelledRun, header: Header) -> Floats:
    """Returns the decisions that should have been made [N, values]: multipliers, or knobs."""
    decided: Floats = run.labels.astype(np.float64)
    return decided / 2**ACTION_BITS + 1 if isinstance(header.action, Scale) else decided
