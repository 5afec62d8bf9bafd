"""Numbers that lanes hold apart, told together as sums of steps.

A search leaves a number for each cell of its feature, and code that searches one feature after the other has as many
lanes as the cells have combinations: what they hold is one expression,

    a constant + what the first feature's cell adds + what the second's adds + ..

of which (if (sltu 611 node.25) 48 0) is what a feature with one threshold adds. A cut that says this of a register
stands for all of the lanes: behind it the next feature is searched once, not once a cell of each feature before.

A place may also hold how many of some comparisons came out true, of those that the program adds up for a bucket: a sum
of their names, where the trees' cells do not tell them apart.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from decision.ir.program import Op, Program
from verify.prover.expressions import UNKNOWN, WORD
from verify.prover.joins import Joiner, Meeting
from verify.prover.lanes import Ints, Lanes, mixed
from verify.prover.partial_sums import combined, part_of_sum, signed, varies
from verify.prover.specialise import View
from verify.trusted.machine import LOADS

FEWEST = 3
"""So many lanes are worth a cut."""
SAMPLE = 256
"""So many lanes show of most places that nothing can be told of them."""
MOST = 1024
"""So many lanes are followed: they show what all hold, which the checker asks of all."""
FEW_CELLS = 256
"""Of a word with so many intervals each is kept, of others the ends."""
FARTHEST = 32
"""So many positions back it is looked for a place where it can be told."""
MAX_PASSED = 128
"""So many positions are kept for that, of all branches."""
COMPARES = ("slt", "slti", "sltu", "sltiu")


@dataclass(frozen=True)
class Steps:
    """Knowledge of all lanes at a position together: an expression for each column that they hold apart, the gaps
    between lanes in which no feature lies (``gaps``: each holds), and the nodes of which any lane knows the number."""

    known: Meeting
    told: dict[int, str]
    gaps: list[str]
    decided: frozenset[int]


@dataclass(frozen=True)
class _Cells:
    """Cells of a feature, each one or several of the trees': the last value of each but the last, the last one that
    comes before the next cell, and the lanes' places among them."""

    name: str
    signed: bool
    ends: Ints
    next: Ints
    places: Ints

    def beyond(self, value: int) -> str:
        return f"({'slt' if self.signed else 'sltu'} {value & WORD} {self.name})"

    @property
    def gaps(self) -> list[str]:
        """Returns the facts for gaps, where no lane is in the cells between two: a value beyond the one is beyond all
        up to the other. A cut that says the least and the greatest value alone would stand for those as well, of which
        it says the wrong numbers."""
        pairs = zip(self.ends.tolist(), self.next.tolist(), strict=True)
        return [f"(eq {self.beyond(end)} {self.beyond(following)})" for end, following in pairs if end != following]


