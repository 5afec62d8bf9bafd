"""How far a student's action lies outside its teacher's around a state, in all states: branch and bound.

States are boxes: some of the histories, and intervals of the signals. In each the student does one thing, a. The
neighbourhoods of all states of a small box have a box of places in common; whatever the teacher does at ONE of these
places it does around every state of the box. In each of them the student is therefore at most a, less the greatest
value at any place tried, above its teacher's actions. That is the bound: no gradient, no relaxation of the network,
only values at places. Boxes that could be further out than the furthest state that is known are halved, until none is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Floats, Integers
from decision.ir.formats import ACTION_BITS
from decision.policy.cells import act
from decision.policy.neighbourhood import Around
from decision.policy.student import Student
from verify.deviation.histories import Histories
from verify.deviation.network import Network

BATCH_BOXES = 16_384
"""Boxes that are bounded together."""
BATCH_STATES = 512
"""Of these, about so many have a state that is looked at."""
MAX_BOXES = 20_000_000
"""After so many the bound is what it is by then."""
STEPS = np.linspace(0.0, 1.0, 5)
SWEEPS = 2
ONE = 1 << ACTION_BITS


@dataclass(frozen=True)
class FoundState:
    """``row`` [window * features] of integers, in which the student's ``action`` (Q16) is ``distance`` outside (its
    neighbourhood searched: it can be less, not more), ``above`` the teacher's actions or below."""

    row: Integers
    action: int
    above: bool
    distance: float


@dataclass(frozen=True)
class Furthest:
    """No state is further outside than ``bound``; ``state`` is the furthest that was met; ``boxes`` were looked at."""

    bound: float
    state: FoundState
    boxes: int


