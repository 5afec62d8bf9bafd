"""The library has the last word: mutants of every reader are found by its own predictions, and time is bounded."""

# ruff: noqa: E501 - tables, a row a line
import importlib
import inspect
import json
import re
import types
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import treelite
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from gridded import grid, points, training
from sklearn import ensemble

from codegen.frontends import Grid, comparison, formats, from_catboost, from_sklearn, load
from codegen.frontends.comparison import COMPARED, Predictions, compare, judged, on_grid, physical, predicted
from codegen.frontends.predictions import LIBRARIES
from codegen.frontends.quantise import quantise
from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Leaf

X, Y, CLASSES = training()
F, COLUMN, NUMBER = ("f0", "f1", "f2"), ("Column_0", "Column_1", "Column_2"), ("0", "1", "2")


def xgboost_file(path, target=Y, rounds=4, **more):
    options = {"objective": "reg:squarederror", "max_depth": 3, "nthread": 1} | more
    xgboost.train(options, xgboost.DMatrix(X, target, nthread=1), rounds).save_model(path)


def fine_threshold(path):
    """A question whose decimal, cut to float32, is a grid point; the decimal lies above it."""
    xgboost_file(path, rounds=1, max_depth=1)
    document = json.loads(path.read_text())
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["split_conditions"][0], tree["split_indices"][0] = 0.7, 0
    path.write_text(json.dumps(document))


def lightgbm_file(path, target=Y, whole=False, **more):
    options = {"objective": "regression", "verbose": -1, "num_threads": 1, "num_leaves": 9, "seed": 0} | more
    text = lightgbm.train(options, lightgbm.Dataset(X, target.astype(float)), 4).model_to_string()
    if whole:  # thresholds on grid points, where <= and < differ
        text = re.sub("tree_sizes=.*\n", "", text)
        text = re.sub(
            "threshold=(.*)", lambda m: f"threshold={' '.join(str(round(float(v))) for v in m[1].split())}", text
        )
    path.write_text(text)


def catboost_file(path, target=Y, kind="json", threshold=None, **more):
    options = {"iterations": 5, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False} | more
    model = (CatBoostRegressor if target is Y else CatBoostClassifier)(**options).fit(X, target)
    if threshold is not None:
        model.set_probability_threshold(threshold)
    if target is Y:
        model.set_scale_and_bias(0.5, 3.25)
    model.save_model(str(path), format=kind)


def treelite_file(path, scale=1000.0, averaged=False):
    xgboost_file(path.with_suffix(".json"), Y * scale)
    model = treelite.frontend.load_xgboost_model(path.with_suffix(".json"))
    if averaged:
        model.get_header_accessor().set_field("average_tree_output", np.array([1], np.uint8))
    model.serialize(path)


RARE = {"objective": "binary:logistic", "base_score": 1e-7}
TEXT = np.array(["low", "mid", "high"])[CLASSES]
FINE = Grid.of({"f0": (0, 0.75, 24)})
FILES = {
    "xgboost": ("x.json", xgboost_file, {}, F, "xgboost_json"),
    "xgboost, on the grid": ("x.json", fine_threshold, {}, FINE, "xgboost_json"),
    "xgboost, binary": ("x.json", xgboost_file, {"target": CLASSES > 0, "objective": "binary:logistic"}, F, "xgboost_json"),
    "xgboost, rare": ("x.json", xgboost_file, {"target": CLASSES > 0, **RARE}, F, "xgboost_json"),
    "xgboost, classes": ("x.json", xgboost_file, {"target": CLASSES, "objective": "multi:softmax", "num_class": 3}, F, "xgboost_json"),
    "xgboost, dart": ("x.json", xgboost_file, {"booster": "dart", "rate_drop": 0.5}, F, "xgboost_json"),
    "lightgbm": ("l.txt", lightgbm_file, {"whole": True}, COLUMN, "lightgbm_text"),
    "lightgbm, classes": ("l.txt", lightgbm_file, {"target": CLASSES, "objective": "multiclass", "num_class": 3}, COLUMN, "lightgbm_text"),
    "lightgbm, forest": ("l.txt", lightgbm_file, {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}, COLUMN, "lightgbm_text"),
    "catboost": ("c.json", catboost_file, {}, NUMBER, "catboost_json"),
    "catboost, nested": ("c.json", catboost_file, {"grow_policy": "Lossguide"}, NUMBER, "catboost_json"),
    "catboost, text": ("c.json", catboost_file, {"target": TEXT}, NUMBER, "catboost_json"),
    "catboost, unseen": ("c.json", catboost_file, {"target": np.array([1, 3, 4])[CLASSES], "classes_count": 5, "loss_function": "MultiClass"}, NUMBER, "catboost_json"),
    "catboost, cut": ("c.json", catboost_file, {"target": CLASSES > 0, "threshold": 0.7}, NUMBER, "catboost_json"),
    "treelite": ("t.tl", treelite_file, {}, F, "treelite_model"),
    "treelite, mean": ("t.tl", treelite_file, {"averaged": True}, F, "treelite_model"),
}  # fmt: skip
"""Name -> file, how it is made, features or grid, the reader's module."""

