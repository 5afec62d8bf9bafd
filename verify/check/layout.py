"""The layout of the structures, tied to the program: each field is of the type that the program's range is taken from.

The walk believes of an input what the program says of it. That is true only where the bytes that the code may find in
the field are those of this type: a wider field holds what the program never saw, a narrower one lacks it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from decision.interfaces import FLOW_RATE
from decision.program import Program
from decision.signals import EVENT_NAMES, PARAM_NAMES
from emulator.vectors import Layout
from verify.check.meaning import fits
from verify.check.refused import Refused

Field = tuple[str, int, int]
"""Name, offset and bytes."""
TYPES = {"uint32": "<u4", "int32": "<i4", "uint16": "<u2", "int16": "<i2", "int8": "|i1"}
"""A storage type of the program as NumPy spells it in a record."""


def fields_of(program: Program, layouts: Mapping[str, Layout]) -> dict[str, list[Field]]:
    """The fields of flow, event and params, the flow context's in the program's order; Refused where one is another, or
    where the program is of another kind of decision: signals are numbered by the flow's."""
    asked, known = program.interface, FLOW_RATE
    if (asked.event, asked.params, len(asked.knobs)) != (known.event, known.params, len(known.knobs)):
        raise Refused(f"the program has the interface {program.interface.name}, which this checker does not know")
    (result,) = program.results
    node = program.nodes[result]
    if not fits(node.low, node.high):
        raise Refused(f"the program returns {node.low}..{node.high}, which no register of the call holds")
    words = (("event", EVENT_NAMES), ("params", PARAM_NAMES))
    expected = {name: [(signal, "uint32") for signal in signals] for name, signals in words}
    expected["context"] = [(s.name, s.storage) for s in program.state]
    return {name: _tied(name, layouts[name], fields) for name, fields in expected.items()}


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
