"""Inputs that show what a decision does: on both sides of every comparison, and in the cells between the thresholds.

Made from the program alone, and from inputs that others found (a folder's test vectors), in steps:

    sides   an input of each side of a comparison (a split of a tree, a minimum, a condition), found by bisection of one
            of the inputs that it depends on: the last value before it turns, and the first after
    cells   signals that no feature of the trees joins can be chosen apart from each other; so what was found is
            cut into such groups, and each group's cells (between which thresholds its features lie) are combined anew
    beside  at the edge of each of the program's own comparisons, the other signals anything: a limit that is off by
            one may show only where a product happens to be rounded otherwise
    seen    an input that a limit hides the trees from shows nothing of them: those whose result a sum of one more or
            one less would change are taken rather than others

Inputs are columns of a matrix [names, inputs] in the order of ``Explorer.names``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from decision.ir.arrays import Bools
from decision.ir.interpret import trace
from decision.ir.program import STORAGE_RANGE, Op, Program
from verify.prover.lanes import Ints

STARTS, TRIES, ROUNDS = 400, 5000, 2
"""Random inputs to start from, attempts to cross a comparison in a round, and rounds."""
STEPS = 33
"""Halvings that bring two 32-bit numbers, or their signed differences, next to each other."""
KEPT_A_CELL = 4


@dataclass(frozen=True)
class _Points:
    """Comparisons: node ``left`` greater than node ``right``, or where that is -1 than ``threshold``."""

    left: Ints
    right: Ints
    threshold: Ints


class Explorer:
    """Inputs of one program; the same ``seed`` gives the same inputs."""

    def __init__(self, program: Program, seed: int = 0) -> None:
        self.program, self.rng = program, np.random.default_rng(seed)
        ranges = input_ranges(program)
        self.names, self.ranges = tuple(ranges), np.array(list(ranges.values()), dtype=np.int64)
        self.sums = [n for n, node in enumerate(program.nodes) if node.op is Op.TREES]
        self.thresholds = program.forest.thresholds() if self.sums else {}
        self.features = {k: program.nodes[self.sums[0]].args[k] for k in self.thresholds}
        self.support = _support(program)
        self.points = _points(program, self.features, self.thresholds)

    def inputs(self, count: int, known: Ints | None = None) -> Iterator[Ints]:
        """Batches of inputs: those known, sides of comparisons, ``count`` combined from cells, 2 ``count`` beside."""
        start = self._random(STARTS)
        if known is not None and known.shape[1]:
            yield known
            start = np.concatenate([start, known[:, self.rng.integers(known.shape[1], size=4 * STARTS)]], axis=1)
        met_so_far, sides, point = start, start[:, :0], np.zeros(0, dtype=np.int64)
        for _ in range(ROUNDS):
            met, crossed = self._sides(met_so_far[:, self._one_a_cell(met_so_far)])
            met_so_far, sides = np.concatenate([met_so_far, met], axis=1), np.concatenate([sides, met], axis=1)
            point = np.concatenate([point, crossed])
        yield met_so_far
        yield self._combined(met_so_far, count)
        if (self.points.right[point] >= 0).any():
            yield self._beside(sides, point, 2 * count)

    def named(self, column: Ints) -> dict[str, int]:
        """One input by its names."""
        return dict(zip(self.names, column.tolist(), strict=True))

    def values(self, inputs: Ints, forced: dict[int, Ints] | None = None) -> list[Ints]:
        """Each node's values."""
        parts: dict[str, dict[str, Ints]] = {"event": {}, "params": {}, "context": {}}
        for name, row in zip(self.names, inputs, strict=True):
            struct, _, field = name.partition(".")
            parts[struct][field] = row
        return trace(self.program, parts["event"], parts["params"], parts["context"], forced=forced)

    def _random(self, count: int) -> Ints:
        """Anything, small numbers, and the ends of the ranges."""
        low, high = self.ranges[:, :1], self.ranges[:, 1:]
        shape = (len(self.names), count)
        wide = self.rng.integers(low, high, size=shape, endpoint=True) >> self.rng.integers(0, 32, size=shape)
        ends = np.where(self.rng.random(shape) < 0.5, low, high)
        return np.asarray(np.where(self.rng.random(shape) < 0.9, wide, ends), dtype=np.int64)

    def _sides(self, start: Ints) -> tuple[Ints, Ints]:
        """Pairs of inputs that differ by one in one signal, and in the outcome of a comparison; and of which."""
        count = len(self.points.left)
        if not count:
            return start[:, :0], np.zeros(0, dtype=np.int64)
        point = self.rng.permutation(np.arange(TRIES) % count)
        moves = self._moves()[point]
        moved = np.argmax(moves * self.rng.random(moves.shape), axis=1)  # one of those that it depends on
        columns = np.arange(TRIES)
        a = start[:, self.rng.integers(start.shape[1], size=TRIES)]
        b, far = a.copy(), self._random(TRIES)
        far = np.where(self.rng.random(TRIES) < 0.5, far, start[:, self.rng.integers(start.shape[1], size=TRIES)])
        b[moved, columns] = far[moved, columns]
        crossed = np.flatnonzero(self._outcome(a, point) != self._outcome(b, point))
        a, b, point, moved, columns = (
            a[:, crossed],
            b[:, crossed],
            point[crossed],
            moved[crossed],
            columns[: len(crossed)],
        )
        first = self._outcome(a, point)
        for _ in range(STEPS):
            middle = a.copy()
            middle[moved, columns] = (a[moved, columns] + b[moved, columns]) >> 1
            same = self._outcome(middle, point) == first
            a, b = np.where(same, middle, a), np.where(same, b, middle)
        return np.concatenate([a, b], axis=1), np.concatenate([point, point])

    def _moves(self) -> Bools:
        """[comparisons, signals]: what each depends on."""
        support = np.array(self.support)
        right = self.points.right[:, None]
        return np.asarray(support[self.points.left] | ((right >= 0) & support[self.points.right]), dtype=np.bool_)

    def _outcome(self, inputs: Ints, point: Ints) -> Bools:
        values = np.stack(self.values(inputs))
        columns = np.arange(inputs.shape[1])
        right = self.points.right[point]
        against = np.where(right >= 0, values[np.maximum(right, 0), columns], self.points.threshold[point])
        return np.asarray(values[self.points.left[point], columns] > against, dtype=np.bool_)

    def _groups(self) -> list[tuple[Ints, list[int]]]:
        """Signals that features join, and these features."""
        groups: list[tuple[Bools, list[int]]] = []
        for k, node in self.features.items():
            mask, members = self.support[node].copy(), [k]
            for other in [g for g in groups if (g[0] & mask).any()]:
                mask, members = mask | other[0], members + other[1]
                groups = [g for g in groups if g is not other]
            groups.append((mask, members))
        return [(np.flatnonzero(mask), members) for mask, members in groups]

    def _cells(self, values: list[Ints], members: list[int]) -> Ints:
        """Between which thresholds the features lie: one number for each cell that occurs."""
        places = [np.searchsorted(self.thresholds[k], values[self.features[k]]) for k in members]
        if not places:
            return np.zeros(len(values[0]), dtype=np.int64)
        return np.unique(np.stack(places), axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def _one_a_cell(self, inputs: Ints) -> Ints:
        return np.unique(self._cells(self.values(inputs), list(self.features)), return_index=True)[1]

    def _shown(self, inputs: Ints, values: list[Ints]) -> Bools:
        """Whether what is returned or kept would be another if a sum of the trees were one more, and if one were one
        less."""
        seen = np.ones(inputs.shape[1], dtype=bool)
        for step in (-1, 1) if self.sums else ():
            moved = [self.values(inputs, {total: values[total] + step}) for total in self.sums]
            seen &= np.any([m[n] != values[n] for m in moved for n in self.program.outputs], axis=0)
        return seen

    def _combined(self, inputs: Ints, count: int) -> Ints:
        """Cells of all groups, put together at random."""
        values = self.values(inputs)
        seen = self._shown(inputs, values)
        chosen = np.flatnonzero(seen) if seen.any() else np.arange(inputs.shape[1])
        result = inputs[:, self.rng.choice(chosen, size=count)]
        for rows, members in self._groups():
            cells = self._cells(values, members)
            order = np.lexsort((self.rng.random(len(cells)), ~seen, cells))  # those that show the trees first
            starts = np.flatnonzero(np.concatenate([[True], np.diff(cells[order]) > 0]))
            sizes = np.minimum(np.diff(np.append(starts, len(order))), KEPT_A_CELL)
            cell = self.rng.integers(len(starts), size=count)
            picked = order[starts[cell] + (self.rng.random(count) * sizes[cell]).astype(np.int64)]
            result[rows] = inputs[np.ix_(rows, picked)]
        return result

    def _beside(self, sides: Ints, point: Ints, count: int) -> Ints:
        """Inputs at the edge of the program's own comparisons, half of the signals that these do not ask for anew."""
        own = np.flatnonzero(self.points.right[point] >= 0)
        order = own[np.argsort(point[own], kind="stable")]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(point[order]) > 0]))
        sizes = np.diff(np.append(starts, len(order)))
        chosen = self.rng.integers(len(starts), size=count)
        picked = order[starts[chosen] + (self.rng.random(count) * sizes[chosen]).astype(np.int64)]
        free = ~self._moves()[point[picked]].T & (self.rng.random((len(self.names), count)) < 0.5)
        return np.asarray(np.where(free, self._random(count), sides[:, picked]), dtype=np.int64)


