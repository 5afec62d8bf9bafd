"""A table as a student: each of a few features lies in one of the intervals between its thresholds, and each cell of
those intervals holds a value.

    congestion      0 .. 1231 .. 4096 .. 8192 ..             thresholds whose constants take one instruction
    decided         values[interval now, interval a decision ago]

Everything after it reads trees, so the table is written as one: nested questions that halve the thresholds of the
first feature, then those of the next. Its value is the cell's, rounded once.

Where the thresholds lie: with the others' intervals as they are, the best ones of a feature are found exactly, by
dynamic programming over candidates; then those of the next feature, and again, ``PASSES`` times.

    best[n][e] = max over s < e of  best[n - 1][s] + what a mean in each cell of (s, e] explains of the labels

An older age of a feature takes its thresholds among those of the newer one: one search then places both
(codegen/passes/ranks.py).

What the cells hold: their mean label, beside as many decisions as ``prior`` says of what trees decide in the middle of
the cell (``cells``), or the sums of CatBoost's trees of depth 2, grown over the intervals (``catboost``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import prod

import numpy as np
from catboost import CatBoostRegressor
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.forest import Branch, Forest, Leaf, Node
from decision.ir.formats import FEATURE_LIMIT
from distill import boost
from distill.dataset import Dataset
from distill.options import DistillOptions
from distill.quantise import Exactness, declared_error, edge_points

PASSES = 3
APART = 1 / 40
"""Least distance of candidates, of their size: a threshold need not be more exact, and programming is quadratic."""
SHORT = 2046
"""The greatest threshold that is compared with, from above or from below, by an immediate of 12 bits."""
UPPER = 1 << 12
"""What `lui` counts in."""

Places = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Table:
    """``thresholds`` of each of the ``features`` (columns of the observation), ascending; ``values`` [intervals of the
    first, of the second, ..] as they were fitted."""

    features: tuple[int, ...]
    thresholds: Places
    values: Floats

    def lookup(self, x: Integers) -> Floats:
        """The values at rows [N, features of the observation]."""
        found: Floats = self.values[tuple(_intervals(x, self.features, self.thresholds))]
        return found

    def forest(self, names: tuple[str, ...], leaf_bits: int) -> Forest:
        """The same as one tree."""
        units = np.floor(self.values * (1 << leaf_bits) + 0.5).astype(np.int64)  # halves up, as leaves of trees
        return Forest(names, (_nested(self.features, self.thresholds, units),), (0,), leaf_bits)


def fit(
    data: Dataset, options: DistillOptions, loss: boost.Loss, names: Sequence[str], width: int, *, seed: int
) -> Table:
    """The table of ``options.table``. ``width``: features of one decision, of which the columns are ages."""
    asked = options.table
    assert asked is not None, "DistillOptions let no table go without its thresholds"
    features = tuple(sorted(names.index(name) for name in asked.thresholds))
    counts = [asked.thresholds[names[feature]] for feature in features]
    places = placed(data, features, counts, width, asked.dear)
    if asked.fit == "catboost":
        grown = options.model_copy(update={"trees": asked.trees, "depth": 2, "borders": max(counts) + 1})
        grow = partial(boost.fit, options=grown, loss=loss, seed=seed)
        return Table(features, places, _grown(data, features, places, grow))
    without = [names.index(name) for name in options.without]
    trees = boost.fit(data, options, loss, seed=seed, without=without)
    prior = boost.sums(trees, _middles(data, features, places))[:, 0]
    return Table(features, places, _means(data, features, places, prior, asked.prior))


def cheap(threshold: int) -> bool:
    """Whether a core of RV32 has the constant that this is compared with in one instruction: within 12 bits, in the
    upper 20 alone, or beside a power of two, where it shifts instead."""
    power = threshold + 1
    return -UPPER // 2 <= threshold <= SHORT or threshold % UPPER == 0 or (power > 0 and power & (power - 1) == 0)


def placed(data: Dataset, features: Sequence[int], counts: Sequence[int], width: int, dear: int) -> Places:
    """The thresholds of each feature, at most so many, of which ``dear`` may take two instructions."""
    newest = {f: next((g for g in features if g < f and (f - g) % width == 0), None) for f in features}
    free = {f: _candidates(data.x[:, f]) for f in features}
    places = {f: _quantiles(data.x[:, f], n) for f, n in zip(features, counts, strict=True)}
    for _ in range(PASSES):
        for f, count in zip(features, counts, strict=True):
            newer = newest[f]
            others = [g for g in features if g != f]
            cell = _cell(data.x, others, [places[g] for g in others])
            candidates = free[f] if newer is None else places[newer]
            allowed = dear if newer is None else len(candidates)
            places[f] = best(data, data.x[:, f], cell, candidates, count, allowed)
    return tuple(places[f] for f in features)


def best(
    data: Dataset, x: Integers, cell: Integers, candidates: Sequence[int], count: int, dear: int
) -> tuple[int, ...]:
    """At most ``count`` of the candidates (ascending), at most ``dear`` of them not cheap, for a feature ``x`` [N]
    whose rows lie in these cells of all other features [N]: those that leave the least squares of the labels."""
    count, ends = min(count, len(candidates)), len(candidates) + 1
    if count == 0:
        return ()
    gain = _explained(data, np.searchsorted(np.asarray(candidates), x, side="left"), cell, ends)
    costs = [0 if cheap(threshold) else 1 for threshold in candidates]
    allowed = min(dear, sum(costs))
    # reached[d][e]: explained of the first e intervals by so many thresholds, d of them dear, the last behind e.
    reached = np.full((allowed + 1, ends + 1), -np.inf)
    reached[0, 0] = 0.0
    back: list[NDArray[np.intp]] = []
    finished: list[tuple[float, int]] = []
    for number in range(count + 1):
        whole = reached + gain[:, ends][None, :]
        finished.append((float(whole.max()), int(whole.argmax())))
        if number == count:
            break
        sums = reached[:, :, None] + gain[None, :, :]
        start, value = sums.argmax(axis=1), sums.max(axis=1)
        reached = np.full_like(reached, -np.inf)
        taken = np.zeros(reached.shape, dtype=np.intp)
        for e, cost in enumerate(costs, start=1):
            for d in range(cost, allowed + 1):
                reached[d, e], taken[d, e] = value[d - cost, e], start[d - cost, e]
        back.append(taken)
    number = max(range(count + 1), key=lambda n: finished[n][0])
    d, e = divmod(finished[number][1], ends + 1)
    chosen = []
    for taken in reversed(back[:number]):
        chosen.append(candidates[e - 1])
        d, e = d - costs[e - 1], int(taken[d, e])
    return tuple(int(t) for t in reversed(chosen))


def check(table: Table, forest: Forest, x: Integers, *, seed: int) -> Exactness:
    """Hold the forest to the table on the rows ``x``, in every cell, and at each threshold, one below, one above.
    InputError where they differ by more than the leaf's rounding and the bias's."""
    points = np.concatenate([x, _corners(table, x.shape[1]), edge_points(forest, x, seed=seed)])
    unit = 1 << forest.leaf_bits
    theirs = table.lookup(points) + forest.bias[0] / unit
    error = float(np.abs(forest.evaluate(points)[:, 0] / unit - theirs).max(initial=0.0))
    declared = declared_error(forest)
    if error > declared * (1 + 1e-9) + 1e-12:
        raise InputError(f"the tree differs from its table by {error:.3g}, more than {declared:.3g}")
    return Exactness(len(points), declared, error)


def _explained(data: Dataset, interval: Integers, cell: Integers, ends: int) -> Floats:
    """What one mean a cell explains of the labels' squares [ends + 1, ends + 1] in the intervals s..e - 1; nothing
    where e <= s."""
    cells = int(cell.max(initial=0)) + 1
    index = interval * cells + cell
    label = data.y[:, 0]
    weight, total = (
        np.concatenate(
            [
                np.zeros((1, cells)),
                np.bincount(index, part, ends * cells).reshape(ends, cells).cumsum(axis=0),
            ]
        )
        for part in (data.weight, data.weight * label)
    )
    gain = np.full((ends + 1, ends + 1), -np.inf)
    for start in range(ends):
        inside, added = weight[start + 1 :] - weight[start], total[start + 1 :] - total[start]
        gain[start, start + 1 :] = (added**2 / np.maximum(inside, 1e-12)).sum(axis=1)
    return gain


def _candidates(x: Integers) -> tuple[int, ...]:
    """Thresholds that tell some rows apart, ``APART``: every cheap one, and others between those."""
    low, high = int(x.min()), int(x.max())
    powers = [2**k - 1 for k in range(1, 25)]
    uppers = range(-(-low // UPPER) * UPPER, high, UPPER)
    constants = sorted({*range(max(low, -UPPER // 2), min(high, SHORT + 1)), *uppers, *powers})
    kept = _thinned([t for t in constants if low <= t < high])
    return tuple(sorted({*kept, *(t for a, b in pairwise(kept) for t in _steps(a, b))}))


def _steps(low: int, high: int) -> list[int]:
    """Values between two candidates that lie far apart, ``APART``."""
    steps, at = [], low
    while (at := at + max(1, round(abs(at) * APART))) < high - abs(high) * APART / 2:
        steps.append(at)
    return steps


def _thinned(values: Sequence[int]) -> list[int]:
    kept: list[int] = []
    for value in values:
        if not kept or value - kept[-1] >= abs(value) * APART:
            kept.append(value)
    return kept


def _quantiles(x: Integers, count: int) -> tuple[int, ...]:
    """Where the first pass begins."""
    cuts = np.quantile(x, np.linspace(0, 1, count + 2)[1:-1])
    return tuple(sorted({int(cut) for cut in cuts}))


def _intervals(x: Integers, features: Sequence[int], thresholds: Sequence[Sequence[int]]) -> list[Integers]:
    return [
        np.searchsorted(np.asarray(t, dtype=np.int64), x[:, f], side="left")
        for f, t in zip(features, thresholds, strict=True)
    ]


def _cell(x: Integers, features: Sequence[int], thresholds: Sequence[Sequence[int]]) -> Integers:
    """The number of the cell that each row lies in, the last feature's intervals side by side."""
    number = np.zeros(len(x), dtype=np.int64)
    for interval, t in zip(_intervals(x, features, thresholds), thresholds, strict=True):
        number = number * (len(t) + 1) + interval
    return number


