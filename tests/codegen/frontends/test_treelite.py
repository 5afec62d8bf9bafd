"""Treelite's serialised models: the same integers as the library's own file gives."""

import lightgbm
import pytest
import treelite
import xgboost
from gridded import assert_within_its_error, grid, training
from sklearn import ensemble
from treelite import sklearn as sklearn_importer

from codegen.frontends import load
from decision.errors import InputError

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
    with pytest.raises(InputError, match="not a model that treelite can read"):
        load(tmp_path / "model.tl", grid(*NAMES))
    with pytest.raises(InputError, match="there is no file"):
        load(tmp_path / "none.tl", grid(*NAMES))
