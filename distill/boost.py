"""Fit CatBoost's symmetric trees to a dataset, then refit all leaves together. Several sums share their trees, with a
value of each in every leaf (MultiRMSE).

Boosting chooses each tree's leaves given the trees before it. Once the splits stand, the best leaves of ALL trees are
one least-squares problem over leaf indicators; with ten trees that is 160 unknowns. It costs nothing at run time.

The same data gives the same model on every processor. That CatBoost has the same splits for the same floats was tried,
not proved (docs/reference/distill.md). The leaves are refitted in decision.ir.exact and rounded to the grid of the
integers: model and integers are equal.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from catboost import CatBoostError, CatBoostRegressor, Pool
from numpy.typing import NDArray

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.arrays import Floats
from decision.ir.formats import ACTION_BITS, FEATURE_LIMIT
from distill.dataset import Dataset
from distill.monotone import monotone_leaves, pairs_of
from distill.options import DistillOptions

THREADS = 2
"""Fixed, not the machine's: sums of floats, and so the trees, depend on it."""

MIN_DECISIONS = 10
"""Decisions that a fit, and the choice between fits, need at the least."""

VOLATILE = {
    "model_guid": "-",
    "train_finish_time": "-",
    "training": "{}",
    "output_options": "{}",
    "catboost_version_info": "-",
}
"""Metadata that differs from run to run, and what stands there instead, so that the same inputs give the same bytes.
CatBoost reads the JSON ones when it loads the model."""


LABEL_OFFSET = 1e-6
"""Seen in float32 beside labels of about 1, and less than half of 2^-16."""

Loss = Callable[[Floats, Floats, Floats], float]
"""Of sums [N, sums] beside labels [N, sums], by weight [N] (decision.policy.actions)."""


def fit(
    data: Dataset,
    options: DistillOptions,
    loss: Loss,
    *,
    seed: int,
    bits: int = ACTION_BITS,
    excluded: Sequence[int] = (),
    decreasing: Sequence[int] = (),
) -> CatBoostRegressor:
    """The learning rate with the least loss on held-out decisions, leaves refitted. ``bits``: fraction bits of leaves
    and bias; ``excluded``: columns of the features that no tree uses; ``decreasing``: of those that raise no
    tree."""
    if np.abs(data.x).max(initial=0) >= FEATURE_LIMIT:
        raise InputError("a feature exceeds 24 bits, which CatBoost's float32 cannot hold exactly")
    train, held = data.split(seed)
    if min(len(train), len(held)) < MIN_DECISIONS:
        raise InputError(f"{len(data)} decisions are too few to distil from; record longer runs or more flows")
    fitted = _fit_each(train, options, seed, excluded, decreasing)
    errors = [loss(sums(model, held.x), held.y, held.weight) for model in fitted]
    return settled(fitted[int(np.argmin(errors))], bits)


def settled(model: CatBoostRegressor, bits: int) -> CatBoostRegressor:
    """The model with leaves and bias rounded to ``bits`` fraction bits, halves up."""
    scale, bias = model.get_scale_and_bias()
    leaves, biases = (np.asarray(values, dtype=np.float64) for values in (model.get_leaf_values(), bias))
    model.set_leaf_values(_rounded(leaves * scale, bits))
    model.set_scale_and_bias(1.0, _rounded(biases, bits).tolist())
    return read_back(model)


def _rounded(values: Floats, bits: int) -> Floats:
    """To the nearest multiple of 2^-``bits``, halves up."""
    rounded: Floats = np.floor(values * 2**bits + 0.5) / 2**bits
    return rounded


def sums(model: CatBoostRegressor, x: NDArray[np.int64]) -> Floats:
    """The model's sums [N, sums] on rows [N, features]."""
    predicted: Floats = np.asarray(model.predict(_floats(x), thread_count=THREADS), dtype=np.float64)
    return predicted.reshape(len(x), -1)


def scrub(model: CatBoostRegressor) -> None:
    """Take out the metadata that differs from run to run."""
    metadata = model.get_metadata()
    for key, neutral in VOLATILE.items():
        if key in list(metadata.keys()):
            metadata[key] = neutral


