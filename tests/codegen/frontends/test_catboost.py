"""CatBoost: all its shapes of trees and tasks, to the bit on the grid, ties as it breaks them; refusals by name.

Slow: further pairs of shape and loss, and further kinds of labels.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from catboost import CatBoost, CatBoostClassifier, CatBoostRegressor, Pool, sum_models
from gridded import assert_to_the_bit, assert_within_its_error, grid, leaf, points, splits, training, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.frontends import from_catboost, load
from decision.artefact.errors import InputError

NAMES = ("0", "1", "2")
SHAPES = ("SymmetricTree", "Depthwise", "Lossguide")
X, Y, CLASSES = training()
TARGETS = {
    "RMSE": Y,
    "MultiRMSE": np.stack([Y, Y * Y], axis=1),
    "Logloss": CLASSES > 0,
    "MultiClass": CLASSES,
    "MultiClassOneVsAll": CLASSES,
}
CASES = [(shape, loss) for shape in SHAPES for loss in TARGETS if shape == "SymmetricTree" or loss != "MultiRMSE"]
"""CatBoost grows trees of several targets symmetric only."""


def options(**more):
    return {
        "iterations": 6, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False, "random_seed": 0
    } | more  # fmt: skip


def trained(shape: str, loss: str):
    kind = CatBoostRegressor if "RMSE" in loss else CatBoostClassifier
    return kind(**options(grow_policy=shape, loss_function=loss)).fit(X, TARGETS[loss])


def raw(model):
    return lambda x: model.predict(x, prediction_type="RawFormulaVal")


def classes(model):
    return lambda x: (
        model.predict(x, prediction_type="Class").ravel() == model.classes_[1]
        if (len(model.classes_) == 2)
        else model.predict(x, prediction_type="Class")
    )


def exported(model, path) -> dict:
    model.save_model(str(path), format="json")
    return json.loads(path.read_text())


def reloaded(data: dict, path) -> CatBoost:
    """CatBoost's own reading of a JSON: leaves set in memory would not reach a model that has predicted already."""
    path.write_text(json.dumps(data))
    model = CatBoost()
    model.load_model(str(path), format="json")
    return model


def leaves_of(data: dict):
    """All nodes of a model's JSON that hold leaf values, with the key."""
    todo = [*data.get("oblivious_trees", []), *data.get("trees", [])]
    while todo:
        node = todo.pop()
        if "left" in node:
            todo += [node["left"], node["right"]]
        else:
            yield node, "leaf_values" if "leaf_values" in node else "value"


def with_dyadic_leaves(data: dict) -> dict:
    rng = np.random.default_rng(3)
    for node, key in leaves_of(data):
        many = isinstance(node[key], list)
        values = rng.integers(-500, 500, len(node[key]) if many else 1) / 64
        node[key] = values.tolist() if many else float(values[0])
    data["scale_and_bias"] = [1, [0.5 * (k + 1) for k in range(len(data["scale_and_bias"][1]))]]
    return data


@pytest.mark.slow_except(
    "SymmetricTree-RMSE", "SymmetricTree-MultiClass", "Lossguide-Logloss", "Depthwise-MultiClassOneVsAll"
)
@pytest.mark.parametrize(("shape", "loss"), CASES)
def test_equals_catboost_within_the_stated_error(shape, loss):
    model = trained(shape, loss)
    ours = from_catboost(model, grid(*NAMES))
    assert ours.task == {"RMSE": "regression", "MultiRMSE": "regression", "Logloss": "binary"}.get(loss, "argmax")
    assert_within_its_error(ours, raw(model), None if "RMSE" in loss else classes(model))


@pytest.mark.slow_except("SymmetricTree-RMSE", "SymmetricTree-MultiRMSE", "Lossguide-MultiClass", "Depthwise-Logloss")
@pytest.mark.parametrize(("shape", "loss"), CASES)
def test_equals_catboost_to_the_bit_where_leaves_are_dyadic(shape, loss, tmp_path):
    path = tmp_path / "model.json"
    model = reloaded(with_dyadic_leaves(exported(trained(shape, loss), path)), path)
    ours = load(path, grid(*NAMES))
    decide = {"Logloss": lambda x: raw(model)(x) > 0, "MultiClass": lambda x: raw(model)(x).argmax(axis=1)}.get(loss)
    assert_to_the_bit(ours, raw(model), decide)
    if loss == "MultiClass":
        rows, x = points(ours)
        np.testing.assert_array_equal(model.predict(x, prediction_type="Class").ravel(), ours.predict(rows))


