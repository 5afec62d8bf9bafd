"""The histories that a student can have behind it, or a few more: all signals in range, its own actions.

A history is cut into cells. Those of a signal are the intervals between the student's thresholds, at all lags together,
so that a value stays in its cell as it grows older. Those of a past action are also cut by steps of a width. In a cell
of history and newest signals the student does one thing. From a new flow on, all successors are therefore followed cell
by cell until none is new. The least and the greatest of the actions in a cell are stored. All values between them, and
any combination of those of different lags, count as possible: a few states too many, none too few. If a flow's start
makes the step, the policy's history shows the action 0: that may happen at any decision.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.formats import FEATURE_LIMIT
from decision.policy.cells import act
from decision.policy.features import PreviousAction
from decision.policy.student import Student
from decision.policy.tree_decision import build_observer

MAX_CELLS = 200_000
"""Cells of histories; with more the actions are cut more coarsely."""
BATCH_STATES = 1 << 20
"""States that the student is asked for at once."""


@dataclass(frozen=True)
class Columns:
    """Columns of a state [window * features], newest decision first. ``low``, ``high`` [columns] its range; ``own``
    [columns] the student's thresholds, ``cuts`` [columns] where histories are cut; ``actions``, ``newest``, ``past``:
    columns of past actions, of the newest signals, of signals before. ``width`` features a decision."""

    low: Integers
    high: Integers
    own: tuple[Integers, ...]
    cuts: tuple[Integers, ...]
    actions: tuple[int, ...]
    newest: tuple[int, ...]
    past: tuple[int, ...]
    width: int

    @property
    def history(self) -> tuple[int, ...]:
        return (*self.actions, *self.past)

    @staticmethod
    def of(student: Student, window: int, step: int | None) -> "Columns":
        """Over ``window`` decisions, the student's own or more. ``step``: the width of an action's cell, Q16."""
        observation = student.observation.with_window(window)
        width, count = len(observation.features), observation.size
        asked = student.forest.thresholds()
        own = tuple(np.asarray(asked.get(c, []), dtype=np.int64) for c in range(count))
        observer, nodes, *_ = build_observer(observation)
        least, most = student.action.limits_q16()  # type: ignore[union-attr]  # a scale: it multiplies a rate
        low, high, cuts = np.zeros(count, np.int64), np.zeros(count, np.int64), []
        for c in range(count):
            together = np.unique(np.concatenate(own[c % width :: width]))
            if isinstance(observation.features[c % width], PreviousAction):
                low[c], high[c] = min(least, 0), max(most, 0)
                steps = np.zeros(0, np.int64) if step is None else np.arange(low[c], high[c], step)
                together = np.unique(np.concatenate([together, steps]))
            else:
                node = observer.nodes[nodes[c % width]]
                last = max([FEATURE_LIMIT - 1, *(int(t) + 1 for t in together if t < node.high)])
                low[c], high[c] = min(node.low, 0), max(min(node.high, last), 0)
            cuts.append(together[(together >= low[c]) & (together < high[c])])
        past = [isinstance(f, PreviousAction) for f in observation.features]
        return Columns(
            low,
            high,
            own,
            tuple(cuts),
            tuple(c for c in range(count) if past[c % width]),
            tuple(c for c in range(width) if not past[c]),
            tuple(c for c in range(width, count) if not past[c % width]),
            width,
        )

    def cell(self, column: int, values: Integers) -> Integers:
        """Which of the column's cells values [N] are in."""
        return np.searchsorted(self.cuts[column], values, side="left")

    def ends(self, column: int) -> tuple[Integers, Integers]:
        """Least and greatest value of each cell of a column."""
        cuts = self.cuts[column]
        return np.append(self.low[column], cuts + 1), np.append(cuts, self.high[column])


@dataclass(frozen=True)
class Histories:
    """``low``, ``high`` [N, window * features]: boxes that together hold all histories; the newest signals are 0.
    ``step``: to which past actions were told apart; 0: nothing was followed."""

    columns: Columns
    step: int
    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.low)


