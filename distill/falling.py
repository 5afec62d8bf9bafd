"""Leaves that fall: the least-squares leaves of which more of a feature never raises a tree.

Each tree then falls in it, and so does their sum. That asks for more than is needed (trees could make up for each
other), and makes it a convex problem of as many inequalities as leaves beside a question for the feature:

    min 1/2 x'Gx - r'x   with  x[above] <= x[below]  for each pair

Its dual is non-negative least squares, which is solved exactly: with G = LL' and A the inequalities' rows, the
multipliers minimise |L^-1 A' m - L^-1 r| for m >= 0, and x = L^-T (L^-1 r - L^-1 A' m).
"""

from collections.abc import Sequence

import numpy as np
from catboost import CatBoostRegressor
from numpy.typing import NDArray
from scipy.linalg import solve_triangular  # type: ignore[import-untyped]
from scipy.optimize import lsq_linear  # type: ignore[import-untyped]

from distill.quantise import exported

Floats = NDArray[np.float64]
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


def solved(gram: Floats, right: Floats, pairs: Pairs) -> Floats:
    """The leaves [leaves] for a positive definite ``gram`` [leaves, leaves] and ``right`` [leaves]."""
    if not pairs:
        return np.asarray(np.linalg.solve(gram, right), dtype=np.float64)
    rows = np.zeros((len(pairs), len(right)))
    for row, (below, above) in enumerate(pairs):
        rows[row, above], rows[row, below] = 1.0, -1.0
    lower = np.linalg.cholesky(gram)
    forces, target = solve_triangular(lower, rows.T, lower=True), solve_triangular(lower, right, lower=True)
    multipliers = lsq_linear(forces, target, (0, np.inf), method="bvls", tol=1e-14).x
    leaves: Floats = solve_triangular(lower.T, target - forces @ multipliers, lower=False)
    return ordered(leaves, pairs)


def ordered(leaves: Floats, pairs: Pairs) -> Floats:
    """What the solver left of an inequality, some 1e-12, taken away: rounding must not turn it into a unit."""
    below, above = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
    kept = leaves.copy()
    while (kept[above] > kept[below]).any():
        np.minimum.at(kept, above, kept[below])
    return kept
