"""Test vectors of a firmware folder: ``vectors.csv`` packed into the C structures (emulator.layout).

vectors.csv     kind, event.*, params.*, context.*, expect.<knob>, ..., expect.context.*; decimal integers
"""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.documents import as_text
from decision.artefact.errors import InputError
from decision.ir.interpret import evaluate
from decision.ir.program import Program
from emulator.firmware import PROGRAM, VECTORS, Firmware
from emulator.layout import Columns, Layout, Records

MAX_VECTORS, MAX_COLUMNS = 200_000, 256
DECIMAL, KIND = re.compile(r"-?[0-9]{1,19}"), re.compile(r"[ -~]{0,120}")


@dataclass(frozen=True)
class Vectors:
    """Inputs of decisions, and their expected results: by knob, then by "context.x"."""

    kinds: tuple[str, ...]
    records: Records
    expected: Columns

    def __len__(self) -> int:
        return len(self.kinds)

    def columns(self) -> tuple[Columns, Columns, Columns]:
        """Event, parameters and context as decision.ir.interpret takes them."""
        return columns_of(self.records)

    def inputs(self, index: int) -> dict[str, int]:
        """One vector's inputs by their column names."""
        return {
            f"{group}.{field}": int(records[field][index])
            for group, records in self.records.items()
            if group != "action"
            for field in (records.dtype.names or ())
        }


def columns_of(records: Mapping[str, NDArray[np.void]]) -> tuple[Columns, Columns, Columns]:
    """Event, parameters and context as decision.ir.interpret takes them."""

    def group(name: str) -> Columns:
        fields = records[name].dtype.names or () if name in records else ()
        return {field: records[name][field].astype(np.int64) for field in fields}

    return group("event"), group("params"), group("context")


def computed(program: Program, records: Mapping[str, NDArray[np.void]]) -> Columns:
    """Returns the program's results, by the names of ``Vectors.expected``."""
    knobs, context = evaluate(program, *columns_of(records))
    named = dict(zip(program.interface.knob_names, knobs, strict=True))
    return named | {f"context.{name}": values for name, values in context.items()}


@lru_cache(maxsize=8)
def vectors_of(firmware: Firmware) -> Vectors:
    """Returns a firmware's vectors, read once. Raises InputError if they are not readable or contradict the program."""
    path = str(firmware.folder / VECTORS)
    vectors = read_vectors(firmware.manifest.content(VECTORS), firmware.layouts, firmware.program, path)
    check_against_program(vectors, firmware.program, path)
    return vectors


def check_against_program(vectors: Vectors, program: Program, path: str) -> None:
    """The vectors' expectations must be what the integer program computes: the program is the specification."""
    for name, right in computed(program, vectors.records).items():
        expected = vectors.expected[name]
        wrong = np.flatnonzero(expected != right)
        if wrong.size:
            line = int(wrong[0])
            raise InputError(
                f"{path}, line {line + 2}: expect.{name} = {expected[line]} "
                f"but {PROGRAM} gives {right[line]}; emit the firmware again"
            )


def read_vectors(content: bytes, layouts: Mapping[str, Layout], program: Program, path: str) -> Vectors:
    """Read ``vectors.csv``, which lies in ``path``; a missing column or a value that its field cannot hold is an
    error."""
    header, table = _table(content, path)
    if not table:
        raise InputError(f"{path} has no vectors; emit the firmware again")
    bad = next((n for n, row in enumerate(table) if len(row) != len(header)), None)
    if bad is not None:
        raise InputError(
            f"{path}, line {bad + 2}: {len(table[bad])} values for {len(header)} columns; emit the firmware again"
        )
    columns = dict(zip(header, zip(*table, strict=True), strict=True))
    if "kind" not in columns:
        raise InputError(f"{path} has no column 'kind'; emit the firmware again")
    kinds = columns["kind"]
    if not all(map(KIND.fullmatch, kinds)):
        raise InputError(f"{path}, column 'kind': a value is not plain text; emit the firmware again")

    def column(name: str, storage: str) -> NDArray[np.int64]:
        return _integers(path, columns, name, np.dtype(storage))

    records: Records = {}
    for group, storage in program.structures.items():
        if group == "action":
            records[group] = layouts[group].unwritten(len(table))
        else:
            values = {name: column(f"{group}.{name}", kind) for name, kind in storage.items()}
            records[group] = layouts[group].pack(values, len(table))
    expected = {knob.name: column(f"expect.{knob.name}", knob.storage) for knob in program.interface.knobs}
    expected |= {f"context.{s.name}": column(f"expect.context.{s.name}", s.storage) for s in program.state}
    return Vectors(tuple(kinds), records, expected)


def _table(content: bytes, path: str) -> tuple[list[str], list[list[str]]]:
    """The header and the rows, bounded in number."""
    table: list[list[str]] = []
    try:
        rows = csv.reader(io.StringIO(as_text(content, path), newline=""))
        header = next(rows, [])
        for row in rows:
            table.append(row)
            if len(table) > MAX_VECTORS:
                raise InputError(
                    f"{path} has over {MAX_VECTORS} vectors, more than rlcc writes; emit the firmware again"
                )
    except csv.Error as error:
        raise InputError(f"cannot read {path}: {error}; emit the firmware again") from None
    if len(header) > MAX_COLUMNS or len(set(header)) != len(header):
        raise InputError(f"{path} has a column twice, or over {MAX_COLUMNS}; emit the firmware again")
    return header, table


def _integers(path: str, columns: Mapping[str, tuple[str, ...]], name: str, dtype: np.dtype[Any]) -> NDArray[np.int64]:
    if name not in columns:
        raise InputError(f"{path} has no column {name!r}; emit the firmware again")
    words = columns[name]
    try:
        if not all(map(DECIMAL.fullmatch, words)):
            raise ValueError
        values = np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(
            f"{path}, column {name!r}: a value is not a decimal integer; emit the firmware again"
        ) from None
    limits = np.iinfo(dtype)
    outside = np.flatnonzero((values < limits.min) | (values > limits.max))
    if outside.size:
        line = int(outside[0])
        raise InputError(
            f"{path}, line {line + 2}, column {name!r}: {values[line]} does not fit {dtype.name}; "
            "emit the firmware again"
        )
    return values