READERS = {
    "xgboost_json": lambda reader, path: reader.read_xgboost(json.loads(path.read_text()), str(path)),
    "lightgbm_text": lambda reader, path: reader.read_lightgbm(path.read_text(), str(path)),
    "catboost_json": lambda reader, path: reader.read_catboost(json.loads(path.read_text()), str(path)),
    "treelite_model": lambda reader, path: reader.read_treelite(path),
}

MUTANTS = {
    "xgboost": [
        ("True, above=right, below=left", "True, above=left, below=right"),
        ("trees=tuple(trees),", "trees=tuple(trees[1:]),"),
        ("trees=tuple(trees),", "trees=tuple(trees[:-1]),"),
        ("bias=bias,", "bias=(Fraction(0),) * outputs,"),
        ("sum_bits=FLOAT32_BITS", "sum_bits=80"),
    ],
    "xgboost, on the grid": [
        ("float(Float32(condition)), True", "float(condition), True"),
        ("float(Float32(condition)), True", "float(Float32(condition)), False"),
    ],
    "xgboost, binary": [("Float32(-exact.log(", "Float32(exact.log("), ("_logit),\n    \"reg", "_identity),\n    \"reg")],
    "xgboost, rare": [("inside = min(max(score, EDGE), one - EDGE)", "inside = score")],
    "xgboost, classes": [("only(output, outputs, weight", "only(outputs - 1 - output, outputs, weight")],
    "xgboost, dart": [("weight * _exact(condition)", "_exact(condition)")],
    "lightgbm": [
        ("float(border), False,", "float(border), True,"),
        ("above=place(right), below=place(left)", "above=place(left), below=place(right)"),
        ("inner + ~child", "inner + len(values) - 1 - ~child"),
        ("for n, tree in enumerate(trees))", "for n, tree in enumerate(trees[:-1]))"),
    ],
    "lightgbm, classes": [("only(number % outputs", "only((number + 1) % outputs")],
    "lightgbm, forest": [("/ averaged for v", "for v")],
    "catboost": [
        ("place | 1 << number", "place << 1 | 1"),
        ("self._ask(splits[number], above, below)", "self._ask(splits[number], below, above)"),
        ("self.scale * Fraction(v)", "Fraction(v)"),
        ("bias=biases,", "bias=(Fraction(0),) * len(biases),"),
        ("trees=tuple(trees),", "trees=tuple(trees[:-1]),"),
    ],
    "catboost, nested": [('node["right"], depth + 1), self.nested(node["left"]', 'node["left"], depth + 1), self.nested(node["right"]')],
    "catboost, text": [("names[number] if names else number", "number"), ("for number in numbers)", "for number in numbers[::-1])")],
    "catboost, unseen": [("names[number] if names else number) for number in numbers", "number) for number in range(count)")],
    "catboost, cut": [("Fraction(-float(exact.log(", "Fraction(float(exact.log("), ("cut=_cut(data) if", "cut=Fraction(0) if")],
    "treelite": [
        ("operator == LESS,", "operator != LESS,"),
        ("above=right, below=left", "above=left, below=right"),
        ('("float32", "float32"): FLOAT32_BITS', '("float32", "float32"): FLOAT64_BITS'),
        ("tuple(map(Fraction, bias))", "(Fraction(0),) * outputs"),
        ("Forest(LIBRARY, names, trees,", "Forest(LIBRARY, names, trees[1:],"),
    ],
    "treelite, mean": [("/ shares[output]", "")],
}  # fmt: skip
ALL = [(case, old, new) for case, edits in MUTANTS.items() for old, new in edits]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Of a case: its file, its grid, the right model, rows, and what the library says of them."""

    @cache
    def make(case):
        name, write, options, features, _ = FILES[case]
        path = tmp_path_factory.mktemp("file") / name
        write(path, **options)
        chosen = features if isinstance(features, Grid) else grid(*features)
        model = load(path, chosen)
        rows = on_grid(model, points(model)[0])
        kind = formats.format_of(path.read_bytes())
        kind = formats.format_of_json(json.loads(path.read_text())) if kind == formats.JSON else kind
        said = LIBRARIES[kind][2](str(path), [f.name for f in model.features], physical(model, rows))
        raw = np.asarray(said["raw"], dtype=np.float64).reshape(len(rows), -1)
        return path, chosen, model, rows, Predictions(raw, said.get("labels"), kind, "")

    return make


@pytest.mark.parametrize("case", FILES)
def test_the_right_reader_holds(case, told):
    _, _, model, rows, found = told(case)
    report = judged(model, rows, found)
    assert (report.state, report.rows) == (COMPARED, len(rows))
    assert all(off <= stated for off, stated in zip(report.largest, report.stated, strict=True))
    assert (report.classes > 0.5 * len(rows)) == (case.startswith("catboost, ") and "nested" not in case)


@pytest.mark.parametrize(("case", "old", "new"), ALL)
def test_a_mutant_of_a_reader_is_found(case, old, new, told):
    path, chosen, right, rows, found = told(case)
    name = FILES[case][4]
    original = importlib.import_module(f"codegen.frontends.{name}")
    source = inspect.getsource(original)
    assert old in source
    mutant = types.ModuleType("mutant")
    exec(compile(source.replace(old, new, 1), "mutant", "exec"), mutant.__dict__)
    model = quantise(READERS[name](mutant, path), chosen)
    assert replace(model, name=right.name) != right
    with pytest.raises(InputError, match="as its library"):
        judged(model, rows, found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shrinkage * Fraction", "Fraction"),
        ("bias=_initial(estimator, outputs)", "bias=(Fraction(0),) * outputs"),
        ("above=int(right), below=int(left)", "above=int(left), below=int(right)"),
        ("tuple(map(str, estimator.classes_)) if hasattr", "tuple(map(str, estimator.classes_))[::-1] if hasattr"),
        ("trees=tuple(trees),", "trees=tuple(trees[:-1]),"),
    ],
)
def test_a_mutant_of_scikit_learns_reader_is_found(old, new, monkeypatch):
    from codegen.frontends import sklearn_estimator

    estimator = ensemble.GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, TEXT)
    from_sklearn(estimator, grid("x0", "x1", "x2"))
    source = inspect.getsource(sklearn_estimator)
    assert old in source
    mutant = types.ModuleType("mutant")
    exec(compile(source.replace(old, new, 1), "mutant", "exec"), mutant.__dict__)
    monkeypatch.setattr(sklearn_estimator, "forest_of", mutant.forest_of)
    with pytest.raises(InputError, match="as its library"):
        from_sklearn(estimator, grid("x0", "x1", "x2"))


def test_a_model_of_catboost_in_memory_is_held_against_itself(monkeypatch):
    model = CatBoostRegressor(iterations=3, depth=2, verbose=0, allow_writing_files=False, thread_count=1).fit(X, Y)
    right = from_catboost(model, grid(*NUMBER))
    from codegen.frontends import catboost_binary

    forest = catboost_binary.from_catboost(model)
    wrong = replace(forest, bias=(forest.bias[0] + Fraction(1, 2**20),))
    monkeypatch.setattr(catboost_binary, "from_catboost", lambda _: wrong)
    with pytest.raises(InputError, match=r"catboost .* predicts"):
        from_catboost(model, grid(*NUMBER))
    assert right.error[0] < 2.0**-20


def test_any_single_leaf_or_threshold_that_is_off_is_found(told):
    """Every leaf by one unit beyond the error, every threshold by one: the rows show each."""
    _, _, model, rows, found = told("catboost, nested")
    unit = int(model.error[0] * 2**model.leaf_bits) * 2 + 2
    places = [(number, path) for number, tree in enumerate(model.trees) for path in paths(tree)]
    lost = []
    for number, path in places:
        edited = tuple(changed(tree, path, unit) if n == number else tree for n, tree in enumerate(model.trees))
        try:
            judged(replace(model, trees=edited), rows, found)
            lost.append((number, path))
        except InputError:
            pass
    assert len(places) > 50
    assert len(lost) <= 0.05 * len(places)  # leaves that no input reaches


def paths(node, so_far=()):
    yield so_far
    if isinstance(node, Branch):
        yield from paths(node.above, (*so_far, "above"))
        yield from paths(node.below, (*so_far, "below"))


def changed(node, path, unit):
    if path:
        return replace(node, **{path[0]: changed(getattr(node, path[0]), path[1:], unit)})
    if isinstance(node, Leaf):
        return Leaf(tuple(v + unit for v in node.value))
    return replace(node, threshold=node.threshold + 1)


@pytest.mark.slow_except("xgboost", "treelite")
@pytest.mark.parametrize("case", ["xgboost", "lightgbm", "catboost, unseen", "treelite"])
def test_a_process_of_its_own_says_the_same(case, told, monkeypatch):
    path, _, model, rows, found = told(case)
    monkeypatch.setattr(comparison, "CPU_S", 60)  # however busy the machine is
    names = [feature.name for feature in model.features]
    kind = {"catboost, unseen": "catboost"}.get(case, case)
    apart = predicted(kind, path.read_bytes(), names, physical(model, rows))
    assert isinstance(apart, Predictions), apart
    np.testing.assert_array_equal(apart.raw, found.raw)
    assert (apart.labels is None) == (found.labels is None)
    assert apart.version[0].isdigit()


@pytest.mark.parametrize("kind", [formats.XGBOOST, formats.RLCC])
def test_what_is_not_compared_is_said(kind, told, monkeypatch, wording):
    path, _, model, rows, _ = told("xgboost")
    if kind == formats.RLCC:
        wording(compare(model, kind, b"", rows).state)
        return
    content = path.read_bytes()
    assert compare(model, kind, b"{}", rows).state.startswith("not compared: the ")
    beyond = np.full((3, 3), 2**31 - 1)
    wording(compare(model, kind, content, beyond).state)
    monkeypatch.setattr(comparison, "CPU_S", 0)
    assert compare(model, kind, content, rows).state == "not compared: time"
    monkeypatch.setattr(comparison, "WALL_S", 0.05)
    assert compare(model, kind, content, rows).state == "not compared: time"


def test_a_library_that_is_not_installed_is_said(told, tmp_path, monkeypatch, wording):
    path, _, model, rows, _ = told("xgboost")
    child = tmp_path / "predictions.py"
    source = Path(comparison.CHILD).read_text()
    child.write_text(source.replace("OPTIONAL = (", 'OPTIONAL = ("xgboost", '))
    monkeypatch.setattr(comparison, "CHILD", child)
    found = compare(model, formats.XGBOOST, path.read_bytes(), rows)
    assert (found.rows, found.library) == (0, "xgboost")
    wording(found.state)


def test_nothing_of_where_it_is_started_is_imported(told, tmp_path, monkeypatch):
    """A file that is called like a library does not run."""
    path, _, model, rows, _ = told("xgboost")
    (tmp_path / "xgboost.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(comparison, "CPU_S", 60)
    assert compare(model, formats.XGBOOST, path.read_bytes(), rows).state == COMPARED
