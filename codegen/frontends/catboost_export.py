"""A ``.cbm`` as JSON, by CatBoost in a process of its own: ``python -P catboost_export.py MODEL OUT FACTS``.

OUT becomes CatBoost's JSON of the model, FACTS what CatBoost says of it itself. It imports nothing of rlcc. Exit codes:
0 done; ABSENT where CatBoost is not installed; UNREAD where it does not read the model.
"""

import json
import sys
from pathlib import Path
from typing import Any

ABSENT, UNREAD = 3, 4


def facts_of(model: Any) -> dict[str, Any]:
    """Returns the names of features that are no numbers, by kind, and the very numbers of the model."""
    names = model.feature_names_
    kinds = {
        "categorical": model.get_cat_feature_indices(),
        "text": model.get_text_feature_indices(),
        "embedding": model.get_embedding_feature_indices(),
    }
    scale, bias = model.get_scale_and_bias()
    return {
        "not_numbers": [[kind, str(names[index])] for kind, indices in kinds.items() for index in indices],
        "scale": float(scale),
        "bias": [float(b) for b in (bias if isinstance(bias, (list, tuple)) else [bias])],
        "leaves": sorted(map(float, model.get_leaf_values())),
    }


def export(model: Any, out: Path) -> dict[str, Any]:
    """Writes the JSON of a model of plain numbers; CatBoost writes none of one with texts. Returns its facts."""
    facts = facts_of(model)
    if not facts["not_numbers"]:
        model.save_model(str(out), format="json")
    return facts


def main(source: str, out: str, facts: str) -> int:
    try:
        from catboost import CatBoost, CatBoostError
    except ModuleNotFoundError:
        return ABSENT
    model = CatBoost()
    try:
        model.load_model(source)
        told = export(model, Path(out))
    except CatBoostError:
        return UNREAD
    Path(facts).write_text(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
