"""The distance from the teacher in a certificate, found again by other means than the prover's.

Every history, one cell after the other, with every cell of the newest signals: a box where the student does one thing.
Over it the teacher's output at a place that moves along with the state is bounded by the mean value theorem (its value
in the middle, and the range of its slopes), or by its values on a grid of places that lie around all of the box's
states. A box that the claim is not shown of is halved; a state of which it is not shown is a refusal. Inner products
are rounded as [HIGHAM] section 3.1 has it, so that all holds for real numbers and for float32 alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.formats import FEATURE_LIMIT
from decision.policy.actions import Multiplier, TanhMap
from decision.policy.cells import act
from decision.policy.features import PreviousAction
from decision.policy.neighbourhood import Around
from decision.policy.policy import Observation, Policy
from decision.policy.student import Student
from decision.policy.tree_decision import build_observer, feature_names
from verify.check.refused import Refused
from verify.trusted.deviation import TeacherClaim

BATCH_BOXES = 1 << 15
BATCH_STATES = 4
"""Of the boxes that are left of these, states that are looked at: a claim that is wrong ends there."""
ROUNDS = 60
"""Halvings of a neighbourhood's boxes."""
MAX_BOXES = 1 << 24
"""Boxes that are looked at."""
MAX_CELLS = 1 << 19
MAX_KEYS = 1 << 62
"""Above the keys of cells that a 64-bit integer holds."""
PLACES = 1 << 17
"""Of boxes, at which the teacher is asked at once."""
ROUNDING = 2.0**-23
"""Of a float32, twice: a feature's, and that of a tanh by 8."""


@dataclass(frozen=True)
class TeacherNetwork:
    """A teacher as a claim names it. ``weights``: float32 arrays by name; ``hash``: of its artefact."""

    policy: Policy
    weights: Mapping[str, NDArray[np.float32]]
    hash: str


