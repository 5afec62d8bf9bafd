"""Fitting: the joint refit never hurts, limits hold, and data that cannot be fitted is refused in one sentence.

Slow: how long fifty trees take.
"""

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.policy.actions import TanhMap
from distill import boost
from distill.dataset import Dataset, join
from distill.options import DistillOptions
from distill.quantise import exported

LOSS = TanhMap(kind="tanh_map", step=0.2).loss
FAST = {"trees": 3, "depth": 2, "learning_rate": [0.5]}


def dataset(x: Any, y: Any, weight: Any = None) -> Dataset:
    x, y = np.asarray(x, dtype=np.int64), np.asarray(y, dtype=np.float64)
    return Dataset(
        x, y.reshape(len(x), -1), np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    )


def rmse(model: CatBoostRegressor, data: Dataset) -> float:
    return LOSS(boost.sums(model, data.x), data.y, data.weight)


def noisy(seed: int, rows: int = 300) -> Dataset:
    rng = np.random.default_rng(seed)
    x = rng.integers(-5000, 5000, size=(rows, 3))
    y = np.tanh(x[:, 0] / 3000) * 0.2 + 0.05 * (x[:, 1] > 40) + rng.normal(0, 0.02, rows)
    return dataset(x, y, rng.uniform(0.1, 3.0, rows))


@settings(max_examples=examples(15))
@given(
    seed=st.integers(0, 10**6),
    trees=st.integers(1, 8),
    depth=st.integers(1, 4),
    rate=st.sampled_from([0.03, 0.3, 1.0]),
    ridge=st.sampled_from([0.0, 1e-9, 1e-4, 1.0, 100.0]),
)
def test_the_refit_never_raises_the_training_error(
    seed: int, trees: int, depth: int, rate: float, ridge: float
) -> None:
    if ridge == 0.0:
        ridge = 1e-12  # leaves of different trees are collinear: without any ridge there is no single solution
    data = noisy(seed)
    before: list[float] = []
    original = boost._refit_leaves

    def watched(model: CatBoostRegressor, rows: Dataset, *rest: Any) -> CatBoostRegressor:
        before.append(rmse(model, rows))
        return original(model, rows, *rest)

    options = DistillOptions(trees=trees, depth=depth, learning_rate=[rate], ridge=ridge)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boost, "_refit_leaves", watched)
        model = boost._fit_each(data, options, seed)[0]
    assert rmse(model, data) <= before[0] * (1 + 1e-9)


def test_the_refit_helps_where_boosting_stopped_early() -> None:
    data = noisy(4)
    options = DistillOptions(trees=4, depth=2, learning_rate=[0.05])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boost, "_refit_leaves", lambda model, *_: model)
        boosted = rmse(boost._fit_each(data, options, 1)[0], data)
    assert rmse(boost._fit_each(data, options, 1)[0], data) < 0.7 * boosted


def test_the_best_learning_rate_on_held_out_rows_wins() -> None:
    data = noisy(5, rows=1000)
    train, held = data.split(1)
    options = DistillOptions(trees=3, depth=2, learning_rate=[1e-6, 0.5], ridge=1e6)  # such a ridge: no refit
    chosen = boost.fit(data, options, LOSS, seed=1)
    errors = [rmse(model, held) for model in boost._fit_each(train, options, 1)]
    assert rmse(chosen, held) == pytest.approx(min(errors), abs=4 / 2**16)  # leaves and bias are rounded
    assert min(errors) < 0.8 * max(errors)


def test_bins_that_all_rates_share_are_those_of_a_fit_to_the_rows() -> None:
    data = noisy(6, rows=200_100)  # beyond 200,000 rows CatBoost draws the ones that its borders come from
    shared = boost._fit_each(data, DistillOptions(trees=2, depth=3, learning_rate=[0.3, 0.7]), 3, excluded=[2])
    alone = CatBoostRegressor(
        iterations=2,
        depth=3,
        learning_rate=0.7,
        border_count=1024,
        bootstrap_type="No",
        random_strength=0,
        l2_leaf_reg=1,
        leaf_estimation_iterations=1,
        score_function="L2",
        random_seed=3,
        thread_count=boost.THREADS,
        ignored_features=[2],
        allow_writing_files=False,
        verbose=False,
    ).fit(data.x.astype(np.float32), data.y[:, 0], sample_weight=data.weight)
    ours, theirs = ([tree["splits"] for tree in exported(model)["oblivious_trees"]] for model in (shared[1], alone))
    assert ours == theirs


