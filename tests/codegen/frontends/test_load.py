"""The one door: what a file is, not only what it is called; what is refused."""

import subprocess
import sys

import pytest

from codegen.frontends import Grid, load
from decision.errors import InputError
from decision.forest import Branch, Leaf
from decision.model import GridFeature, Model

MODEL = Model((GridFeature("a", 2, 0, 40),), (Branch(0, 7, Leaf((1,)), Leaf((-1,))),), (3,), 4, "regression")
GRID = Grid.of({"a": (0, 1, 0)})


def test_a_model_of_rlcc_brings_its_grid_along(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(MODEL.dump())
    assert load(path) == MODEL
    with pytest.raises(InputError, match="brings its grid along"):
        load(path, GRID)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("model.onnx", "", "ONNX cuts thresholds to float32"),
        ("model.pkl", "", "a pickle runs code"),
        ("model.ubj", "", "save it as JSON"),
        ("model.json", "{}", "no model that is read"),
        ("model.json", "[1]", "no model that is read"),
        ("model.json", "{", "not valid JSON"),
        ("model.txt", "hello\n", "no model that is read"),
        ("model.txt", "tree\n", "not a LightGBM text model"),
        ("model.txt", "tree\nmax_feature_idx=1\nfeature_names=a\n", "not a LightGBM text model"),
        ("model.json", '{"features_info": 1}', "not a CatBoost model in JSON"),
        ("model.json", '{"features_info": {"float_features": []}, "scale_and_bias": [1, ["x"]]}', "not a CatBoost"),
        ("model.json", '{"learner": {}}', "not an XGBoost model in JSON"),
        ("model.json", '{"learner": 3}', "not an XGBoost model in JSON"),
        ("model.json", '{"kind": "model"}', "the model is not readable"),
    ],
)
def test_what_is_no_model_is_refused_in_one_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / name, GRID)


def test_a_model_without_a_grid_names_its_features(tmp_path):
    (tmp_path / "model.txt").write_text(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\nfeature_names=rtt rate\n\nend of trees\n"
    )
    with pytest.raises(InputError, match=r"needs a grid: .* of 'rtt', 'rate'"):
        load(tmp_path / "model.txt")


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        load(tmp_path / "model.cbm", GRID)


def test_no_library_is_imported_before_a_model_needs_it():
    found = "import sys, codegen.frontends; print({'catboost', 'treelite', 'sklearn', 'xgboost'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
