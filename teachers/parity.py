"""A teacher as rlcc reads it beside its owner's own forward passes: rows and outputs in a CSV.

The first line names the columns by what they mean, in any order: `previous_action_0` is that feature at the decision in
question, `previous_action_1` at the one before (as in docs/how-to/environments.md), before `[input]`'s offset and
scale. The last columns are the network's outputs, after what follows its last layer; others are passed over. Columns
are compared by name: numbers in the network's own order would agree however wrongly that order is read. An LSTM's rows
are one run.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from teachers.inference import outputs_of
from teachers.teacher import Teacher

TOLERANCE = 1e-4
"""Two float32 forward passes of one network differ by less; another order, activation or scale by far more."""


@dataclass(frozen=True)
class Parity:
    """``rows`` compared; ``worst``: the row of the greatest difference, from 1, and what both put out there."""

    rows: int
    difference: float
    worst: int
    theirs: float
    ours: float

    @property
    def passed(self) -> bool:
        return self.difference <= TOLERANCE


def parity(teacher: Teacher, path: Path) -> Parity:
    """Compare on every row of the file. InputError where it is none."""
    observation, outputs = teacher.policy.observation, teacher.policy.action.outputs
    names = [f"{label}_{age}" for age in range(observation.window) for label in observation.labels]
    rows, theirs = _read(path, names, outputs)
    ours = outputs_of(teacher, rows.astype(np.float32), np.zeros(1, dtype=np.int64)).astype(np.float64)
    off = np.abs(ours - theirs)
    row, column = np.unravel_index(int(np.argmax(off)), off.shape)
    return Parity(
        len(rows), float(off[row, column]), int(row) + 1, float(theirs[row, column]), float(ours[row, column])
    )


def _read(path: Path, names: list[str], outputs: int) -> tuple[Floats, Floats]:
    """Inputs by their names [N, names] and outputs [N, outputs]."""
    lines = [line for line in csv.reader(io.StringIO(read_text(path))) if line]
    if len(lines) < 2:
        raise InputError(f"{path} has no rows; give a line of names, then inputs and outputs a line")
    header = [name.strip() for name in lines[0]]
    inputs = header[: len(header) - outputs]
    for name in names:
        if inputs.count(name) != 1:
            raise InputError(
                f"{path} has {inputs.count(name)} columns {name} before its {outputs} of outputs; each of "
                f"{', '.join(names)} must stand there once"
            )
    for number, line in enumerate(lines, start=1):
        if len(line) != len(header):
            raise InputError(f"{path}: line {number} has {len(line)} columns, and the first {len(header)}")
    try:
        table = np.asarray([[float(cell) for cell in line] for line in lines[1:]])
    except ValueError as error:
        raise InputError(f"{path} holds something else than numbers: {error}") from None
    if not np.isfinite(table).all():
        raise InputError(f"{path} holds numbers that are not finite; leave those rows out")
    return table[:, [inputs.index(name) for name in names]], table[:, len(inputs) :]
