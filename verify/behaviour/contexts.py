"""Contexts by what the trees can tell apart: two that differ within a cell decide alike, now and later."""

from dataclasses import dataclass

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Op
from verify.behaviour.split_decision import Decided

MAX_CONTEXTS = 1 << 22
"""Contexts that are all followed."""

Fields = dict[str, Integers]
"""Of N contexts, by the name of the field."""


@dataclass(frozen=True)
class Contexts:
    """``edges``: by field, the thresholds that its value meets before it is forgotten. Fields that ``others`` names are
    what the interface keeps (a knob in force): no thresholds are known of them, each value is one of its own."""

    edges: dict[str, Integers]
    storage: dict[str, str]
    others: tuple[str, ...]

    @staticmethod
    def of(decision: Decided) -> "Contexts":
        """InputError where a field is more than what trees compare and what the next decision remembers."""
        program = decision.program
        others = tuple(signal.name for signal in program.interface.context)
        read = {program.state[n.imm].name: at for at, n in enumerate(program.nodes) if n.op is Op.STATE}
        fields = [field for field in program.state if field.name not in others]
        met = {field.name: _compared(decision, read.get(field.name)) for field in fields}
        for _ in fields:  # what a field hands on is compared later
            for field in fields:
                source = decision.written(field.node)
                met |= {name: met[name] | met[field.name] for name, at in read.items() if at == source and name in met}
        for name, at in read.items():
            if name in met and not _only_kept(decision, at):
                raise InputError(f"the context's {name} is more than what the trees compare")
        edges = {name: np.asarray(sorted(thresholds), dtype=np.int64) for name, thresholds in met.items()}
        return Contexts(edges, {field.name: field.storage for field in program.state}, others)

    def all(self) -> tuple[Fields, int]:
        """One context of each kind, ``others`` not among them, and how many. InputError where they are too many."""
        axes = {}
        for name, cuts in self.edges.items():
            least, most = STORAGE_RANGE[self.storage[name]]
            cuts = cuts[(cuts >= least) & (cuts < most)]
            axes[name] = np.clip(0, np.append(least, cuts + 1), np.append(cuts, most))
        if (count := int(np.prod([float(len(axis)) for axis in axes.values()]))) > MAX_CONTEXTS:
            raise InputError(f"{count} kinds of contexts are too many to follow; {MAX_CONTEXTS} are not")
        grid = np.meshgrid(*axes.values(), indexing="ij")
        return {name: column.reshape(-1) for name, column in zip(axes, grid, strict=True)}, count

    def told_apart(self, contexts: Fields, count: int) -> Integers:
        """A row for each of so many contexts [N, fields], equal where nothing tells two apart."""
        rows = [np.searchsorted(cuts, contexts[name], side="left") for name, cuts in self.edges.items()]
        rows += [contexts[name] for name in self.others if name in contexts]
        return np.stack([np.zeros(count, dtype=np.int64), *rows], axis=1)


def _compared(decision: Decided, at: int | None) -> set[int]:
    edges = zip(decision.columns, decision.cells.edges, strict=True)
    return {int(edge) for node, cuts in edges if node == at for edge in cuts}


def _only_kept(decision: Decided, at: int) -> bool:
    """Whether the trees compare a value and the context keeps it, and nothing is computed of it."""
    nodes, same = decision.program.nodes, {at}
    for n, node in enumerate(nodes):
        chosen = node.op is Op.SELECT and decision.written(n) in same
        if chosen:
            same.add(n)
        elif same & set(node.args) and node.op is not Op.TREES:
            return False
    return True


def only(contexts: Fields, rows: Integers) -> Fields:
    return {name: column[rows] for name, column in contexts.items()}
