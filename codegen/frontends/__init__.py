"""Front ends: models made elsewhere -> ``decision.model.Model``. One door: ``load``, for files; ``from_sklearn`` and
``from_catboost`` for models in memory.

    a library's file --reader--> Forest (exact rationals) --quantise, on a Grid--> Model (integers)
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.frontends import catboost_binary, lightgbm_text, sklearn_estimator, treelite_model
from codegen.frontends.catboost_json import is_catboost, read_catboost
from codegen.frontends.forest import Forest
from codegen.frontends.grid import Grid, load_grid
from codegen.frontends.quantise import quantise
from codegen.frontends.xgboost_json import is_xgboost, read_xgboost
from decision.documents import load_json, read_bytes, read_text
from decision.errors import InputError
from decision.model import KIND, Model, comment_text, load_model

REFUSED = {
    (".pkl", ".pickle", ".joblib", ".dill"): "a pickle runs code when it is opened; use codegen.frontends.from_sklearn "
    "in Python, or treelite's .tl",
    (".onnx",): "ONNX cuts thresholds to float32 and so changes decisions; give the model in its library's own format",
    (".ubj", ".deprecated"): 'it is XGBoost\'s binary format; save it as JSON: booster.save_model("model.json")',
}
SERIALISED = (".tl", ".treelite")
READ = "CatBoost .cbm or .json, XGBoost .json, LightGBM .txt, treelite .tl, or a model of rlcc in .json"


def load(path: Path, grid: Path | Grid | None = None) -> Model:
    """Read a model file and put it on the grid (a TOML file, or a Grid).

    InputError where the file is none of those that are read, where the model needs what integers cannot be exact about
    (the feature is named), or where the grid does not fit the model. A model of rlcc brings its grid along.
    """
    path = Path(path)
    forest = _read(path)
    if isinstance(forest, Model):
        if grid is not None:
            raise InputError(f"{path} is a model of rlcc, which brings its grid along; leave the grid out")
        return forest
    if grid is None:
        raise InputError(f"{path} needs a grid: a TOML file with low and high of {', '.join(map(repr, forest.names))}")
    model = quantise(forest, grid if isinstance(grid, Grid) else load_grid(grid))
    return replace(model, name=comment_text(path.name))


def from_sklearn(estimator: Any, grid: Path | Grid) -> Model:
    """The integer model of a fitted scikit-learn tree, forest or boosting."""
    return quantise(sklearn_estimator.forest_of(estimator), grid if isinstance(grid, Grid) else load_grid(grid))


def from_catboost(model: Any, grid: Path | Grid) -> Model:
    """The integer model of a fitted CatBoost model."""
    return quantise(catboost_binary.from_catboost(model), grid if isinstance(grid, Grid) else load_grid(grid))


def _read(path: Path) -> Forest | Model:
    """By what the file is, not only by what it is called."""
    for suffixes, reason in REFUSED.items():
        if path.suffix in suffixes:
            raise InputError(f"{path} is not read: {reason}")
    if path.suffix in SERIALISED:
        read_bytes(path)
        return treelite_model.read_treelite(path)
    if read_bytes(path).startswith(catboost_binary.MAGIC):
        return catboost_binary.read_cbm(path)
    if path.suffix == ".json":
        data = load_json(path)
        if is_catboost(data):
            return read_catboost(data, str(path))
        if is_xgboost(data):
            return read_xgboost(data, str(path))
        if isinstance(data, dict) and data.get("kind") == KIND:
            return load_model(path)
    elif path.suffix == ".txt" and lightgbm_text.is_lightgbm(read_text(path)):
        return lightgbm_text.read_lightgbm(read_text(path), str(path))
    raise InputError(f"{path} is no model that is read: {READ}")
