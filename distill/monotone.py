"""Monotone leaves: the least-squares leaves with which every tree is monotone decreasing in some features.

The sum of the trees is then monotone decreasing too. The constraint is stronger than needed (trees could make up for
each other), and makes it a convex problem of as many inequalities as leaves next to a question for the feature:

    min 1/2 x'Gx - r'x   with  x[above] <= x[below]  for each pair

Its dual is a quadratic problem over multipliers m >= 0 alone: with A the inequalities' rows, they minimise
1/2 m'Hm - q'm for H = A G^-1 A' and q = A G^-1 r, and x = G^-1 (r - A'm). It is solved by its active set [NNLS].
"""

from collections.abc import Sequence

import numpy as np
from catboost import CatBoostRegressor

from decision.ir import exact
from decision.ir.arrays import Floats
from distill.quantise import exported

TOLERANCE = 1e-12
"""Rounding leaves so much of a slope, or of a multiplier, that is 0."""

Pairs = list[tuple[int, int]]
"""(below, above): leaves, over all trees, that one question alone tells apart."""


def pairs_of(model: CatBoostRegressor, columns: Sequence[int]) -> Pairs:
    """The leaves beside each question for one of these features: bit i of a leaf's number is question i's answer."""
    pairs: Pairs = []
    first = 0
    for tree in exported(model)["oblivious_trees"]:
        splits = tree["splits"] or []
        for bit, split in enumerate(splits):
            if split["float_feature_index"] in columns:
                pairs += [
                    (first + leaf, first + leaf + (1 << bit)) for leaf in range(1 << len(splits)) if not leaf >> bit & 1
                ]
        first += 1 << len(splits)
    return pairs


def monotone_leaves(gram: Floats, right: Floats, pairs: Pairs) -> Floats:
    """The leaves [leaves] for a positive definite ``gram`` [leaves, leaves] and ``right`` [leaves]."""
    free = exact.solve(gram, right)
    if not pairs:
        return free
    below, above = np.asarray(pairs, dtype=np.intp).T
    rows = np.zeros((len(pairs), len(right)))
    rows[np.arange(len(pairs)), above], rows[np.arange(len(pairs)), below] = 1.0, -1.0
    pushed = exact.solve(gram, rows.T)  # how each multiplier moves the leaves
    push = multipliers(pushed[above] - pushed[below], free[above] - free[below])
    return ordered(free - (pushed * push).cumsum(axis=1)[:, -1], pairs)


def multipliers(h: Floats, q: Floats) -> Floats:
    """The m >= 0 [M] with the least 1/2 m'Hm - q'm for a symmetric ``h`` [M, M], positive semidefinite: Lawson and
    Hanson's active set [NNLS], with every sum in a fixed order."""
    size, enough = len(q), TOLERANCE * max(1.0, float(np.abs(q).max()))
    push, free = np.zeros(size), np.zeros(size, dtype=bool)
    refused = np.zeros(size, dtype=bool)  # what would not push, or depends on those that are free already
    h = h + TOLERANCE * max(1.0, float(h.max())) * np.eye(size)
    while True:
        slope = q - (h * push).cumsum(axis=1)[:, -1]
        slope[free | refused] = -np.inf
        best = int(slope.argmax())
        if slope[best] <= enough:
            return push
        free[best] = True
        while True:
            places = np.flatnonzero(free)
            try:
                wanted = exact.solve(h[np.ix_(places, places)], q[places])
            except ValueError:
                free[best], refused[best] = False, True
                break
            if (wanted > 0).all():
                push[:], refused[:] = 0.0, False
                push[places] = wanted
                refused[best] = not free[best]
                break
            falls = wanted <= 0
            now = push[places]
            step = float((now[falls] / (now[falls] - wanted[falls])).min())
            now = now + step * (wanted - now)
            gone = falls & (now <= TOLERANCE)
            now[gone] = 0.0
            push[:] = 0.0
            push[places] = now
            free[places[gone]] = False


def ordered(leaves: Floats, pairs: Pairs) -> Floats:
    """Returns the leaves without the 1e-12 or so that the solver left of an inequality: rounding must not turn it into
    a unit."""
    below, above = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
    kept = leaves.copy()
    while (kept[above] > kept[below]).any():
        np.minimum.at(kept, above, kept[below])
    return kept
