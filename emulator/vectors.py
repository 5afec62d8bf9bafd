"""Test vectors of a firmware folder: ``vectors.csv`` packed into the C structures that the manifest lays out.

manifest.json   details.layout.{flow,event,params}: {"size": 16, "fields": [{"name", "ctype", "offset"}, ...]}
vectors.csv     kind, event.<field>, params.<field>, flow.<field>, expect.return, expect.<flow field>; decimal integers
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spec.errors import InputError

CTYPES = {"uint32_t": "<u4", "int32_t": "<i4", "uint16_t": "<u2", "int16_t": "<i2", "uint8_t": "u1", "int8_t": "i1"}
Columns = dict[str, NDArray[np.int64]]
STRUCTS = ("event", "params", "flow")


@dataclass(frozen=True)
class Layout:
    """A C structure as the compiler lays it out, as a NumPy record type."""

    name: str
    dtype: np.dtype[np.void]

    @property
    def fields(self) -> tuple[str, ...]:
        return self.dtype.names or ()

    def pack(self, columns: Mapping[str, NDArray[np.int64]], count: int) -> NDArray[np.void]:
        """Records from columns; padding is zero."""
        records = np.zeros(count, dtype=self.dtype)
        for field in self.fields:
            records[field] = columns[field]
        return records


@dataclass(frozen=True)
class Vectors:
    """Inputs as records, and what is expected: the return value and the flow context after the decision."""

    kinds: tuple[str, ...]
    event: NDArray[np.void]
    params: NDArray[np.void]
    flow: NDArray[np.void]
    expected_return: NDArray[np.uint32]
    expected_flow: NDArray[np.void]

    def __len__(self) -> int:
        return len(self.kinds)

    def columns(self) -> tuple[Columns, Columns, Columns]:
        """Event, parameters and flow context as spec.interpret takes them."""
        event, params, flow = (
            {name: records[name].astype(np.int64) for name in records.dtype.names or ()}
            for records in (self.event, self.params, self.flow)
        )
        return event, params, flow

    def inputs(self, index: int) -> dict[str, int]:
        """One vector's inputs by their column names."""
        return {
            f"{struct}.{field}": int(records[field][index])
            for struct, records in (("event", self.event), ("params", self.params), ("flow", self.flow))
            for field in (records.dtype.names or ())
        }


def read_layouts(details: Mapping[str, Any], where: str) -> dict[str, Layout]:
    """The three structures of a firmware manifest's details."""
    try:
        structs = details["layout"]
        return {name: _layout(name, structs[name], where) for name in STRUCTS}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} does not lay out the structures of the firmware ({error}); emit it again") from None


def _layout(name: str, struct: Mapping[str, Any], where: str) -> Layout:
    fields = struct["fields"]
    unknown = next((f["ctype"] for f in fields if f["ctype"] not in CTYPES), None)
    if unknown is not None:
        raise InputError(f"{where}: structure {name} has a field of type {unknown!r}; known are {', '.join(CTYPES)}")
    dtype = np.dtype(
        {
            "names": [f["name"] for f in fields],
            "formats": [CTYPES[f["ctype"]] for f in fields],
            "offsets": [f["offset"] for f in fields],
            "itemsize": struct["size"],
        }
    )
    return Layout(name, dtype)


def read_vectors(path: Path, layouts: Mapping[str, Layout]) -> Vectors:
    """Read ``vectors.csv``; a missing column or a value that its field cannot hold is an error."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            header = next(rows, [])
            table = list(rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {error}; emit the firmware again") from None
    if not table:
        raise InputError(f"{path} has no vectors; emit the firmware again")
    bad = next((n for n, row in enumerate(table) if len(row) != len(header)), None)
    if bad is not None:
        raise InputError(
            f"{path}, line {bad + 2}: {len(table[bad])} values for {len(header)} columns; emit the firmware again"
        )
    columns = dict(zip(header, zip(*table, strict=True), strict=True))

    def record(struct: str, prefix: str) -> NDArray[np.void]:
        layout = layouts[struct]
        values = {f: _integers(path, columns, f"{prefix}.{f}", layout.dtype[f]) for f in layout.fields}
        return layout.pack(values, len(table))

    if "kind" not in columns:
        raise InputError(f"{path} has no column 'kind'; emit the firmware again")
    returned = _integers(path, columns, "expect.return", np.dtype("<u4")).astype(np.uint32)
    event, params, flow = (record(struct, struct) for struct in STRUCTS)
    return Vectors(tuple(columns["kind"]), event, params, flow, returned, record("flow", "expect"))


def _integers(path: Path, columns: Mapping[str, tuple[str, ...]], name: str, dtype: np.dtype[Any]) -> NDArray[np.int64]:
    if name not in columns:
        raise InputError(f"{path} has no column {name!r}; emit the firmware again")
    try:
        values = np.array([int(word) for word in columns[name]], dtype=np.int64)
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