def _fit_each(
    data: Dataset, options: DistillOptions, seed: int, excluded: Sequence[int] = (), decreasing: Sequence[int] = ()
) -> list[CatBoostRegressor]:
    """Returns the model of each learning rate, leaves refitted. CatBoost's bins are the same for all rates."""
    if (data.y.min(axis=0) == data.y.max(axis=0)).all():
        raise InputError("the teacher decides the same everywhere; there is nothing to distil")
    y, ignored = _uneven(data.y), list(excluded) or None
    models = [
        CatBoostRegressor(
            iterations=options.trees,
            depth=options.depth,
            learning_rate=rate,
            border_count=options.borders,
            loss_function="RMSE" if y.shape[1] == 1 else "MultiRMSE",
            grow_policy="SymmetricTree",
            bootstrap_type="No",
            random_strength=0,
            l2_leaf_reg=1,
            leaf_estimation_iterations=1,
            score_function="L2",
            random_seed=seed,
            thread_count=THREADS,
            allow_writing_files=False,
            verbose=False,
            ignored_features=ignored,
            monotone_constraints=dict.fromkeys(decreasing, -1) if decreasing else None,
        )
        for rate in options.learning_rate
    ]
    try:
        bins = Pool(_floats(data.x), y[:, 0] if y.shape[1] == 1 else y, weight=data.weight, thread_count=THREADS)
        bins.quantize(border_count=options.borders, ignored_features=ignored, random_seed=seed)
        for model in models:
            model.fit(bins)
    except CatBoostError as error:
        raise InputError(f"CatBoost finds no trees for these decisions: {str(error).splitlines()[-1]}") from None
    return [_refit_leaves(model, data, options.ridge, decreasing) for model in models]


def _uneven(y: Floats) -> Floats:
    """The labels as CatBoost takes them: it refuses a sum that is the same everywhere (a row of a choice that is never
    chosen, a knob that stays), so one decision of it is a hair off. Leaves keep nothing of that: they are refitted to
    the labels as they are, and a hair is less than their rounding."""
    uneven = y.copy()
    uneven[0, y.min(axis=0) == y.max(axis=0)] += LABEL_OFFSET
    return uneven


def _refit_leaves(
    model: CatBoostRegressor, data: Dataset, ridge: float, decreasing: Sequence[int] = ()
) -> CatBoostRegressor:
    """Least squares over all leaves at once, with the bias and a small ridge; leaves without data stay as they are.
    ``decreasing``: columns that raise no tree."""
    scale, bias = model.get_scale_and_bias()
    leaves = np.asarray(model.get_leaf_values(), dtype=np.float64).reshape(-1, data.y.shape[1])
    sizes = np.asarray(model.get_tree_leaf_counts(), dtype=np.int64)
    gram, right = _normal_equations(_leaf_columns(model, data), data.y - bias, data.weight, sizes)
    # Ridge towards the boosted leaves, not towards zero: they are what to keep where the data says nothing.
    penalty = ridge * max(float(np.trace(gram)) / len(leaves), 1e-12)
    gram[np.diag_indices_from(gram)] += penalty
    right += penalty * leaves * scale
    solved = monotone_leaves(gram, right[:, 0], pairs_of(model, decreasing)) if decreasing else exact.solve(gram, right)
    model.set_leaf_values((solved / scale).reshape(-1))
    return read_back(model)


def read_back(model: CatBoostRegressor) -> CatBoostRegressor:
    """A model that has predicted goes on with its old leaves; one read back from its bytes does not."""
    with temporary.folder() as folder:
        path = str(folder / "model.cbm")
        model.save_model(path)
        fresh = CatBoostRegressor()
        fresh.load_model(path)
    return fresh


def _leaf_columns(model: CatBoostRegressor, data: Dataset) -> NDArray[np.int64]:
    """Number of the leaf (over all trees) that each row falls into, [N, trees]."""
    indexes = np.asarray(model.calc_leaf_indexes(_floats(data.x), thread_count=THREADS), dtype=np.int64)
    counts = np.asarray(model.get_tree_leaf_counts(), dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    return np.asarray(indexes + first, dtype=np.int64)


def _normal_equations(
    columns: NDArray[np.int64], y: NDArray[np.float64], weight: NDArray[np.float64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gram matrix of the leaf indicators [leaves, leaves] and the right-hand sides [leaves, sums] of ``y`` [N, sums].
    ``sizes`` [trees]: leaves.

    A pair of trees at a time: a row is in one leaf of each, so it counts in their block of the matrix alone.
    """
    ends = np.cumsum(sizes)
    slices = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
    leaf = [column - leaves.start for column, leaves in zip(columns.T, slices, strict=True)]  # each from 0 in its tree
    gram = np.empty((int(ends[-1]), int(ends[-1])))
    right = np.empty((int(ends[-1]), y.shape[1]))
    for a, first in enumerate(slices):
        for k, column in enumerate(y.T):
            right[first, k] = np.bincount(leaf[a], weights=weight * column, minlength=sizes[a])
        for b in range(a, len(slices)):  # the other half is its mirror image
            block = np.bincount(leaf[a] * sizes[b] + leaf[b], weights=weight, minlength=sizes[a] * sizes[b])
            gram[first, slices[b]] = block.reshape(sizes[a], sizes[b])
            gram[slices[b], first] = gram[first, slices[b]].T
    return gram, right


def _floats(x: NDArray[np.int64]) -> NDArray[Any]:
    return np.ascontiguousarray(x, dtype=np.float32)