def _means(data: Dataset, features: tuple[int, ...], places: Places, prior: Floats, decisions: float) -> Floats:
    """The weighted mean of each cell and of so many decisions that its prior [cells] decides."""
    shape = tuple(len(t) + 1 for t in places)
    cell = _cell(data.x, features, places)
    weight = np.bincount(cell, data.weight, prod(shape))
    total = np.bincount(cell, data.weight * data.y[:, 0], prod(shape))
    values: Floats = (total + decisions * prior) / (weight + decisions)
    return values.reshape(shape)


def _grown(
    data: Dataset, features: tuple[int, ...], places: Places, grow: Callable[[Dataset], CatBoostRegressor]
) -> Floats:
    """The sums of trees that are grown over the intervals' numbers: each border of those is a threshold."""
    shape = tuple(len(t) + 1 for t in places)
    intervals = np.stack(_intervals(data.x, features, places), axis=1).astype(np.int64)
    model = grow(Dataset(intervals, data.y, data.weight))
    grid = np.stack([axis.reshape(-1) for axis in np.indices(shape)], axis=1).astype(np.int64)
    return boost.sums(model, grid).reshape(shape)


def _middles(data: Dataset, features: tuple[int, ...], places: Places) -> Integers:
    """A row in each cell [cells, features of the observation]: the mean of an interval's rows, or its middle where
    there are none; 0 for what the table does not ask for."""
    middles = []
    for f, thresholds in zip(features, places, strict=True):
        low, high = int(data.x[:, f].min()), int(data.x[:, f].max())
        ends = [min(low, thresholds[0] if thresholds else low) - 1, *thresholds, max(high, *thresholds, low)]
        interval = np.searchsorted(np.asarray(thresholds, dtype=np.int64), data.x[:, f], side="left")
        weight = np.bincount(interval, data.weight, len(thresholds) + 1)
        total = np.bincount(interval, data.weight * data.x[:, f], len(thresholds) + 1)
        middles.append(
            [
                round(total[n] / weight[n]) if weight[n] > 0 else (ends[n] + 1 + ends[n + 1]) // 2
                for n in range(len(thresholds) + 1)
            ]
        )
    return _rows(features, middles, data.x.shape[1])


