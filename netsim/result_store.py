"""Results of a trial, and a folder that stores them under the trial's key."""

import io
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.output import write_atomically
from netsim.cohorts import Records
from netsim.samples import Samples

FORMAT = 2
"""Of a kept file."""


@dataclass(frozen=True)
class Outcome:
    """``metrics`` of the window (netsim.metrics), where there was one; ``records`` of each cohort, the flows'
    first, where decisions were recorded."""

    flows: int
    metrics: dict[str, float]
    records: tuple[Records, ...] = field(default=(), repr=False)
    samples: Samples | None = field(default=None, repr=False)


class Kept:
    """Outcomes in a folder, a file each; ``reused`` counts those that were there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reused = 0

    def load(self, key: str) -> Outcome | None:
        """None where there is none or where it cannot be read: then the trial is run again."""
        try:
            with np.load(self._path(key), allow_pickle=False) as file:
                outcome = _outcome({name: file[name] for name in file.files})
        except Exception:  # whatever NumPy, zlib and zipfile make of a damaged file
            return None
        self.reused += 1
        return outcome

    def save(self, key: str, outcome: Outcome) -> None:
        """Whole or not at all."""
        arrays: dict[str, Any] = {"flows": np.array(outcome.flows), "metrics": np.array(json.dumps(outcome.metrics))}
        arrays["cohorts"] = np.array(len(outcome.records))
        for number, records in enumerate(outcome.records):
            arrays |= {f"records.{number}.{name}": column for name, column in records.items()}
        if outcome.samples is not None:
            arrays |= {f"samples.{f.name}": getattr(outcome.samples, f.name) for f in fields(Samples)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_atomically(self._path(key), buffer.getvalue())

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


def _outcome(arrays: dict[str, Any]) -> Outcome:
    parts: dict[str, dict[str, Any]] = {}
    for name, array in arrays.items():
        group, dot, column = name.rpartition(".")
        if dot:
            parts.setdefault(group, {})[column] = array
    metrics = {name: float(value) for name, value in json.loads(str(arrays["metrics"])).items()}
    records = tuple(parts[f"records.{number}"] for number in range(int(arrays["cohorts"])))
    return Outcome(int(arrays["flows"]), metrics, records, Samples(**parts["samples"]) if "samples" in parts else None)