def input_ranges(program: Program) -> dict[str, tuple[int, int]]:
    """Returns the range of each input, by its key."""
    structures = program.structures
    return {
        f"{group}.{name}": STORAGE_RANGE[storage]
        for group in ("event", "params", "context")
        for name, storage in structures.get(group, {}).items()
    }


def _support(program: Program) -> list[Bools]:
    """For each node the inputs that it depends on."""
    places = {key: n for n, key in enumerate(input_ranges(program))}
    masks: list[Bools] = []
    for node in program.nodes:
        mask = np.zeros(len(places), dtype=bool)
        if (key := program.key(node)) is not None:
            mask[places[key]] = True
        for a in node.args:
            mask = mask | masks[a]
        masks.append(mask)
    return masks


def _points(program: Program, features: dict[int, int], thresholds: dict[int, list[int]]) -> _Points:
    support = _support(program)
    comparisons = [(features[k], -1, t) for k, ts in thresholds.items() for t in ts]
    for node in program.nodes:
        if node.op in (Op.MIN, Op.MAX, Op.GT, Op.EQ):
            comparisons += [(node.args[0], node.args[1], 0), (node.args[1], node.args[0], 0)]
    some = [p for p in comparisons if support[p[0]].any() or (p[1] >= 0 and support[p[1]].any())]
    left, right, threshold = np.array(some, dtype=np.int64).reshape(-1, 3).T
    return _Points(left, right, threshold)
