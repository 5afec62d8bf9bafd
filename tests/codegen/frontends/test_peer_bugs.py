"""What went wrong in other exporters of tree ensembles, each by name: the emitted C beside the library, on edges."""

import json
from fractions import Fraction

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoost, CatBoostRegressor
from gridded import assert_within_its_error, points, training
from sklearn.tree import DecisionTreeRegressor

from codegen.frontends import Grid, from_catboost, from_sklearn, load
from decision.artefact.errors import InputError

X, Y, _ = training()


def stump(border: float, feature: int = 0) -> DecisionTreeRegressor:
    """scikit-learn's ``x <= border``: 0, else 1."""
    estimator = DecisionTreeRegressor(max_depth=1).fit(X, Y)
    estimator.tree_.feature[0] = feature
    estimator.tree_.threshold[0] = border
    estimator.tree_.value[:, 0, 0] = [9.0, 0.0, 1.0]
    return estimator


def around(border: float, q: int):
    """Rows of integers from three steps below the border to three above; the other features 0."""
    middle = int(np.floor(border * 2.0**q))
    return np.array([[k, 0, 0] for k in range(middle - 3, middle + 4)], dtype=np.int64)


def test_a_bias_keeps_all_its_digits():
    model = CatBoostRegressor(iterations=1, depth=1, verbose=0, allow_writing_files=False, thread_count=1).fit(X, Y)
    bias = 0.12345678901234567
    model.set_scale_and_bias(1.0, bias)
    ours = from_catboost(model, Grid.of({"0": (-4, 4, 10), "1": (-3, 20, 6), "2": (-50, 50, 0)}))
    assert ours.leaf_bits > 24
    assert ours.bias[0] == round(Fraction(bias) * (1 << ours.leaf_bits))
    assert ours.bias[0] != round(Fraction("0.123457") * (1 << ours.leaf_bits))
    assert_within_its_error(ours, model.predict)


@pytest.mark.parametrize("border", [-1.0, -0.75, -0.3, -(2.0**-20), 0.0, 0.3, 1.0])
@pytest.mark.parametrize("q", [0, 2, 10])
def test_negative_thresholds_are_floored_not_cut_towards_zero(border, q, in_c):
    estimator = stump(border)
    ours = from_sklearn(estimator, Grid.of({"x0": (-8, 8, q), "x1": (-1, 1, 0), "x2": (-1, 1, 0)}))
    rows = around(border, q)
    np.testing.assert_array_equal(in_c(ours, rows)[:, 0], estimator.predict(rows / [2.0**q, 1, 1]))


@pytest.mark.parametrize("border", [-3.0, -1.0, 0.0, 2.0])
def test_less_or_equal_is_not_less(border, tmp_path, in_c):
    """LightGBM's ``x <= t`` keeps t below; XGBoost's ``x < t`` sends it up, also where t is negative."""
    options = {"verbose": -1, "num_threads": 1, "num_leaves": 2, "objective": "regression", "min_data_in_leaf": 1}
    columns = np.array([[border], [border + 1]] * 20)
    lower = lightgbm.train(options, lightgbm.Dataset(columns, [0.0, 1.0] * 20), 1).model_to_string()
    lines = [f"threshold={border!r}" if line.startswith("threshold") else line for line in lower.splitlines()]
    text = "\n".join(line for line in lines if not line.startswith("tree_sizes"))
    (tmp_path / "model.txt").write_text(text)
    booster = lightgbm.Booster(model_str=text)
    exact = xgboost.train(
        {"max_depth": 1, "nthread": 1, "eta": 1.0}, xgboost.DMatrix(columns - 1, [0.0, 1.0] * 20, nthread=1), 1
    )
    exact.save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["split_conditions"] = [border, *tree["split_conditions"][1:]]
    (tmp_path / "model.json").write_text(json.dumps(document))
    exact = xgboost.Booster(model_file=tmp_path / "model.json")
    rows = around(border, 0)[:, :1]
    found = {}
    for name, feature, raw in (
        ("model.txt", "Column_0", booster.predict),
        ("model.json", "f0", lambda x: exact.predict(xgboost.DMatrix(x), output_margin=True)),
    ):
        ours = load(tmp_path / name, Grid.of({feature: (-8, 8, 0)}))
        values = in_c(ours, rows)[:, 0] / 2.0**ours.leaf_bits
        np.testing.assert_allclose(values, raw(rows.astype(float)), rtol=0, atol=ours.error[0])
        found[name] = int(np.flatnonzero(np.diff(values))[0])
    assert found["model.txt"] == found["model.json"] + 1  # the last row below: t itself, or the one before


