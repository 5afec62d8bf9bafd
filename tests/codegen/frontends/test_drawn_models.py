"""Small models drawn from seeds - objectives, classes, labels, missing values, base scores, sizes - as each library
trains them: the integers are its own predictions within the stated error, its classes wherever they are decided.

Slow: all but two drawn models of each library.
"""

import warnings

import lightgbm
import numpy as np
import pytest
import treelite
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from gridded import grid, points, training
from sklearn import ensemble, tree

from codegen.frontends import formats, from_sklearn, load
from codegen.frontends.comparison import COMPARED, Predictions, judged, on_grid, physical
from codegen.frontends.predictions import LIBRARIES, of_sklearn
from decision.artefact.errors import InputError

SEEDS = range(8)
EDGES = (None, None, 0.0, 1e-9, 3e-7, 0.2, 1 - 3e-7, 1.0)
"""Base scores: most are where XGBoost bounds them."""


def data(rng):
    """Rows, a target, classes; in every third draw some values are missing."""
    x, y, _ = training(int(rng.integers(1000)), 120)
    count = int(rng.integers(2, 6))
    classes = rng.permutation(np.arange(len(y)) % count)
    classes = np.where(x[:, 0] > 1, 0, classes)
    missing = rng.random() < 0.3
    if missing:
        x = x.copy()
        x[rng.random(len(x)) < 0.2, 1] = np.nan
    return x, y, classes, count, missing


def of_xgboost(rng, path):
    x, y, classes, count, _ = data(rng)
    kinds = ["reg:squarederror", "reg:logistic", "binary:logistic", "count:poisson", "reg:gamma", "multi:softprob"]
    objective = str(rng.choice(kinds))
    target = {"reg:squarederror": y, "multi:softprob": classes}.get(objective, (classes > 0) + 0.0)
    target = target + 1.0 if objective == "reg:gamma" else target
    base = EDGES[rng.integers(len(EDGES))]
    options = {"objective": objective, "nthread": 1, "max_depth": int(rng.integers(1, 5)), "seed": 1}
    options |= {"num_class": count} if objective.startswith("multi") else {}
    options |= {"num_parallel_tree": 2, "subsample": 0.6} if rng.random() < 0.3 else {}
    options |= {"booster": "dart", "rate_drop": 0.5} if rng.random() < 0.3 else {}
    options |= {"scale_pos_weight": 3.0} if objective == "binary:logistic" and rng.random() < 0.5 else {}
    if base is not None and not (base == 0 and objective in ("count:poisson", "reg:gamma")):
        options |= {"base_score": base}
    matrix = xgboost.DMatrix(x, target, nthread=1)
    xgboost.train(options, matrix, int(rng.integers(1, 5))).save_model(path)
    return ("f0", "f1", "f2"), ()


def of_lightgbm(rng, path):
    x, y, classes, count, missing = data(rng)
    kinds = ["regression", "regression_l1", "poisson", "binary", "cross_entropy", "multiclass", "multiclassova"]
    objective = str(rng.choice(kinds))
    target = {"regression": y, "regression_l1": y, "poisson": np.abs(y)}.get(objective, classes > 0)
    target = classes if objective.startswith("multi") else target
    options = {"objective": objective, "verbose": -1, "num_threads": 1, "num_leaves": int(rng.integers(2, 9))}
    options |= {"num_class": count} if objective.startswith("multi") else {}
    options |= {"min_data_in_leaf": 3, "seed": int(rng.integers(99)), "use_missing": bool(rng.random() < 0.7)}
    options |= [{}, {"boosting": "dart"}, {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}][
        rng.integers(3)
    ]
    booster = lightgbm.train(options, lightgbm.Dataset(x, target.astype(float)), int(rng.integers(1, 5)))
    booster.save_model(path)
    return tuple(booster.feature_name()), ("missing values",) if missing else ()