def test_a_cbm_file_and_its_json_are_the_same_model(tmp_path):
    model = trained("Lossguide", "MultiClass")
    for name, kind in (("model.cbm", "cbm"), ("model.json", "json")):
        model.save_model(str(tmp_path / name), format=kind)
    cbm, text = load(tmp_path / "model.cbm", grid(*NAMES)), load(tmp_path / "model.json", grid(*NAMES))
    assert (cbm.name, text.name) == ("model.cbm", "model.json")
    assert replace(cbm, name="model.json") == text


def test_scale_and_bias_are_in_the_leaves(tmp_path):
    path = tmp_path / "model.json"
    model = trained("SymmetricTree", "RMSE")
    model.set_scale_and_bias(0.25, -3.0)
    data = with_dyadic_leaves(exported(model, path))
    data["scale_and_bias"] = [0.25, [-3.0]]
    model = reloaded(data, path)
    assert_to_the_bit(load(path, grid(*NAMES)), raw(model))


def test_class_weights_are_in_the_leaves():
    model = CatBoostClassifier(**options(class_weights=[1, 5])).fit(X, CLASSES > 0)
    assert_within_its_error(from_catboost(model, grid(*NAMES)), raw(model), classes(model))


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.1])
def test_a_probability_threshold_is_the_cut(threshold):
    model = CatBoostClassifier(**options()).fit(X, CLASSES > 0)
    model.set_probability_threshold(threshold)
    ours = from_catboost(model, grid(*NAMES))
    rows, x = points(ours)
    np.testing.assert_array_equal(ours.predict(rows), classes(model)(x).astype(np.int64))
    assert 0 < ours.predict(rows).mean() < 1


def test_ties_go_to_the_first_class(tmp_path):
    path = tmp_path / "model.json"
    data = exported(trained("SymmetricTree", "MultiClass"), path)
    for node, key in leaves_of(data):
        node[key] = np.resize([0.5, 0.5, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5], len(node[key])).tolist()
    data["oblivious_trees"] = data["oblivious_trees"][:1]
    set_borders(data)
    model = reloaded(data, path)
    ours = load(path, grid(*NAMES))
    rows, x = points(ours)
    np.testing.assert_array_equal(ours.predict(rows), model.predict(x, prediction_type="Class").ravel())
    assert set(ours.predict(rows)) == {0, 1}


def test_a_raw_value_of_exactly_zero_is_class_0(tmp_path):
    path = tmp_path / "model.json"
    data = exported(CatBoostClassifier(**options(iterations=1, depth=1)).fit(X, CLASSES > 0), path)
    data["oblivious_trees"][0]["leaf_values"] = [0.0, 2.0**-20]
    model = reloaded(data, path)
    ours = load(path, grid(*NAMES))
    rows, x = points(ours)
    np.testing.assert_array_equal(ours.predict(rows), model.predict(x, prediction_type="Class").ravel())
    assert set(ours.predict(rows)) == {0, 1}


SKELETON: dict = {}


def skeleton(tmp: str, outputs: int) -> dict:
    if outputs not in SKELETON:
        y = Y if outputs == 1 else np.stack([Y, -Y], axis=1)
        loss = "RMSE" if outputs == 1 else "MultiRMSE"
        model = CatBoostRegressor(**options(iterations=1, depth=1, loss_function=loss)).fit(X, y)
        model.save_model(tmp, format="json")
        SKELETON[outputs] = json.loads(Path(tmp).read_text())
    return json.loads(json.dumps(SKELETON[outputs]))


def split_json(feature: int, border: float) -> dict:
    return {"border": border, "float_feature_index": feature, "split_index": 0, "split_type": "FloatFeature"}


def nested_json(node) -> dict:
    if isinstance(node, list):
        return {"value": node if len(node) > 1 else node[0], "weight": 1}
    feature, border, above, below = node
    return {"left": nested_json(below), "right": nested_json(above), "split": split_json(feature, border)}


def set_borders(data: dict) -> None:
    """Every border in its feature's list, every split with its place in all of them, as CatBoost asks for."""
    found: dict[int, set[float]] = {0: set(), 1: set(), 2: set()}
    asked = []
    todo = [*data.get("trees", [])]
    for symmetric in data.get("oblivious_trees", []):
        asked += symmetric["splits"]
    while todo:
        node = todo.pop()
        if "split" in node:
            asked.append(node["split"])
            todo += [node["left"], node["right"]]
    for split in asked:
        found[split["float_feature_index"]].add(split["border"])
    places = {}
    for feature in sorted(found):
        data["features_info"]["float_features"][feature]["borders"] = sorted(found[feature])
        places |= {(feature, border): len(places) + n for n, border in enumerate(sorted(found[feature]))}
    for split in asked:
        split["split_index"] = places[split["float_feature_index"], split["border"]]