@pytest.mark.parametrize(("trees", "depth"), [(1, 1), (3, 4), (10, 2)])
def test_trees_and_depth_are_kept(trees: int, depth: int) -> None:
    model = boost.fit(noisy(6), DistillOptions(trees=trees, depth=depth, learning_rate=[0.4]), LOSS, seed=1)
    assert model.tree_count_ <= trees
    assert max(model.get_tree_leaf_counts()) <= 2**depth


def test_features_over_24_bits_are_refused() -> None:
    data = noisy(7)
    data.x[17, 2] = 2**24 - 1
    boost.fit(data, DistillOptions(**FAST), LOSS, seed=1)
    for value in (2**24, -(2**24)):
        data.x[17, 2] = value
        with pytest.raises(InputError, match="24 bits"):
            boost.fit(data, DistillOptions(**FAST), LOSS, seed=1)


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3])  # the mean of many 0.1 is not 0.1
def test_a_constant_teacher_is_refused(value: float) -> None:
    data = noisy(8)
    with pytest.raises(InputError, match="decides the same"):
        boost.fit(dataset(data.x, np.full(len(data), value)), DistillOptions(**FAST), LOSS, seed=1)


def test_a_sum_that_is_the_same_everywhere_is_fitted_beside_others() -> None:
    """A row of a choice that the teacher never takes, one that it takes now and then, a knob that stays."""
    data = noisy(8)
    taken = (data.x[:, 0] > 0).astype(np.float64)
    several = Dataset(data.x, np.stack([taken, np.zeros(len(data)), np.full(len(data), 0.75)], axis=1), data.weight)
    found = boost.sums(boost.fit(several, DistillOptions(**FAST), LOSS, seed=1), data.x)
    assert np.abs(found[:, 1:] - [0.0, 0.75]).max() < 2**-17
    assert ((found[:, 0] > 0.5) == taken).mean() > 0.99


