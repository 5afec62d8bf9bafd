"""Treelite's serialised models: the same integers as the library's own file gives."""

import lightgbm
import numpy as np
import pytest
import treelite
import xgboost
from gridded import assert_within_its_error, grid, training
from sklearn import ensemble
from treelite import sklearn as sklearn_importer

from codegen.frontends import load
from codegen.frontends.treelite_model import from_treelite
from decision.artefact.errors import InputError

NAMES = ("f0", "f1", "f2")
X, Y, CLASSES = training()


def through(model, tmp_path):
    model.serialize(tmp_path / "model.tl")
    return load(tmp_path / "model.tl", grid(*NAMES))


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (ensemble.RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0), Y),
        (ensemble.RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0), CLASSES),
        (ensemble.GradientBoostingRegressor(n_estimators=6, random_state=0), Y),
        (ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0), CLASSES),
        (ensemble.GradientBoostingClassifier(n_estimators=6, random_state=0), CLASSES > 0),
    ],
    ids=str,
)
def test_sklearn_ensembles_come_in(estimator, target, tmp_path):
    estimator.fit(X, target)
    ours = through(sklearn_importer.import_model(estimator), tmp_path)
    raw = getattr(estimator, "decision_function", None) or getattr(estimator, "predict_proba", estimator.predict)
    assert_within_its_error(ours, raw, estimator.predict if ours.task != "regression" else None)


@pytest.mark.parametrize("objective", ["regression", "multiclass", "binary"])
def test_lightgbm_gives_the_same_trees_as_its_own_file(objective, tmp_path):
    target = {"regression": Y, "multiclass": CLASSES, "binary": CLASSES > 0}[objective]
    options = {"objective": objective, "verbose": -1, "num_threads": 1, "num_leaves": 9, "seed": 0}
    options |= {"num_class": 3} if objective == "multiclass" else {}
    lightgbm.train(options, lightgbm.Dataset(X, target.astype(float)), 4).save_model(tmp_path / "model.txt")
    ours = through(treelite.frontend.load_lightgbm_model(tmp_path / "model.txt"), tmp_path)
    own = load(tmp_path / "model.txt", grid("Column_0", "Column_1", "Column_2"))
    assert (ours.trees, ours.bias, ours.task) == (own.trees, own.bias, own.task)


@pytest.mark.parametrize("objective", ["reg:squarederror", "multi:softmax", "binary:logistic"])
def test_xgboost_gives_the_same_trees_as_its_own_file(objective, tmp_path):
    target = {"reg:squarederror": Y, "multi:softmax": CLASSES, "binary:logistic": CLASSES > 0}[objective]
    options = {"objective": objective, "max_depth": 3, "nthread": 1}
    options |= {"num_class": 3} if objective == "multi:softmax" else {}
    xgboost.train(options, xgboost.DMatrix(X, target, nthread=1), 4).save_model(tmp_path / "model.json")
    ours = through(treelite.frontend.load_xgboost_model(tmp_path / "model.json"), tmp_path)
    own = load(tmp_path / "model.json", grid(*NAMES))
    assert (ours.trees, ours.task, ours.leaf_bits) == (own.trees, own.task, own.leaf_bits)
    assert abs(ours.bias[0] - own.bias[0]) <= 2.0**own.leaf_bits * own.error[0]


def test_what_is_no_treelite_model_is_refused(tmp_path):
    (tmp_path / "model.tl").write_bytes(b"treelite?" * 20)
    with pytest.raises(InputError, match="no model"):
        load(tmp_path / "model.tl", grid(*NAMES))
    with pytest.raises(InputError, match="no file"):
        load(tmp_path / "none.tl", grid(*NAMES))


def test_a_file_that_was_cut_is_refused(tmp_path):
    """treelite itself reads one without its last tree's fields."""
    xgboost_model(tmp_path)[0].serialize(tmp_path / "whole.tl")
    content = (tmp_path / "whole.tl").read_bytes()
    load(tmp_path / "whole.tl", grid(*NAMES))
    for end in (16, len(content) // 2, *range(len(content) * 5 // 6, len(content), 37), len(content) - 1):
        (tmp_path / "model.tl").write_bytes(content[:end])
        with pytest.raises(InputError, match=r"treelite can read|it was cut|whole treelite model"):
            load(tmp_path / "model.tl", grid(*NAMES))


def xgboost_model(tmp_path):
    options = {"objective": "reg:squarederror", "max_depth": 3, "nthread": 1}
    booster = xgboost.train(options, xgboost.DMatrix(X, Y * 1000, nthread=1), 6)
    booster.save_model(tmp_path / "model.json")
    return treelite.frontend.load_xgboost_model(tmp_path / "model.json"), booster


def test_sums_of_float32_are_bounded_as_such(tmp_path):
    """The header's own ``leaf_output_type`` is another field's once a model was serialised."""
    model, booster = xgboost_model(tmp_path)
    ours = through(model, tmp_path)
    assert ours.error[0] > 1e-4
    assert_within_its_error(ours, lambda x: booster.predict(xgboost.DMatrix(x, nthread=1), output_margin=True))
    gtil = lambda x: treelite.gtil.predict(model, x.astype(np.float32), pred_margin=True)  # noqa: E731
    assert_within_its_error(ours, gtil)
    assert ours.library == "treelite"


EDITS = {
    "task_type": (np.array([4], np.uint8), "a task that is not read"),
    "postprocessor": ("exponential_standard_ratio", "'exponential_standard_ratio', which is not known"),
    "sigmoid_alpha": (np.array([-1.0], np.float32), "sigmoid_alpha -1.0"),
    "average_tree_output": (np.array([2], np.uint8), "average_tree_output = 2"),
    "base_scores": (np.array([np.nan]), "base_scores"),
    "num_class": (np.array([2**30], np.int32), "models of 1 to 1024"),
    "num_target": (np.array([3], np.int32), "says 3 for num_target"),
    "target_id": (np.array([0, 0, 0, 0, 0, 7], np.int32), "of target 7"),
    "class_id": (np.array([0, 0, 0, 0, 0, 1], np.int32), "class 1"),
    "leaf_vector_shape": (np.array([2, 1], np.int32), r"shape \(2, 1\)"),
}


@pytest.mark.parametrize("field", EDITS)
def test_every_field_of_the_header_that_decides_is_known_or_refused(field, tmp_path):
    model, _ = xgboost_model(tmp_path)
    from_treelite(model)
    value, sentence = EDITS[field]
    model.get_header_accessor().set_field(field, value)
    with pytest.raises(InputError, match=sentence):
        from_treelite(model)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("cmp", 1, "operator other than"),
        ("node_type", 2, "categorical"),
        ("split_index", 9, "feature 9 of 3"),
        ("cleft", 0, "met twice"),
        ("threshold", np.nan, "not a number"),
    ],
)
def test_every_field_of_a_node_that_decides_is_known_or_refused(field, value, sentence, tmp_path):
    model, _ = xgboost_model(tmp_path)
    tree = model.get_tree_accessor(2)
    column = tree.get_field(field).copy()
    column[0] = value
    tree.set_field(field, column)
    with pytest.raises(InputError, match=sentence):
        from_treelite(model)


def test_an_averaged_forest_is_the_mean(tmp_path):
    model, _ = xgboost_model(tmp_path)
    model.get_header_accessor().set_field("average_tree_output", np.array([1], np.uint8))
    model.serialize(tmp_path / "mean.tl")
    ours = load(tmp_path / "mean.tl", grid(*NAMES))
    assert_within_its_error(ours, lambda x: treelite.gtil.predict(model, x.astype(np.float32), pred_margin=True))
