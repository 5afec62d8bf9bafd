"""The states that a student can run into, by the cells of its forest.

Within a cell - an interval between neighbouring thresholds for each feature - a student's action is one and the same:
whoever looks into every cell has seen all that it does. Past actions are the student's own: a history is one that it
produces from a new flow on, whatever signals the network sends. Histories are therefore found by running the student
from the zeroed context with a value of every interval of every signal, until none is new. If there are too many, a
seeded part of them goes on, and every interval of the newest signals is still tried behind each.

A state is a feature row [window * features] of integers, newest decision first
(decision.policy.tree_decision.feature_names).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from decision.ir import exact
from decision.ir.arrays import Integers
from decision.ir.formats import ACTION_BITS, FEATURE_LIMIT
from decision.ir.interpret import trace
from decision.ir.program import Op
from decision.policy.features import PreviousAction
from decision.policy.rate import multiplied
from decision.policy.student import Student
from decision.policy.tree_decision import build_observer

EXACT = 40_000
"""Histories that are all followed; RL-CC's window of two makes some 36,000 of 38 thresholds."""
FOLLOWED = 3_000
"""Of more than these, so many a generation."""
GENERATIONS = 3
"""Windows that are filled anew from a part of the histories."""
STATES = 120_000
"""About; they are what a teacher is asked for."""
NEWEST = 4_096
"""Combinations of the newest signals' intervals behind a history."""


@dataclass(frozen=True)
class States:
    """States by cells: representatives and corners. ``rows`` [N, window * features]; ``actions`` [N] the student's
    there, multiplier - 1. ``cells``: of the forest, how many there are, ``visited``: hold one of the states;
    ``closed``: all histories were followed and looked behind, so what was not visited cannot be. ``missed``: intervals
    of a signal, now or past, in which no state lies though the network can send such values."""

    rows: Integers
    actions: NDArray[np.float64]
    cells: int
    visited: int
    missed: int
    closed: bool