def histories(student: Student, window: int, step: int, progress: Callable[[str], None] | None = None) -> Histories:
    """All that a student can have behind it; past actions to ``step`` (Q16) exactly, or to more where that makes too
    many cells, in the end not followed at all."""
    limits = student.action.limits_q16()  # type: ignore[union-attr]
    while step < limits[1] - limits[0]:
        columns = Columns.of(student, window, step)
        if (closed := _closed(student, columns, step, progress)) is not None:
            return closed
        step *= 2
    return _everything(Columns.of(student, window, None))


def _everything(columns: Columns) -> Histories:
    low, high = columns.low[None].copy(), columns.high[None].copy()
    low[:, list(columns.newest)] = high[:, list(columns.newest)] = 0
    return Histories(columns, 0, low, high)


def _closed(student: Student, columns: Columns, step: int, progress: Callable[[str], None] | None) -> Histories | None:
    """None where there are too many."""
    sizes = [len(columns.cuts[c]) + 1 for c in columns.history]
    newest = _product([columns.ends(c)[0] for c in columns.newest])
    if prod(sizes) >= 2**62:
        return None
    place = [prod(sizes[:n]) for n in range(len(sizes))]

    def merged(low: Integers, high: Integers) -> tuple[Integers, Integers, Integers]:
        """Keys, ascending, with the least and greatest of what is in a cell."""
        cells = [columns.cell(c, low[:, c]) * factor for c, factor in zip(columns.history, place, strict=True)]
        keys: Integers = sum(cells, start=np.zeros(len(low), dtype=np.int64))
        order = np.argsort(keys, kind="stable")
        first = np.flatnonzero(np.diff(keys[order], prepend=-1))
        least, most = np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
        return keys[order][first], least, most

    new_flow = np.zeros((1, len(columns.low)), dtype=np.int64)
    keys, low, high = merged(*_widened(columns, new_flow, new_flow))
    fresh = np.ones(1, dtype=np.bool_)
    while fresh.any():
        parts = [(low, high)]
        many = max(1, BATCH_STATES // len(newest))
        for i in range(0, len(low), many):
            behind = np.flatnonzero(fresh[i : i + many]) + i
            parts += [merged(*part)[1:] for part in _after(student, columns, low[behind], high[behind], newest)]
        after, least, most = merged(*(np.concatenate(ends) for ends in zip(*parts, strict=True)))
        if len(after) > MAX_CELLS:
            return None
        known = np.searchsorted(after, keys)
        fresh = np.ones(len(after), dtype=np.bool_)
        fresh[known] = ((least[known] != low) | (most[known] != high)).any(axis=1)
        keys, low, high = after, least, most
        if progress:
            progress(f"histories: {len(keys)} cells")
    return Histories(columns, step, low, high)


def _after(
    student: Student, columns: Columns, low: Integers, high: Integers, newest: Integers
) -> Iterator[tuple[Integers, Integers]]:
    """Boxes of what can follow histories [N]: a decision behind each of the newest signals' cells [M]; by the policy,
    and by the start."""
    if not len(low):
        return
    signals, acts = list(columns.newest), list(columns.actions)
    ends = [np.repeat(part, len(newest), axis=0) for part in (low, high)]
    for part in ends:
        part[:, signals] = np.tile(newest, (len(low), 1))
    decided = act(student, ends[0][:, : student.observation.size])
    for step in [decided] if student.start is None else [decided, np.zeros_like(decided)]:
        after = []
        for part in ends:
            moved = np.zeros_like(part)
            moved[:, columns.width :] = part[:, : part.shape[1] - columns.width]
            if acts:
                moved[:, acts[1:]], moved[:, acts[0]] = part[:, acts[:-1]], step
            after.append(moved)
        yield _widened(columns, *after)


def _widened(columns: Columns, low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """Past signals are anything in their cell."""
    low, high = low.copy(), high.copy()
    for c in columns.past:
        least, most = columns.ends(c)
        place = columns.cell(c, low[:, c])
        low[:, c], high[:, c] = least[place], most[place]
    return low, high


def _product(axes: list[Integers]) -> Integers:
    """All combinations [M, axes]."""
    if prod(map(len, axes)) > BATCH_STATES:
        raise InputError("the newest signals have too many cells together to be followed")
    grid = np.meshgrid(*axes, indexing="ij")
    return np.stack([axis.reshape(-1) for axis in grid], axis=1) if axes else np.zeros((1, 0), dtype=np.int64)
