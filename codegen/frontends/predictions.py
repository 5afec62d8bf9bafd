"""A library's own predictions, in a process of its own: ``python -P predictions.py FORMAT MODEL ROWS OUT SECONDS``.

ROWS is an .npz with ``names`` and ``rows`` [N, names], the inputs as doubles; features that it does not name are 0. OUT
becomes an .npz with ``raw`` [N, outputs], ``labels`` [N] (or none), ``library`` and ``version``. The process takes at
most SECONDS of CPU time, imports included. It imports nothing of rlcc, so that it starts quickly.

Exit codes: 0 done; ABSENT where the library is not installed; UNREAD where it refuses the model, with the reason on
stderr.
"""

import os
import resource
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

ABSENT, UNREAD = 3, 4
"""Exit codes beside 0."""


def _catboost(kind: str) -> Callable[[str, Any, Any], dict[str, Any]]:
    def predict(path: str, names: Any, rows: Any) -> dict[str, Any]:
        from catboost import CatBoost

        model = CatBoost()
        model.load_model(path, format=kind)
        return of_catboost(model, names, rows)

    return predict


def of_catboost(model: Any, names: Any, rows: Any) -> dict[str, Any]:
    """The predictions of a CatBoost model in memory."""
    import numpy as np

    inputs = _columns(model.feature_names_, names, rows).astype(np.float32)
    raw = np.asarray(model.predict(inputs, prediction_type="RawFormulaVal", thread_count=1)).reshape(len(rows), -1)
    seen = np.isfinite(raw).any(axis=0)  # a class that training never saw has -inf
    return {"raw": raw[:, seen], **_catboost_labels(model, inputs)}


def of_sklearn(estimator: Any, own: Sequence[str], names: Any, rows: Any) -> dict[str, Any]:
    """The predictions of a scikit-learn estimator in memory, whose features are called ``own``."""
    import numpy as np

    inputs = _columns(own, names, rows).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that an array does not have
        if not hasattr(estimator, "classes_"):
            return {"raw": estimator.predict(inputs)}
        raw = getattr(estimator, "decision_function", None) or estimator.predict_proba
        return {"raw": raw(inputs), "labels": np.array([str(label) for label in estimator.predict(inputs)])}


def _catboost_labels(model: Any, inputs: Any) -> dict[str, Any]:
    import numpy as np
    from catboost import CatBoostError

    try:
        if model.classes_ is None or not len(model.classes_):
            return {}
        labels = model.predict(inputs, prediction_type="Class", thread_count=1)
    except CatBoostError:
        return {}
    return {"labels": np.array([str(label) for label in np.ravel(labels)])}


def _xgboost(path: str, names: Any, rows: Any) -> dict[str, Any]:
    import xgboost

    booster = xgboost.Booster({"nthread": 1}, model_file=path)
    own = booster.feature_names or [f"f{place}" for place in range(booster.num_features())]
    matrix = xgboost.DMatrix(_columns(own, names, rows), nthread=1)
    return {"raw": booster.predict(matrix, output_margin=True, validate_features=False)}


def _lightgbm(path: str, names: Any, rows: Any) -> dict[str, Any]:
    import lightgbm
    import numpy as np

    booster = lightgbm.Booster(model_file=path)
    inputs = _columns(booster.feature_name(), names, rows)
    raw = np.asarray(booster.predict(inputs, raw_score=True, num_threads=1))
    header = Path(path).read_text().partition("\nTree=")[0].splitlines()
    return {"raw": raw / booster.current_iteration() if AVERAGED in header else raw}


def _treelite(path: str, names: Any, rows: Any) -> dict[str, Any]:
    import treelite

    model = treelite.Model.deserialize(path)
    inputs = _columns([f"f{place}" for place in range(model.num_feature)], names, rows).astype(model.input_type)
    return {"raw": treelite.gtil.predict(model, inputs, nthread=1, pred_margin=True)}


def _gbrl(path: str, names: Any, rows: Any) -> dict[str, Any]:
    import gbrl
    import numpy as np

    model = gbrl.GBRL_CPP.load(path)
    sizes = model.get_metadata()
    inputs = _columns([f"f{place}" for place in range(sizes["input_dim"])], names, rows).astype(np.float32)
    raw = np.asarray(model.predict(obs=inputs, categorical_obs=None, start_tree_idx=0, stop_tree_idx=0))
    return {"raw": raw.reshape(len(rows), -1)[:, : sizes["policy_dim"]]}  # behind them stands the critic's


LIBRARIES: dict[str, tuple[str, tuple[str, ...], Callable[[str, Any, Any], dict[str, Any]]]] = {
    "cbm": ("catboost", ("catboost",), _catboost("cbm")),
    "catboost": ("catboost", ("catboost",), _catboost("json")),
    "xgboost": ("xgboost", ("xgboost", "xgboost-cpu"), _xgboost),
    "lightgbm": ("lightgbm", ("lightgbm",), _lightgbm),
    "treelite": ("treelite", ("treelite",), _treelite),
    "gbrl": ("gbrl", ("gbrl", "gbrl-gpu"), _gbrl),
}
"""By format: the module, the distributions that bring it, its predictions."""
SUFFIXES = {
    "cbm": ".cbm",
    "catboost": ".json",
    "xgboost": ".json",
    "lightgbm": ".txt",
    "treelite": ".tl",
    "gbrl": ".gbrl_model",
}
"""What each library expects its files to be called."""
AVERAGED = "average_output"
"""A line of LightGBM's header: `predict` gives the mean of the trees, of which the raw score is the sum."""
OPTIONAL = ("sklearn", "pyarrow", "dask", "distributed", "matplotlib", "plotly", "IPython", "torch", "cupy")
"""What the libraries import where it is installed and do without here: it takes most of their start's time."""


def _columns(own: Sequence[str], names: Any, rows: Any) -> Any:
    """Returns the rows over all features of the library, in its own order."""
    import numpy as np

    inputs = np.zeros((len(rows), len(own)))
    for column, name in enumerate(names):
        inputs[:, list(own).index(str(name))] = rows[:, column]
    return inputs


def main(kind: str, model: str, rows: str, out: str, seconds: str) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    import numpy as np

    module, distributions, predict = LIBRARIES[kind]
    frames = () if module == "catboost" else ("pandas", "polars")  # which CatBoost looks at
    for name in (*OPTIONAL, *frames):
        sys.modules[name] = None  # type: ignore[assignment]  # as if it were not installed
    try:
        __import__(module)
    except ImportError:
        return ABSENT
    given = np.load(rows)
    try:
        predicted = predict(model, given["names"], given["rows"])
    except Exception as error:  # whatever a library raises: it does not read the model
        print(f"{type(error).__name__}: {error}".splitlines()[0][:300], file=sys.stderr)
        return UNREAD
    raw = np.asarray(predicted.pop("raw"), dtype=np.float64).reshape(len(given["rows"]), -1)
    np.savez(out, raw=raw, library=module, version=_version(distributions), **predicted)
    return 0


def _version(distributions: Sequence[str]) -> str:
    for name in distributions:
        try:
            return version(name)
        except ModuleNotFoundError:  # PackageNotFoundError is one
            continue
    return "unknown"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
