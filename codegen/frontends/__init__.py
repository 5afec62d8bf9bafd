"""Front ends: models made elsewhere -> ``decision.policy.model.Model``. One door: ``load``, for files; ``from_sklearn``
and ``from_catboost`` for models in memory.

    a library's file --reader--> Forest (exact rationals) --quantise, on a Grid--> Model (integers)
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.frontends import catboost_binary, formats, lightgbm_text, sklearn_estimator, treelite_model
from codegen.frontends.catboost_json import read_catboost
from codegen.frontends.comparison import hold
from codegen.frontends.forest import Forest
from codegen.frontends.gbrl_trees import read_gbrl
from codegen.frontends.grid import Grid, load_grid
from codegen.frontends.predictions import of_catboost, of_sklearn
from codegen.frontends.quantise import quantise
from codegen.frontends.xgboost_json import read_xgboost
from decision.artefact.documents import load_json, read_bytes, read_text
from decision.artefact.errors import InputError
from decision.policy.model import Model, comment_text, load_model

READ = (
    "CatBoost's cbm or JSON, XGBoost's JSON, LightGBM's text, GBRL's gbrl_model, treelite's serialised models, or a "
    "model of rlcc"
)

READERS: dict[str, Callable[[Path, Any], Forest]] = {
    formats.CBM: lambda path, _: catboost_binary.read_cbm(path),
    formats.TREELITE: lambda path, _: treelite_model.read_treelite(path),
    formats.LIGHTGBM: lambda path, _: lightgbm_text.read_lightgbm(read_text(path), str(path)),
    formats.GBRL: lambda path, _: read_gbrl(read_bytes(path), str(path)),
    formats.CATBOOST: lambda path, data: read_catboost(data, str(path)),
    formats.XGBOOST: lambda path, data: read_xgboost(data, str(path)),
}
"""By format: the reader of a file, given its JSON where it is one."""


def load(path: Path, grid: Path | Grid | None = None) -> Model:
    """Read a model file and put it on the grid (a TOML file, or a Grid).

    InputError where the file is none of those that are read, where the model needs what integers cannot be exact about
    (the feature is named), or where the grid does not fit the model. A model of rlcc brings its grid along.
    """
    return load_with_format(Path(path), grid)[0]


def load_with_format(path: Path, grid: Path | Grid | None = None) -> tuple[Model, str]:
    """The same, and which of the ``formats`` the file has."""
    forest, kind = _read(path)
    if isinstance(forest, Model):
        if grid is not None:
            raise InputError(f"{path} is a model of rlcc, which brings its grid along; leave the grid out")
        return forest, kind
    if grid is None:
        raise InputError(f"{path} needs a grid: a TOML file with low and high of {', '.join(map(repr, forest.names))}")
    model = quantise(forest, grid if isinstance(grid, Grid) else load_grid(grid))
    return replace(model, name=comment_text(path.name)), kind


def from_sklearn(estimator: Any, grid: Path | Grid) -> Model:
    """The integer model of a fitted scikit-learn tree, forest or boosting, held against it."""
    forest = sklearn_estimator.forest_of(estimator)
    model = quantise(forest, grid if isinstance(grid, Grid) else load_grid(grid))
    return hold(model, forest.library, lambda names, rows: of_sklearn(estimator, forest.names, names, rows))


def from_catboost(model: Any, grid: Path | Grid) -> Model:
    """The integer model of a fitted CatBoost model, held against it."""
    forest = catboost_binary.from_catboost(model)
    integers = quantise(forest, grid if isinstance(grid, Grid) else load_grid(grid))
    return hold(integers, forest.library.lower(), lambda names, rows: of_catboost(model, names, rows))


def read_forest(path: Path) -> tuple[Forest, str]:
    """Returns the trees of a library's file as rationals, and which of the ``formats`` it has; InputError for others,
    also for a model of rlcc, whose features are integers of a grid of its own."""
    forest, kind = _read(path)
    if isinstance(forest, Model):
        raise InputError(f"{path} is a model of rlcc on a grid of its own; give the file of the library that made it")
    return forest, kind


def _read(path: Path) -> tuple[Forest | Model, str]:
    """Returns the model and its library, by the file's contents and not by its name."""
    content = read_bytes(path)
    kind = formats.format_of(content)
    data = load_json(path) if kind == formats.JSON else None
    if data is not None:
        kind = formats.format_of_json(data)
    if kind is None and path.suffix in formats.SUFFIXES:
        kind = formats.RefusedFormat(formats.SUFFIXES[path.suffix])
    if isinstance(kind, formats.RefusedFormat):
        raise InputError(f"{path} is not read: {kind.reason}")
    if kind == formats.RLCC:
        return load_model(path), formats.RLCC
    reader = READERS.get(kind or "")
    if reader is None:
        raise InputError(f"{path} is no model that is read: {READ}")
    return reader(path, data), str(kind)
