"""The cells of a forest, one by one: products of intervals between neighbouring thresholds.

In a cell the sum of the trees is one number, and so is everything that the program makes of the sum alone. A value of
the program is an array over all cells here, an axis a column of the trees.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from decision.ir.arrays import Integers
from decision.ir.formats import ACTION_BITS
from decision.ir.interpret import trace
from decision.ir.program import Op, Program
from decision.policy.rate import multiplied
from decision.policy.student import Student
from verify.check.refused import Refused

MAX_CELLS = 1 << 22
MAX_COLUMNS = 32
"""Axes that an array of NumPy has in every version that rlcc runs with."""
ONE = 1 << ACTION_BITS
"""A multiplier of 1, Q16."""


@dataclass(frozen=True)
class Table:
    """``columns``: the nodes that the trees compare; ``edges``: a column's thresholds, ascending, cell k above edge
    k - 1 up to edge k included; ``ranges``: a column's least and greatest value; ``sums`` [cells of each column];
    ``otherwise``: the node that is 1 where a phase sets the rate, None without phases."""

    program: Program
    params: dict[str, int]
    columns: tuple[int, ...]
    names: tuple[str, ...]
    edges: tuple[Integers, ...]
    ranges: tuple[tuple[int, int], ...]
    sums: Integers
    trees: int
    multiplier: int
    otherwise: int | None

    @staticmethod
    def of(program: Program, student: Student) -> "Table":
        """Refused where the decision is no single sum of trees that scales a rate, or has too many cells."""
        trees = [n for n, node in enumerate(program.nodes) if node.op is Op.TREES]
        scaled = multiplied(program)
        if len(trees) != 1 or scaled is None:
            raise Refused("properties are of a decision by one sum of trees that is a multiplier")
        columns = program.nodes[trees[0]].args
        ranges = tuple((program.nodes[c].low, program.nodes[c].high) for c in columns)
        thresholds = program.forest.thresholds()
        edges = []
        for c, (low, high) in enumerate(ranges):
            cuts = np.asarray(thresholds.get(c, []), dtype=np.int64)
            edges.append(cuts[(cuts >= low) & (cuts < high)])
        shape = [len(cuts) + 1 for cuts in edges]
        if prod(shape) > MAX_CELLS or len(shape) > MAX_COLUMNS:
            raise Refused(
                f"a forest of {prod(shape)} cells of {len(shape)} columns is too large to decide its properties again"
            )
        places = [np.append(low, cuts + 1) for (low, _), cuts in zip(ranges, edges, strict=True)]
        grid = np.zeros((prod(shape), len(places)), dtype=np.int64)
        for c, axis in enumerate(np.meshgrid(*places, indexing="ij")):
            grid[:, c] = axis.reshape(-1)
        return Table(
            program,
            student.params(),
            columns,
            program.forest.features,
            tuple(edges),
            ranges,
            program.forest.evaluate(grid)[:, 0].reshape(shape),
            trees[0],
            scaled.multiplier,
            scaled.otherwise,
        )

    @cached_property
    def value(self) -> Integers:
        """The multiplier, Q16, of every cell."""
        return self.of_sums(self.multiplier)

    def of_sums(self, node: int) -> Integers:
        """A node of every cell. Refused where it is made of anything besides the sum."""
        if not made_of_sums(self.program, node):
            raise Refused(f"node {node} of the program is made of more than the trees' sum")
        few, back = np.unique(self.sums, return_inverse=True)
        zeros = np.zeros(len(few), dtype=np.int64)
        event = dict.fromkeys(self.program.interface.event_names, zeros)
        context = dict.fromkeys([field.name for field in self.program.state], zeros)
        made = trace(self.program, event, self.params, context, forced={self.trees: few})[node]
        return np.asarray(made[back.reshape(-1)].reshape(self.sums.shape), dtype=np.int64)

    def cell(self, column: int, value: int) -> int:
        return int(np.searchsorted(self.edges[column], value, side="left"))

    def place(self, witness: dict[str, int], says: str) -> tuple[int, ...]:
        """The cell of a value a column. Refused where one is missing or out of its range."""
        if not set(self.names) <= set(witness):
            raise Refused(f"{says}: the witness does not have what the trees look at")
        for name, (low, high) in zip(self.names, self.ranges, strict=True):
            if not low <= witness[name] <= high:
                raise Refused(f"{says}: the witness has {name} = {witness[name]}, which is out of its range")
        return tuple(self.cell(c, witness[name]) for c, name in enumerate(self.names))


def made_of_sums(program: Program, node: int) -> bool:
    """Whether nothing but the trees, constants and the operator's parameters have a say in a value."""
    others = (Op.EVENT, Op.STATE, Op.NETWORK)
    return all(program.nodes[n].op not in others for n in made_of(program, node, beyond_trees=False))


def made_of(program: Program, node: int, *, beyond_trees: bool = True) -> set[int]:
    """The nodes that have a say in a value, itself among them; those that trees compare only where asked for."""
    waiting, met = [node], {node}
    while waiting:
        here = program.nodes[waiting.pop()]
        new = {*here.args} - met if beyond_trees or here.op is not Op.TREES else set()
        met |= new
        waiting += new
    return met
