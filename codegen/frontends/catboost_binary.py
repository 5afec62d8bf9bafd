"""CatBoost's own binary format: read by CatBoost itself in a process of its own, and taken on from its JSON."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from codegen.frontends.catboost_export import ABSENT, export
from codegen.frontends.catboost_json import read_catboost, refuse
from codegen.frontends.forest import Forest
from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.extras import missing

MAGIC = b"CBM1"
CHILD = Path(__file__).with_name("catboost_export.py")


def read_cbm(path: Path) -> Forest:
    """The forest of a ``.cbm`` file; InputError where CatBoost cannot read it, or it asks for more than numbers."""
    with temporary.folder() as folder:
        out, facts = folder / "model.json", folder / "facts.json"
        command = [sys.executable, "-P", str(CHILD), *map(str, (path.resolve(), out, facts))]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode == ABSENT:
            raise missing("catboost") or InputError("catboost is not installed; install it")
        if done.returncode or not facts.exists():
            raise InputError(f"{path} is not a model that CatBoost can read; save it again")
        return _forest(out, json.loads(facts.read_text()), str(path))


def from_catboost(model: Any, where: str = "the model") -> Forest:
    """The forest of a CatBoost model in memory."""
    with temporary.folder() as folder:
        out = folder / "model.json"
        return _forest(out, export(model, out), where)


def _forest(out: Path, facts: Any, where: str) -> Forest:
    """The forest of CatBoost's JSON, whose decimals must be the very numbers of the model."""
    for kind, name in facts["not_numbers"]:
        refuse(kind, name)
    data = json.loads(out.read_text())
    scale, bias = data["scale_and_bias"]
    if [facts["scale"], facts["bias"]] != [float(scale), [float(b) for b in bias]] or facts["leaves"] != sorted(
        map(float, _leaf_values(data))
    ):
        raise InputError(f"{where}: CatBoost's own JSON of it holds other numbers; save it with another CatBoost")
    return read_catboost(data, where)


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
