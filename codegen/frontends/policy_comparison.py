"""A policy's student held against the library of the model that it was read from.

The library itself predicts rows of the student's features: each threshold, the integers next to it, random ones. A sum
that is off by more than the stated error, or another row of the action's table where the scores are further apart than
that, is an InputError: nothing is written.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codegen.frontends.comparison import (
    COMPARED,
    NOT_ALIKE,
    Comparison,
    Predictions,
    edge_points,
    predicted,
    with_edges,
)
from codegen.frontends.policy_forest import PolicyForest
from codegen.frontends.predictions import LIBRARIES
from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.policy.tree_decision import feature_names

MAX_EDGES, MIN_ROWS = 3000, 1000


def compare_policy(read: PolicyForest, kind: str, content: bytes) -> Comparison:
    """Returns the comparison of the student with its library, if it is installed. ``kind``, ``content``: the format and
    the bytes of the model's file. InputError where they differ."""
    if kind not in LIBRARIES:
        return Comparison("not compared: no library's file")
    library, rows = LIBRARIES[kind][0], edge_rows(read)
    found = predicted(kind, content, read.forest.names, read.rows(rows))
    return Comparison(found, library) if isinstance(found, str) else judged(read, rows, found)


def edge_rows(read: PolicyForest) -> Integers:
    """Rows [N, features] of integers: drawn ones, some with a feature at a threshold or next to it, and the ends."""
    rng = np.random.default_rng(0)
    width = len(feature_names(read.policy.observation))
    low, high = [0] * width, [0] * width
    for column in read.columns:
        if column.feature is not None:
            low[column.feature], high[column.feature] = column.low, column.high
    thresholds = read.integers.thresholds()
    points = edge_points(thresholds, MAX_EDGES, rng)
    count = len(points) + MIN_ROWS
    ends = enumerate(zip(low, high, strict=True))
    rows = np.stack([_drawn(a, b, thresholds.get(f, []), count, rng) for f, (a, b) in ends], axis=1)
    return np.unique(with_edges(rows, points, low, high), axis=0)


def _drawn(low: int, high: int, asked: Sequence[int], count: int, rng: np.random.Generator) -> Integers:
    """Integers of a feature: half anywhere, half around the thresholds ``asked``, where the answers change."""
    anywhere = rng.integers(low, high + 1, count)
    if not asked:
        return anywhere
    near = rng.choice(np.asarray(asked, dtype=np.int64), count) + rng.integers(-2, 4, count)
    return np.where(rng.random(count) < 0.5, anywhere, near)


def judged(read: PolicyForest, rows: Integers, theirs: Predictions) -> Comparison:
    """The comparison on rows of integers; InputError where a difference is beyond what is stated."""
    forest, who = read.integers, f"{theirs.library} {theirs.version}"
    raw = theirs.raw
    if raw.shape != (len(rows), len(read.forest.bias)):
        raise InputError(
            f"{who} gives {raw.shape[1]} raw values a row and the model as read {len(read.forest.bias)}; {NOT_ALIKE}"
        )
    if read.forest.task == "binary":
        raw = np.stack([np.full(len(raw), float(read.forest.cut)), raw[:, 0]], axis=1)
        stated = np.array([2.0**-forest.leaf_bits, read.errors[0]])
    else:
        stated = np.array(read.errors)
        raw = raw * [float(factor) for factor, _ in read.affine] + [float(offset) for _, offset in read.affine]
    sums = forest.evaluate(rows) / 2.0**forest.leaf_bits
    off = np.abs(sums - raw)
    wrong = ~(off <= stated + 2.0**-forest.leaf_bits * (read.forest.task == "binary"))  # also where it is no number
    if wrong.any():
        row, output = (int(n) for n in np.argwhere(wrong)[0])
        raise InputError(
            f"{who} gives {raw[row, output]:.9g} for {_shown(read, rows[row])}, and the model as read "
            f"{sums[row, output]:.9g}, off by more than the stated {stated[output]:.2g} "
            f"({int(wrong.any(axis=1).sum())} of {len(rows)} rows); {NOT_ALIKE}"
        )
    chosen = _same_rows(read, sums, raw, stated)
    largest = tuple(map(float, off.max(axis=0)))
    return Comparison(COMPARED, theirs.library, theirs.version, len(rows), chosen, largest, tuple(map(float, stated)))


def _same_rows(read: PolicyForest, sums: Floats, raw: Floats, stated: Floats) -> int:
    """How many rows of a table were compared: those whose two greatest scores are further apart than the errors."""
    if read.policy.model.output != "row":
        return 0
    greatest: NDArray[np.float64] = np.sort(raw, axis=1)
    sure = greatest[:, -1] - greatest[:, -2] > 2 * stated.max()
    if (sums.argmax(axis=1)[sure] != raw.argmax(axis=1)[sure]).any():
        raise InputError(f"the model as read chooses another row of the table than its library; {NOT_ALIKE}")
    return int(sure.sum())


def _shown(read: PolicyForest, row: Integers) -> str:
    names = feature_names(read.policy.observation)
    parts = [f"{name} = {int(k)}" for name, k in zip(names, row, strict=True)]
    return ", ".join(parts[:6]) + (", .." if len(parts) > 6 else "")
