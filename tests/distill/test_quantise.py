"""Quantisation loses nothing but the declared leaf rounding, and the check that says so catches every kind of slip."""

import json
from dataclasses import replace
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, Node, oblivious, unrolled
from distill import quantise

BITS = 16
LIMIT = 2**24 - 1
NAMES = ("a", "b", "c")
# Borders as CatBoost makes them (midpoints) and as it may be given them: negative, whole, a hair beside a whole.
BORDERS = st.one_of(
    st.integers(-20, 20).map(float),
    st.integers(-2000, 2000).map(lambda n: n / 4),
    st.integers(-LIMIT + 2, LIMIT - 2).map(float),
    st.sampled_from([0.0, -0.0, -0.5, 0.5, -1.0, float(np.nextafter(np.float32(3), np.float32(0))), 8388607.5]),
)


def model_of(trees: list[tuple[list[tuple[int, float]], list[float]]], scale: float, bias: float) -> CatBoostRegressor:
    """A CatBoost model with exactly these (splits, leaves), through CatBoost's own JSON reader."""
    rng = np.random.default_rng(0)
    x = rng.integers(-50, 50, size=(60, len(NAMES))).astype(np.float32)
    seed_model = CatBoostRegressor(iterations=1, depth=1, verbose=False, allow_writing_files=False, thread_count=1)
    seed_model.fit(x, x.sum(axis=1))
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.json")
        seed_model.save_model(path, format="json")
        content: dict[str, Any] = json.loads(Path(path).read_text())
        borders: list[list[float]] = [sorted({b for s, _ in trees for f, b in s if f == i}) for i in range(len(NAMES))]
        first = np.cumsum([0, *(len(b) for b in borders)])
        for info, values in zip(content["features_info"]["float_features"], borders, strict=True):
            info["borders"] = values
        content["oblivious_trees"] = [
            {
                "leaf_values": leaves,
                "leaf_weights": [1] * len(leaves),
                "splits": [
                    {
                        "border": border,
                        "float_feature_index": feature,
                        "split_index": int(first[feature]) + borders[feature].index(border),
                        "split_type": "FloatFeature",
                    }
                    for feature, border in splits
                ],
            }
            for splits, leaves in trees
        ]
        content["scale_and_bias"] = [scale, [bias]]
        Path(path).write_text(json.dumps(content))
        model = CatBoostRegressor()
        model.load_model(path, format="json")
    return model


@st.composite
def models(draw: st.DrawFn) -> tuple[CatBoostRegressor, list[tuple[int, float]]]:
    splits_of_trees = draw(
        st.lists(st.lists(st.tuples(st.integers(0, 2), BORDERS), min_size=1, max_size=4), min_size=1, max_size=4)
    )
    leaf = st.floats(-0.4, 0.4)
    trees = [
        ([(f, float(np.float32(b))) for f, b in splits], draw(st.lists(leaf, min_size=n, max_size=n)))
        for splits in splits_of_trees
        for n in [2 ** len(splits)]
    ]
    model = model_of(trees, draw(st.sampled_from([1.0, 0.37, 2.0, -1.0])), draw(st.floats(-0.3, 0.3)))
    return model, [split for splits, _ in trees for split in splits]


@settings(max_examples=examples(60))
@given(models())
def test_every_border_and_its_neighbours_decide_as_in_catboost(
    found: tuple[CatBoostRegressor, list[tuple[int, float]]],
) -> None:
    model, borders = found
    ensemble = quantise.quantise(model, NAMES, BITS)
    assert [question for t in ensemble.trees for question in unrolled(t)[0]] == [(f, floor(b)) for f, b in borders]
    near = sorted({k for _, b in borders for k in (floor(b) - 1, floor(b), floor(b) + 1, ceil(b), ceil(b) + 1)})
    near = [k for k in near if abs(k) <= LIMIT]
    rng = np.random.default_rng(1)
    points = rng.choice(np.array(near), size=(400, len(NAMES)))
    for feature, border in borders:  # x == border on the grid, and both sides of it
        points = np.concatenate([points, np.repeat(points[:1], 3, axis=0)])
        points[-3:, feature] = np.clip([floor(border), floor(border) + 1, ceil(border) - 1], -LIMIT, LIMIT)
    theirs = model.predict(points.astype(np.float32), thread_count=1)
    ours = ensemble.evaluate(points)[:, 0] / 2**BITS
    assert np.abs(ours - theirs).max() <= (len(ensemble.trees) + 1) / 2 / 2**BITS + 1e-12
    found_exactness = quantise.check(model, ensemble, points, seed=3)
    assert found_exactness.greatest_error <= found_exactness.declared_error
    assert found_exactness.points > len(points)


@pytest.mark.parametrize("border", [-3.5, -3.0, -0.5, 0.0, 0.5, 3.0, 3.5])
def test_a_border_is_strict_on_both_sides_of_zero(border: float) -> None:
    model = model_of([([(0, border)], [0.0, 0.25])], 1.0, 0.0)
    (tree,) = quantise.quantise(model, NAMES, BITS).trees
    for k in range(-6, 7):
        assert (k > tree.threshold) == (k > border)
        row = np.array([[k, 0, 0]])
        assert quantise.quantise(model, NAMES, BITS).evaluate(row)[0, 0] == (2**14 if k > border else 0)