def states(student: Student, seed: int) -> States:
    """A representative and the corners of every cell, or of a part of them where there are over ``STATES``."""
    grid = _CellGrid.of(student)
    random = np.random.default_rng(seed)
    histories, closed = _histories(student, grid, random)
    chosen = _extremes(histories, grid, random)
    newest = grid.newest(random)
    corners = 2 ** len(grid.kept)
    each = len(newest) * (corners if len(chosen) * len(newest) * corners <= STATES else 1)
    if len(chosen) * each > STATES:
        closed = False
        chosen = chosen[_spread(grid.places(chosen), max(STATES // each, 64), random)]
    rows = _cornered(chosen, grid, corners if each > len(newest) else None, random)
    rows = np.repeat(rows, len(newest), axis=0)
    rows[:, grid.signals] = np.tile(newest, (len(rows) // len(newest), 1))
    rows = np.unique(rows, axis=0)
    keys = np.stack([np.searchsorted(t, rows[:, f], side="left") for f, t in enumerate(grid.thresholds)], axis=1)
    return States(
        rows,
        act(student, rows) / 2**ACTION_BITS,
        int(np.prod([len(t) + 1 for t in grid.thresholds], dtype=np.float64)),
        len(np.unique(_digest(keys))),
        _missed(keys, grid),
        closed,
    )


def _missed(keys: Integers, grid: "_CellGrid") -> int:
    """Intervals between the forest's thresholds of a signal's column that can be reached and hold no state."""
    missed = 0
    for column in (*grid.signals, *grid.kept):
        own = grid.thresholds[column]
        low, high = np.searchsorted(own, [grid.low[column][0], grid.high[column][-1]], side="left")
        missed += int(high - low + 1) - len(np.unique(keys[:, column]))
    return missed


def act(student: Student, rows: Integers) -> Integers:
    """The student's actions (multiplier - 1, Q16) in states [N, window * features], by its own decision program."""
    sums, back = np.unique(student.forest.evaluate(rows)[:, 0], return_inverse=True)
    program = student.program()
    trees = next(n for n, node in enumerate(program.nodes) if node.op == Op.TREES)
    product = multiplied(program)
    assert product is not None
    zeros = np.zeros(len(sums), dtype=np.int64)
    event = dict.fromkeys(program.interface.event_names, zeros)
    context = dict.fromkeys([field.name for field in program.state], zeros)
    values = trace(program, event, student.params(), context, forced={trees: sums})
    actions: Integers = values[product.multiplier][back.reshape(-1)] - (1 << ACTION_BITS)
    return actions


@dataclass(frozen=True)
class _CellGrid:
    """Cuts of the columns of a state. ``thresholds`` [columns] the forest's own; ``low``, ``high`` [columns] the
    edges of the intervals that a signal's values have at ALL lags together, because the newest value of today is the
    past one of the next decision. Columns: ``signals`` of the newest decision, ``kept`` the past signals, ``actions``
    the past actions, newest first; ``width`` features a decision."""

    thresholds: list[Integers]
    low: list[Integers]
    high: list[Integers]
    signals: list[int]
    kept: list[int]
    actions: list[int]
    width: int

    @staticmethod
    def of(student: Student) -> "_CellGrid":
        observation = student.observation
        width, columns = len(observation.features), len(student.forest.features)
        found = student.forest.thresholds()
        own = [np.asarray(found.get(column, []), dtype=np.int64) for column in range(columns)]
        observer, nodes, *_ = build_observer(observation)
        low, high = [], []
        for column in range(columns):
            node = nodes[column % width]
            least, most = observer.nodes[node].low, observer.nodes[node].high
            cuts = np.unique(np.concatenate(own[column % width :: width]))
            cuts = cuts[(cuts >= least) & (cuts < most)]
            # Above its last threshold a student sees no difference: there one value stands for all.
            last = max(int(cuts[-1]) + 1, FEATURE_LIMIT - 1) if len(cuts) else FEATURE_LIMIT - 1
            low.append(np.concatenate([[least], cuts + 1]))
            high.append(np.concatenate([cuts, [min(most, last)]]))
        past = {f for f, feature in enumerate(observation.features) if isinstance(feature, PreviousAction)}
        signals = [column for column in range(width) if column not in past]
        kept = [column for column in range(width, columns) if column % width not in past]
        return _CellGrid(own, low, high, signals, kept, [c for c in range(columns) if c % width in past], width)

    def newest(self, random: np.random.Generator) -> Integers:
        """Corners and a representative of every combination of the newest signals' intervals [M, signals]."""
        axes = []
        for c in self.signals:
            cuts = self.thresholds[c][(self.thresholds[c] >= self.low[c][0]) & (self.thresholds[c] < self.high[c][-1])]
            low, high = np.append(self.low[c][0], cuts + 1), np.append(cuts, self.high[c][-1])
            axes.append(np.unique([low, _middle(low, high), high]))
        return _product(axes, random)

    def next_signals(self, random: np.random.Generator) -> Integers:
        """A value of every combination of the newest signals' intervals [M, signals]."""
        return _product([self.low[c] for c in self.signals], random)

    def places(self, rows: Integers) -> Integers:
        """The cell of each row's history [N, columns]: intervals of past signals, the forest's own of actions."""
        found = np.zeros(rows.shape, dtype=np.int64)
        for c in self.kept:
            found[:, c] = np.searchsorted(self.low[c], rows[:, c], side="right")
        for c in self.actions:
            found[:, c] = np.searchsorted(self.thresholds[c], rows[:, c], side="left")
        return found


def _histories(student: Student, grid: _CellGrid, random: np.random.Generator) -> tuple[Integers, bool]:
    """Rows [N, columns] whose past the student can have produced, past signals at the low edge of their interval and
    the newest at 0; and whether these are all."""
    columns = len(grid.thresholds)
    newest = grid.next_signals(random)
    front = np.zeros((1, columns), dtype=np.int64)  # a new flow
    found, seen, closed, generations = [front], _digest(front), True, 0
    while len(front):
        rows = np.repeat(front, len(newest), axis=0)
        rows[:, grid.signals] = np.tile(newest, (len(front), 1))
        after = np.zeros_like(rows)
        after[:, grid.width :] = rows[:, : columns - grid.width]
        if grid.actions:
            after[:, grid.actions[1:]] = rows[:, grid.actions[:-1]]
            after[:, grid.actions[0]] = act(student, rows)
        keys, first = np.unique(_digest(after), return_index=True)
        new = ~np.isin(keys, seen)
        front, keys = after[first[new]], keys[new]
        if len(seen) + len(front) > EXACT and len(front) > FOLLOWED:
            some = np.sort(random.choice(len(front), FOLLOWED, replace=False))
            front, keys, closed = front[some], keys[some], False
        found.append(front)
        seen = np.concatenate([seen, keys])
        generations += 1
        if not closed and generations > GENERATIONS * (columns // grid.width):
            break
    return np.concatenate(found), closed and len(newest) < NEWEST


def _extremes(histories: Integers, grid: _CellGrid, random: np.random.Generator) -> Integers:
    """Returns the histories in one cell whose actions lie furthest out, in every direction if there are few
    directions."""
    _, cell = np.unique(_digest(grid.places(histories)), return_inverse=True)
    count = len(grid.actions)
    if count == 0:
        return histories[np.unique(cell, return_index=True)[1]]
    if count <= 3:
        signs = np.asarray(list(product((-1, 0, 1), repeat=count)), dtype=np.int64)
    else:
        signs = np.concatenate([np.eye(count, dtype=np.int64), -np.eye(count, dtype=np.int64)])
    chosen = []
    for sign in signs:
        score = (histories[:, grid.actions] * sign).sum(axis=1) if sign.any() else random.permutation(len(histories))
        order = np.lexsort((score, cell.reshape(-1)))
        last = np.flatnonzero(np.diff(np.append(cell.reshape(-1)[order], -1)))
        chosen.append(order[last])
    return histories[np.unique(np.concatenate(chosen))]


def _cornered(histories: Integers, grid: _CellGrid, corners: int | None, random: np.random.Generator) -> Integers:
    """The histories with their past signals at corners of their intervals: ``corners`` (all), None: one drawn of low,
    middle and high for each."""
    if not grid.kept:
        return histories
    edges = []
    for c in grid.kept:
        place = np.searchsorted(grid.low[c], histories[:, c], side="right") - 1
        low, high = grid.low[c][place], grid.high[c][place]
        edges.append(np.stack([low, high, _middle(low, high)]))
    which = np.asarray([*product((0, 1), repeat=len(grid.kept)), (2,) * len(grid.kept)], dtype=np.int64)
    picks = np.repeat(which[:, None, :], len(histories), axis=1)  # [corners, histories, kept]
    if corners is None:
        picks = random.integers(0, 3, (1, len(histories), len(grid.kept)))
    made = np.repeat(histories[None], len(picks), axis=0)
    for n, (c, edge) in enumerate(zip(grid.kept, edges, strict=True)):
        made[:, :, c] = edge[picks[:, :, n], np.arange(len(histories))]
    return made.reshape(-1, histories.shape[1])


def _spread(places: Integers, count: int, random: np.random.Generator) -> Integers:
    """``count`` row numbers: of every cell one before any other, and where there are more cells than that, cells in
    which every value of every column stands about equally often."""
    order = random.permutation(len(places))
    _, cell = np.unique(_digest(places[order]), return_inverse=True)
    by_cell = np.argsort(cell.reshape(-1), kind="stable")
    first = np.flatnonzero(np.diff(cell.reshape(-1)[by_cell], prepend=-1))
    turn = np.empty(len(places), dtype=np.int64)  # which of its cell a row is
    turn[by_cell] = np.arange(len(places)) - np.repeat(first, np.diff(np.append(first, len(places))))
    weight = np.zeros(len(places))
    for column in places[order].T:
        _, value, times = np.unique(column, return_inverse=True, return_counts=True)
        weight += 1.0 / times[value.reshape(-1)] / len(times)
    # Weighted draw without replacement (Efraimidis and Spirakis, 2006).
    drawn = exact.log(1.0 - random.random(len(places))) / weight
    return np.sort(order[np.lexsort((-drawn, turn))[:count]])


def _middle(low: Integers, high: Integers) -> Integers:
    """Between the edges, on a logarithmic scale where they are not negative."""
    root = np.sqrt((np.maximum(low, 0) + 1.0) * (np.maximum(high, 0) + 1.0)) - 1.0
    between = np.where(low < 0, (low + high) / 2, root)
    return np.clip(np.floor(between).astype(np.int64), low, high)


def _product(axes: list[Integers], random: np.random.Generator) -> Integers:
    """All combinations [M, axes], or ``NEWEST`` drawn ones."""
    if np.prod([float(len(axis)) for axis in axes]) <= NEWEST:
        return np.asarray(list(product(*axes)), dtype=np.int64)
    return np.stack([random.choice(axis, NEWEST) for axis in axes], axis=1)


def _digest(rows: Integers) -> NDArray[np.uint64]:
    """A number [N] for each row [N, columns]; two rows have the same with a probability of 2^-64."""
    odd = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = rows.astype(np.uint64) * odd
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    digest: NDArray[np.uint64] = (mixed * odd).sum(axis=1, dtype=np.uint64)
    return digest
