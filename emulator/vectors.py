"""Test vectors of a firmware folder: ``vectors.csv`` packed into the C structures that the manifest lays out.

manifest.json   details.layout.{flow,event,params}: {"size": 16, "fields": [{"name", "ctype", "offset"}, ...]}
vectors.csv     kind, event.<field>, params.<field>, flow.<field>, expect.return, expect.<flow field>; decimal integers
"""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.documents import read_text
from decision.errors import InputError
from decision.forest import integer
from decision.interfaces import FLOW_RATE
from decision.program import Program
from decision.signals import EVENT_NAMES, PARAM_NAMES

MAX_VECTORS, MAX_COLUMNS, MAX_STRUCT_BYTES = 200_000, 256, 1024
IDENTIFIER, DECIMAL, KIND = (
    re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII),
    re.compile(r"-?[0-9]{1,19}"),
    re.compile(r"[ -~]{0,120}"),
)
CTYPES = {"uint32_t": "<u4", "int32_t": "<i4", "uint16_t": "<u2", "int16_t": "<i2", "uint8_t": "u1", "int8_t": "i1"}
Columns = dict[str, NDArray[np.int64]]
STRUCTS = ("event", "params", "flow")
AGAIN = "emit the firmware again"


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
        """Event, parameters and flow context as decision.interpret takes them."""
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
    fields, size = list(struct["fields"]), integer(struct["size"])
    unknown = next((f["ctype"] for f in fields if not isinstance(f["ctype"], str) or f["ctype"] not in CTYPES), None)
    if unknown is not None:
        raise InputError(f"{where}: structure {name} has a field of type {unknown!r}; known are {', '.join(CTYPES)}")
    if not 0 < size <= MAX_STRUCT_BYTES or not all(IDENTIFIER.fullmatch(f["name"]) for f in fields):
        raise ValueError(f"structure {name} has {size} bytes, or fields whose names are none in C")
    spans = sorted((integer(f["offset"]), np.dtype(CTYPES[f["ctype"]]).itemsize) for f in fields)
    ends = [offset + length for offset, length in spans]
    if any(begin < end for (begin, _), end in zip(spans, [0, *ends], strict=False)) or ends[-1:] > [size]:
        raise ValueError(f"the fields of structure {name} overlap or do not fit its {size} bytes")
    dtype = np.dtype(
        {
            "names": [f["name"] for f in fields],
            "formats": [CTYPES[f["ctype"]] for f in fields],
            "offsets": [f["offset"] for f in fields],
            "itemsize": size,
        }
    )
    return Layout(name, dtype)


def check_layouts(layouts: Mapping[str, Layout], program: Program, where: str) -> None:
    """The structures are those of the program, field by field; InputError where not.

    What is proved or computed of an input starts from the range of the program's storage, what the code reads is the
    bytes of the structure: a wider field could hold what the program never meets, and index a table beyond its end.
    Event and parameters are the device's, so their places are given as well.
    """
    if program.interface != FLOW_RATE:
        raise InputError(
            f"{where}: the decision program has the interface {program.interface.name}, not a flow's; {AGAIN}"
        )
    given = {"event": EVENT_NAMES, "params": PARAM_NAMES}
    for struct in STRUCTS:
        storage = {s.name: s.storage for s in program.state}
        if struct in given:
            storage = dict.fromkeys(given[struct], "uint32")
        dtype = layouts[struct].dtype
        places: Mapping[str, Any] = dtype.fields or {}
        stray = next((name for name in [*storage, *places] if (name in storage) != (name in places)), None)
        if stray is not None:
            lacking = "lacks" if stray in storage else "lays out"
            has = "has" if stray in storage else "does not have"
            raise InputError(f"{where} {lacking} {struct}.{stray}, which the decision program {has}; {AGAIN}")
        end = 0
        for name, (kind, offset, *_) in sorted(places.items(), key=lambda place: int(place[1][1])):
            if kind != np.dtype(storage[name]).newbyteorder("<"):
                raise InputError(
                    f"{where} lays out {struct}.{name} as {kind.name}, "
                    f"the decision program has it as {storage[name]}; {AGAIN}"
                )
            due = 4 * given[struct].index(name) if struct in given else offset
            if offset != due or offset % kind.itemsize or not end <= offset <= dtype.itemsize - kind.itemsize:
                raise InputError(f"{where} lays out {struct}.{name} at byte {offset}, where no C has it; {AGAIN}")
            end = offset + kind.itemsize
        if struct in given and dtype.itemsize != end:
            raise InputError(f"{where} gives {struct} {dtype.itemsize} bytes, the device gives {end}; {AGAIN}")


def read_vectors(path: Path, layouts: Mapping[str, Layout]) -> Vectors:
    """Read ``vectors.csv``; a missing column or a value that its field cannot hold is an error."""
    header, table = _table(path)
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
    kinds = columns["kind"]
    if not all(map(KIND.fullmatch, kinds)):
        raise InputError(f"{path}, column 'kind': a value is not plain text; emit the firmware again")
    returned = _integers(path, columns, "expect.return", np.dtype("<u4")).astype(np.uint32)
    event, params, flow = (record(struct, struct) for struct in STRUCTS)
    return Vectors(tuple(kinds), event, params, flow, returned, record("flow", "expect"))


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows, bounded in number."""
    table: list[list[str]] = []
    try:
        rows = csv.reader(io.StringIO(read_text(path), newline=""))
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


def _integers(path: Path, columns: Mapping[str, tuple[str, ...]], name: str, dtype: np.dtype[Any]) -> NDArray[np.int64]:
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
