"""Memory of a context for the trees: each field a place of a shift register, and all that may tell two apart.

    congestion now --> context.congestion_1 --> context.congestion_2          fed by what is seen
    multiplier - 1 --> context.action_1     --> context.action_2              fed by what was decided

A field's value is compared with its own column's thresholds and, once it is handed on, with those of the fields behind.
Two contexts with their fields in the same intervals of all these decide alike, now and later: one kind.
"""

from dataclasses import dataclass

import numpy as np

from decision.ir.arrays import Integers
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Op, Program
from verify.check.cells import Table, made_of
from verify.check.refused import Refused


@dataclass(frozen=True)
class History:
    """History by field: ``source``, the node that it is written with once a flow is past its start; ``edges``,
    ascending, the thresholds that its value meets; ``low``, ``high``: what its storage holds."""

    table: Table
    source: dict[str, int]
    edges: dict[str, Integers]
    low: dict[str, int]
    high: dict[str, int]

    @staticmethod
    def of(table: Table) -> "History":
        """Refused where a field is more than what trees compare and the next decision remembers."""
        program = table.program
        force = {signal.name for signal in program.interface.context}
        fields = [field for field in program.state if field.name not in force]
        reads = {program.state[node.imm].name: n for n, node in enumerate(program.nodes) if node.op is Op.STATE}
        source = {field.name: _steady(table, field.node) for field in fields}
        for name in source:
            if name in reads and _computed(table, reads[name]):
                raise Refused(f"the context's {name} is more than what the trees compare")
        edges = {name: _compared(table, reads.get(name)) for name in source}
        for _ in source:  # a chain is no longer than there are fields
            for name, node in source.items():
                for fed in (other for other, at in reads.items() if at == node and other in edges):
                    edges[fed] = np.union1d(edges[fed], edges[name])
        ends = {field.name: STORAGE_RANGE[field.storage] for field in fields}
        low, high = ({name: end[k] for name, end in ends.items()} for k in (0, 1))
        inside = {name: cuts[(cuts >= low[name]) & (cuts < high[name])] for name, cuts in edges.items()}
        return History(table, source, inside, low, high)

    @property
    def names(self) -> list[str]:
        return list(self.source)

    def kinds(self, most: int) -> dict[str, Integers]:
        """A context of every kind [N], by field. Refused where there are more than ``most``."""
        places = {name: np.append(self.low[name], cuts + 1) for name, cuts in self.edges.items()}
        count = float(np.prod([float(len(axis)) for axis in places.values()]))
        if count > most:
            raise Refused(f"{count:.0f} kinds of contexts are too many to follow again")
        if not places:
            return {}
        grid = np.meshgrid(*places.values(), indexing="ij")
        return {name: axis.reshape(-1) for name, axis in zip(places, grid, strict=True)}

    def fits(self, context: dict[str, int]) -> bool:
        """Whether the fields can hold these values."""
        return all(self.low[name] <= context[name] <= self.high[name] for name in self.names)

    def kind(self, contexts: dict[str, Integers], count: int) -> Integers:
        """A number for the kind of each of so many contexts [N]."""
        number = np.zeros(count, dtype=np.int64)
        for name, cuts in self.edges.items():
            number = number * (len(cuts) + 1) + np.searchsorted(cuts, contexts[name], side="left")
        return number

    @property
    def seen(self) -> dict[int, str]:
        """Returns the signals that the trees see, now or later, and no decision influences: names by node."""
        program, table = self.table.program, self.table
        now = zip(table.columns, table.names, strict=True)
        found = {node: name for node, name in now if program.nodes[node].op is not Op.STATE}
        for node in self.source.values():
            if program.nodes[node].op is not Op.STATE and not decided(program, node):
                found.setdefault(node, program.nodes[node].name)
        return found

    def root(self, name: str) -> int:
        """The node at the head of the register that a field is in."""
        node = self.source[name]
        for _ in self.source:
            if self.table.program.nodes[node].op is not Op.STATE:
                return node
            node = self.source[self.table.program.state[self.table.program.nodes[node].imm].name]
        raise Refused(f"the context's {name} is handed on in a ring")

    def levels(self, node: int) -> Integers:
        """The edges between which a value that is seen is one to the trees, now and later."""
        now = [cuts for column, cuts in zip(self.table.columns, self.table.edges, strict=True) if column == node]
        later = [self.edges[name] for name, at in self.source.items() if at == node]
        cuts = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *now, *later]))
        low, high = self.table.program.nodes[node].low, self.table.program.nodes[node].high
        return np.asarray(cuts[(cuts >= low) & (cuts < high)], dtype=np.int64)


def decided(program: Program, node: int) -> bool:
    """Whether the trees have a say in a value."""
    return any(program.nodes[n].op is Op.TREES for n in made_of(program, node))


def _steady(table: Table, node: int) -> int:
    """Returns the node that a field is written with if no phase sets the rate."""
    nodes = table.program.nodes
    while nodes[node].op is Op.SELECT and nodes[node].args[0] == table.otherwise:
        node = nodes[node].args[2]
    return node


def _computed(table: Table, read: int) -> bool:
    """Whether anything but the trees, and the choice between a phase's step and the policy's, takes a field."""
    passed = {read}
    for n, node in enumerate(table.program.nodes):
        if passed.isdisjoint(node.args) or node.op is Op.TREES:
            continue
        if node.op is not Op.SELECT or _steady(table, n) not in passed:
            return True
        passed.add(n)
    return not passed.isdisjoint(table.program.results)


def _compared(table: Table, read: int | None) -> Integers:
    found = [cuts for column, cuts in zip(table.columns, table.edges, strict=True) if column == read]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
