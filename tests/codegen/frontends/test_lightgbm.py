"""LightGBM: text models, to the bit on the grid; `<=` of doubles; refusals by name."""

import re

import lightgbm
import numpy as np
import pytest
from gridded import assert_to_the_bit, assert_within_its_error, grid, leaf, splits, training, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.frontends import load
from decision.artefact.errors import InputError

NAMES = ("Column_0", "Column_1", "Column_2")
X, Y, CLASSES = training()
CASES = {
    "regression": (Y, {}),
    "binary": (CLASSES > 0, {}),
    "multiclass": (CLASSES, {"num_class": 3}),
    "multiclassova": (CLASSES, {"num_class": 3}),
    "dart": (Y, {"objective": "regression", "boosting": "dart"}),
    "forest": (Y, {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}),
}


def trained(case: str, **more):
    target, extra = CASES[case]
    options = {"objective": case, "verbose": -1, "num_threads": 1, "num_leaves": 9, "seed": 0} | extra | more
    return lightgbm.train(options, lightgbm.Dataset(X, target.astype(float)), 6)


def raw(model, case: str = "regression"):
    return lambda x: model.predict(x, raw_score=case != "forest")  # a forest's raw score is the sum, not the mean


def decide(case: str, model):
    if case == "binary":
        return lambda x: model.predict(x) > 0.5
    return (lambda x: model.predict(x).argmax(axis=1)) if "multiclass" in case else None


def reloaded(text: str, path):
    """LightGBM reads the trees by their sizes in bytes, if it is told them: edited ones have others."""
    text = re.sub(r"^tree_sizes=.*\n", "", text, flags=re.MULTILINE)
    path.write_text(text)
    return lightgbm.Booster(model_str=text)


@pytest.mark.parametrize("case", CASES)
def test_equals_lightgbm_within_the_stated_error(case, tmp_path):
    model = trained(case)
    model.save_model(tmp_path / "model.txt")
    assert_within_its_error(load(tmp_path / "model.txt", grid(*NAMES)), raw(model, case), decide(case, model))


@pytest.mark.parametrize("case", ["regression", "multiclass", "binary"])
def test_equals_lightgbm_to_the_bit_where_leaves_are_dyadic(case, tmp_path):
    rng = np.random.default_rng(0)

    def dyadic(match):
        values = rng.integers(-500, 500, len(match[1].split())) / 64
        return f"leaf_value={' '.join(map(repr, values.tolist()))}"

    path = tmp_path / "model.txt"
    model = reloaded(re.sub(r"leaf_value=(.*)", dyadic, trained(case).model_to_string()), path)
    assert_to_the_bit(load(path, grid(*NAMES)), raw(model), decide(case, model) if case == "multiclass" else None)


HEAD = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=Column_0 Column_1 Column_2
feature_infos=[-4:4] [-3:20] [-50:50]

