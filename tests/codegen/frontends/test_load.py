"""The one door: what a file is, not only what it is called; what is refused.

Slow: further libraries' files under another name.
"""

import gzip
import json
import pickle
import subprocess
import sys
from dataclasses import replace

import catboost
import lightgbm
import numpy as np
import pytest
import treelite
import xgboost

from codegen.frontends import Grid, load
from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Leaf
from decision.policy.model import GridFeature, Model

MODEL = Model((GridFeature("a", 2, 0, 40),), (Branch(0, 7, Leaf((1,)), Leaf((-1,))),), (3,), 4, "regression")
GRID = Grid.of({"a": (0, 1, 0)})


def test_a_model_of_rlcc_brings_its_grid_along(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(MODEL.dump())
    assert load(path) == MODEL
    with pytest.raises(InputError, match="brings its grid"):
        load(path, GRID)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("model.onnx", "", "ONNX cuts thresholds to float32"),
        ("model.pkl", "", "pickle runs code"),
        ("model.ubj", "", "save it as JSON"),
        ("model.json", "{}", "no model"),
        ("model.json", "[1]", "no model"),
        ("model.json", "{", "not valid JSON"),
        ("model.txt", "hello\n", "no model"),
        ("model.txt", "tree\n", "LightGBM text"),
        ("model.txt", "tree\nmax_feature_idx=1\nfeature_names=a\n", "LightGBM text"),
        ("model.json", '{"features_info": 1}', "CatBoost .*JSON"),
        ("model.json", '{"features_info": {"float_features": []}, "scale_and_bias": [1, ["x"]]}', "not a CatBoost"),
        ("model.json", '{"learner": {}}', "XGBoost .*JSON"),
        ("model.json", '{"learner": 3}', "XGBoost .*JSON"),
        ("model.json", '{"kind": "model"}', "model .*not readable"),
    ],
)
def test_what_is_no_model_is_refused_in_one_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / name, GRID)


def test_a_model_without_a_grid_names_its_features(tmp_path):
    (tmp_path / "model.txt").write_text(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\n"
        "feature_names=rtt rate\n\nend of trees\n"
    )
    with pytest.raises(InputError, match=r"grid: .* 'rtt', 'rate'"):
        load(tmp_path / "model.txt")


def xgboost_in(path):
    x = np.arange(40.0)[:, None]
    xgboost.train({"nthread": 1, "max_depth": 2}, xgboost.DMatrix(x, x[:, 0], nthread=1), 1).save_model(path)


def lightgbm_in(path):
    x = np.arange(80.0)[:, None]
    options = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1}
    return lightgbm.train(options, lightgbm.Dataset(x, x[:, 0]), 2).save_model(path)


def catboost_in(path, kind="cbm"):
    x = np.arange(40.0)[:, None]
    model = catboost.CatBoostRegressor(iterations=2, verbose=0, allow_writing_files=False, thread_count=1).fit(x, x)
    model.save_model(str(path), format=kind)


def treelite_in(path):
    xgboost_in(path.with_suffix(".json"))
    treelite.frontend.load_xgboost_model(path.with_suffix(".json")).serialize(path)


MADE = {
    "xgboost": (xgboost_in, "f0", ".json"),
    "lightgbm": (lightgbm_in, "Column_0", ".txt"),
    "catboost": (catboost_in, "0", ".cbm"),
    "catboost in JSON": (lambda path: catboost_in(path, "json"), "0", ".json"),
    "treelite": (treelite_in, "f0", ".tl"),
}


@pytest.mark.slow_except("xgboost")
@pytest.mark.parametrize("library", MADE)
def test_a_file_is_what_is_in_it_not_what_it_is_called(library, tmp_path):
    make, feature, suffix = MADE[library]
    make(tmp_path / f"model{suffix}")
    usual = load(tmp_path / f"model{suffix}", Grid.of({feature: (0, 40, 2)}))
    assert usual.trees
    content = (tmp_path / f"model{suffix}").read_bytes()
    for name in ("model.model", "model", "model.bin", "model.pkl", "model.json", "model.txt"):
        (tmp_path / name).write_bytes(content)
        assert replace(load(tmp_path / name, Grid.of({feature: (0, 40, 2)})), name=usual.name) == usual


def dumped(path):
    xgboost_in(path)
    return xgboost.Booster(model_file=path)


NAMED = {
    "UBJSON": (lambda p: dumped(p).save_raw("ubj"), 'booster.save_model\\("model.json"\\)'),
    "XGBoost's dump": (
        lambda p: f"[{','.join(dumped(p).get_dump(dump_format='json'))}]".encode(),
        "XGBoost's dump, which has no base_score",
    ),
    "XGBoost's text dump": (lambda p: b"booster[0]:\n" + dumped(p).get_dump()[0].encode(), "XGBoost's text dump"),
    "LightGBM's dump": (lambda p: json.dumps(lightgbm_in(p).dump_model()).encode(), "LightGBM's dump; save it as text"),
    "treelite's dump": (
        lambda p: (dumped(p), treelite.frontend.load_xgboost_model(p).dump_as_json())[1].encode(),
        "treelite's dump",
    ),
    "a pickle": (lambda p: pickle.dumps(MODEL), "a pickle runs code"),
    "a zip": (lambda p: b"PK\x03\x04" + bytes(40), "a zip archive"),
    "compressed": (lambda p: gzip.compress(b"tree\n"), "is compressed"),
    "PMML": (lambda p: b'<?xml version="1.0"?><PMML/>', "PMML"),
    "nothing": (lambda p: b"", "no model that is read"),
    "bytes": (lambda p: bytes(range(256)), "no model that is read"),
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_format_that_is_not_read_is_named_with_the_way_out(kind, tmp_path):
    make, sentence = NAMED[kind]
    content = make(tmp_path / "made.json")
    for name in ("model.json", "model.model", "model"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=sentence) as error:
            load(tmp_path / name, GRID)
        assert "\n" not in str(error.value)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(InputError, match="no file"):
        load(tmp_path / "model.cbm", GRID)


def test_no_library_is_imported_before_a_model_needs_it():
    found = "import sys, codegen.frontends; print({'catboost', 'treelite', 'sklearn', 'xgboost'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