def test_constant_features_are_refused_in_one_sentence() -> None:
    data = noisy(9)
    with pytest.raises(InputError, match="CatBoost finds no trees") as refused:
        boost.fit(dataset(np.ones_like(data.x), data.y), DistillOptions(**FAST), LOSS, seed=1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_a_handful_of_decisions_is_refused(rows: int) -> None:
    data = noisy(10, rows=rows)
    with pytest.raises(InputError, match="too few"):
        boost.fit(data, DistillOptions(**FAST), LOSS, seed=1)


def test_weights_count() -> None:
    """Half the rows say one thing, half another, of the same point: the heavier half is believed."""
    x = np.tile([[0, 0, 0], [1, 0, 0]], (200, 1))
    y = np.where(np.arange(400) < 200, 0.1, -0.1) * (1 - 0.001 * x[:, 0])
    heavy = dataset(x, y, np.where(np.arange(400) < 200, 1.0, 1e-6))
    model = boost.fit(heavy, DistillOptions(**FAST), LOSS, seed=1)
    assert model.predict(np.zeros((1, 3)))[0] == pytest.approx(0.1, abs=0.001)


def test_runs_weigh_the_same_however_long_they_are() -> None:
    parts = [dataset(np.zeros((n, 3)), np.zeros(n), np.full(n, 1 / n)) for n in (10, 1000, 90)]
    joined = join(parts)
    assert joined.weight.mean() == pytest.approx(1)
    edges = np.cumsum([0, 10, 1000, 90])
    sums = [joined.weight[a:b].sum() for a, b in pairwise(edges)]
    assert sums == pytest.approx([sums[0]] * 3)


@given(sizes=st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=6), seed=st.integers(0, 10**6))
def test_the_normal_equations_are_those_of_the_leaf_indicators(sizes: list[int], seed: int) -> None:
    """Whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    columns = np.stack([rng.integers(end - size, end, 50) for size, end in zip(sizes, ends, strict=True)], axis=1)
    y, weight = rng.integers(-9, 9, (50, 2)).astype(float), rng.integers(1, 9, 50).astype(float)
    indicator = np.zeros((50, ends[-1]))
    np.put_along_axis(indicator, columns, 1.0, axis=1)
    gram, right = boost._normal_equations(columns, y, weight, np.asarray(sizes))
    assert np.array_equal(gram, indicator.T @ (weight[:, None] * indicator))
    assert np.array_equal(right, indicator.T @ (weight[:, None] * y))


@pytest.mark.slow
def test_fifty_trees_of_depth_six_take_seconds() -> None:
    """Each pair of trees once counted over the square of ALL leaves, 1275 x 10 million: that did not end."""
    options = DistillOptions(trees=50, depth=6, learning_rate=[0.4])
    begin = time.process_time()
    model = boost.fit(noisy(11, rows=3000), options, LOSS, seed=1)
    assert sum(model.get_tree_leaf_counts()) > 2000
    assert time.process_time() - begin < 20


def test_several_sums_share_their_trees_and_their_refit_is_each_ones_own() -> None:
    """Trees are grown for all of them; given the trees, each sum's leaves are those that it would get alone."""
    rng = np.random.default_rng(3)
    x = rng.integers(-5000, 5000, size=(2000, 3))
    votes = np.stack([x[:, 0] > 1000, x[:, 1] * x[:, 2] > 0, x[:, 0] + x[:, 1] < 0], axis=1).astype(float)
    data = dataset(x, votes, rng.uniform(0.5, 2.0, 2000))
    options = DistillOptions(trees=6, depth=3, learning_rate=[0.3])
    model = boost.fit(data, options, LOSS, seed=1)
    together = boost.sums(model, data.x)
    assert together.shape == (2000, 3)
    assert len(np.asarray(model.get_leaf_values())) == 3 * sum(model.get_tree_leaf_counts())
    chosen = np.argmax(together, axis=1) == np.argmax(votes, axis=1)
    assert chosen.mean() > np.bincount(np.argmax(votes, axis=1)).max() / 2000 + 0.1
    columns = boost._leaf_columns(model, data)
    sizes = np.asarray(model.get_tree_leaf_counts())
    for k in range(3):
        gram, right = boost._normal_equations(columns, data.y[:, k : k + 1], data.weight, sizes)
        both, rights = boost._normal_equations(columns, data.y, data.weight, sizes)
        np.testing.assert_array_equal(gram, both)
        np.testing.assert_array_equal(right[:, 0], rights[:, k])


def test_the_learning_rate_with_the_least_loss_is_taken() -> None:
    data, asked = noisy(1), []

    def loss(sums: Any, label: Any, weight: Any) -> float:
        asked.append(sums)
        return float(len(asked) != 2)

    options = DistillOptions(trees=3, depth=2, learning_rate=[0.1, 0.4, 0.9])
    chosen = boost.fit(data, options, loss, seed=1)
    assert len(asked) == 3
    np.testing.assert_allclose(boost.sums(chosen, data.split(1)[1].x), asked[1], atol=4 / 2 / 2**16)


@pytest.mark.parametrize("bits", [8, 16])
def test_leaves_and_bias_are_on_the_grid_of_the_integers(bits: int) -> None:
    model = boost.fit(noisy(2), DistillOptions(trees=3, depth=2, learning_rate=[0.4]), LOSS, seed=1, bits=bits)
    scale, bias = model.get_scale_and_bias()
    units = np.append(model.get_leaf_values(), bias) * 2**bits
    assert scale == 1.0
    assert np.array_equal(units, np.rint(units))
    assert np.unique(units).size > 3
