"""The structures of a decision as every C compiler for the targets lays them out, in the order of the arguments.

    void rlcc_decide(rlcc_queue *queue, const rlcc_event *event, const rlcc_params *params, rlcc_action *action);

A structure without a field is no argument. The only knob is the return value; several go through ``action``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from decision.ir.interface import STORAGE_BYTES
from decision.ir.program import Program

WRITTEN = ("context", "action")
"""Groups that a decision writes; the others it gets as const."""


@dataclass(frozen=True)
class LaidOut:
    """One field: C type and byte offset."""

    name: str
    ctype: str
    offset: int
    note: str = ""


@dataclass(frozen=True)
class CStructure:
    """A structure that is handed to the decision. ``key``: its group, which vectors and the manifest call it by."""

    key: str
    argument: str
    fields: tuple[LaidOut, ...]
    size: int
    writable: bool

    @property
    def ctype(self) -> str:
        return f"rlcc_{self.argument}"

    def parameter(self) -> str:
        """As it stands in the C function's head."""
        return f"{'' if self.writable else 'const '}{self.ctype} *{self.argument}"


def structures(program: Program) -> tuple[CStructure, ...]:
    """The arguments of a program's C function."""
    laid_out = []
    for group, storage in program.structures.items():
        fields, size = context_layout(program) if group == "context" else _in_order(storage)
        argument = program.interface.agent if group == "context" else group
        laid_out.append(CStructure(group, argument, fields, size, group in WRITTEN))
    return tuple(laid_out)


def context_layout(program: Program) -> tuple[tuple[LaidOut, ...], int]:
    """Fields and bytes of the context: wide fields first, so that nothing is padded in between."""
    widest_first = sorted(program.state, key=lambda s: -STORAGE_BYTES[s.storage])
    fields, size = _in_order({s.name: s.storage for s in widest_first})
    notes = {s.name: s.note for s in program.state}
    return tuple(replace(field, note=notes[field.name]) for field in fields), size


def manifest_layouts(program: Program) -> dict[str, Any]:
    """The structures for the manifest: what a harness needs to pack a vector."""
    return {
        structure.key: {
            "size": structure.size,
            "fields": [{"name": f.name, "ctype": f.ctype, "offset": f.offset} for f in structure.fields],
        }
        for structure in structures(program)
    }


def _in_order(storage: Mapping[str, str]) -> tuple[tuple[LaidOut, ...], int]:
    """Each field at the next multiple of its size, the whole a multiple of the widest."""
    fields, end, widest = [], 0, 1
    for name, kind in storage.items():
        size = STORAGE_BYTES[kind]
        end = -(-end // size) * size
        fields.append(LaidOut(name, f"{kind}_t", end))
        end, widest = end + size, max(widest, size)
    return tuple(fields), -(-end // widest) * widest