@st.composite
def symmetric(draw, outputs: int) -> dict:
    asked = draw(st.lists(splits(), max_size=3))
    values = [v for _ in range(1 << len(asked)) for v in draw(leaf(outputs))]
    return {"splits": [split_json(*s) for s in asked], "leaf_values": values, "leaf_weights": [1] * (1 << len(asked))}


@given(data=st.data(), outputs=st.sampled_from([1, 2]), shape=st.sampled_from(["oblivious_trees", "trees"]))
@settings(max_examples=examples(60))
def test_any_small_model_is_catboost_to_the_bit(tmp_path_factory, data, outputs, shape):
    path = tmp_path_factory.mktemp("catboost") / "model.json"
    document = skeleton(str(path), outputs)
    del document["oblivious_trees"]
    grown = tree(outputs).map(nested_json) if shape == "trees" else symmetric(outputs)
    document[shape] = data.draw(st.lists(grown, min_size=1, max_size=3))
    document["scale_and_bias"] = [1, data.draw(leaf(outputs))]
    set_borders(document)
    model = reloaded(document, path)
    assert_to_the_bit(load(path, grid(*NAMES)), raw(model))


def frame(**columns):
    import pandas

    return pandas.DataFrame({"load": X[:, 0]} | columns)


def test_categorical_features_are_refused_by_name(tmp_path):
    colours = np.resize(["red", "green", "blue"], len(X))
    for most in (2, 10):  # through statistics, and one-hot
        model = CatBoostRegressor(**options(cat_features=["colour"], one_hot_max_size=most)).fit(
            frame(colour=colours), Y
        )
        model.save_model(str(tmp_path / "model.cbm"))
        with pytest.raises(InputError, match="feature 'colour' is categorical"):
            load(tmp_path / "model.cbm", grid(*NAMES))
    model.save_model(str(tmp_path / "model.json"), format="json")
    with pytest.raises(InputError, match="feature 'colour' is categorical"):
        load(tmp_path / "model.json", grid(*NAMES))


def test_text_and_embedding_features_are_refused_by_name(tmp_path):
    words = np.resize(["a b c", "b d", "c a d", "d d a"], len(X))
    text = CatBoostClassifier(**options(text_features=["log"])).fit(frame(log=words), CLASSES > 0)
    pool = Pool(frame(vector=[list(row) for row in X]), label=CLASSES > 0, embedding_features=["vector"])
    embedding = CatBoostClassifier(**options()).fit(pool)
    for model, sentence in ((text, "feature 'log' is text"), (embedding, "feature 'vector' is embedding")):
        model.save_model(str(tmp_path / "model.cbm"))
        with pytest.raises(InputError, match=sentence):
            load(tmp_path / "model.cbm", grid(*NAMES))


@pytest.mark.parametrize("mode", ["Min", "Max"])
def test_features_with_missing_values_are_refused_by_name(mode):
    x = frame(rtt=np.where(np.arange(len(X)) % 7, X[:, 1], np.nan))
    model = CatBoostRegressor(**options(nan_mode=mode)).fit(x, Y)
    with pytest.raises(InputError, match=r"'rtt' .*missing values"):
        from_catboost(model, grid("load", "rtt", "2"))


def test_several_labels_at_once_are_refused():
    model = CatBoostClassifier(**options(loss_function="MultiLogloss")).fit(X, np.stack([Y > 0, Y > 1], axis=1) * 1)
    with pytest.raises(InputError, match="several labels"):
        from_catboost(model, grid(*NAMES))


def test_a_broken_cbm_is_refused(tmp_path):
    (tmp_path / "model.cbm").write_bytes(b"CBM1" + b"\0" * 64)
    with pytest.raises(InputError, match="CatBoost can read"):
        load(tmp_path / "model.cbm", grid(*NAMES))


