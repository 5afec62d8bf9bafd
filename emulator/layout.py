"""The C structures of a decision as the manifest lays them out, and records of them.

manifest.json   details.layout: {"context": {"size": 16, "fields": [{"name", "ctype", "offset"}, ...]}, "event": ...}:
                the structures that the program has (decision.ir.interface.GROUPS)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.forest import integer
from decision.ir.program import Program

MAX_STRUCT_BYTES = 1024
IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
CTYPES = {"uint32_t": "<u4", "int32_t": "<i4", "uint16_t": "<u2", "int16_t": "<i2", "uint8_t": "u1", "int8_t": "i1"}
Columns = dict[str, NDArray[np.int64]]
Records = dict[str, NDArray[np.void]]
"""Records by structure, in the order of the arguments."""
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


def packed(layouts: Mapping[str, Layout], columns: Mapping[str, NDArray[np.int64]], count: int) -> Records:
    """Records from columns by their keys ("event.x"), beside actions that nobody has written."""
    return {
        group: layout.unwritten(count)
        if group == "action"
        else layout.pack({field: columns[f"{group}.{field}"] for field in layout.fields}, count)
        for group, layout in layouts.items()
    }


def outputs(program: Program, returned: NDArray[np.uint32], written: Mapping[str, NDArray[np.void]]) -> Columns:
    """Returns the results of calls, by the names of a vector's expected results: the register or the action, then the
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