class Watcher(Joiner):
    """Joins as a ``Joiner``, and looks at what the lanes hold apart: where paths have met, and before a comparison
    without a branch or a load at several addresses parts them again, at the last place where it can be told."""

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self.found: dict[int, Steps] = {}
        """By position."""
        self.passed: dict[int, tuple[int, Lanes]] = {}
        """By position where no paths meet the one before it, and the lanes there; the last ``MAX_PASSED`` of them."""
        self.added = _added(self.program)

    def look(self, number: int, lanes: Lanes) -> Lanes:
        position = self.graph.positions[number]
        i = position.instruction
        if len(lanes) > MOST:
            lanes = lanes.take(_telling(lanes))
        if len(lanes) < FEWEST:
            return lanes
        if position.arrivals > 1:
            self._note(number, lanes)
            # A later fact about a feature's parts would hide what was compared.
            everything = list(range(len(lanes.values)))
            self._keep_bounds(lanes, View(self.state, self.cuts, lanes, self.used(lanes, everything)), {})
            return lanes
        self.passed[number] = (int(lanes.before[0]), _copy(lanes))
        if len(self.passed) > MAX_PASSED:
            del self.passed[next(iter(self.passed))]
        if i.name in COMPARES or (i.name in LOADS and mixed(lanes.values[i.rs1])):
            last = next((n for n in self._back(number) if self._may_tell(n, self.passed[n][1])), None)
            if last is not None:
                self._note(last, self.passed.pop(last)[1])
        return lanes

    def _back(self, number: int) -> Iterator[int]:
        """A position and those before it, the last one first, as far as they are kept: since paths met, or since the
        last one that was told."""
        for _ in range(FARTHEST):
            if number not in self.passed:
                return
            yield number
            number = self.passed[number][0]

    def names_of_features(self) -> set[str]:
        return {self.state.pool.text(self.cuts.atom(node)) for node in self.features}

    def _may_tell(self, number: int, lanes: Lanes) -> bool:
        """Whether of some of the lanes all that they hold apart can be told."""
        rows = np.unique(np.random.default_rng(0).integers(0, len(lanes), SAMPLE))
        return self._told(number, lanes.take(rows)) is not None

    def _note(self, number: int, lanes: Lanes) -> None:
        view, names, texts, cells = self._told(number, _copy(lanes)) or (None, {}, {}, [])
        if view is not None and not self._apart(view, names, cells):
            gaps = [gap for of in cells for gap in of.gaps]
            decided = frozenset(n for n in self.computed if np.equal(*view.bounds(n)).any())
            self.found[number] = Steps(self._together(number, view, view.lanes, names), texts, gaps, decided)

    def _apart(self, view: View, names: dict[int, int], cells: list[_Cells]) -> bool:
        """Whether lanes know different things of what the function leaves otherwise than by the trees, and not only
        because they are in different cells. One may know that a value is below what it is compared with and another
        that it is far above, or that a phase is one of two. Nothing that is told would say it."""
        held = set(names.values()) | {int(column[0]) for column in view.lanes.values if not mixed(column)}
        atoms = set[int]().union(*(self.state.pool.atoms(word) for word in held))
        todo, wanted = list(self.program.outputs), set[int]()
        while todo:
            n = todo.pop()
            if n not in wanted and n not in self.features and not (self.cuts.narrow(n) and self.cuts.atom(n) in atoms):
                wanted.add(n)
                todo += self.program.nodes[n].args
        for n in (n for n in self.computed if n in wanted and not self.behind[n]):
            low, high = view.bounds(n)
            number = np.where(low == high, low, UNKNOWN)
            if mixed(number) and not any(_by_cell(number, of) for of in cells):
                return True
        return False

    def _told(self, number: int, lanes: Lanes) -> tuple[View, dict[int, int], dict[int, str], list[_Cells]] | None:
        """Returns the name (if it has one) and an expression of each column that the lanes hold apart, and the
        features' cells; None if something is no sum of steps, or nothing is held apart. Forgets in the lanes."""
        self.state.widen(lanes)
        columns = self._forget(number, lanes)
        view = View(self.state, self.cuts, lanes, self.used(lanes, columns))
        cells = self._partitions(view)
        if not cells:
            return None
        apart = [n for n in columns if mixed(lanes.values[n])]
        for n in apart:
            if (lanes.values[n] == UNKNOWN).any():
                lanes.values[n] = UNKNOWN
        apart = [n for n in apart if lanes.values[n, 0] != UNKNOWN]
        names = self._names(view, lanes, apart)
        rest = {n: lanes.values[n] for n in apart if n not in names}
        texts = _all_told(rest, lambda column: self._sum(view, column, cells))
        if texts is None:  # a step of a sum of comparisons does not say which of them hold
            texts = _all_told(rest, lambda column: self._count(view, column) or self._sum(view, column, cells))
        if texts is None:
            return None
        texts |= {n: self.state.pool.text(name) for n, name in names.items()}
        return view, names, texts, cells

    def _partitions(self, view: View) -> list[_Cells]:
        """Returns the cells of each feature that the lanes have searched; none if some lanes have searched one further
        than others, since their knowledge would be lost."""
        found = []
        for node in dict.fromkeys(self.features):
            cells, places = np.unique(self._cells(view, node), return_inverse=True)
            first, last = cells >> 16, cells & 0xFFFF
            if len(cells) == 1:
                continue
            if (first[1:] <= last[:-1]).any() or not self.cuts.narrow(node):
                return []
            name, signed = self.state.pool.text(self.cuts.atom(node)), self.program.nodes[node].low < 0
            thresholds = np.array(self.thresholds[self.features.index(node)], dtype=np.int64)
            ends, following = thresholds[last[:-1]], thresholds[first[1:] - 1]
            found.append(_Cells(name, signed, ends, following, places.reshape(-1)))
        return found

    def _sum(self, view: View, column: Ints, cells: list[_Cells]) -> str | None:
        """Words that differ by leaves of trees, or by a number made of steps; None where they differ otherwise."""
        pool = self.state.pool
        rows = np.unique(np.linspace(0, len(column) - 1, FEWEST).astype(np.int64))
        used = {atom: at[rows] for atom, at in view.used.items()}
        part = part_of_sum(View(self.state, self.cuts, view.lanes.take(rows), used), view, column, rows)
        if part is not None:
            return pool.text(part)
        numbers, common = self._numbers(column)
        added = None if numbers is None else _fitted(numbers, cells)
        if added is None:
            return None
        offset, *steps = added
        texts = [pool.text(pool.sum(int(offset[0]) & WORD, common))]
        texts += [_choice(cell, step.tolist()) for cell, step in zip(cells, steps, strict=True) if step.any()]
        return texts[0] if len(texts) == 1 else f"(+ {' '.join(texts)})"

    def _count(self, view: View, column: Ints) -> str | None:
        """Words that differ by how many of some comparisons hold, which the program adds up and every lane knows."""
        numbers, common = self._numbers(column)
        known = [n for n in self.added if varies(view.words(n))]
        found = None if numbers is None else combined([view.words(n) for n in known], numbers)
        if found is None:
            return None
        offset, taken = found
        bits = [(self.cuts.node(n), 1) for n, one in zip(known, taken, strict=True) if one]
        return self.state.pool.text(self.state.pool.sum(offset, [*bits, *common]))

    def _numbers(self, column: Ints) -> tuple[Ints | None, Iterable[tuple[int, int]]]:
        """Returns the numbers, with sign, by which words differ, and what else they have in common; no numbers if they
        differ otherwise."""
        words, back = np.unique(column, return_inverse=True)
        sums = [self.state.pool.linear(int(word)) for word in words]
        common = sums[0][1]
        if any(terms != common for _, terms in sums):
            return None, ()
        return signed(np.array([number for number, _ in sums], dtype=np.int64)[back.reshape(-1)]), common

    def _together(self, number: int, view: View, lanes: Lanes, names: dict[int, int]) -> Meeting:
        """Returns what holds in all lanes."""
        self._keep_bounds(lanes, view, names)
        one, everyone = np.zeros(1, dtype=np.int64), np.zeros(len(lanes), dtype=np.int64)
        all_ = lanes.take(one)
        all_.low, all_.high = lanes.low.min(axis=1, keepdims=True), lanes.high.max(axis=1, keepdims=True)
        sets = [self.state.fact_sets[f] for f in np.unique(lanes.facts)]
        all_.facts[0] = self.state.facts(frozenset.intersection(*sets))
        declared = set(self.cuts.declared)
        for n, name in names.items():
            self.cuts.declared |= self.state.pool.atoms(name)
            all_.values[n, 0] = name
        count = np.array([len(lanes)])
        self._keep_words(view, all_, everyone, count, one)
        self._keep_equal(view, lanes, all_, names, everyone, count)
        self._keep_leaves(view, all_, np.arange(len(lanes)), one)
        self.cuts.declared = declared  # nothing goes on under these names in the walk
        low, high, values = (table[:, 0].copy() for table in (all_.low, all_.high, all_.values))
        products = self._products(view, np.arange(len(lanes)))
        return Meeting(number, one, one, one, {}, low, high, values, products, int(all_.facts[0]))