def test_doubles_are_not_cut_to_floats(tmp_path, in_c):
    """A threshold that only a double can tell from a grid point, on either side of it."""
    for border in (3 + 2.0**-45, 3 - 2.0**-45):
        estimator = stump(border)
        ours = from_sklearn(estimator, Grid.of({"x0": (-8, 8, 0), "x1": (-1, 1, 0), "x2": (-1, 1, 0)}))
        rows = around(3.0, 0)
        np.testing.assert_array_equal(in_c(ours, rows)[:, 0], estimator.predict(rows.astype(float)))
    assert np.float32(3 + 2.0**-45) == np.float32(3 - 2.0**-45)


def test_thresholds_are_not_rounded_to_the_nearest(in_c):
    """0.7 of a step above a grid point is not the next one: 1.7 -> k > 1."""
    for border in (1.7, 1.5, 1.2, -1.7, -1.5, -1.2):
        estimator = stump(border)
        ours = from_sklearn(estimator, Grid.of({"x0": (-8, 8, 0), "x1": (-1, 1, 0), "x2": (-1, 1, 0)}))
        rows = around(border, 0)
        np.testing.assert_array_equal(in_c(ours, rows)[:, 0], estimator.predict(rows.astype(float)))


def test_a_scale_that_cannot_hold_the_features_range_is_refused():
    with pytest.raises(InputError, match=r"'x0' .* 24 bits"):
        from_sklearn(stump(0.5), Grid.of({"x0": (0, 10**6, 16), "x1": (-1, 1, 0), "x2": (-1, 1, 0)}))


def test_sums_that_16_or_32_bits_cannot_hold_do_not_wrap(in_c):
    estimator = stump(0.5)
    estimator.tree_.value[:, 0, 0] = [0.0, -40_000.0, 70_000.0]
    ours = from_sklearn(estimator, Grid.of({"x0": (-8, 8, 0), "x1": (-1, 1, 0), "x2": (-1, 1, 0)}))
    np.testing.assert_array_equal(in_c(ours, around(0.5, 0))[2:5, 0], [-40_000, -40_000, 70_000])
    estimator.tree_.value[:, 0, 0] = [0.0, -(2.0**40), 2.0**40]
    with pytest.raises(InputError, match="beyond 32 bits"):
        from_sklearn(estimator, Grid.of({"x0": (-8, 8, 0), "x1": (-1, 1, 0), "x2": (-1, 1, 0)}))


def test_the_comparison_is_of_bits_on_the_edges_not_of_printed_decimals(tmp_path, in_c):
    """All thresholds with their neighbours: the C's integers are the library's doubles, with no tolerance."""
    path = tmp_path / "model.json"
    model = CatBoostRegressor(iterations=8, depth=4, verbose=0, allow_writing_files=False, thread_count=1).fit(X, Y)
    model.save_model(str(path), format="json")
    document = json.loads(path.read_text())
    rng = np.random.default_rng(0)
    for tree in document["oblivious_trees"]:
        tree["leaf_values"] = (rng.integers(-(2**14), 2**14, len(tree["leaf_values"])) / 64).tolist()
    document["scale_and_bias"] = [1, [1 / 64]]
    path.write_text(json.dumps(document))
    model = CatBoost()
    model.load_model(str(path), format="json")
    ours = load(path, Grid.of({"0": (-4, 4, 10), "1": (-3, 20, 6), "2": (-50, 50, 0)}))
    rows, x = points(ours)
    np.testing.assert_array_equal(in_c(ours, rows)[:, 0], model.predict(x) * 64)