def test_leaves_are_rounded_once_with_the_scale_and_the_bias_is_added_once() -> None:
    unit = 2.0**-BITS
    model = model_of([([(0, 0.5)], [0.3 * unit, 0.2 * unit])], 2.0, 10.4 * unit)
    ensemble = quantise.quantise(model, NAMES, BITS)
    assert ensemble.trees[0] == oblivious(((0, 0),), (1, 0))  # 0.6 and 0.4 units: scaled, THEN rounded
    assert ensemble.bias == (10,)


def test_the_json_and_the_model_agree_about_a_real_fit(fitted: Any) -> None:
    assert quantise.quantise(fitted.model, fitted.student.forest.features, BITS) == fitted.student.forest


# --- mutants: the check must catch each ------------------------------------------------------------------------------


def mutants(e: Forest) -> dict[str, Forest]:
    """One slip each: a threshold or a leaf off by one, another feature, a tree dropped or twice, the bias."""
    found: dict[str, Forest] = {}

    def with_tree(index: int, tree: Node) -> Forest:
        return replace(e, trees=(*e.trees[:index], tree, *e.trees[index + 1 :]))

    for i, tree in enumerate(e.trees):
        splits, ends = unrolled(tree)
        leaves = [leaf.value[0] for leaf in ends]
        for j, (feature, threshold) in enumerate(splits):
            others = {f"threshold {step:+d}": (feature, threshold + step) for step in (-1, 1)}
            for name, other in (others | {"other feature": ((feature + 1) % len(e.features), threshold)}).items():
                mutant = oblivious((*splits[:j], other, *splits[j + 1 :]), leaves)
                found[f"tree {i} split {j} {name}"] = with_tree(i, mutant)
        for j, leaf in enumerate(leaves):
            mutant = oblivious(splits, (*leaves[:j], leaf + 1, *leaves[j + 1 :]))
            found[f"tree {i} leaf {j} one unit more"] = with_tree(i, mutant)
        found[f"tree {i} dropped"] = replace(e, trees=(*e.trees[:i], *e.trees[i + 1 :]))
        found[f"tree {i} twice"] = replace(e, trees=(*e.trees, tree))
    found["bias one unit less"] = replace(e, bias=(e.bias[0] - 1,))
    return found


def test_the_check_catches_every_mutant_of_a_real_student(fitted: Any, runs: list[Any], teacher: Any) -> None:
    x, _ = runs[0].trajectories.integer_rows(fitted.student.observation, teacher.policy.params())
    quantise.check(fitted.model, fitted.student.forest, x, seed=1)
    survivors = []
    for name, mutant in mutants(fitted.student.forest).items():
        try:
            quantise.check(fitted.model, mutant, x, seed=1)
        except InputError:
            continue
        survivors.append(name)
    assert survivors == []


def test_a_leaf_that_no_row_falls_into_is_compared_too() -> None:
    # x > 10 without x > 0: no point can take that leaf, so only the leaves themselves can tell.
    model = model_of([([(0, 0.5), (0, 10.5)], [0.1, 0.2, 0.3, 0.4])], 1.0, 0.0)
    ensemble = quantise.quantise(model, NAMES, BITS)
    splits, ends = unrolled(ensemble.trees[0])
    leaves = [leaf.value[0] + (place == 2) for place, leaf in enumerate(ends)]
    wrong = replace(ensemble, trees=(oblivious(splits, leaves),))
    with pytest.raises(InputError, match="leaf 2"):
        quantise.check(model, wrong, np.zeros((4, 3), dtype=np.int64), seed=1)


def test_several_outputs_have_a_value_each_in_every_leaf() -> None:
    """Shared trees: leaf by leaf, output by output, as CatBoost adds them up; and a slip in one of them is seen."""
    rng = np.random.default_rng(0)
    x = rng.integers(-100, 100, (500, 3))
    y = np.stack([x[:, 0] > 3, x[:, 1] * x[:, 2] > 0, x[:, 0] < -10], axis=1).astype(float)
    model = CatBoostRegressor(
        iterations=4, depth=2, loss_function="MultiRMSE", thread_count=1, allow_writing_files=False, verbose=False
    )
    model.fit(x.astype(np.float32), y)
    forest = quantise.quantise(model, ("a", "b", "c"), 20)
    assert forest.outputs == 3
    found = quantise.check(model, forest, x, seed=1)
    assert found.greatest_error < found.declared_error
    wrong = replace(forest, bias=(forest.bias[0], forest.bias[1] + 1, forest.bias[2]))
    with pytest.raises(InputError, match=r"bias .*CatBoost's"):
        quantise.check(model, wrong, x, seed=1)
    questions, leaves = unrolled(forest.trees[1])
    values = [leaf.value for leaf in leaves]
    values[2] = (values[2][0], values[2][1], values[2][2] - 1)
    slipped = replace(forest, trees=(forest.trees[0], oblivious(questions, values), *forest.trees[2:]))
    with pytest.raises(InputError, match=r"leaf 6 .*CatBoost's"):
        quantise.check(model, slipped, x, seed=1)