def _corners(table: Table, columns: int) -> Integers:
    """A row in each cell, at its upper end."""
    ends = [[*t, min(t[-1] + 1, FEATURE_LIMIT - 1) if t else 0] for t in table.thresholds]
    return _rows(table.features, ends, columns)


def _rows(features: Sequence[int], values: Sequence[Sequence[int]], columns: int) -> Integers:
    """Every combination of the features' values, the last feature's side by side."""
    grid = np.meshgrid(*(np.asarray(v, dtype=np.int64) for v in values), indexing="ij")
    rows = np.zeros((prod(map(len, values)), columns), dtype=np.int64)
    for feature, column in zip(features, grid, strict=True):
        rows[:, feature] = column.reshape(-1)
    return rows


def _nested(features: Sequence[int], thresholds: Sequence[Sequence[int]], units: Integers) -> Node:
    """The tree of a table: questions that halve the first feature's thresholds, below them those of the next."""
    if not features:
        return Leaf((int(units),))
    feature, borders = features[0], thresholds[0]

    def between(first: int, last: int) -> Node:
        if first == last:
            return _nested(features[1:], thresholds[1:], units[first])
        middle = (first + last) // 2
        return Branch(feature, borders[middle], between(middle + 1, last), between(first, middle))

    return between(0, len(borders))