LABELS = {
    "never seen": (np.array([1, 3, 4])[CLASSES], {"classes_count": 5, "loss_function": "MultiClass"}),
    "never seen, one against all": (
        np.array([1, 3, 4])[CLASSES],
        {"classes_count": 5, "loss_function": "MultiClassOneVsAll"},
    ),
    "names of more": (np.array([1, 3, 4])[CLASSES], {"class_names": [0, 1, 2, 3, 4], "loss_function": "MultiClass"}),
    "names in another order": (np.array([1, 3, 4])[CLASSES], {"class_names": [4, 3, 1], "loss_function": "MultiClass"}),
    "text": (np.array(["low", "mid", "high"])[CLASSES], {}),
    "floats": (np.array([0.5, 1.5, 2.5])[CLASSES], {"loss_function": "MultiClass"}),
    "two numbers": (np.array([3, 8])[(CLASSES > 0) * 1], {}),
    "two texts": (np.array(["yes", "no"])[(CLASSES > 0) * 1], {}),
    "truth": (CLASSES > 0, {}),
    "no names": (CLASSES / 2.0, {"loss_function": "CrossEntropy"}),
}


@pytest.mark.slow_except("never seen", "two texts")
@pytest.mark.parametrize("case", LABELS)
def test_a_class_has_the_librarys_label(case, tmp_path):
    labels, more = LABELS[case]
    model = CatBoostClassifier(**options(**more)).fit(X, labels)
    model.save_model(str(tmp_path / "model.json"), format="json")
    model.save_model(str(tmp_path / "model.cbm"))
    ours = load(tmp_path / "model.json", grid(*NAMES))
    assert load(tmp_path / "model.cbm", grid(*NAMES)).classes == ours.classes
    rows, x = points(ours)
    theirs = [str(label) for label in np.ravel(model.predict(x, prediction_type="Class"))]
    values = raw(model)(x).reshape(len(x), -1)
    values = values[:, np.isfinite(values).all(axis=0)]  # a class that was never seen has -inf
    assert values.shape[1] == ours.outputs
    decided = np.diff(np.sort(values))[:, -1] if ours.outputs > 1 else np.abs(values[:, 0])
    sure = decided > ours.margin
    mine = np.array(ours.classes)[ours.predict(rows)]
    assert len(set(theirs)) == ours.class_count
    np.testing.assert_array_equal(mine[sure], np.array(theirs)[sure])


def test_a_sum_of_classifiers_decides_classes(tmp_path):
    """Its loss stands beside the parameters that a sum has not."""
    pair = [CatBoostClassifier(**options(iterations=n)).fit(X, CLASSES > 0) for n in (2, 5)]
    model = sum_models(pair, weights=[0.5, 1.0])
    for name, kind in (("model.cbm", "cbm"), ("model.json", "json")):
        model.save_model(str(tmp_path / name), format=kind)
        ours = load(tmp_path / name, grid(*NAMES))
        assert (ours.task, ours.classes) == ("binary", ("False", "True"))
        assert_within_its_error(ours, raw(model), lambda x: raw(model)(x) > 0)


NOT_SAID = {
    "no loss": (lambda d: d["model_info"]["params"].pop("loss_function"), "says no loss"),
    "two losses": (lambda d: d["model_info"].update(loss_function='{"type": "RMSE"}'), "says MultiClass and RMSE"),
    "no labels": (lambda d: d["model_info"].pop("class_params"), "labels of 0 classes and decides among 3"),
    "a label lost": (lambda d: d["model_info"]["class_params"]["class_to_label"].pop(), "labels of 2 classes"),
    "a name lost": (lambda d: d["model_info"]["class_params"]["class_names"].pop(), "not a CatBoost model"),
    "a label twice": (lambda d: d["model_info"]["class_params"].update(class_to_label=[0, 1, 1]), "class_to_label"),
    "a regression": (
        lambda d: d["model_info"]["params"].update(loss_function={"type": "MultiRMSE"}),
        "has 3 classes and the loss MultiRMSE",
    ),
    "a tree lost": (lambda d: d["oblivious_trees"].pop(2), r"no tree asks for border .* of feature '[012]'"),
    "a border lost": (lambda d: d["features_info"]["float_features"][1]["borders"].pop(), "list of borders"),
    "a border moved": (lambda d: d["oblivious_trees"][0]["splits"][0].update(border=0.123), "list of borders"),
    "a weight lost": (lambda d: d["oblivious_trees"][0]["leaf_weights"].pop(), "leaf weights"),
}


@pytest.mark.parametrize("case", NOT_SAID)
def test_what_a_file_does_not_say_or_hold_is_refused(case, tmp_path):
    edit, sentence = NOT_SAID[case]
    document = exported(trained("SymmetricTree", "MultiClass"), tmp_path / "model.json")
    edit(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / "model.json", grid(*NAMES))
