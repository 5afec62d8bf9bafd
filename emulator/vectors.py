"""Test vectors of a firmware folder: ``vectors.csv`` packed into the C structures that the manifest lays out.

manifest.json   details.layout: {"context": {"size": 16, "fields": [{"name", "ctype", "offset"}, ...]}, "event": ...}:
                the structures that the program has (decision.ir.interface.GROUPS)
vectors.csv     kind, event.*, params.*, context.*, expect.<knob>, ..., expect.context.*; decimal integers
"""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.documents import as_text
from decision.artefact.errors import InputError
from decision.ir.forest import integer
from decision.ir.interpret import evaluate
from decision.ir.program import Program

MAX_VECTORS, MAX_COLUMNS, MAX_STRUCT_BYTES = 200_000, 256, 1024
IDENTIFIER, DECIMAL, KIND = (
    re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII),
    re.compile(r"-?[0-9]{1,19}"),
    re.compile(r"[ -~]{0,120}"),
)
CTYPES = {"uint32_t": "<u4", "int32_t": "<i4", "uint16_t": "<u2", "int16_t": "<i2", "uint8_t": "u1", "int8_t": "i1"}
Columns = dict[str, NDArray[np.int64]]
Records = dict[str, NDArray[np.void]]
"""By structure, in the order of the arguments."""
UNWRITTEN = 0xA5
"""Each byte of an action before the decision, so that a knob that nothing writes is seen."""
REMEDY = "emit the firmware again"


@dataclass(frozen=True)
class Layout:
    """A C structure as the compiler lays it out, as a NumPy record type."""

    name: str
    dtype: np.dtype[np.void]

    @property
    def fields(self) -> tuple[str, ...]:
        return self.dtype.names or ()

    def pack(self, columns: Mapping[str, NDArray[np.int64]], count: int) -> NDArray[np.void]:
        """Records from columns; padding is zero. OverflowError for a value that its field does not hold."""
        records = np.zeros(count, dtype=self.dtype)
        for field in self.fields:
            records[field] = columns[field]
            if (records[field] != columns[field]).any():
                raise OverflowError(f"{self.name}.{field} holds {self.dtype[field].name}")
        return records

    def unwritten(self, count: int) -> NDArray[np.void]:
        """Records that nobody has written yet."""
        return np.full(count * self.dtype.itemsize, UNWRITTEN, dtype=np.uint8).view(self.dtype)


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


def packed(layouts: Mapping[str, Layout], columns: Mapping[str, NDArray[np.int64]], count: int) -> Records:
    """Records from columns by their keys ("event.x"), beside actions that nobody has written."""
    return {
        group: layout.unwritten(count)
        if group == "action"
        else layout.pack({field: columns[f"{group}.{field}"] for field in layout.fields}, count)
        for group, layout in layouts.items()
    }


def computed(program: Program, records: Mapping[str, NDArray[np.void]]) -> Columns:
    """Returns the program's results, by the names of ``Vectors.expected``."""
    knobs, context = evaluate(program, *columns_of(records))
    named = dict(zip(program.interface.knob_names, knobs, strict=True))
    return named | {f"context.{name}": values for name, values in context.items()}


def outputs(program: Program, returned: NDArray[np.uint32], written: Mapping[str, NDArray[np.void]]) -> Columns:
    """Returns the results of calls, by the names of ``Vectors.expected``: the register or the action, then the
    contexts."""
    knobs = program.interface.knobs
    if len(knobs) > 1:
        values = {knob.name: written["action"][knob.name] for knob in knobs}
    else:  # a narrow value comes in the whole register, extended by its sign
        values = {knobs[0].name: returned.view(np.int32) if knobs[0].storage.startswith("int") else returned}
    values |= {f"context.{s.name}": written["context"][s.name] for s in program.state}
    return {name: column.astype(np.int64) for name, column in values.items()}


def read_layouts(details: Mapping[str, Any], program: Program, where: str) -> dict[str, Layout]:
    """The structures of a firmware manifest's details, those of its program."""
    try:
        structs = dict(details["layout"])
        layouts = {name: _layout(name, structs.pop(name), where) for name in program.structures}
        if structs:
            raise ValueError(f"the decision program has no structure {next(iter(structs))!r}")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} does not lay out the structures of the firmware ({error}); emit it again") from None
    check_layouts(layouts, program, where)
    return layouts


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

    Proofs and computations about an input start from the range of the program's storage, but the code reads the bytes
    of the structure. A wider field could contain a value that the program never sees, and index a table beyond its end.
    All but the context are the interface's, so their places are given as well.
    """
    if list(layouts) != list(program.structures):
        raise InputError(
            f"{where} lays out {', '.join(layouts)}, the decision program has {', '.join(program.structures)}; {REMEDY}"
        )
    for group, storage in program.structures.items():
        dtype = layouts[group].dtype
        places: Mapping[str, Any] = dtype.fields or {}
        stray = next((name for name in [*storage, *places] if (name in storage) != (name in places)), None)
        if stray is not None:
            lacking = "lacks" if stray in storage else "lays out"
            has = "has" if stray in storage else "does not have"
            raise InputError(f"{where} {lacking} {group}.{stray}, which the decision program {has}; {REMEDY}")
        for name, kind in storage.items():
            if places[name][0] != np.dtype(kind).newbyteorder("<"):
                raise InputError(
                    f"{where} lays out {group}.{name} as {places[name][0].name}, "
                    f"the decision program has it as {kind}; {REMEDY}"
                )
        ordered = sorted(storage, key=lambda name: int(places[name][1])) if group == "context" else storage
        end, widest = 0, 1
        for name in ordered:  # each at the next multiple of its size
            kind, offset = places[name][0], int(places[name][1])
            if offset != -(-end // kind.itemsize) * kind.itemsize:
                raise InputError(f"{where} lays out {group}.{name} at byte {offset}, where no C has it; {REMEDY}")
            end, widest = offset + kind.itemsize, max(widest, kind.itemsize)
        if dtype.itemsize != (due := -(-end // widest) * widest):
            raise InputError(f"{where} gives {group} {dtype.itemsize} bytes, C gives it {due}; {REMEDY}")


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