@dataclass(frozen=True)
class StateBoxes:
    """Histories ``first`` to ``last`` (not itself) [N], and the ends of every column [N, columns]; ``action`` [N] the
    student's, Q16; ``above`` [N]: of the distance above the teacher's actions, else below; ``bound`` [N] on it."""

    first: Integers
    last: Integers
    low: Integers
    high: Integers
    action: Integers
    above: NDArray[np.bool_]
    bound: Floats

    def __len__(self) -> int:
        return len(self.first)

    def only(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "StateBoxes":
        return StateBoxes(
            self.first[rows],
            self.last[rows],
            self.low[rows],
            self.high[rows],
            self.action[rows],
            self.above[rows],
            self.bound[rows],
        )

    def joined(self, other: "StateBoxes") -> "StateBoxes":
        return StateBoxes(
            np.concatenate([self.first, other.first]),
            np.concatenate([self.last, other.last]),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
            np.concatenate([self.action, other.action]),
            np.concatenate([self.above, other.above]),
            np.concatenate([self.bound, other.bound]),
        )


class _Hulls:
    """The least and the greatest of any run of rows: of runs of 2^k rows, of which two cover any run."""

    def __init__(self, low: Integers, high: Integers) -> None:
        self.low, self.high, span = [low], [high], 1
        while 2 * span <= len(low):
            self.low.append(np.minimum(self.low[-1][:-span], self.low[-1][span:]))
            self.high.append(np.maximum(self.high[-1][:-span], self.high[-1][span:]))
            span *= 2

    def of(self, first: Integers, last: Integers) -> tuple[Integers, Integers]:
        level = np.frexp((last - first).astype(np.float64))[1] - 1
        low = np.empty((len(first), self.low[0].shape[1]), dtype=np.int64)
        high = np.empty_like(low)
        for k in np.unique(level).tolist():
            at = np.flatnonzero(level == k)
            begin, end = first[at], last[at] - (1 << k)
            low[at] = np.minimum(self.low[k][begin], self.low[k][end])
            high[at] = np.maximum(self.high[k][begin], self.high[k][end])
        return low, high


class FurthestSearch:
    """One student beside one teacher. The teacher looks at no more decisions than the histories hold."""

    def __init__(self, student: Student, network: Network, behind: Histories, around: Around) -> None:
        self.student, self.network, self.around, self.columns = student, network, around, behind.columns
        self.observation = student.observation.with_window(len(behind.columns.low) // behind.columns.width)
        order, self.groups = _groups(behind)
        self.low, self.high = behind.low[order], behind.high[order]
        self.hulls = _Hulls(self.low, self.high)
        self.corners = np.asarray(list(product((0.0, 1.0), repeat=network.size)))
        self.places = np.concatenate([self.corners, np.full((1, network.size), 0.5)])
        ends = network.actions(np.array([-np.inf, np.inf]))
        self.least, self.most = ends[0][0], ends[1][1]
        """Of the teacher's actions, anywhere."""

    def furthest(self, tolerance: float, progress: Callable[[str], None] | None = None) -> Furthest:
        """The bound is at most ``tolerance`` above the state that is told, where the search was not given up."""
        waiting, best, done, looked = self.all(), None, 0.0, 0
        while len(waiting):
            if len(waiting) > BATCH_BOXES:
                order = np.argpartition(-waiting.bound, BATCH_BOXES)
                now, waiting = waiting.only(order[:BATCH_BOXES]), waiting.only(order[BATCH_BOXES:])
            else:
                now, waiting = waiting, waiting.only(np.zeros(0, dtype=np.intp))
            looked += len(now)
            best = self._better(best, now)
            enough = best.distance + tolerance
            now = self._bounded(now, enough)
            whole = (now.high == now.low).all(axis=1) & (now.last - now.first == 1)
            if looked > MAX_BOXES:
                enough = np.inf
            ends = (now.bound <= enough) | whole
            done = max([done, *now.bound[ends].tolist()])
            waiting = waiting.joined(self._halved(now.only(~ends)))
            if progress:
                progress(f"states: {looked} boxes, {len(waiting)} to go, {best.distance:.4f} outside")
        assert best is not None
        return Furthest(done, best, looked)

    def all(self) -> StateBoxes:
        """Every combination of the histories' groups and the newest signals' cells, above and below."""
        axes = []
        for c in self.columns.newest:
            own = self.columns.own[c]
            own = own[(own >= self.columns.low[c]) & (own < self.columns.high[c])]
            axes.append(
                np.stack([np.append(self.columns.low[c], own + 1), np.append(own, self.columns.high[c])], axis=1)
            )
        grid = np.meshgrid(np.arange(len(self.groups) - 1), *(np.arange(len(axis)) for axis in axes), indexing="ij")
        group, *cells = (part.reshape(-1) for part in grid)
        first, last = self.groups[group], self.groups[group + 1]
        low, high = self.hulls.of(first, last)
        for c, axis, cell in zip(self.columns.newest, axes, cells, strict=True):
            low[:, c], high[:, c] = axis[cell].T
        action = act(self.student, low[:, : self.student.observation.size])
        above = StateBoxes(first, last, low, high, action, np.ones(len(low), np.bool_), np.zeros(len(low)))
        boxes = above.joined(replace(above, above=~above.above))
        return replace(boxes, bound=self._anything(boxes))

    def _anything(self, boxes: StateBoxes) -> Floats:
        """How far out an action is at most, whatever the teacher does."""
        action = boxes.action / ONE
        return np.asarray(np.where(boxes.above, action - self.least, self.most - action), dtype=np.float64)

    def _bounded(self, boxes: StateBoxes, enough: float) -> StateBoxes:
        low, high = self._common(boxes)
        some = (low <= high).all(axis=1)
        bound = boxes.bound.copy()
        if some.any():
            at = np.flatnonzero(some)
            places = low[at, None, :] + (high - low)[at, None, :] * self.places
            reached = self._reached(places, boxes.above[at]).max(axis=1)
            bound[at] = np.minimum(bound[at], self._outside(boxes.action[at], boxes.above[at], reached))
        rest = np.flatnonzero(bound > enough)
        if len(rest):
            bound[rest] = np.minimum(bound[rest], self._moved_along(boxes.only(rest)))
        return replace(boxes, bound=bound)

    def _moved_along(self, boxes: StateBoxes) -> Floats:
        """A bound [N] by a place that moves along with the state: at the ends of its neighbourhood where the teacher
        rises there, in its middle, for all states of a box at once."""
        size, around = self.network.size, self.around
        low, high = (part[:, :size].astype(np.float64) for part in (boxes.low, boxes.high))
        sign = np.where(boxes.above, 1.0, -1.0)
        (low_low, low_high), (high_low, high_high) = (around.box(self.network.observation, x) for x in (low, high))
        middle = self.network.features((low_low + high_high) / 2)
        rises = self.network.rises(middle) * sign[:, None]
        best = np.full(len(boxes), -np.inf)  # of the sure outputs
        for place in (np.where(rises > 0, 1.0, 0.0), np.full((1, size), 0.5)):
            ends = [a + (b - a) * place for a, b in ((low_low, low_high), (high_low, high_high))]
            seen = [self.network.features(end) for end in ends]
            best = np.maximum(best, self.network.least(np.minimum(*seen), np.maximum(*seen), sign))
        return self._outside(boxes.action, boxes.above, best)

    def _common(self, boxes: StateBoxes) -> tuple[Floats, Floats]:
        """Returns the intersection of the neighbourhoods of all states of each box [N, the network's size], in integers
        and between them; low > high if it is empty. Their rounding is within what verify.deviation.network allows
        features to be off."""
        size = self.network.size
        first, last = (part[:, :size].astype(np.float64) for part in (boxes.low, boxes.high))
        observation = self.network.observation
        return self.around.box(observation, last)[0], self.around.box(observation, first)[1]

    def _reached(self, places: Floats, above: NDArray[np.bool_]) -> Floats:
        """Returns what the teacher's actions surely reach at places [N, M, size]: at least (``above``), or at most and
        with the other sign [N, M]. It is the network's output: whatever rises with it would do."""
        output, error = self.network.outputs(self.network.features(places.reshape(-1, places.shape[2])))
        sign = np.where(above, 1.0, -1.0)[:, None]
        reached: Floats = output.reshape(places.shape[:2]) * sign - error.reshape(places.shape[:2])
        return reached

    def _outside(self, action: Integers, above: NDArray[np.bool_], reached: Floats) -> Floats:
        """A bound on the distance [N] where the teacher surely reaches so much."""
        sign = np.where(above, 1.0, -1.0)
        outside: Floats = np.maximum(sign * action / ONE - self.network.signed(reached, sign)[0], 0.0)
        return outside

    def _better(self, best: FoundState | None, boxes: StateBoxes) -> FoundState:
        """The furthest of ``best`` and of some states of the most promising boxes."""
        some = boxes.only(np.argsort(-boxes.bound, kind="stable")[:: max(1, len(boxes) // BATCH_STATES)])
        rows = np.where(np.isin(np.arange(some.low.shape[1]), self.columns.newest), (some.low + some.high) // 2, 0)
        own = np.clip(self.low[some.first], some.low, some.high)
        history = list(self.columns.history)
        rows[:, history] = own[:, history]
        distance = self.searched(rows, some.action, some.above)
        at = int(distance.argmax())
        state = FoundState(rows[at], int(some.action[at]), bool(some.above[at]), float(distance[at]))
        return state if best is None or state.distance > best.distance else best

    def searched(self, rows: Integers, action: Integers, above: NDArray[np.bool_]) -> Floats:
        """How far outside [N] actions are in states: the neighbourhood searched column by column."""
        low, high = self.around.box(self.network.observation, rows[:, : self.network.size].astype(np.float64))
        places = low[:, None, :] + (high - low)[:, None, :] * self.places
        reached = self._reached(places, above)
        at, best = self.places[reached.argmax(axis=1)].copy(), reached.max(axis=1)
        for _ in range(SWEEPS):
            for c in range(self.network.size):
                tried = np.repeat(at[:, None, :], len(STEPS), axis=1)
                tried[:, :, c] = STEPS
                reached = self._reached(low[:, None, :] + (high - low)[:, None, :] * tried, above)
                at[:, c] = STEPS[reached.argmax(axis=1)]
                best = np.maximum(best, reached.max(axis=1))
        return self._outside(action, above, best)

    def _halved(self, boxes: StateBoxes) -> StateBoxes:
        """Each in two: its histories, or the column that matters most."""
        wide = self._width(boxes)
        history, many = list(self.columns.history), boxes.last - boxes.first > 1
        newest = list(self.columns.newest)
        of_history = wide[:, history].max(axis=1, initial=-1.0)
        split = many & (of_history >= wide[:, newest].max(axis=1, initial=-1.0))
        several, one = boxes.only(split), boxes.only(~split)
        wide = wide[~split]
        # Several histories are halved as such: a column of theirs is cut only where one is left.
        wide[np.ix_(many[~split], history)] = -1.0
        return self._by_history(several).joined(self._by_column(one, wide.argmax(axis=1)))

    def _by_history(self, boxes: StateBoxes) -> StateBoxes:
        middle = (boxes.first + boxes.last) // 2
        parts, newest = [], list(self.columns.newest)
        for first, last in ((boxes.first, middle), (middle, boxes.last)):
            low, high = self.hulls.of(first, last)
            low[:, newest], high[:, newest] = boxes.low[:, newest], boxes.high[:, newest]
            parts.append(replace(boxes, first=first, last=last, low=low, high=high))
        return parts[0].joined(parts[1])

    def _by_column(self, boxes: StateBoxes, column: NDArray[np.intp]) -> StateBoxes:
        rows = np.arange(len(boxes))
        low, high = boxes.low[rows, column], boxes.high[rows, column]
        root = np.sqrt((np.maximum(low, 0) + 1.0) * (np.maximum(high, 0) + 1.0)) - 1.0
        signal = ~np.isin(column, self.columns.actions) & (low >= 0)
        middle = np.where(signal, root, (low + high) / 2.0)
        cut = np.clip(np.floor(middle).astype(np.int64), low, np.maximum(high - 1, low))
        below, above = boxes.high.copy(), boxes.low.copy()
        below[rows, column], above[rows, column] = cut, cut + 1
        return replace(boxes, high=below).joined(replace(boxes, low=above))

    def _width(self, boxes: StateBoxes) -> Floats:
        """Returns the weight by which each column [N, columns] is halved: 0 for one value, or for a column that the
        teacher does not see. If some neighbourhoods have nothing in common in a column, that column comes first."""
        size, wide = self.network.size, np.zeros(boxes.low.shape)
        low, high = self._common(boxes)
        ends = [part[:, :size].astype(np.float64) for part in (boxes.low, boxes.high)]
        least, most = (self.network.features(end) for end in ends)
        wide[:, :size] = np.abs(most - least) * self.network.rise
        apart = low > high
        far = np.where(apart, 1e9 * (1.0 + np.log2(1.0 + ends[1] - ends[0])), 0.0)
        wide[:, :size] += far
        several = boxes.high > boxes.low
        return np.asarray(np.where(several, np.maximum(wide, 1e-9), 0.0), dtype=np.float64)


def _groups(behind: Histories) -> tuple[NDArray[np.intp], Integers]:
    """Histories in an order in which those among which the student does not tell apart stand together, and within
    these like ones beside each other (their columns' bits interleaved); where each group begins, and the end."""
    columns = behind.columns
    if not columns.history:
        return np.arange(len(behind)), np.array([0, len(behind)])
    own = np.stack([np.searchsorted(columns.own[c], behind.low[:, c], side="left") for c in columns.history], axis=1)
    _, group = np.unique(own, axis=0, return_inverse=True)
    group = group.reshape(-1)
    scaled = []
    for c in columns.history:
        x = behind.low[:, c] - columns.low[c]
        y = np.log2(1.0 + x) / 32 if c in columns.past else x / max(1, columns.high[c] - columns.low[c])
        scaled.append((y * 1023).astype(np.int64))
    code = np.zeros(len(behind), dtype=np.int64)
    for bit in range(9, -1, -1):
        for s in scaled[:6]:
            code = code << 1 | s >> bit & 1
    order = np.lexsort((code, group))
    edges = np.flatnonzero(np.diff(group[order], prepend=-1))
    return order, np.append(edges, len(order))
