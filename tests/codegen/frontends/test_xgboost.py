"""XGBoost: JSON models, to the bit on the grid; `<` of float32; every objective's bias; refusals by name."""

import json

import numpy as np
import pytest
import xgboost
from gridded import assert_to_the_bit, assert_within_its_error, grid, training, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.frontends import load
from codegen.frontends.xgboost_json import OBJECTIVES
from decision.artefact.errors import InputError

NAMES = ("f0", "f1", "f2")
X, Y, CLASSES = training()


def data(target):
    return xgboost.DMatrix(X, target, nthread=1)


def trained(objective: str, target, rounds: int = 4, **more):
    options = {"objective": objective, "max_depth": 3, "nthread": 1, "seed": 0} | more
    matrix = data(target)
    if objective.startswith("rank"):
        matrix.set_group([len(X) // 2, len(X) - len(X) // 2])
    return xgboost.train(options, matrix, rounds)


def raw(model):
    return lambda x: model.predict(xgboost.DMatrix(x, nthread=1), output_margin=True)


def target_of(objective: str):
    if objective in ("binary:logistic", "reg:logistic", "rank:map"):
        return CLASSES > 0
    return Y if objective.startswith("reg:") and objective[4:] in ("squarederror", "absoluteerror") else CLASSES + 1.0


def extra(objective: str) -> dict:
    if objective.startswith("multi"):
        return {"num_class": 4}
    return {"quantile_alpha": 0.3} if "quantile" in objective else {}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equals_xgboost_within_the_stated_error(objective, tmp_path):
    model = trained(objective, target_of(objective), **extra(objective))
    model.save_model(tmp_path / "model.json")
    decide = {"binary": lambda x: raw(model)(x) > 0, "multi": lambda x: raw(model)(x).argmax(axis=1)}
    ours = load(tmp_path / "model.json", grid(*NAMES))
    assert_within_its_error(ours, raw(model), decide.get(objective.partition(":")[0]))


@pytest.mark.parametrize(
    ("target", "more"),
    [
        (np.stack([Y, Y * Y], axis=1), {}),
        (Y, {"booster": "dart", "rate_drop": 0.5}),
        (Y, {"num_parallel_tree": 3, "subsample": 0.5}),
        (Y, {"base_score": 0.3}),
    ],
    ids=["two targets", "dart", "forest", "base score"],
)
def test_other_boosters_equal_xgboost_within_the_stated_error(target, more, tmp_path):
    model = trained("reg:squarederror", target, **more)
    model.save_model(tmp_path / "model.json")
    assert_within_its_error(load(tmp_path / "model.json", grid(*NAMES)), raw(model))


SKELETON: dict = {}


def written(nodes, path, base: float = 0.0):
    """A model of these trees: XGBoost's own, with other trees put in."""
    if not SKELETON:
        trained("reg:squarederror", Y, rounds=1).save_model(path)
        SKELETON.update(json.loads(path.read_text()))
    document = json.loads(json.dumps(SKELETON))
    learner = document["learner"]
    learner["learner_model_param"]["base_score"] = f"[{base!r}]"
    model = learner["gradient_booster"]["model"]
    model["trees"] = [arrays(number, node) for number, node in enumerate(nodes)]
    model["tree_info"] = [0] * len(nodes)
    model["iteration_indptr"] = list(range(len(nodes) + 1))
    model["gbtree_model_param"]["num_trees"] = str(len(nodes))
    path.write_text(json.dumps(document))
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(path)
    return booster


def arrays(number: int, node) -> dict:
    """A tree as XGBoost writes it; ``x < threshold`` is its left."""
    rows: list[list] = []

    def place(part, parent: int) -> int:
        here = len(rows)
        if isinstance(part, list):
            rows.append([-1, -1, 0, part[0], parent])
        else:
            rows.append([])
            rows[here] = [place(part[3], here), place(part[2], here), part[0], part[1], parent]
        return here

    place(node, 2**31 - 1)
    left, right, feature, condition, parents = map(list, zip(*rows, strict=True))
    many = len(rows)
    return {
        "base_weights": condition, "categories": [], "categories_nodes": [], "categories_segments": [],
        "categories_sizes": [], "default_left": [0] * many, "id": number, "left_children": left,
        "loss_changes": [0.0] * many, "parents": parents, "right_children": right, "split_conditions": condition,
        "split_indices": feature, "split_type": [0] * many, "sum_hessian": [1.0] * many,
        "tree_param": {"num_deleted": "0", "num_feature": "3", "num_nodes": str(many), "size_leaf_vector": "1"},
    }  # fmt: skip


@given(nodes=st.lists(tree(), min_size=1, max_size=3), base=st.integers(-8, 8).map(lambda v: v / 4))
@settings(max_examples=examples(60))
def test_any_small_model_is_xgboost_to_the_bit(tmp_path_factory, nodes, base):
    path = tmp_path_factory.mktemp("xgboost") / "model.json"
    model = written(nodes, path, base)
    assert_to_the_bit(load(path, grid(*NAMES)), raw(model))


def test_a_threshold_on_a_grid_point_belongs_to_the_upper_side(tmp_path):
    """``x < 1`` goes left: 1 itself goes right, ``k > 0`` and not ``k > 1``."""
    model = written([(2, 1.0, [2.0], [-2.0])], tmp_path / "model.json")
    ours = load(tmp_path / "model.json", grid(*NAMES))
    assert ours.forest.thresholds() == {2: [0]}
    assert_to_the_bit(ours, raw(model))


def test_a_decimal_is_cut_to_its_float32_first(tmp_path):
    """0.6999999 stands for 11744050 / 2^24, which a step of 2^-24 can tell from the decimal itself."""
    from codegen.frontends import Grid

    written([(0, 0.6999999, [1.0], [0.0])], tmp_path / "model.json")
    exact = int(np.float32(0.6999999) * np.float32(2**24))
    assert exact / 2**24 != 0.6999999
    found = load(tmp_path / "model.json", Grid.of({"f0": (0, 0.75, 24)}))
    assert found.forest.thresholds() == {0: [exact - 1]}


def test_early_stopping_is_refused_with_the_way_out(tmp_path):
    options = {"objective": "reg:squarederror", "max_depth": 3, "nthread": 1, "eta": 1.0}
    held = xgboost.DMatrix(X, np.random.default_rng(0).normal(size=len(X)), nthread=1)
    evals = {"evals": [(held, "held")], "early_stopping_rounds": 2, "verbose_eval": False}
    model = xgboost.train(options, data(Y), 20, **evals)
    model.save_model(tmp_path / "model.json")
    kept = model.best_iteration + 1
    with pytest.raises(InputError, match=rf"booster\[:{kept}\]"):
        load(tmp_path / "model.json", grid(*NAMES))
    model[:kept].save_model(tmp_path / "model.json")
    assert_within_its_error(load(tmp_path / "model.json", grid(*NAMES)), raw(model[:kept]))


def test_more_outputs_than_any_model_has_are_refused_before_there_is_room_for_them(tmp_path):
    written([(2, 1.0, [2.0], [-2.0])], tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    data["learner"]["learner_model_param"]["num_class"] = str(2**40)
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"1099511627776 outputs; .*1 to 1024"):
        load(tmp_path / "model.json", grid(*NAMES))


@pytest.mark.parametrize("output", [-1, 1])
def test_a_tree_of_an_output_that_is_not_there_is_refused(tmp_path, output):
    """And not left out: its leaves would count nowhere."""
    written([(2, 1.0, [2.0], [-2.0])], tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    data["learner"]["gradient_booster"]["model"]["tree_info"] = [output]
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=f"tree 0 .*output {output} of 1"):
        load(tmp_path / "model.json", grid(*NAMES))


def test_categorical_features_are_refused_by_name(tmp_path):
    columns = np.column_stack([X[:, :2], CLASSES])
    matrix = xgboost.DMatrix(columns, CLASSES * 3.0, feature_types=["q", "q", "c"], enable_categorical=True, nthread=1)
    xgboost.train({"max_depth": 2, "nthread": 1, "max_cat_to_onehot": 1}, matrix, 1).save_model(tmp_path / "model.json")
    with pytest.raises(InputError, match="feature 'f2' is categorical"):
        load(tmp_path / "model.json", grid(*NAMES))


def test_vector_leaves_linear_boosters_and_unknown_objectives_are_refused(tmp_path):
    path = tmp_path / "model.json"
    cases = {
        "vectors in .*leaves": trained(
            "reg:squarederror", np.stack([Y, -Y], axis=1), multi_strategy="multi_output_tree", tree_method="hist"
        ),
        "no tree ensemble": xgboost.train({"booster": "gblinear", "nthread": 1}, data(Y), 2),
        "objective survival:aft": None,
    }
    for sentence, model in cases.items():
        if model is not None:
            model.save_model(path)
        else:
            written([[0.0]], path)
            document = json.loads(path.read_text())
            document["learner"]["objective"]["name"] = "survival:aft"
            path.write_text(json.dumps(document))
        with pytest.raises(InputError, match=sentence):
            load(path, grid(*NAMES))


def edited(path, *keys, value):
    """The model with one field set: ``keys`` lead to it from the top."""
    document = json.loads(path.read_text())
    place = document
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value(place[keys[-1]]) if callable(value) else value
    path.write_text(json.dumps(document))


MODEL = ("learner", "gradient_booster", "model")
NOT_WHOLE = {
    "a tree lost": ((*MODEL, "trees"), lambda t: t[:2] + t[3:], r"holds 3 of 4 trees \(num_trees\)"),
    "a tree more": ((*MODEL, "trees"), lambda t: [*t, t[0]], "holds 5 of 4 trees"),
    "fewer counted": ((*MODEL, "gbtree_model_param", "num_trees"), "3", "holds 4 of 3 trees"),
    "rounds lost": ((*MODEL, "iteration_indptr"), lambda r: r[:-1], r"4 of 3 trees \(iteration_indptr\)"),
    "rounds mixed": ((*MODEL, "iteration_indptr"), lambda r: [1, 0, *r[2:]], "does not ascend"),
    "info lost": ((*MODEL, "tree_info"), lambda r: r[:-1], r"holds 4 of 3 trees \(tree_info\)"),
    "trees swapped": ((*MODEL, "trees"), lambda t: [t[1], t[0], *t[2:]], "tree 1 where tree 0 belongs"),
    "nodes lost": ((*MODEL, "trees", 1, "tree_param", "num_nodes"), "99", "of 99 nodes"),
    "another version": (("version",), [4, 0, 0], "saved by XGBoost 4.0.0"),
    "two of both": (("learner", "learner_model_param", "num_class"), "3", "2 labels of 3 classes"),
}


@pytest.mark.parametrize("case", NOT_WHOLE)
def test_a_file_that_is_not_whole_is_refused(case, tmp_path):
    keys, value, sentence = NOT_WHOLE[case]
    trained("reg:squarederror", Y).save_model(tmp_path / "model.json")
    if case == "two of both":
        edited(tmp_path / "model.json", "learner", "learner_model_param", "num_target", value="2")
    edited(tmp_path / "model.json", *keys, value=value)
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / "model.json", grid(*NAMES))


LINKED = ("binary:logistic", "reg:logistic", "count:poisson", "reg:gamma", "reg:tweedie")
SCORES = (0.0, 1e-45, 1e-12, 1e-7, 9.9e-7, 1e-6, 1.1e-6, 0.3, 1 - 1.2e-6, 1 - 1e-6, 1 - 6e-8, 1.0, 40.0)


@pytest.mark.parametrize("objective", LINKED)
@pytest.mark.parametrize("score", SCORES)
def test_a_base_score_is_linked_as_xgboost_links_it(objective, score, tmp_path):
    """Or refused where its raw value is not finite, or XGBoost refuses it too."""
    path = tmp_path / "model.json"
    written([(2, 1.0, [2.0], [-2.0])], path)
    edited(path, "learner", "objective", value={"name": objective, **OF[objective]})
    edited(path, "learner", "learner_model_param", "base_score", value=f"[{score!r}]")
    with np.errstate(all="ignore"):
        try:
            model = xgboost.Booster({"nthread": 1}, model_file=path)
            theirs = raw(model)(np.zeros((1, 3)))[0]
        except xgboost.core.XGBoostError:
            theirs = np.inf
    if not np.isfinite(theirs):
        with pytest.raises(InputError, match="base_score"):
            load(path, grid(*NAMES))
        return
    ours = load(path, grid(*NAMES))
    assert (
        abs(ours.forest.evaluate(np.zeros((1, 3), dtype=np.int64))[0, 0] / 2.0**ours.leaf_bits - theirs)
        <= ours.error[0]
    )
    assert ours.error[0] < 1e-4


OF = {
    "binary:logistic": {"reg_loss_param": {"scale_pos_weight": "1"}},
    "reg:logistic": {"reg_loss_param": {"scale_pos_weight": "1"}},
    "count:poisson": {"poisson_regression_param": {"max_delta_step": "0.7"}},
    "reg:gamma": {"reg_loss_param": {"scale_pos_weight": "1"}},
    "reg:tweedie": {"tweedie_regression_param": {"tweedie_variance_power": "1.5"}},
}


def test_a_base_score_that_versions_disagree_about_is_refused(tmp_path):
    path = tmp_path / "model.json"
    trained("binary:logistic", CLASSES > 0, base_score=1e-7).save_model(path)
    assert load(path, grid(*NAMES)).forest.bias[0] > -14 * 2**20
    edited(path, "version", value=[3, 1, 3])
    with pytest.raises(InputError, match=r"before 3\.2"):
        load(path, grid(*NAMES))
    edited(path, "learner", "learner_model_param", "base_score", value="[1.1E-6]")
    load(path, grid(*NAMES))


def test_a_base_score_a_class(tmp_path):
    """XGBoost 3.1 and later writes one for each."""
    model = trained("multi:softprob", np.minimum(CLASSES, 1), rounds=2, num_class=3)
    model.save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert len(json.loads(document["learner"]["learner_model_param"]["base_score"])) == 3
    edited(tmp_path / "model.json", "learner", "learner_model_param", "base_score", value="[0.25,-3,1E1]")
    model = xgboost.Booster({"nthread": 1}, model_file=tmp_path / "model.json")
    assert_within_its_error(load(tmp_path / "model.json", grid(*NAMES)), raw(model))


@pytest.mark.parametrize("key", ["classes_", "_le"])
def test_labels_that_the_file_holds_are_the_classes(key, tmp_path):
    """Versions before 1.6 number labels themselves and write them beside the model."""
    path = tmp_path / "model.json"
    trained("multi:softprob", CLASSES, num_class=3).save_model(path)
    labels = ["hold", "cut", "raise"]
    wrapper = {"classes_": labels} if key == "classes_" else {"_le": {"classes_": labels}}
    edited(path, "learner", "attributes", value={"scikit_learn": json.dumps(wrapper)})
    assert load(path, grid(*NAMES)).classes == ("hold", "cut", "raise")
    edited(path, "learner", "attributes", value={"scikit_learn": json.dumps({"classes_": labels[:2]})})
    with pytest.raises(InputError, match=r"2 classes .* 3"):
        load(path, grid(*NAMES))