"""


def section(number: int, node) -> str:
    """A tree as LightGBM writes it; ``x <= threshold`` is its left."""
    inner, leaves = [], []

    def place(part) -> int:
        if isinstance(part, list):
            leaves.append(part[0])
            return -len(leaves)
        inner.append(part)
        here = len(inner) - 1
        children[here] = (place(part[3]), place(part[2]))
        return here

    children: dict[int, tuple[int, int]] = {}
    place(node)
    lines = [f"Tree={number}", f"num_leaves={len(leaves)}", "num_cat=0"]
    if inner:
        lines += [
            f"split_feature={' '.join(str(part[0]) for part in inner)}",
            f"split_gain={' '.join('1' for _ in inner)}",
            f"threshold={' '.join(repr(part[1]) for part in inner)}",
            f"decision_type={' '.join('2' for _ in inner)}",
            f"left_child={' '.join(str(children[n][0]) for n in range(len(inner)))}",
            f"right_child={' '.join(str(children[n][1]) for n in range(len(inner)))}",
        ]
    lines += [f"leaf_value={' '.join(map(repr, leaves))}", "is_linear=0", "shrinkage=1"]
    return "\n".join(lines) + "\n\n\n"


def written(nodes) -> str:
    return HEAD + "".join(section(n, node) for n, node in enumerate(nodes)) + "end of trees\n"


@given(nodes=st.lists(tree(), min_size=1, max_size=3))
@settings(max_examples=examples(40))
def test_any_small_model_is_lightgbm_to_the_bit(tmp_path_factory, nodes):
    path = tmp_path_factory.mktemp("lightgbm") / "model.txt"
    model = reloaded(written(nodes), path)
    assert_to_the_bit(load(path, grid(*NAMES)), raw(model))


@given(split=splits(), step=st.sampled_from([-np.inf, np.inf]), sides=st.tuples(leaf(1), leaf(1)))
@settings(max_examples=examples(30))
def test_a_threshold_one_double_beside_a_grid_point_decides_as_lightgbm(tmp_path_factory, split, step, sides):
    path = tmp_path_factory.mktemp("lightgbm") / "model.txt"
    model = reloaded(written([(split[0], float(np.nextafter(split[1], step)), *sides)]), path)
    assert_to_the_bit(load(path, grid(*NAMES)), raw(model))


def test_missing_values_are_refused_by_name(tmp_path):
    x = X.copy()
    x[::5, 1] = np.nan
    for missing in ({}, {"zero_as_missing": True}):
        options = {"objective": "regression", "verbose": -1, "num_threads": 1} | missing
        lightgbm.train(options, lightgbm.Dataset(x, Y), 2).save_model(tmp_path / "model.txt")
        with pytest.raises(InputError, match=r"'Column_[01]' .*missing values"):
            load(tmp_path / "model.txt", grid(*NAMES))


def test_categorical_features_are_refused_by_name(tmp_path):
    data = lightgbm.Dataset(np.column_stack([X[:, :2], CLASSES]), Y, categorical_feature=[2])
    options = {"objective": "regression", "verbose": -1, "num_threads": 1, "min_data_per_group": 1}
    lightgbm.train(options, data, 3).save_model(tmp_path / "model.txt")
    with pytest.raises(InputError, match="feature 'Column_2' is categorical"):
        load(tmp_path / "model.txt", grid(*NAMES))


def test_linear_leaves_are_refused(tmp_path):
    trained("regression", linear_tree=True).save_model(tmp_path / "model.txt")
    with pytest.raises(InputError, match="linear leaves"):
        load(tmp_path / "model.txt", grid(*NAMES))


def lost(text: str, number: int) -> str:
    """Without tree ``number``."""
    start, end = text.index(f"Tree={number}\n"), text.index(f"Tree={number + 1}\n")
    return text[:start] + text[end:]


BROKEN = {
    "cut between trees": (lambda t: t[: t.index("Tree=4\n")], r"holds 4 of 6 trees \(tree_sizes\)"),
    "cut in a tree": (lambda t: t[: t.index("Tree=4\n") + 150], "holds 5 of 6 trees"),
    "cut behind the last tree": (lambda t: t[: t.index("end of trees")], "does not end with"),
    "a tree lost": (lambda t: lost(t, 2), "holds 5 of 6 trees"),
    "a tree lost, sizes too": (lambda t: lost(re.sub("tree_sizes=.*\n", "", t), 2), "tree '3' where tree 2 belongs"),
    "a tree twice": (lambda t: re.sub("Tree=3\n", "Tree=2\n", t), "tree '2' where tree 3 belongs"),
    "a size too long": (lambda t: re.sub(r"tree_sizes=\d+", "tree_sizes=9", t), "tree_sizes says 9"),
    "another version": (lambda t: t.replace("version=v4", "version=v9"), "version v9"),
    "an unknown decision": (lambda t: with_decision(t, 18), "decision_type 18"),
    "a leaf lost": (lambda t: without_a_leaf(t), "has 8 splits and 8 leaves"),
    "a key twice": (lambda t: t.replace("num_class=1\n", "num_class=1\nnum_class=2\n"), "num_class stands twice"),
}


def without_a_leaf(text: str) -> str:
    text = re.sub("tree_sizes=.*\n", "", text).replace("num_leaves=9", "num_leaves=8", 1)
    return re.sub(r"leaf_value=(\S+) ", "leaf_value=", text, count=1)


def with_decision(text: str, decision: int) -> str:
    text = re.sub("tree_sizes=.*\n", "", text)
    return re.sub(r"decision_type=\d+", f"decision_type={decision}", text, count=1)


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_is_not_whole_is_refused(case, tmp_path):
    edit, sentence = BROKEN[case]
    text = trained("regression").model_to_string()
    assert edit(text) != text
    (tmp_path / "model.txt").write_text(edit(text))
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / "model.txt", grid(*NAMES))


def test_classes_and_trees_an_iteration_agree(tmp_path):
    text = trained("multiclass").model_to_string()
    (tmp_path / "model.txt").write_text(text.replace("num_class=3\n", "num_class=2\n"))
    with pytest.raises(InputError, match="num_class=2 with 3 trees"):
        load(tmp_path / "model.txt", grid(*NAMES))


@given(part=st.floats(0, 1))
@settings(max_examples=examples(40))
def test_no_part_of_a_file_is_a_model(tmp_path_factory, part):
    """Cut anywhere before the trees end; behind them stand the parameters of training alone."""
    text = WHOLE.setdefault("text", trained("regression").model_to_string())
    path = tmp_path_factory.mktemp("cut") / "model.txt"
    path.write_text(text[: int(part * text.index("end of trees"))])
    with pytest.raises(InputError):
        load(path, grid(*NAMES))


WHOLE: dict[str, str] = {}
