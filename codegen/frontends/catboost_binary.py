"""CatBoost's own binary format: read by CatBoost itself, which is imported only here, and taken on from its JSON."""

import json
from pathlib import Path
from typing import Any

from codegen.frontends.catboost_json import read_catboost, refuse
from codegen.frontends.forest import Forest
from decision import temporary
from decision.errors import InputError
from decision.extras import needed

MAGIC = b"CBM1"


def read_cbm(path: Path) -> Forest:
    """The forest of a ``.cbm`` file; InputError where CatBoost cannot read it, or it asks for more than numbers."""
    with needed():
        from catboost import CatBoost, CatBoostError

    model = CatBoost()
    try:
        model.load_model(str(path))
    except CatBoostError:
        raise InputError(f"{path} is not a model that CatBoost can read; save it again") from None
    return from_catboost(model, str(path))


def from_catboost(model: Any, where: str = "the model") -> Forest:
    """The forest of a CatBoost model in memory."""
    _refuse_by_name(model)
    with temporary.folder() as folder:
        exported = folder / "model.json"
        model.save_model(str(exported), format="json")
        data = json.loads(exported.read_text())
    _check_digits(model, data, where)
    return read_catboost(data, where)


def _refuse_by_name(model: Any) -> None:
    """Before the export: CatBoost writes no JSON of models with text or embedding features."""
    names = model.feature_names_
    kinds = {
        "categorical": model.get_cat_feature_indices(),
        "text": model.get_text_feature_indices(),
        "embedding": model.get_embedding_feature_indices(),
    }
    for kind, indices in kinds.items():
        for index in indices:
            refuse(kind, names[index])


def _check_digits(model: Any, data: Any, where: str) -> None:
    """The JSON holds decimals: they must be the very numbers of the model."""
    scale, bias = model.get_scale_and_bias()
    biases = [float(b) for b in (bias if isinstance(bias, (list, tuple)) else [bias])]
    leaves = sorted(map(float, _leaf_values(data)))
    written = [float(data["scale_and_bias"][0]), [float(b) for b in data["scale_and_bias"][1]]]
    if [float(scale), biases] != written or leaves != sorted(map(float, model.get_leaf_values())):
        raise InputError(f"{where}: CatBoost's own JSON of it holds other numbers; save it with another CatBoost")


def _leaf_values(data: Any) -> list[float]:
    values: list[float] = []
    todo = [*(data.get("oblivious_trees") or []), *(data.get("trees") or [])]
    while todo:
        node = todo.pop()
        if "split" in node:
            todo += [node["left"], node["right"]]
        else:
            value = node["leaf_values"] if "leaf_values" in node else node["value"]
            values += value if isinstance(value, list) else [value]
    return values
