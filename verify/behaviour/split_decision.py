"""A decision as what its trees make of their columns, and what it makes of their sum."""

from dataclasses import dataclass

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.formats import ACTION_BITS
from decision.ir.interpret import trace
from decision.ir.program import Op, Program
from verify.behaviour.cells import Boxes, Cells

MAX_SUMS = 1 << 22
ONE = 1 << ACTION_BITS
"""A multiplier of 1, Q16."""


@dataclass(frozen=True)
class Decided:
    """``columns``: the nodes that the trees look at; ``past``: of each, whether the context holds it. ``made`` [sums]:
    the value of the node that was asked for, for every sum from ``least`` on; it never falls as the sum rises."""

    program: Program
    params: dict[str, int]
    cells: Cells
    columns: tuple[int, ...]
    past: tuple[bool, ...]
    least: int
    made: Integers
    node: int
    otherwise: int | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.program.forest.features

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Returns the range of each column over all inputs; a column of the context has that of its storage."""
        nodes = self.program.nodes
        return [(nodes[c].low, nodes[c].high) for c in self.columns]

    @property
    def anywhere(self) -> Boxes:
        return self.cells.box(self.ranges)

    def of(self, sums: Integers) -> Integers:
        made: Integers = self.made[np.clip(sums - self.least, 0, len(self.made) - 1)]
        return made

    @property
    def seen(self) -> dict[int, str]:
        """Returns the nodes, by name, that the trees see now or at a later decision and that are not memory."""
        kept = [f for f in self.program.state if f.name not in [s.name for s in self.program.interface.context]]
        nodes = {c: name for c, name, past in zip(self.columns, self.names, self.past, strict=True) if not past}
        for field in kept:
            node = self.written(field.node)
            if self.program.nodes[node].op is not Op.STATE and not self.decides(node):
                nodes.setdefault(node, self.program.nodes[node].name)
        return nodes

    def decides(self, node: int) -> bool:
        """Whether the trees have a say in a value."""
        return any(self.program.nodes[n].op is Op.TREES for n in cone(self.program, node))

    def written(self, node: int) -> int:
        """Returns the node that the context is given if the trees decide."""
        while self.program.nodes[node].op is Op.SELECT and self.program.nodes[node].args[0] == self.otherwise:
            node = self.program.nodes[node].args[2]
        return node

    def witness(self, cell: Integers, *others: tuple[int, int]) -> dict[str, int]:
        """A value of each column in a cell, by name; ``others``: (column, value) put in place of its own."""
        values = self.cells.values(cell, self.ranges)
        for column, value in others:
            values[column] = value
        return dict(zip(self.names, map(int, values), strict=True))


def decided(program: Program, params: dict[str, int], node: int, otherwise: int | None = None) -> Decided:
    """The decision up to ``node``. InputError where more than one sum of trees decides on it, or where it is no value
    that rises with the sum."""
    trees = [n for n, each in enumerate(program.nodes) if each.op is Op.TREES]
    if len(trees) != 1:
        raise InputError(f"properties are of a decision by one sum of trees; this one has {len(trees)}")
    (number,) = trees
    least, most = program.forest.range(0)
    if most - least >= MAX_SUMS:
        raise InputError(f"the trees' sum has {most - least + 1} values, properties are decided for up to {MAX_SUMS}")
    sums = np.arange(least, most + 1, dtype=np.int64)
    zeros = np.zeros(len(sums), dtype=np.int64)
    event = dict.fromkeys(program.interface.event_names, zeros)
    context = dict.fromkeys([field.name for field in program.state], zeros)
    made = trace(program, event, params, context, forced={number: sums})[node]
    others = [program.nodes[n] for n in cone(program, node, beyond_trees=False)]
    if any(program.key(each) for each in others) or (np.diff(made) < 0).any():
        raise InputError("properties are of a value that the trees' sum alone decides on, and that rises with it")
    columns = program.nodes[number].args
    past = tuple(program.nodes[c].op is Op.STATE for c in columns)
    return Decided(program, params, Cells.of(program.forest), columns, past, least, made, node, otherwise)


def cone(program: Program, node: int, *, beyond_trees: bool = True) -> list[int]:
    """The nodes that a value is made of, itself among them."""
    met, waiting = set(), [node]
    while waiting:
        here = waiting.pop()
        if here not in met:
            met.add(here)
            if beyond_trees or program.nodes[here].op is not Op.TREES:
                waiting += program.nodes[here].args
    return sorted(met)
