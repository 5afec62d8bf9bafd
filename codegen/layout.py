"""Struct layouts: field order, offsets and sizes as every C compiler for the targets lays them out."""

from dataclasses import dataclass
from typing import Any

from spec.program import Program
from spec.signals import EVENT, PARAMS

SIZES = {"uint32": 4, "int32": 4, "uint16": 2, "int16": 2, "int8": 1}


@dataclass(frozen=True)
class LaidOut:
    """One field: C type and byte offset."""

    name: str
    ctype: str
    offset: int
    note: str = ""


def flow_layout(program: Program) -> tuple[tuple[LaidOut, ...], int]:
    """The flow context: wide fields first, so that nothing is padded in between; size rounded up to 4."""
    fields, offset = [], 0
    for s in sorted(program.state, key=lambda s: -SIZES[s.storage]):
        fields.append(LaidOut(s.name, f"{s.storage}_t", offset, s.note))
        offset += SIZES[s.storage]
    return tuple(fields), (offset + 3) // 4 * 4


def manifest_layouts(program: Program) -> dict[str, Any]:
    """The three structures for the manifest: what a harness needs to pack a vector."""
    fields, size = flow_layout(program)
    words = {
        kind: {
            "size": 4 * len(signals),
            "fields": [{"name": s.name, "ctype": "uint32_t", "offset": 4 * i} for i, s in enumerate(signals)],
        }
        for kind, signals in (("event", EVENT), ("params", PARAMS))
    }
    flow = {"size": size, "fields": [{"name": f.name, "ctype": f.ctype, "offset": f.offset} for f in fields]}
    return {"flow": flow, **words}
