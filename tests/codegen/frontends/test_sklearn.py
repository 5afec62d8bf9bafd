"""scikit-learn: trees, forests and boosting, to the bit on the grid; pickles and other estimators are refused."""

import pickle

import numpy as np
import pytest
from gridded import assert_to_the_bit, assert_within_its_error, grid, points, training
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples
from sklearn import ensemble, linear_model
from sklearn import tree as trees

from codegen.frontends import from_sklearn, load
from decision.artefact.errors import InputError

NAMES = ("x0", "x1", "x2")
X, Y, CLASSES = training()
TWO = np.stack([Y, Y * Y], axis=1)
CASES = {
    "tree": (trees.DecisionTreeRegressor(max_depth=5), Y),
    "tree of two targets": (trees.DecisionTreeRegressor(max_depth=5), TWO),
    "tree of classes": (trees.DecisionTreeClassifier(max_depth=5), CLASSES),
    "tree of two classes": (trees.DecisionTreeClassifier(max_depth=5), CLASSES > 0),
    "extra tree": (trees.ExtraTreeRegressor(max_depth=5, random_state=0), Y),
    "forest": (ensemble.RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0), Y),
    "forest of classes": (ensemble.RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0), CLASSES),
    "extra forest": (ensemble.ExtraTreesRegressor(n_estimators=4, max_depth=4, random_state=0), Y),
    "boosting": (ensemble.GradientBoostingRegressor(n_estimators=6, random_state=0), Y),
    "boosting from zero": (ensemble.GradientBoostingRegressor(n_estimators=6, init="zero"), Y),
    "boosting of classes": (ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0), CLASSES),
    "boosting of two classes": (ensemble.GradientBoostingClassifier(n_estimators=6, random_state=0), CLASSES > 0),
}


def raw(estimator):
    if "Regressor" in type(estimator).__name__:
        return estimator.predict
    return getattr(estimator, "decision_function", None) or estimator.predict_proba


def classes(estimator):
    return estimator.predict if "Classifier" in type(estimator).__name__ else None


def fitted(case: str):
    estimator, target = CASES[case]
    return estimator.fit(X, target)


def inner_trees(estimator):
    if not hasattr(estimator, "estimators_"):
        return [estimator.tree_]
    return [inner.tree_ for inner in np.ravel(estimator.estimators_)]


@pytest.mark.parametrize("case", CASES)
def test_equals_sklearn_within_the_stated_error(case):
    estimator = fitted(case)
    assert_within_its_error(from_sklearn(estimator, grid(*NAMES)), raw(estimator), classes(estimator))


@pytest.mark.parametrize("case", ["tree", "tree of two targets", "tree of classes", "forest", "boosting from zero"])
def test_equals_sklearn_to_the_bit_where_leaves_are_dyadic(case):
    estimator = fitted(case)
    if case == "boosting from zero":
        estimator.set_params(learning_rate=0.5)
    rng = np.random.default_rng(0)
    for tree in inner_trees(estimator):
        tree.value[...] = rng.integers(-500, 500, tree.value.shape) / 64
    assert_to_the_bit(from_sklearn(estimator, grid(*NAMES)), raw(estimator), classes(estimator))


def test_ties_of_classes_go_to_the_first_and_of_binary_boosting_to_class_1():
    tree = fitted("tree of classes")
    tree.tree_.value[...] = np.random.default_rng(0).integers(0, 2, tree.tree_.value.shape)
    assert_to_the_bit(from_sklearn(tree, grid(*NAMES)), raw(tree), tree.predict)
    boosting = ensemble.GradientBoostingClassifier(n_estimators=1, max_depth=2, init="zero", learning_rate=1.0)
    boosting.fit(X, CLASSES > 0)
    boosting.estimators_[0, 0].tree_.value[:, 0, 0] = np.resize([0.0, -1.0], 7)
    ours = from_sklearn(boosting, grid(*NAMES))
    assert_to_the_bit(ours, raw(boosting), boosting.predict)
    assert set(ours.predict(points(ours)[0])) == {0, 1}
    assert ours.cut == -1


@given(seed=st.integers(0, 10**6), depth=st.integers(1, 4), shift=st.sampled_from([0.0, 0.5, 1 / 3, 1e-7]))
@settings(max_examples=examples(25))
def test_any_small_tree_is_sklearn_to_the_bit(seed, depth, shift):
    """``shift`` moves thresholds onto grid points, between them, and where only a double can tell."""
    x, y, _ = training(seed, 60)
    estimator = trees.DecisionTreeRegressor(max_depth=depth, random_state=seed).fit(x, y)
    inner = estimator.tree_
    inner.threshold[:] = np.floor(inner.threshold) + shift
    inner.value[...] = np.random.default_rng(seed).integers(-64, 64, inner.value.shape) / 64
    assert_to_the_bit(from_sklearn(estimator, grid(*NAMES)), raw(estimator))


def test_a_threshold_that_float32_would_move_keeps_its_place():
    """The threshold is a double: 1 + 2^-40 keeps 1 below it, and so does 1 itself; 1 - 2^-40 does not."""
    estimator = trees.DecisionTreeRegressor(max_depth=1).fit(X, Y)
    estimator.tree_.feature[0] = 2
    estimator.tree_.value[...] = [[[0.0]], [[1.0]], [[2.0]]]
    for border in (1 + 2.0**-40, 1.0, 1 - 2.0**-40):
        estimator.tree_.threshold[0] = border
        assert_to_the_bit(from_sklearn(estimator, grid(*NAMES)), raw(estimator))


def test_names_come_from_the_data_frame():
    import pandas

    estimator = trees.DecisionTreeRegressor(max_depth=2).fit(pandas.DataFrame(X, columns=["rtt", "rate", "n"]), Y)
    assert [f.name for f in from_sklearn(estimator, grid("rtt", "rate", "n")).features] == ["rtt", "rate", "n"]


def test_other_estimators_are_refused():
    with pytest.raises(InputError, match="LinearRegression"):
        from_sklearn(linear_model.LinearRegression().fit(X, Y), grid(*NAMES))
    with pytest.raises(InputError, match="is not fitted"):
        from_sklearn(trees.DecisionTreeRegressor(), grid(*NAMES))
    boosting = ensemble.GradientBoostingRegressor(n_estimators=1, init=linear_model.LinearRegression()).fit(X, Y)
    with pytest.raises(InputError, match="initial estimator LinearRegression"):
        from_sklearn(boosting, grid(*NAMES))
    with pytest.raises(InputError, match="several labels"):
        from_sklearn(trees.DecisionTreeClassifier(max_depth=2).fit(X, np.stack([Y > 0, Y > 1], axis=1)), grid(*NAMES))


def test_a_tree_too_deep_for_c_is_refused():
    x = np.arange(200.0)[:, None]
    estimator = trees.DecisionTreeRegressor().fit(x, 3.0 ** np.arange(200.0))
    assert estimator.get_depth() > 120
    with pytest.raises(InputError, match="deeper than 120"):
        from_sklearn(estimator, grid("x0", "unused", "other"))


@pytest.mark.parametrize("suffix", [".pkl", ".joblib"])
def test_a_pickle_is_refused_unopened(tmp_path, suffix):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(pickle.dumps(fitted("tree")))
    with pytest.raises(InputError, match="pickle runs code"):
        load(path, grid(*NAMES))
