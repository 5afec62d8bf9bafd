"""From CatBoost's floats to the exact integer forest, and the check that nothing but leaf rounding was lost.

Thresholds: features are integers k, so ``k > border`` is ``k > floor(border)``, exactly. Leaves: rounded once, to
``leaf_bits`` fraction bits; the bias too. The value therefore differs from CatBoost's by at most (trees + 1) / 2 units
of 2^-leaf_bits; of a student's model, whose leaves are on that grid, by nothing.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from catboost import CatBoostRegressor
from numpy.typing import NDArray

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.ir.forest import Forest, Leaf, Node, Question, oblivious, unrolled
from decision.ir.formats import FEATURE_LIMIT


@dataclass(frozen=True)
class Exactness:
    """Result of the check: on ``points`` grid points all leaf indexes agreed, and the greatest error of the value."""

    points: int
    declared_error: float
    greatest_error: float


def quantise(model: CatBoostRegressor, features: tuple[str, ...], leaf_bits: int) -> Forest:
    """The integer forest of a fitted model over integer features."""
    content = exported(model)
    scale, biases = content["scale_and_bias"]
    trees = tuple(_tree(tree, len(biases), Fraction(scale), leaf_bits) for tree in content["oblivious_trees"])
    return Forest(features, trees, tuple(_round(Fraction(bias), leaf_bits) for bias in biases), leaf_bits)


def exported(model: CatBoostRegressor) -> dict[str, Any]:
    """Returns CatBoost's own JSON export of a model's trees."""
    with temporary.folder() as folder:
        path = folder / "model.json"
        model.save_model(str(path), format="json")
        content: dict[str, Any] = json.loads(path.read_text())
    return content


def declared_error(forest: Forest) -> float:
    """Half a unit for each leaf and for the bias."""
    return (len(forest.trees) + 1) / 2 / (1 << forest.leaf_bits)


def check(model: CatBoostRegressor, forest: Forest, x: NDArray[np.int64], *, seed: int) -> Exactness:
    """Hold the forest to CatBoost on the rows ``x`` and on edge points: each threshold, one below, one above.

    InputError where a point falls into another leaf, or where a value differs by more than the declared error. Leaves
    that no point falls into are compared too.
    """
    _check_leaves(model, forest)
    points = np.concatenate([x, edge_points(forest, x, seed=seed)])
    floats = points.astype(np.float32)
    theirs = np.asarray(model.calc_leaf_indexes(floats), dtype=np.int64)
    for number, (questions, _) in enumerate(map(_parts, forest.trees)):
        ours = sum((points[:, f] > t).astype(np.int64) << i for i, (f, t) in enumerate(questions))
        wrong = np.flatnonzero(ours != theirs[:, number])
        if wrong.size:
            raise InputError(f"tree {number} takes another leaf than CatBoost at {points[wrong[0]].tolist()}")
    predicted = np.asarray(model.predict(floats), dtype=np.float64).reshape(len(points), -1)
    error = np.abs(forest.evaluate(points) / 2**forest.leaf_bits - predicted).max(initial=0.0)
    declared = declared_error(forest)
    if error > declared * (1 + 1e-9) + 1e-12:
        raise InputError(f"the integer forest differs from CatBoost by {error:.3g}, more than {declared:.3g}")
    return Exactness(len(points), declared, float(error))


def check_equal(model: CatBoostRegressor, forest: Forest, x: NDArray[np.int64], *, seed: int) -> int:
    """The same of a model whose leaves are on the grid: every value is equal. Returns the number of points."""
    found = check(model, forest, x, seed=seed)
    if found.greatest_error > 0:
        raise InputError(f"the integer forest differs from CatBoost by {found.greatest_error:.3g}, and should not")
    return found.points


def _check_leaves(model: CatBoostRegressor, forest: Forest) -> None:
    """Every leaf and every bias within half a unit of the model's."""
    scale, bias = model.get_scale_and_bias()
    theirs = np.append(np.asarray(model.get_leaf_values(), dtype=np.float64) * scale, bias)
    leaves = [v for tree in forest.trees for leaf in _parts(tree)[1] for v in leaf.value]
    ours = np.array([*leaves, *forest.bias], dtype=np.float64)
    if ours.size != theirs.size:
        one = forest.outputs
        raise InputError(f"the integer forest has {len(leaves) // one} leaves, CatBoost's {theirs.size // one - 1}")
    wrong = np.flatnonzero(np.abs(ours - theirs * 2**forest.leaf_bits) > 0.5 + 1e-6)
    if wrong.size:
        what = "the bias" if wrong[0] >= len(leaves) else f"leaf {wrong[0] // forest.outputs}"
        raise InputError(f"{what} of the integer forest is not CatBoost's, rounded")


def edge_points(forest: Forest, x: NDArray[np.int64], *, seed: int, copies: int = 8) -> NDArray[np.int64]:
    """Rows of ``x`` with one feature put on a threshold, one below, one above; and rows with all features so."""
    rng = np.random.default_rng(seed)
    thresholds = forest.thresholds()
    rows = []
    for feature, values in thresholds.items():
        for value in values:
            for step in (-1, 0, 1):
                part = x[rng.integers(0, len(x), size=copies)].copy()
                part[:, feature] = np.clip(value + step, -FEATURE_LIMIT + 1, FEATURE_LIMIT - 1)
                rows.append(part)
    combined = x[rng.integers(0, len(x), size=4096)].copy()
    for feature, values in thresholds.items():
        steps = rng.integers(-1, 2, size=len(combined))
        combined[:, feature] = np.clip(
            rng.choice(values, size=len(combined)) + steps, 1 - FEATURE_LIMIT, FEATURE_LIMIT - 1
        )
    return np.concatenate([*rows, combined])


def _tree(tree: dict[str, Any], outputs: int, scale: Fraction, leaf_bits: int) -> Node:
    splits = []
    for split in tree["splits"]:
        if split.get("split_type") != "FloatFeature":
            raise InputError(f"the model has a {split.get('split_type')} split; only numeric features can be emitted")
        splits.append((int(split["float_feature_index"]), floor(Fraction(split["border"]))))
    values = [_round(scale * Fraction(leaf), leaf_bits) for leaf in tree["leaf_values"]]
    return oblivious(splits, [tuple(values[i : i + outputs]) for i in range(0, len(values), outputs)])


def _parts(tree: Node) -> tuple[tuple[Question, ...], tuple[Leaf, ...]]:
    """Questions and leaves of an oblivious tree, as CatBoost counts them."""
    shape = unrolled(tree)
    assert shape is not None
    return shape


def _round(value: Fraction, bits: int) -> int:
    """To the nearest integer multiple of 2^-bits, halves up."""
    return floor(value * (1 << bits) + Fraction(1, 2))