@dataclass(frozen=True)
class CheckedTeacher:
    """``layers``: weights [outputs, inputs] and biases of each, float64."""

    observation: Observation
    action: TanhMap | Multiplier
    layers: tuple[tuple[Floats, Floats], ...]

    @staticmethod
    def of(policy: Policy, weights: Mapping[str, NDArray[np.float32]]) -> "CheckedTeacher":
        if (
            policy.architecture.kind != "mlp"
            or policy.architecture.teacher_only
            or not isinstance(policy.action, TanhMap | Multiplier)
        ):
            raise Refused(f"{policy.name} is no multilayer perceptron that sets a multiplier by one output")
        if {*policy.architecture.activations, policy.output_activation} - {"relu", "tanh"} or (
            "tanh" in policy.architecture.activations
        ):
            raise Refused(f"{policy.name} has other activations than ReLU and a tanh at the end")
        names = [*(f"fc{n}" for n in range(len(policy.architecture.hidden))), "out"]
        layers = []
        for name in names:
            weight = weights[f"{name}.weight"].astype(np.float64)
            layers.append((weight, weights.get(f"{name}.bias", np.zeros(len(weight))).astype(np.float64)))
        return CheckedTeacher(policy.observation, policy.action, tuple(layers))

    def features(self, rows: Floats) -> Floats:
        kinds = self.observation.features
        return np.stack([kinds[c % len(kinds)].float_of(rows[:, c]) for c in range(rows.shape[1])], axis=1)

    def value(self, x: Floats) -> tuple[Floats, Floats]:
        """Outputs [N], and what rounding can make of them."""
        off = ROUNDING * np.abs(x) + 1e-12
        for n, (weight, bias) in enumerate(self.layers):
            x = np.maximum(x, 0) if n else x
            steps = (weight.shape[1] + 2) * 2.0**-24
            growth = steps / (1 - steps)
            off = (off + growth * (np.abs(x) + off)) @ np.abs(weight).T + growth * np.abs(bias)
            x = x @ weight.T + bias
        return x[:, 0], off[:, 0]

    def slopes(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Least and greatest slope [N, size] anywhere in boxes of features [N, size]."""
        on = []
        for weight, bias in self.layers[:-1]:
            up, down = np.maximum(weight, 0), np.minimum(weight, 0)
            low, high = low @ up.T + high @ down.T + bias, high @ up.T + low @ down.T + bias
            slack = 1e-9 * (1 + np.maximum(np.abs(low), np.abs(high)))
            on.append((low > slack, high > -slack))  # surely, possibly
            low, high = np.maximum(low, 0), np.maximum(high, 0)
        least = most = np.repeat(self.layers[-1][0], len(low), axis=0)
        for (weight, _), (surely, possibly) in zip(reversed(self.layers[:-1]), reversed(on), strict=True):
            least = np.where(surely, least, np.where(possibly, np.minimum(least, 0), 0))
            most = np.where(surely, most, np.where(possibly, np.maximum(most, 0), 0))
            up, down = np.maximum(weight, 0), np.minimum(weight, 0)
            least, most = least @ up + most @ down, most @ up + least @ down
        return least, most

    def least(self, low: Floats, high: Floats, sign: Floats) -> Floats:
        """Not above ``sign`` times the output [N] anywhere in boxes of features."""
        middle, half = (low + high) / 2, (high - low) / 2
        slope = np.maximum(*(np.abs(end) for end in self.slopes(low, high)))
        off = self.rounding(np.maximum(np.abs(low), np.abs(high)))
        value = sign * self.value(middle)[0] - (slope * half).sum(axis=1) * (1 + 1e-9)
        return np.asarray(value - off * (1 + 1e-6), dtype=np.float64)

    def rounding(self, size: Floats) -> Floats:
        """Returns a bound of the rounding error of outputs [N] if no feature is further from 0 than ``size`` [N,
        size]."""
        off = ROUNDING * size + 1e-12
        for weight, bias in self.layers:
            steps = (weight.shape[1] + 2) * 2.0**-24
            growth = steps / (1 - steps)
            off = (off + growth * (size + off)) @ np.abs(weight).T + growth * np.abs(bias)
            size = size @ np.abs(weight).T + np.abs(bias)
        return np.asarray(off[:, 0], dtype=np.float64)

    def outside(self, student: Floats, reached: Floats, sign: Floats) -> Floats:
        """Returns how far ``sign`` times the student's action is above the teacher's at most, whose output surely
        reaches this value."""
        squashed = np.tanh(sign * reached) - sign * 2.0**-20
        action = self.action.decided(np.clip(squashed, -1, 1)[:, None])[:, 0] - 1.0
        distance: Floats = sign * (student - action)
        return distance


def distance_again(
    claim: TeacherClaim,
    student: Student,
    teacher: TeacherNetwork,
    progress: Callable[[str], None] | None = None,
) -> int:
    """How many boxes were looked at. Refused where a state is, or cannot be shown not to be, further out than the claim
    says, or the witness is not what is said of it. ``student``: the one whose program the machine code is."""
    policy = teacher.policy
    if claim.teacher != teacher.hash:
        raise Refused(
            f"the certificate's distance is from the teacher {claim.teacher[:12]}, this one is {teacher.hash[:12]}"
        )
    if student.observation != policy.observation.with_window(student.observation.window) or (
        student.action != policy.action
    ):
        raise Refused("the student does not see and set what the teacher does")
    try:
        around = Around(claim.share, claim.action)
    except InputError as error:
        raise Refused(str(error)) from None
    network = CheckedTeacher.of(policy, teacher.weights)
    window = max(student.observation.window, policy.observation.window)
    space = _Space(student, window, claim.step)
    low, high = space.histories(progress)
    _witness(claim, network, around, space, low, high)
    return _holds(claim, network, around, space, low, high, progress)


class _Space:
    """The columns of a state: ranges, the student's thresholds, and where histories are cut."""

    def __init__(self, student: Student, window: int, step: int) -> None:
        self.step = step
        if 0 < step < 16:
            raise Refused(f"actions told apart to {step} of 65536 are more than can be followed")
        self.student, self.observation = student, student.observation.with_window(window)
        kinds = self.observation.features
        self.width, self.size = len(kinds), self.observation.size
        self.past = [isinstance(kinds[c % self.width], PreviousAction) for c in range(self.size)]
        observer, nodes, *_ = build_observer(self.observation)
        asked = student.forest.thresholds()
        least, most = student.action.limits_q16()  # type: ignore[union-attr]
        self.range: list[tuple[int, int]] = []
        self.own: list[Integers] = []
        self.cuts: list[Integers] = []
        for c in range(self.size):
            every = sorted({t for k in range(c % self.width, self.size, self.width) for t in asked.get(k, [])})
            if self.past[c]:
                low, high = min(0, least), max(0, most)
                if step:
                    every = sorted({*every, *range(low, high, step)})
            else:
                node = observer.nodes[nodes[c % self.width]]
                top = max(FEATURE_LIMIT - 1, *(t + 1 for t in [0, *every] if t < node.high))
                low, high = min(0, node.low), max(0, min(top, node.high))
            self.range.append((low, high))
            self.own.append(self._within(asked.get(c, []), low, high))
            self.cuts.append(self._within(every, low, high))

    @staticmethod
    def _within(cuts: list[int], low: int, high: int) -> Integers:
        return np.asarray([t for t in cuts if low <= t < high], dtype=np.int64)

    @staticmethod
    def intervals(cuts: Integers, ends: tuple[int, int]) -> Integers:
        """[cells, 2], both ends included."""
        return np.stack([np.append(ends[0], cuts + 1), np.append(cuts, ends[1])], axis=1)

    def newest(self, cuts: list[Integers]) -> Integers:
        """Boxes of all newest signals' cells [M, 2, width]; 0 in the columns of past actions."""
        axes = [
            np.zeros((1, 2), dtype=np.int64) if self.past[c] else self.intervals(cuts[c], self.range[c])
            for c in range(self.width)
        ]
        return np.asarray([np.stack(cells, axis=1) for cells in product(*axes)], dtype=np.int64)

    def histories(self, progress: Callable[[str], None] | None) -> tuple[Integers, Integers]:
        """Boxes [N, size] that hold every history; the newest signals are 0."""
        if not self.step:
            low, high = (np.asarray([[end[k] for end in self.range]], dtype=np.int64) for k in (0, 1))
            signals = [c for c in range(self.width) if not self.past[c]]
            low[:, signals] = high[:, signals] = 0
            return low, high
        newest = self.newest(self.cuts)
        known: dict[bytes, int] = {}
        low = high = np.zeros((0, self.size), dtype=np.int64)
        fresh = np.zeros((1, self.size), dtype=np.int64)
        waiting = self._told(fresh, fresh)
        while len(waiting[0]):
            places, least, most = self._merged(*waiting)
            at = np.asarray([known.setdefault(place.tobytes(), len(known)) for place in places])
            if len(known) > MAX_CELLS:
                raise Refused(f"there are more than {MAX_CELLS} cells of histories")
            added = len(known) - len(low)
            low = np.concatenate([low, np.full((added, self.size), np.iinfo(np.int64).max)])
            high = np.concatenate([high, np.full((added, self.size), -np.iinfo(np.int64).max)])
            wider = ((least < low[at]) | (most > high[at])).any(axis=1)
            low[at], high[at] = np.minimum(low[at], least), np.maximum(high[at], most)
            if progress:
                progress(f"histories again: {len(low)} cells")
            waiting = self._followed(low[at[wider]], high[at[wider]], newest)
        return low, high

    def _merged(self, low: Integers, high: Integers) -> tuple[NDArray[np.int32], Integers, Integers]:
        """Returns the cells [M, size] that hold the low ends of boxes [N, size], ascending, and for each cell the box
        around its boxes."""
        cells, key, keys = self._cells(low), np.zeros(len(low), dtype=np.int64), 1
        for c in range(self.size):
            count = len(self.cuts[c]) + 1
            if keys * count >= MAX_KEYS:
                key, keys = np.unique(key, return_inverse=True)[1].reshape(-1), len(low)
            key, keys = key * count + cells[:, c], keys * count
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        if not len(first):
            return cells, low, high
        return cells[order[first]], np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)

    def _cells(self, rows: Integers) -> NDArray[np.int32]:
        return np.stack([np.searchsorted(self.cuts[c], rows[:, c]) for c in range(self.size)], axis=1).astype(np.int32)

    def _told(self, low: Integers, high: Integers) -> tuple[Integers, Integers]:
        """Past signals anywhere in their cell."""
        low, high = low.copy(), high.copy()
        for c in range(self.width, self.size):
            if not self.past[c]:
                cells = self.intervals(self.cuts[c], self.range[c])[np.searchsorted(self.cuts[c], low[:, c])]
                low[:, c], high[:, c] = cells.T
        return low, high

    def _followed(self, low: Integers, high: Integers, newest: Integers) -> tuple[Integers, Integers]:
        """Returns the successors of histories, whatever is seen: one box at most for each cell and
        each cell of the newest signals."""
        parts: list[tuple[Integers, Integers]] = [(low[:0], high[:0])]
        actions = [c for c in range(self.size) if self.past[c]]
        for cell in newest:
            now = low.copy()
            now[:, : self.width] += np.where(self.past[: self.width], 0, cell[0])
            decided = act(self.student, now[:, : self.student.observation.size])
            for action in [decided] if self.student.start is None else [decided, 0 * decided]:
                after = []
                for ends, place in ((low, 0), (high, 1)):
                    row = np.zeros_like(ends)
                    row[:, self.width :] = ends[:, : self.size - self.width]
                    for c in range(min(self.width, self.size - self.width)):
                        if not self.past[c]:
                            row[:, self.width + c] = cell[place, c]
                    if actions:
                        row[:, actions[1:]], row[:, actions[0]] = ends[:, actions[:-1]], action
                    after.append(row)
                parts.append(self._merged(*self._told(*after))[1:])
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _witness(
    claim: TeacherClaim, network: CheckedTeacher, around: Around, space: _Space, low: Integers, high: Integers
) -> None:
    """The state can be, and is as far out as is said."""
    names = feature_names(space.observation)
    if tuple(sorted(claim.witness)) != tuple(sorted(names)):
        raise Refused("the state of the certificate's distance does not have what student and teacher see")
    signals = {names[c]: list(space.range[c]) for c in range(space.width) if not space.past[c]}
    if claim.signals != signals:
        raise Refused(f"the certificate's distance is of signals {claim.signals}, the student's are {signals}")
    row = np.asarray([[claim.witness[name] for name in names]], dtype=np.int64)
    for c, name in enumerate(names):
        if not space.range[c][0] <= row[0, c] <= space.range[c][1]:
            raise Refused(f"the state of the certificate's distance has {name} = {row[0, c]}, out of its range")
    behind = [c for c in range(space.size) if c >= space.width or space.past[c]]
    if not ((low[:, behind] <= row[0, behind]) & (row[0, behind] <= high[:, behind])).all(axis=1).any():
        raise Refused("no network leads the student into the state of the certificate's distance")
    student = float(act(space.student, row[:, : space.student.observation.size])[0]) / 2**16
    if claim.student != student:
        raise Refused(f"in its state the student's action is {student:+.5f}, the certificate says {claim.student:+.5f}")
    above, below = (_distance(network, around, row[0], student, sign) for sign in (1.0, -1.0))
    least, most = claim.around
    if not (least <= student + below and student - above <= most):
        raise Refused("the teacher's actions around its state are not as the certificate says")
    if claim.reached != max(student - most, least - student, 0.0) or not claim.reached <= claim.bound:
        raise Refused(f"its state is {max(above, below):.6f} outside, the certificate says {claim.reached:.6f}")