def _all_told(columns: dict[int, Ints], tell: Callable[[Ints], str | None]) -> dict[int, str] | None:
    """Returns an expression of each column; None if one has none."""
    texts = dict[int, str]()
    for n, column in columns.items():
        text = tell(column)
        if text is None:
            return None
        texts[n] = text
    return texts


def _added(program: Program) -> list[int]:
    """Returns the comparisons that the program adds up."""
    nodes = program.nodes
    operands = {a for node in nodes if node.op is Op.ADD for a in node.args}
    return sorted(n for n in operands if nodes[n].op in (Op.GT, Op.EQ))


def _by_cell(column: Ints, cells: _Cells) -> bool:
    """Whether a column is the same in all lanes of a cell."""
    return len(np.unique(np.stack([cells.places, column]), axis=1).T) == len(np.unique(cells.places))


def _fitted(numbers: Ints, cells: list[_Cells]) -> list[Ints] | None:
    """The constant, and of each feature what each of its cells adds, the first nothing; found by least squares, then
    checked."""
    parts = [np.ones((len(numbers), 1))]
    parts += [cell.places[:, None] == np.arange(1, len(cell.ends) + 1) for cell in cells]
    matrix = np.concatenate(parts, axis=1).astype(np.int64)
    added = np.round(np.linalg.lstsq(matrix.astype(float), numbers.astype(float), rcond=None)[0]).astype(np.int64)
    if (matrix @ added != numbers).any():
        return None
    constant, *steps = np.split(added, np.cumsum([part.shape[1] for part in parts])[:-1])
    return [constant, *(np.concatenate([[0], step]) for step in steps)]


def _choice(cells: _Cells, adds: list[int]) -> str:
    """Returns what a cell adds; the last one whose predecessor the value is beyond."""
    text = str(adds[0] & WORD)
    for end, add, before in zip(cells.ends.tolist(), adds[1:], adds, strict=False):
        if add != before:
            text = f"(if {cells.beyond(end)} {add & WORD} {text})"
    return text


def _telling(lanes: Lanes) -> Ints:
    """``MOST`` lanes that say what all do: every interval that one knows of a word, every set of facts, some drawn."""
    rows = [np.random.default_rng(0).permutation(len(lanes))[:MOST], np.unique(lanes.facts, return_index=True)[1]]
    for low, high in zip(lanes.low, lanes.high, strict=True):
        if mixed(low) or mixed(high):
            first = np.unique(low * 0x9E3779B1 + high, return_index=True)[1]  # two that are one here are as rare as few
            rows.append(first if len(first) <= FEW_CELLS else np.array([np.argmin(low), np.argmax(high)]))
    return np.unique(np.concatenate(rows))


def _copy(lanes: Lanes) -> Lanes:
    return lanes.take(np.arange(len(lanes)))
