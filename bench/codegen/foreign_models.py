"""Models as other libraries grow them, and models of several outputs: what `rlcc emit MODEL --grid GRID` is given.

The features are those of the symmetric models: integers that float32 holds exactly. Each model is trained here from the
seed, saved as its library saves it, and read by the front end that reads a user's. A forest of scikit-learn's, which is
saved as a pickle only, is read from memory.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from bench.codegen.contender import Absent
from bench.codegen.subjects import DEPTH, LEAF_BITS, RANGES, TREES, ExportSubject, catboost_options, uniform
from codegen.frontends import from_sklearn, load
from codegen.frontends.grid import Grid
from decision.policy.model import Model

Library = Literal["catboost", "lightgbm", "xgboost", "scikit-learn"]
SUFFIX = {"catboost": ".cbm", "lightgbm": ".txt", "xgboost": ".json"}

SAMPLES = 4000
LEAVES = 16
"""Of a tree of LightGBM's, which grows leaf by leaf and to any depth: as many as a symmetric tree of depth 4 has."""
CLASSES, TARGETS = 3, 3


@dataclass(frozen=True)
class OutsideExporter:
    """One model. ``model`` is the fitted estimator, ``file`` what its library saved (nothing of scikit-learn's),
    ``integers`` what we read there; ``raw`` predicts what an output is before any sigmoid or softmax."""

    name: str
    what: str
    library: Library
    model: Any
    file: bytes
    integers: Model
    ranges: tuple[tuple[int, int], ...]
    raw: Callable[[NDArray[np.float32]], Any]

    @property
    def features(self) -> int:
        return len(self.ranges)

    @property
    def outputs(self) -> int:
        return self.integers.outputs

    @property
    def leaf_bits(self) -> int:
        return self.integers.leaf_bits

    def thresholds(self) -> dict[int, list[int]]:
        return self.integers.forest.thresholds()

    def evaluate(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[N], or [N, outputs] where there are several."""
        return _squeezed(self.integers.forest.evaluate(rows))

    def expected(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The library's own raw predictions of integer rows [N, features]: [N], or [N, outputs]."""
        return _squeezed(np.asarray(self.raw(rows.astype(np.float32)), dtype=np.float64).reshape(len(rows), -1))


AnySubject = ExportSubject | OutsideExporter


def outside_subjects(seed: int) -> tuple[list[OutsideExporter], dict[str, str]]:
    """All models; and, by name, why one could not be made: its library is not there."""
    models, absent = [], {}
    for name, make in MODELS.items():
        try:
            models.append(make(name, seed))
        except Absent as reason:
            absent[name] = str(reason)
    return models, absent


def lightgbm_regressor(name: str, seed: int) -> OutsideExporter:
    lightgbm = _library("lightgbm")
    x, y = _regression(seed)
    model = lightgbm.LGBMRegressor(
        n_estimators=TREES,
        num_leaves=LEAVES,
        learning_rate=0.5,
        random_state=seed,
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
    )
    model.fit(x, y[:, 0])
    what = f"a LightGBM regressor, {TREES} trees of at most {LEAVES} leaves, grown leaf by leaf"
    booster = model.booster_
    return _outside(name, what, "lightgbm", model, booster.save_model, lambda rows: booster.predict(rows))


def xgboost_regressor(name: str, seed: int) -> OutsideExporter:
    xgboost = _library("xgboost")
    x, y = _regression(seed)
    model = xgboost.XGBRegressor(**_xgboost_options(seed))
    model.fit(x, y[:, 0])
    what = f"an XGBoost regressor, {TREES} trees of depth at most {DEPTH}"
    return _xgboost(name, what, xgboost, model)


def xgboost_classifier(name: str, seed: int) -> OutsideExporter:
    xgboost = _library("xgboost")
    x, y = _regression(seed)
    model = xgboost.XGBClassifier(objective="multi:softprob", **_xgboost_options(seed))
    model.fit(x, _classes(y[:, 0]))
    what = (
        f"an XGBoost classifier of {CLASSES} classes, {TREES} rounds of a tree a class: {TREES * CLASSES} trees of "
        f"depth at most {DEPTH}"
    )
    return _xgboost(name, what, xgboost, model)


def catboost_classifier(name: str, seed: int) -> OutsideExporter:
    x, y = _regression(seed)
    model = CatBoostClassifier(loss_function="MultiClass", **catboost_options(seed))
    model.fit(x, _classes(y[:, 0]))
    what = f"a CatBoost classifier (MultiClass), {TREES} symmetric trees of depth {DEPTH} with {CLASSES} values a leaf"
    return _catboost(name, what, model)


def catboost_targets(name: str, seed: int) -> OutsideExporter:
    x, y = _regression(seed)
    model = CatBoostRegressor(loss_function="MultiRMSE", **catboost_options(seed))
    model.fit(x, y)
    what = (
        f"a CatBoost regressor of {TARGETS} targets (MultiRMSE), {TREES} symmetric trees of depth {DEPTH} with "
        f"{TARGETS} values a leaf"
    )
    return _catboost(name, what, model)


def random_forest(name: str, seed: int) -> OutsideExporter:
    x, y = _regression(seed)
    model = RandomForestRegressor(**_forest_options(seed)).fit(x, y[:, 0])
    what = f"a scikit-learn random forest, {TREES} trees of at most {LEAVES} leaves, grown best first"
    return _sklearn(name, what, model, model.predict)


def random_forest_classifier(name: str, seed: int) -> OutsideExporter:
    x, y = _regression(seed)
    model = RandomForestClassifier(**_forest_options(seed)).fit(x, _classes(y[:, 0]))
    what = (
        f"a scikit-learn random forest of {CLASSES} classes, {TREES} trees of at most {LEAVES} leaves with a share of "
        f"each class"
    )
    return _sklearn(name, what, model, model.predict_proba)


MODELS: dict[str, Callable[[str, int], OutsideExporter]] = {
    "lightgbm": lightgbm_regressor,
    "xgboost": xgboost_regressor,
    "catboost, 3 classes": catboost_classifier,
    "catboost, 3 targets": catboost_targets,
    "xgboost, 3 classes": xgboost_classifier,
    "random forest": random_forest,
    "random forest, 3 classes": random_forest_classifier,
}
"""By the name in the tables. One more is one more entry here."""


# --- training -----------------------------------------------------------------------------------------------------


def _regression(seed: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Rows [N, features], and a smooth function of them for each target; the first is that of ``trained``."""
    x = uniform(RANGES, SAMPLES, np.random.default_rng(seed))
    a, b, c, d = (x / 16384).T
    targets = [np.sin(2.5 * a) + 0.4 * b**2 - c * d, np.cos(2 * c) + 0.3 * a * b, np.sin(a + 2 * d) - 0.2 * b * c]
    return x.astype(np.float32), np.column_stack(targets)


def _classes(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """As many classes as there are, equally often each: below, between and above the quantiles."""
    cuts = np.quantile(values, [k / CLASSES for k in range(1, CLASSES)])
    return np.asarray(np.searchsorted(cuts, values), dtype=np.int64)


def _xgboost_options(seed: int) -> dict[str, Any]:
    """``base_score`` is given, because m2cgen reads it where XGBoost's defaults have none."""
    return {
        "n_estimators": TREES,
        "max_depth": DEPTH,
        "learning_rate": 0.5,
        "base_score": 0.5,
        "random_state": seed,
        "n_jobs": 1,
        "tree_method": "hist",
    }


def _xgboost(name: str, what: str, xgboost: ModuleType, model: Any) -> OutsideExporter:
    booster = model.get_booster()

    def raw(rows: NDArray[np.float32]) -> Any:
        return booster.predict(xgboost.DMatrix(rows), output_margin=True)

    return _outside(name, what, "xgboost", model, booster.save_model, raw)


def _catboost(name: str, what: str, model: Any) -> OutsideExporter:
    return _outside(
        name,
        what,
        "catboost",
        model,
        model.save_model,
        lambda rows: model.predict(rows, prediction_type="RawFormulaVal"),
    )


def _forest_options(seed: int) -> dict[str, Any]:
    return {"n_estimators": TREES, "max_leaf_nodes": LEAVES, "random_state": seed, "n_jobs": 1}


def _sklearn(name: str, what: str, model: Any, raw: Callable[..., Any]) -> OutsideExporter:
    return OutsideExporter(
        name, what, "scikit-learn", model, b"", from_sklearn(model, _grid("scikit-learn")), RANGES, raw
    )


def _outside(
    name: str, what: str, library: Library, model: Any, save: Callable[[str], Any], raw: Callable[..., Any]
) -> OutsideExporter:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{SUFFIX[library]}"
        save(str(path))
        integers = load(path, _grid(library))
        return OutsideExporter(name, what, library, model, path.read_bytes(), integers, RANGES, raw)


def _grid(library: Library) -> Grid:
    return Grid.of(dict(zip(_names(library), ((*r, 0) for r in RANGES), strict=True)), leaf_bits=LEAF_BITS)


def _names(library: Library) -> list[str]:
    """Returns a library's names for features that came without names."""
    form = {"catboost": "{}", "lightgbm": "Column_{}", "xgboost": "f{}", "scikit-learn": "x{}"}[library]
    return [form.format(i) for i in range(len(RANGES))]


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise Absent(f"{name} is not installed: make setup-exporters ({error})") from None


def _squeezed(values: NDArray[Any]) -> NDArray[Any]:
    return values[:, 0] if values.shape[1] == 1 else values
