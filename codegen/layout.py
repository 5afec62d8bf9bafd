"""The structures of a decision as every C compiler for the targets lays them out, in the order of the arguments.

    void rlcc_decide(rlcc_queue *queue, const rlcc_event *event, const rlcc_params *params, rlcc_action *action);

A structure without a field is no argument. The only knob is the return value; several go through ``action``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from decision.interface import STORAGE_BYTES
from decision.program import Program


@dataclass(frozen=True)
class LaidOut:
    """One field: C type and byte offset."""

    name: str
    ctype: str
    offset: int
    note: str = ""


@dataclass(frozen=True)
class Structure:
    """A structure that is handed to the decision. ``key``: what vectors and the manifest call it."""

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


def structures(program: Program) -> tuple[Structure, ...]:
    """The arguments of a program's C function."""
    interface = program.interface
    fields, size = flow_layout(program)
    event, params, knobs = (
        _in_order((s.name, s.storage) for s in signals)
        for signals in (interface.event, interface.params, _out(program))
    )
    found = (
        Structure("flow", interface.agent, fields, size, True),
        Structure("event", "event", *event, False),
        Structure("params", "params", *params, False),
        Structure("action", "action", *knobs, True),
    )
    return tuple(structure for structure in found if structure.fields)


def flow_layout(program: Program) -> tuple[tuple[LaidOut, ...], int]:
    """The context: wide fields first, so that nothing is padded in between; size rounded up to 4."""
    fields, offset = [], 0
    for s in sorted(program.state, key=lambda s: -STORAGE_BYTES[s.storage]):
        fields.append(LaidOut(s.name, f"{s.storage}_t", offset, s.note))
        offset += STORAGE_BYTES[s.storage]
    return tuple(fields), (offset + 3) // 4 * 4


def manifest_layouts(program: Program) -> dict[str, Any]:
    """The structures for the manifest: what a harness needs to pack a vector."""
    return {
        structure.key: {
            "size": structure.size,
            "fields": [{"name": f.name, "ctype": f.ctype, "offset": f.offset} for f in structure.fields],
        }
        for structure in structures(program)
    }


def _out(program: Program) -> tuple[Any, ...]:
    """The knobs that go through a structure."""
    return program.interface.knobs if len(program.interface.knobs) > 1 else ()


def _in_order(fields: Iterable[tuple[str, str]]) -> tuple[tuple[LaidOut, ...], int]:
    """Words one behind the other."""
    found = tuple(LaidOut(name, f"{storage}_t", 4 * n) for n, (name, storage) in enumerate(fields))
    return found, 4 * len(found)