def of_catboost(rng, path):
    x, y, classes, count, missing = data(rng)
    labels = [np.arange(count), np.arange(count) * 3 + 2, np.array(list("dbace"))[:count]][rng.integers(3)][classes]
    loss = str(rng.choice(["RMSE", "MAE", "Logloss", "MultiClass", "MultiClassOneVsAll"]))
    target = y if loss in ("RMSE", "MAE") else labels
    target = labels == labels[0] if loss == "Logloss" else target
    options = {"loss_function": loss, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    options |= {"iterations": int(rng.integers(1, 5)), "depth": int(rng.integers(1, 5)), "random_seed": 1}
    options |= {"grow_policy": str(rng.choice(["SymmetricTree", "Depthwise", "Lossguide"]))}
    model = (CatBoostRegressor if target is y else CatBoostClassifier)(**options).fit(x, target)
    if loss == "Logloss":
        model.set_probability_threshold(float(rng.choice([0.2, 0.5, 0.7])))
    model.save_model(str(path), format="json" if path.suffix == ".json" else "cbm")
    return ("0", "1", "2"), ("missing values",) if missing else ()


def of_treelite(rng, path):
    inner = path.with_suffix(".json" if rng.random() < 0.5 else ".txt")
    if inner.suffix == ".json":
        of_xgboost(rng, inner)
        model = treelite.frontend.load_xgboost_model(inner)
    else:
        of_lightgbm(rng, inner)
        model = treelite.frontend.load_lightgbm_model(inner)
    model.serialize(path)
    return ("f0", "f1", "f2"), ("no sigmoid", "base_scores [-inf]", "base_scores [inf]")  # it bounds no base score


MADE = {
    "xgboost": (of_xgboost, "model.json"),
    "lightgbm": (of_lightgbm, "model.txt"),
    "catboost": (of_catboost, "model.json"),
    "treelite": (of_treelite, "model.tl"),
}
CASES = [(library, seed) for library in MADE for seed in SEEDS]


@pytest.mark.slow_except("*-0", "*-1")
@pytest.mark.parametrize(("library", "seed"), CASES)
def test_a_drawn_model_is_its_librarys(library, seed, tmp_path):
    make, name = MADE[library]
    rng = np.random.default_rng([seed, sorted(MADE).index(library)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names, may_say = make(rng, tmp_path / name)
    refusal = ""
    try:
        model = load(tmp_path / name, grid(*names))
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert any(reason in refusal for reason in may_say), refusal
        return
    rows = on_grid(model, points(model)[0])
    kind = {"catboost": formats.CATBOOST}.get(library, library)
    found = LIBRARIES[kind][2](str(tmp_path / name), [f.name for f in model.features], physical(model, rows))
    raw = np.asarray(found["raw"], dtype=np.float64).reshape(len(rows), -1)
    report = judged(model, rows, Predictions(raw, found.get("labels"), library, ""))
    assert report.state == COMPARED
    assert report.rows > 100
    assert max(report.stated) < 1e-3 * (1 + np.abs(raw).max())


@pytest.mark.slow_except("0", "1")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_estimator_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    x, y, classes, count, _ = data(rng)
    x = np.nan_to_num(x)
    labels = np.array(["e", "a", "d", "b", "c"])[:count][classes]
    few = {"max_depth": int(rng.integers(1, 5)), "random_state": seed}
    made = [
        (tree.DecisionTreeClassifier(**few), labels),
        (ensemble.RandomForestClassifier(n_estimators=3, **few), labels),
        (ensemble.ExtraTreesRegressor(n_estimators=3, **few), np.stack([y, -y], axis=1)),
        (ensemble.GradientBoostingClassifier(n_estimators=2, learning_rate=0.3, **few), labels),
        (ensemble.GradientBoostingRegressor(n_estimators=3, loss="huber", **few), y),
    ]
    for number in rng.permutation(len(made))[:2]:
        estimator, target = made[number]
        model = from_sklearn(estimator.fit(x, target), grid("x0", "x1", "x2"))
        rows = on_grid(model, points(model)[0])
        found = of_sklearn(estimator, ("x0", "x1", "x2"), [f.name for f in model.features], physical(model, rows))
        raw = np.asarray(found["raw"], dtype=np.float64).reshape(len(rows), -1)
        assert judged(model, rows, Predictions(raw, found.get("labels"), "scikit-learn", "")).state == COMPARED
