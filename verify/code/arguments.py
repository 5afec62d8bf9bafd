"""The arguments of the decision as the prover needs them: each field's place, and the integers that it can hold.

The proof takes an input's range from here. It is that of the program's storage: an int16 of the context is
never above 32767. This is true of the memory only if the structure has that storage at that place. A layout that says
otherwise is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from decision.ir.program import Program
from emulator.firmware import WRITTEN
from emulator.layout import Layout, check_layouts


@dataclass(frozen=True)
class Field:
    """A field of a structure: byte offset, bytes, range of its integer."""

    name: str
    offset: int
    size: int
    low: int
    high: int


@dataclass(frozen=True)
class Structure:
    """An argument structure."""

    name: str
    size: int
    fields: tuple[Field, ...]
    written: bool
    """The function writes it: the context, whose fields are inputs too, and the action, which holds nothing before."""
    alignment: int = 4
    """Bytes."""


def structures(program: Program, layouts: Mapping[str, Layout]) -> tuple[Structure, ...]:
    """In the order of the arguments. InputError where a layout is not the program's."""
    check_layouts(layouts, program, "the manifest")
    result = []
    for name, layout in layouts.items():
        dtype = layout.dtype
        fields = []
        for field, (kind, offset, *_) in (dtype.fields or {}).items():
            limits = np.iinfo(kind)
            fields.append(Field(field, int(offset), kind.itemsize, int(limits.min), int(limits.max)))
        result.append(Structure(name, dtype.itemsize, tuple(fields), name in WRITTEN))
    return tuple(result)
