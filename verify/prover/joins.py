"""Joins of paths: which lanes become one, and under which names their registers go on (cuts).

A register (stack slot, field of the flow context) may go on under the name of a value of the decision program if in
every joining lane it is that value: the same expression as the program's, specialised to the lane. From there on the
proof knows no more than the value's range, so that lanes which differ only in how they came to it are one. This is
the induction step of the equality proof; nothing else about the joined lanes is kept but what holds in all of them:
the hull of their intervals, the facts they share.

Lanes that know different things about the trees' features stay separate until the sum of the trees is known, because
the worst case depends on it. If they become too many, their knowledge is given up for a partial sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from decision.ir.arrays import Bools
from decision.ir.forest import MAX_COMBINATIONS
from decision.ir.program import Op, Program
from verify.code.graph import Graph
from verify.prover.expressions import FIRST, UNKNOWN, WORD
from verify.prover.implications import contradicted
from verify.prover.lanes import Ints, Lanes, mixed
from verify.prover.partial_sums import part_of_sum
from verify.prover.specialise import Cuts, View
from verify.prover.state import Column, Fact, State
from verify.trusted.costs import CycleModel

SAMPLE = 3
MAX_CAREFUL = 4000


@dataclass(frozen=True)
class Meeting:
    """Lanes that became one: number of the position, and for each of them (origin, trail, cycles since the origin).

    ``cuts``: columns that go on under another name, with it. ``low``/``high``: what is known of the compared words.
    """

    number: int
    origins: Ints
    trails: Ints
    cycles: Ints
    cuts: dict[Column, int] = field(default_factory=dict)
    low: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    high: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    products: dict[int, int] = field(default_factory=dict)
    """Words that are a product of the program in all lanes, and its name there."""
    facts: int = 0


class Joiner:
    """Joins lanes; ``meetings[n]`` is origin n. Origin 0 is the call.

    ``care``: 0: none; 1: where lanes are few, join only those that say the same of every value of the program that is
    still needed and does not follow from the values in registers; 2: also of what follows.
    """

    def __init__(
        self,
        state: State,
        graph: Graph,
        program: Program,
        cuts: Cuts,
        model: CycleModel,
        give_up: int,
        care: int = 0,
    ) -> None:
        self.state, self.graph, self.program, self.cuts = state, graph, program, cuts
        self.model, self.give_up = model, give_up
        none = np.zeros(0, dtype=np.int64)
        self.meetings = [Meeting(0, none, none, none)]
        self.thresholds = program.forest.thresholds()
        self.features = next((n.args for n in program.nodes if n.op is Op.TREES), ())
        self.after_trees = _decided(program)
        self.behind = _behind(program)
        self.undecided = [n for n, sums in enumerate(self.behind) if sums and n not in self.after_trees]
        inputs = (Op.EVENT, Op.PARAM, Op.STATE, Op.CONST)
        self.computed = [n for n, node in enumerate(program.nodes) if node.op not in inputs and cuts.narrow(n)]
        self.joined = _joined(program) | {n for n, node in enumerate(program.nodes) if node.op in (Op.GT, Op.EQ)}
        self.joined -= cuts.counts.bits
        self.nameable = [n for n in _in_order(program) if self._nameable(n)]
        self.products = _products(program)
        self.gave_up = False
        self.care = care

    def __call__(self, number: int, lanes: Lanes) -> Lanes:
        columns = self._forget(number, lanes)
        live = [n for n in columns if lanes.values[n, 0] != lanes.values[n, -1] or mixed(lanes.values[n])]
        view = View(self.state, self.cuts, lanes, self.used(lanes, columns))
        costs = self._costs(number, lanes)
        known = [self._cells(view, feature) for feature in self.features]
        counted = self._counts(view, lanes, columns)
        names = self._names(view, lanes, [n for n in live if n not in counted]) | counted
        forgets = len(lanes) > self.give_up and self._part(names)
        if forgets or self._trees_done(view, lanes, columns, live, names):
            known = []
        kept = [lanes.values[n] for n in live if n not in names]
        if self.care and len(lanes) <= MAX_CAREFUL:
            held = self._held(lanes, columns, live, names)
            names_held = {n for n in self.computed if self.cuts.node(n) in held}
            wanted = _wanted(self.program, names_held)
            if self.care == 1:
                wanted -= _following(self.program, names_held).intersection(self.after_trees)
            known += [view.words(n) for n in self.computed if n in wanted]
        keys = np.stack([*kept, *known, costs])
        first, classes, counts = _classes(keys)
        if len(first) == len(lanes) and not counted:
            return lanes
        return self._merge(number, lanes, view, names, classes, counts, first, set(counted), forgets)

    def due(self, lanes: Lanes) -> bool:
        """Whether the last instruction has left the sum of the trees, or what follows from it, in a register: what the
        lanes know of the features is not needed any more."""
        written = lanes.values[self.graph.positions[int(lanes.before[0])].instruction.rd]
        if not mixed(written) or (written < 0).any() or (written >= FIRST).any():
            return False
        rows = _sample(lanes)
        view = View(self.state, self.cuts, lanes.take(rows), {})
        return any(_shift(view.words(n), written[rows]) is not None for n in self.after_trees if self.cuts.narrow(n))

    def look(self, number: int, lanes: Lanes) -> Lanes:
        """All; what looks at lanes that do not join is a ``verify.prover.steps.Watcher``."""
        return lanes

    def counted(self, lanes: Lanes) -> bool:
        """Whether the last instruction has left a whole count in a register: from here on it is the program's, and how
        it came to be is not needed any more."""
        whole = [n for n in self.cuts.counts.whole if self.cuts.node(n) not in self.cuts.declared]
        written = lanes.values[self.graph.positions[int(lanes.before[0])].instruction.rd] if whole else None
        if written is None or (written < FIRST).any() or self.state.pool.op(int(written[0])) != "linear":
            return False
        view = View(self.state, self.cuts, lanes, self.used(lanes, list(range(len(lanes.values)))))
        return any((view.words(n) == written).all() for n in whole)

    def _counts(self, view: View, lanes: Lanes, columns: list[int]) -> dict[int, int]:
        """Columns that hold a count, or a part of one, and go on under its name."""
        found = {}
        for n in columns if self.cuts.counts.whole else ():
            column = lanes.values[n]
            if (column >= FIRST).all() and self.state.pool.op(int(column[0])) == "linear":
                nodes = (node for node in self.cuts.counts.sums if (view.words(node) == column).all())
                node = next(nodes, None)
                if node is not None:
                    found[n] = self.cuts.node(node)
        return found

    def _forget(self, number: int, lanes: Lanes) -> list[int]:
        """Take the value of what is not live any more; returns the other columns."""
        live = self.graph.positions[number].live
        slots = self.graph.live_slots(live)
        kept = []
        for (kind, at, width), n in self.state.columns.items():
            if n >= len(lanes.values):
                continue
            dead = kind == "register" and at > 0 and not live >> at & 1
            dead = dead or (kind == "frame" and (at, width) in self.graph.slots and (at, width) not in slots)
            if dead:
                lanes.values[n] = UNKNOWN
            else:
                kept.append(n)
        return kept

    def used(self, lanes: Lanes, columns: list[int]) -> dict[int, Bools]:
        """Atoms in the columns and the facts, and the lanes in which they are."""
        atoms: dict[int, Bools] = {}
        everywhere = np.ones(len(lanes), dtype=bool)
        for n in columns:
            column = lanes.values[n]
            single = not mixed(column)
            for word in [int(column[0])] if single else np.unique(column[column >= FIRST]):
                rows = everywhere if single else column == word
                for atom in self.state.pool.atoms(int(word)):
                    atoms[atom] = atoms[atom] | rows if atom in atoms else rows
        for number in np.unique(lanes.facts):
            rows = lanes.facts == number
            for condition, _ in self.state.fact_sets[number]:
                _, word = self.state.definitions.get(condition, (0, condition))
                for atom in self.state.pool.atoms(word):
                    atoms[atom] = atoms[atom] | rows if atom in atoms else rows
        for atom, rows in self._compared_parts(lanes):
            atoms[atom] = atoms[atom] | rows if atom in atoms else rows
        return atoms

    def _compared_parts(self, lanes: Lanes) -> Iterator[tuple[int, Bools]]:
        """Partial sums in words that were compared, and the lanes that know something of them: no column may hold one
        any more (a clamp has put its bound there), but what is known of the sum is known of it under this name."""
        parts = self.cuts.declared_parts()
        for word, row in self.state.bases.items() if parts else ():
            named = self.state.pool.atoms(word) & parts if row < len(lanes.low) else None
            if named:
                low, high = self.state.ranges[row]
                rows = (lanes.low[row] > low) | (lanes.high[row] < high)
                yield from ((atom, rows) for atom in named)

    def _costs(self, number: int, lanes: Lanes) -> Ints:
        """Lanes in which the next instruction costs the same have the same number."""
        i = self.graph.positions[number].instruction
        result = np.zeros(len(lanes), dtype=np.int64)
        for before in np.unique(lanes.before):
            previous = self.graph.positions[before].instruction
            cost = [self.model.step(i, side, previous) for side in (False, True)]
            result[lanes.before == before] = cost[0] << 16 | cost[1]
        return result

    def _cells(self, view: View, node: int) -> Ints:
        """Returns the cells of a feature that the lanes know: between which thresholds it lies."""
        thresholds = np.array(self.thresholds.get(self.features.index(node), []), dtype=np.int64)
        low, high = view.bounds(node)
        return np.searchsorted(thresholds, low) << 16 | np.searchsorted(thresholds, high)

    def _names(self, view: View, lanes: Lanes, live: list[int]) -> dict[int, int]:
        """Columns that go on under a name of the program: column -> the atom (or an atom and a constant)."""
        names: dict[int, int] = {}
        if not live:
            return names
        rows = _sample(lanes)
        sample = View(self.state, self.cuts, lanes.take(rows), {atom: at[rows] for atom, at in view.used.items()})
        for n in live:
            column = lanes.values[n]
            if (column == UNKNOWN).any():
                continue
            name = self._named(sample, view, column, rows)
            if name is None:
                name = self._shifted(sample, view, column, rows)
            if name is None:
                name = self._beside(sample, view, column, rows)
            if name is None and len(lanes) > self.give_up:
                name = part_of_sum(sample, view, column, rows)
            if name is not None:
                names[n] = name
        return names

    def _named(self, sample: View, view: View, column: Ints, rows: Ints) -> int | None:
        """Returns the name of the first node that a column holds in all lanes."""
        for node in self.nameable:
            if sample.holds(node, column[rows]).all() and view.holds(node, column).all():
                return self.cuts.atom(node)
        return None

    def _shifted(self, sample: View, view: View, column: Ints, rows: Ints) -> int | None:
        """Returns a node that follows from the trees, shifted left: tables hold factors with the bits that a product
        drops."""
        for node in self.after_trees:
            if not self.cuts.narrow(node) or _shift(sample.words(node), column[rows]) is None:
                continue
            shift = _shift(view.words(node), column)
            if shift is not None:
                return self.state.pool.sum(0, ((self.cuts.node(node), 1 << shift),))
        return None

    def _beside(self, sample: View, view: View, column: Ints, rows: Ints) -> int | None:
        """Returns a node and what else all words are made of, as where a register holds two values of 16 bits: lanes
        may know the number of one of them. None where they are not such words."""
        words, back = np.unique(column, return_inverse=True)
        sums = [self.state.pool.linear(int(word)) for word in words]
        common = set(sums[0][1]).intersection(*(terms for _, terms in sums))
        if not common:
            return None
        rest = [self.state.pool.sum(number, set(terms) - common) for number, terms in sums]
        part = np.array(rest, dtype=np.int64)[back.reshape(-1)]
        name = self._named(sample, view, part, rows)
        return None if name is None else self.state.pool.sum(0, [(name, 1), *common])

    def _nameable(self, n: int) -> bool:
        return self.program.nodes[n].op is not Op.CONST and self.cuts.narrow(n) and n not in self.joined

    def _trees_done(self, view: View, lanes: Lanes, columns: list[int], live: list[int], names: dict[int, int]) -> bool:
        """Whether columns hold what is decided by the trees and all that the function still leaves follows from that,
        and none holds a sum that others are still compared with."""
        held = self._held(lanes, columns, live, names)
        if not held & self._atoms(self.after_trees) or held & self._atoms(self.undecided):
            return False
        return not self._asked(view, held)

    def _held(self, lanes: Lanes, columns: list[int], live: list[int], names: dict[int, int]) -> set[int]:
        """Atoms that the columns go on with."""
        words = set(names.values()) | {int(lanes.values[n, 0]) for n in columns if n not in live}
        return set[int]().union(*(self.state.pool.atoms(word) for word in words))

    def _asked(self, view: View, held: set[int]) -> bool:
        """Whether what the function leaves follows from the trees otherwise than by values that are held, or that are
        one number in all lanes."""
        todo, seen = list(self.program.outputs), set[int]()
        while todo:
            n = todo.pop()
            if n in seen or not self.behind[n] or (self.cuts.narrow(n) and self.cuts.node(n) in held):
                continue
            seen.add(n)
            low, high = view.bounds(n)
            if low.min() != high.max():
                if self.program.nodes[n].op is Op.TREES:
                    return True
                todo += self.program.nodes[n].args
        return False

    def _atoms(self, nodes: list[int]) -> set[int]:
        return {self.cuts.node(n) for n in nodes if self.cuts.narrow(n)}

    def _part(self, names: dict[int, int]) -> bool:
        self.gave_up = bool(names) or self.gave_up
        return bool(names)

    def _merge(
        self,
        number: int,
        lanes: Lanes,
        view: View,
        names: dict[int, int],
        classes: Ints,
        counts: Ints,
        first: Ints,
        counted: set[int],
        forgets: bool,
    ) -> Lanes:
        order = np.argsort(classes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._keep_bounds(lanes, view, names)
        possible = lanes.reachable() & view.possible & ~contradicted(self.state, lanes)
        if not possible.all():  # what the program says of its values excludes what the branches said: unreachable
            left = lanes.take(possible)
            return self(number, left) if len(left) else left
        merged = lanes.take(first)
        merged.low = np.minimum.reduceat(lanes.low[:, order], starts, axis=1)
        merged.high = np.maximum.reduceat(lanes.high[:, order], starts, axis=1)
        by_number = {n: key for key, n in self.state.columns.items()}
        groups = np.split(order, starts[1:])

        def renamed(rows: Ints) -> list[int]:
            return [n for n in names if n in counted or mixed(lanes.values[n, rows])]

        for name in names.values():
            self.cuts.declared |= self.state.pool.atoms(name)
        for at, rows in enumerate(groups):
            for n in renamed(rows):
                merged.values[n, at] = names[n]
            sets = [self.state.fact_sets[f] for f in np.unique(lanes.facts[rows])]
            merged.facts[at] = self.state.facts(frozenset.intersection(*sets))
        self._keep_words(view, merged, classes, counts, first)
        self._keep_equal(view, lanes, merged, names, classes, counts)
        if forgets:
            self._keep_leaves(view, merged, order, starts)
        for at, rows in enumerate(groups):
            if len(rows) == 1 and not counted:
                continue
            meeting = Meeting(
                number,
                lanes.origin[rows],
                lanes.trail[rows],
                lanes.cycles[rows],
                {by_number[n]: names[n] for n in renamed(rows)},
                merged.low[:, at].copy(),
                merged.high[:, at].copy(),
                merged.values[:, at].copy(),
                self._products(view, rows),
                int(merged.facts[at]),
            )
            self.meetings.append(meeting)
            merged.origin[at], merged.trail[at], merged.cycles[at] = len(self.meetings) - 1, -1, 0
        return merged

    def _products(self, view: View, rows: Ints) -> dict[int, int]:
        multiplied = [n for n in self.computed if n in self.products]
        same = [(int(view.words(n)[rows[0]]), n) for n in multiplied if not mixed(view.words(n)[rows])]
        return {word: self.cuts.node(n) for word, n in same if word >= FIRST and self.state.pool.op(word) != "atom"}

    def _keep_bounds(self, lanes: Lanes, view: View, names: dict[int, int]) -> None:
        """Put what the lanes know of cuts and features into words that outlive the joining."""
        by_name = {self.cuts.node(n): n for n in range(len(self.program.nodes)) if self.cuts.narrow(n)}
        atoms = {atom for name in names.values() for atom in self.state.pool.atoms(name)}
        nodes = {by_name[atom] for atom in atoms if atom in by_name} | set(self.features)
        for n in self.computed:
            low, high = view.bounds(n)
            if n not in nodes and not (low == high).any():
                continue
            row = self.state.base(self.cuts.node(n))
            self.state.widen(lanes)
            lanes.low[row] = np.maximum(lanes.low[row], low)
            lanes.high[row] = np.minimum(lanes.high[row], high)

    def _keep_words(self, view: View, merged: Lanes, classes: Ints, counts: Ints, first: Ints) -> None:
        """Note which node is which word, where all joined lanes say so and what is left of them no longer does."""
        everything = list(range(len(merged.values)))
        after = View(self.state, self.cuts, merged, self.used(merged, everything))
        learnt: list[set[Fact]] = [set() for _ in counts]
        for n in self.computed:
            before = view.words(n)
            word = before[first]
            same = np.bincount(classes, before == word[classes], len(counts)) == counts
            lost = same & (counts > 1) & (word >= FIRST) & (word != self.cuts.node(n)) & (after.words(n) != word)
            if lost.any():
                after.learn(n, np.where(lost, word, after.words(n)))
                for at in np.flatnonzero(lost).tolist():
                    learnt[at].add(self.state.definition(n, self.cuts.node(n), int(word[at])))
        for at, added in enumerate(learnt):
            if added:
                merged.facts[at] = self.state.facts(self.state.fact_sets[merged.facts[at]] | added)

    def _keep_leaves(self, view: View, merged: Lanes, order: Ints, starts: Ints) -> None:
        """Note which leaf a tree adds, where all joined lanes add the same and what is left of the features' cells no
        longer says so: a register may hold it."""
        after = View(self.state, self.cuts, merged, self.used(merged, list(range(len(merged.values)))))
        for k in range(len(self.cuts.leaf_sums)):
            atom = self.cuts.tree(k)
            low, high = view.leaf(k)
            first, last = np.minimum.reduceat(low[order], starts), np.maximum.reduceat(high[order], starts)
            least, most = after.leaf(k)
            lost = (first == last) & (least < most)
            if lost.any():
                row = self.state.base(atom)
                self.state.widen(merged)
                merged.low[row, lost], merged.high[row, lost] = first[lost], last[lost]

    def _keep_equal(
        self, view: View, lanes: Lanes, merged: Lanes, names: dict[int, int], classes: Ints, counts: Ints
    ) -> None:
        """Note which nodes are the value that goes on under another's name, where all joined lanes say so: a clamp that
        none of them has taken, a choice that all have made alike."""
        for column, name in names.items():
            renamed = (counts > 1) & (merged.values[column] == name)
            for n in self.computed if renamed.any() else ():
                if self.cuts.node(n) == name:
                    continue
                equal = renamed & (np.bincount(classes, view.words(n) == lanes.values[column], len(counts)) == counts)
                for at in np.flatnonzero(equal).tolist():
                    known = self.state.fact_sets[merged.facts[at]]
                    merged.facts[at] = self.state.facts(known | {self.state.definition(n, self.cuts.node(n), name)})


def _products(program: Program) -> set[int]:
    """Returns the products, but for those that a choice is between: they may be one on some paths, and the name of one
    does not say so."""
    products = {n for n, node in enumerate(program.nodes) if node.op in (Op.MUL, Op.MUL_SHR)}
    chosen = (set(node.args[1:]) for node in program.nodes if node.op is Op.SELECT)
    return products.difference(*(sides for sides in chosen if sides <= products))


def _in_order(program: Program) -> list[int]:
    """Returns the nodes in order: those that the function leaves, then those that several sums decide together, then
    the rest. If several are the same in some lanes, each takes the one that the others take too, so that all can be
    joined. Inputs that the trees ask about come first where lanes join by leaves: nothing found out about one is known
    of another name."""
    together = _decided(program) if len(_sums(program)) > 1 else []
    by_leaves = program.forest.combinations > MAX_COMBINATIONS
    asked = next((node.args for node in program.nodes if node.op is Op.TREES), ()) if by_leaves else ()
    inputs = [n for n in asked if not program.nodes[n].args]
    return list(dict.fromkeys([*inputs, *program.outputs, *together, *range(len(program.nodes))]))


def _wanted(program: Program, held: set[int]) -> set[int]:
    """Nodes that what the function leaves still follows from where columns hold some: none of those that only held
    ones are made of, as the bits of a quotient that were computed."""
    todo, wanted = list(program.outputs), set[int]()
    while todo:
        n = todo.pop()
        if n not in wanted and n not in held:
            wanted.add(n)
            todo += program.nodes[n].args
    return wanted


def _following(program: Program, held: set[int]) -> set[int]:
    """Nodes that follow from those that columns hold, and from nothing else that is not known."""
    following = set[int]()
    for n, node in enumerate(program.nodes):
        if n in held or node.op is Op.CONST or (node.args and following.issuperset(node.args)):
            following.add(n)
    return following


def _sums(program: Program) -> list[int]:
    return [n for n, node in enumerate(program.nodes) if node.op is Op.TREES]


def _behind(program: Program) -> list[set[int]]:
    """Returns for each node the sums that it follows from."""
    behind: list[set[int]] = []
    for n, node in enumerate(program.nodes):
        behind.append({n} if node.op is Op.TREES else set[int]().union(*(behind[a] for a in node.args)))
    return behind


def _decided(program: Program) -> list[int]:
    """Values behind which nobody asks which cells of the features a lane is in: the sum of the trees and what follows
    from it; of several sums what follows from all that are compared or added with each other."""
    behind = _behind(program)
    together = {n: {n} for n in _sums(program)}
    for sums in behind:
        for n in sums:
            together[n] |= sums
    return [n for n, sums in enumerate(behind) if sums and all(together[k] <= sums for k in sums)]


def _joined(program: Program) -> set[int]:
    """Comparisons that a choice asks for together, by and and or (minima and maxima of 0 and 1), and what joins them:
    which of them holds is not forgotten under a name, or the choice could not be decided any more."""
    nodes = program.nodes
    logical = {n for n, node in enumerate(nodes) if node.op in (Op.GT, Op.EQ)}
    joined: set[int] = set()
    for n, node in enumerate(nodes):
        if node.op in (Op.MIN, Op.MAX) and logical.issuperset(node.args):
            logical.add(n)
            joined |= {n, *node.args}
    return joined


def _sample(lanes: Lanes) -> Ints:
    return np.unique(np.linspace(0, len(lanes) - 1, SAMPLE).astype(np.int64))


def _shift(words: Ints, column: Ints) -> int | None:
    """Returns by how many bits one column of constants is another shifted left, if it is."""
    if (np.minimum(words, column) < 0).any() or (np.maximum(words, column) >= FIRST).any():
        return None
    widest = int(np.argmax(column))
    for shift in range(32) if column[widest] else (0,):
        if words[widest] << shift & WORD == column[widest] and (words << shift & WORD == column).all():
            return shift
    return None


def _classes(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Equal columns of ``keys``: (the place of one of each, the class of each column, how many there are).

    Classes are found by a hash; that their columns are equal is then checked.
    """
    factors = np.random.default_rng(0).integers(1, 1 << 62, len(keys)) | 1
    hashes = (keys * factors[:, None]).sum(axis=0)
    _, first, classes, counts = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
    if (keys != keys[:, first[classes]]).any():
        _, first, classes, counts = np.unique(keys, axis=1, return_index=True, return_inverse=True, return_counts=True)
    return first.astype(np.int64), classes.reshape(-1).astype(np.int64), counts.astype(np.int64)
