"""The layout of the structures, tied to the program: each field is of the type that the program's range is taken from.

The walk believes of an input what the program says of it. That is true only where the bytes that the code may find in
the field are those of this type: a wider field holds what the program never saw, a narrower one lacks it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from decision.ir.program import STORAGE_RANGE, Program
from emulator.layout import Layout
from verify.check.refused import Refused

Field = tuple[str, int, int]
"""Name, offset and bytes."""
TYPES = {"uint32": "<u4", "int32": "<i4", "uint16": "<u2", "int16": "<i2", "uint8": "|u1", "int8": "|i1"}
"""A storage type of the program as NumPy spells it in a record."""


def structures_of(program: Program) -> dict[str, list[tuple[str, str]]]:
    """Name and storage of the fields that a decision is handed, by structure, in the order of its arguments."""
    interface, groups = program.interface, dict[str, list[tuple[str, str]]]()
    groups["context"] = [(field.name, field.storage) for field in program.state]
    groups["event"] = [(signal.name, signal.storage) for signal in interface.event]
    groups["params"] = [(signal.name, signal.storage) for signal in interface.params]
    groups["action"] = [(knob.name, knob.storage) for knob in interface.knobs] if len(interface.knobs) > 1 else []
    return {group: fields for group, fields in groups.items() if fields}


def fields_of(program: Program, layouts: Mapping[str, Layout]) -> dict[str, list[Field]]:
    """The fields of each structure in the program's order; Refused where one is another, or where a knob does not hold
    what the program gives it. A context may lie as it likes, the others are the interface's own."""
    if len(program.results) != len(program.interface.knobs):
        raise Refused(f"the program gives {len(program.results)} results for {len(program.interface.knobs)} knobs")
    for knob, result in zip(program.interface.knobs, program.results, strict=True):
        node, (least, most) = program.nodes[result], STORAGE_RANGE[knob.storage]
        if not least <= node.low <= node.high <= most:
            raise Refused(f"the program gives {knob.name} {node.low}..{node.high}, which {knob.storage} does not hold")
    expected = structures_of(program)
    if set(layouts) != set(expected):
        raise Refused(f"the layout has {', '.join(layouts)}, the program {', '.join(expected)}")
    fields = {name: _tied(name, layouts[name], storage) for name, storage in expected.items()}
    for name in expected:
        if name != "context":
            _in_order(name, fields[name], layouts[name].dtype.itemsize)
    return fields


def _in_order(name: str, fields: Iterable[Field], size: int) -> None:
    """As a C compiler places them: each at the next multiple of its size, the whole a multiple of the widest."""
    end, widest = 0, 1
    for field, offset, length in fields:
        if offset != -(-end // length) * length:
            raise Refused(f"{name}.{field} is at byte {offset}, where no C has it")
        end, widest = offset + length, max(widest, length)
    if size != -(-end // widest) * widest:
        raise Refused(f"{name} has {size} bytes, which no C gives it")


def _tied(name: str, layout: Layout, expected: list[tuple[str, str]]) -> list[Field]:
    """The fields of a structure in the order expected, each of its type."""
    there: Mapping[str, Any] = layout.dtype.fields or {}
    names = [field for field, _ in expected]
    if len(set(names)) != len(names) or set(there) != set(names):
        raise Refused(f"the layout's structure {name} has other fields than the program")
    for field, storage in expected:
        found = there[field][0].str
        if found != TYPES.get(storage):
            raise Refused(f"{name}.{field} is {found} in the layout, {storage} in the program")
    fields = [(field, int(there[field][1]), int(there[field][0].itemsize)) for field in names]
    _apart(name, fields, layout.dtype.itemsize)
    return fields


def _apart(name: str, fields: Iterable[Field], size: int) -> None:
    """No two fields share a byte, each is aligned, and all are within the structure."""
    end = 0
    for field, offset, length in sorted(fields, key=lambda f: f[1]):
        if offset < end or offset + length > size or offset % length:
            raise Refused(f"{name}.{field} overlaps another field, is misaligned, or is outside the structure")
        end = offset + length
