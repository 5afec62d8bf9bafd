"""Models of three libraries as emitted C: what the compiled decision sets beside what the library itself says."""

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier
from gridded import grid, points, training

from codegen.frontends import load

X, Y, CLASSES = training()


def catboost_classes(folder):
    model = CatBoostClassifier(
        iterations=12, depth=4, loss_function="MultiClass", verbose=0, allow_writing_files=False, thread_count=1
    ).fit(X, CLASSES)
    model.save_model(str(folder / "model.cbm"))
    return load(folder / "model.cbm", grid("0", "1", "2")), lambda x: model.predict(x, "RawFormulaVal")


def xgboost_targets(folder):
    model = xgboost.XGBRegressor(n_estimators=6, max_depth=4, n_jobs=1).fit(X, np.stack([Y, -Y + X[:, 0]], axis=1))
    model.save_model(folder / "model.json")
    return load(folder / "model.json", grid("f0", "f1", "f2")), lambda x: model.predict(x, output_margin=True)


def xgboost_classes(folder):
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(X, CLASSES)
    model.save_model(folder / "model.json")
    return load(folder / "model.json", grid("f0", "f1", "f2")), lambda x: model.predict(x, output_margin=True)


def lightgbm_two_classes(folder):
    options = {"n_estimators": 12, "num_leaves": 9, "n_jobs": 1, "deterministic": True, "verbose": -1}
    booster = lightgbm.LGBMClassifier(**options).fit(X, CLASSES > 0).booster_
    booster.save_model(folder / "model.txt")
    names = booster.feature_name()
    return load(folder / "model.txt", grid(*names)), lambda x: booster.predict(x, raw_score=True)


@pytest.mark.parametrize("make", [catboost_classes, xgboost_targets, xgboost_classes, lightgbm_two_classes])
def test_the_compiled_decision_is_the_librarys(make, tmp_path, in_c):
    model, raw = make(tmp_path)
    rows, x = points(model)
    ours, theirs = in_c(model, rows), np.asarray(raw(x), dtype=np.float64).reshape(len(rows), model.outputs)
    if model.task == "regression":
        assert np.all(np.abs(ours / 2.0**model.leaf_bits - theirs) <= np.array(model.error))
        return
    if model.outputs == 1:
        sure, classes = np.abs(theirs[:, 0]) > model.margin, theirs[:, 0] > 0
    else:
        greatest = np.sort(theirs, axis=1)
        sure, classes = greatest[:, -1] - greatest[:, -2] > model.margin, np.argmax(theirs, axis=1)
    assert sure.mean() > 0.9
    assert len(np.unique(ours)) == model.class_count
    np.testing.assert_array_equal(ours[sure, 0], classes[sure])