def _distance(network: CheckedTeacher, around: Around, row: Integers, student: float, sign: float) -> float:
    """How far at least ``sign`` times the student's action is above the teacher's around a state [columns]."""
    seen = row[None, : network.observation.size].astype(np.float64)
    ends = [network.features(end) for end in around.box(network.observation, seen)]
    return _surely(network, np.minimum(*ends), np.maximum(*ends), student, sign)


def _refused(space: _Space, row: Integers) -> None:
    state = ", ".join(f"{name} = {value}" for name, value in zip(feature_names(space.observation), row, strict=True))
    raise Refused(f"in the state {state} the student may be further outside than the certificate says")


def _surely(network: CheckedTeacher, low: Floats, high: Floats, student: float, sign: float) -> float:
    """How far at least ``sign`` times the student's action is above all of the teacher's over a box, by about 2e-5."""
    waiting, ended, best, rounds = (low, high), float("inf"), float("inf"), 0
    while True:
        least, most = waiting
        signs, actions = np.full(len(least), sign), np.full(len(least), student)
        # The greatest that the teacher reaches, by the least of its negative.
        top = -network.least(least, most, -signs)
        bound = _above(network, actions, top, sign)
        output, rounding = network.value((least + most) / 2)
        best = min(best, float(_above(network, actions, sign * output + rounding, sign).min()))
        ends = bound >= best - 2e-5
        ended = min([float(ended), *map(float, bound[ends])])
        least, most, rounds = least[~ends], most[~ends], rounds + 1
        if not len(least) or len(least) > BATCH_BOXES or rounds == ROUNDS:
            return min([ended, *map(float, bound[~ends])])
        slope = np.maximum(*(np.abs(end) for end in network.slopes(least, most)))
        column = (slope * (most - least)).argmax(axis=1)
        rows = np.arange(len(least))
        middle = (least[rows, column] + most[rows, column]) / 2
        below, above = most.copy(), least.copy()
        below[rows, column] = above[rows, column] = middle
        waiting = np.concatenate([least, above]), np.concatenate([below, most])


def _above(network: CheckedTeacher, student: Floats, output: Floats, sign: float) -> Floats:
    """``sign`` times (student - action) where ``sign`` times the output is this, the tanh's rounding against it."""
    squashed = np.clip(np.tanh(sign * output) + sign * 2.0**-20, -1, 1)
    return np.asarray(sign * (student - (network.action.decided(squashed[:, None])[:, 0] - 1.0)), dtype=np.float64)


def _holds(
    claim: TeacherClaim,
    network: CheckedTeacher,
    around: Around,
    space: _Space,
    low: Integers,
    high: Integers,
    progress: Callable[[str], None] | None,
) -> int:
    """Every state of every history: at most ``claim.bound`` outside."""
    newest, signals = space.newest(space.own), [c for c in range(space.width) if not space.past[c]]
    looked = 0
    for number, cell in enumerate(newest):
        least, most = low.copy(), high.copy()
        least[:, signals], most[:, signals] = cell[0][signals], cell[1][signals]
        action = act(space.student, least[:, : space.student.observation.size]) / 2**16
        for sign in (1.0, -1.0):
            waiting = _CheckedBoxes(least, most, action)
            while len(waiting.low):
                now, waiting = waiting.only(slice(BATCH_BOXES)), waiting.only(slice(BATCH_BOXES, None))
                looked += len(now.low)
                if looked > MAX_BOXES:
                    raise Refused(f"after {MAX_BOXES} boxes of states the distance is not decided")
                left = now.only(_open(claim.bound, network, around, now, sign))
                for n in range(0, len(left.low), 1 + len(left.low) // BATCH_STATES):
                    if _distance(network, around, left.low[n], float(left.action[n]), sign) > claim.bound:
                        _refused(space, left.low[n])
                waiting = _halved(network, around, space, left).joined(waiting)
        if progress:
            progress(f"states again: {number + 1} of {len(newest)} cells of signals, {looked} boxes")
    return looked


@dataclass(frozen=True)
class _CheckedBoxes:
    """Ends [N, columns], both included, and what the student does there [N]."""

    low: Integers
    high: Integers
    action: Floats

    def only(self, rows: "slice | NDArray[np.intp]") -> "_CheckedBoxes":
        return _CheckedBoxes(self.low[rows], self.high[rows], self.action[rows])

    def joined(self, other: "_CheckedBoxes") -> "_CheckedBoxes":
        return _CheckedBoxes(
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
            np.concatenate([self.action, other.action]),
        )


def _open(bound: float, network: CheckedTeacher, around: Around, boxes: _CheckedBoxes, sign: float) -> NDArray[np.intp]:
    """The boxes of which it is not shown that no state is further out than ``bound``."""
    low, high, action = boxes.low, boxes.high, boxes.action
    size, observation = network.observation.size, network.observation
    signs = np.full(len(low), sign)
    furthest = network.outside(action, np.full(len(low), -np.inf), signs)  # whatever the teacher does
    left = np.flatnonzero(furthest > bound)
    first, last = (part[left, :size].astype(np.float64) for part in (low, high))
    (first_low, first_high), (last_low, last_high) = around.box(observation, first), around.box(observation, last)
    if len(left):
        centre = network.features((first_low + last_high) / 2)
        slope = sum(network.slopes(centre, centre)) * sign
        rising = network.features(np.ones((1, size))) > network.features(np.zeros((1, size)))
        towards = np.where((slope > 0) == rising, 1.0, 0.0)
        reached = np.full(len(left), -np.inf)
        for place in (towards, np.full(first.shape, 0.5)):
            seen = [network.features(a + (b - a) * place) for a, b in ((first_low, first_high), (last_low, last_high))]
            reached = np.maximum(reached, network.least(np.minimum(*seen), np.maximum(*seen), signs[left]))
        left_open = network.outside(action[left], reached, signs[left]) > bound
        left, last_low, first_high = left[left_open], last_low[left_open], first_high[left_open]
    common = np.flatnonzero((last_low <= first_high).all(axis=1))
    still = np.ones(len(left), dtype=np.bool_)
    for grid in _grids(size):
        for i in range(0, len(common), 1 + PLACES // len(grid)):
            at = common[i : i + 1 + PLACES // len(grid)]
            places = last_low[at, None] + (first_high - last_low)[at, None] * grid
            value, off = network.value(network.features(places.reshape(-1, size)))
            reached = (sign * value - off).reshape(len(at), -1).max(axis=1)
            still[at] = network.outside(action[left[at]], reached, signs[left[at]]) > bound
        common = common[still[common]]
    return left[still]


def _grids(size: int) -> list[Floats]:
    """Places [N, size] of a box, each 0 to 1 along a side: its corners, which settle most, then more of them."""
    if size > 8:
        return [np.full((1, size), 0.5)]
    steps = np.linspace(0, 1, 5) if size <= 4 else np.array([0.0, 0.5, 1.0])
    return [np.asarray(list(product(sides, repeat=size))) for sides in (np.array([0.0, 1.0]), steps)]


def _halved(network: CheckedTeacher, around: Around, space: _Space, boxes: _CheckedBoxes) -> _CheckedBoxes:
    """Each box in two, in the column in which it is widest beside its neighbourhood; Refused where it is one state."""
    low, high = boxes.low, boxes.high
    if (low == high).all(axis=1).any():
        _refused(space, low[(low == high).all(axis=1)][0])
    size = network.observation.size
    first, last = (part[:, :size].astype(np.float64) for part in (low, high))
    near = around.box(network.observation, first)[1] - around.box(network.observation, first)[0]
    seen = _box(network, first, last)
    slope = np.maximum(*(np.abs(end) for end in network.slopes(*seen)))
    wide = np.zeros(low.shape)
    wide[:, :size] = slope * (seen[1] - seen[0]) + 1e3 * np.maximum((last - first) / np.maximum(near, 1e-9) - 1.0, 0.0)
    wide = np.where(high > low, np.maximum(wide, 1e-12), -1.0)
    wide[:, size:] = np.where(high[:, size:] > low[:, size:], 1e-13, -1.0)
    column, rows = wide.argmax(axis=1), np.arange(len(low))
    least, most = low[rows, column], high[rows, column]
    root = np.sqrt((np.maximum(least, 0) + 1.0) * (np.maximum(most, 0) + 1.0)) - 1.0
    log = ~np.asarray(space.past)[column] & (least >= 0)
    cut = np.clip(np.floor(np.where(log, root, (least + most) / 2)).astype(np.int64), least, most - 1)
    below, above = high.copy(), low.copy()
    below[rows, column], above[rows, column] = cut, cut + 1
    return replace(boxes, high=below).joined(replace(boxes, low=above))


def _box(network: CheckedTeacher, first: Floats, last: Floats) -> tuple[Floats, Floats]:
    ends = network.features(first), network.features(last)
    return np.minimum(*ends), np.maximum(*ends)
