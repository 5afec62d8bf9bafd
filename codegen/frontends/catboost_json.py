"""CatBoost models in the JSON that ``save_model(path, format="json")`` writes: symmetric, depthwise, lossguide trees.

A feature is a float32, a border too; ``x > border`` goes right. A symmetric tree has bit i of its leaf number set
where split i holds, and a leaf its outputs side by side. The raw value is ``scale * sum of leaves + bias``. A binary
model gives class 1 where that is above the logit of its probability threshold (0 for 0.5), others the first of the
greatest outputs. CatBoost writes its JSON exactly, but reads one back with a leaf's last bit off at times.

Output k is of class ``class_to_label[k]``, by its name where the file has names: a class that training never saw has no
output. A sum of models keeps its loss beside its parameters. The borders of features are those that trees ask for, so
a tree that is lost leaves borders behind.
"""

import json
from fractions import Fraction
from typing import Any

import numpy as np

from codegen.frontends.forest import FLOAT32_BITS, FLOAT64_BITS, Ask, Forest, Value, ask
from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.forest import MAX_DEPTH
from decision.policy.model import Task

TASKS: dict[str, Task] = {
    "Logloss": "binary",
    "CrossEntropy": "binary",
    "Focal": "binary",
    "MultiClass": "argmax",
    "MultiClassOneVsAll": "argmax",
}
"""Losses whose model decides among classes; the value of all others is the raw one."""
SEVERAL_LABELS = ("MultiLogloss", "MultiCrossEntropy")
NOT_NUMBERS = {
    "categorical_features": "categorical",
    "text_features": "text",
    "embedding_features": "embedding",
}


def is_catboost(data: Any) -> bool:
    return isinstance(data, dict) and "features_info" in data


def read_catboost(data: Any, where: str) -> Forest:
    """The forest of a CatBoost model's JSON; InputError where it is not one or asks for more than numbers."""
    try:
        return _forest(data)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        raise InputError(f"{where} is not a CatBoost model in JSON ({error!r}); save it again") from None


def refuse(kind: str, name: str) -> None:
    """The one sentence for features that are not plain numbers."""
    raise InputError(
        f"feature {name!r} is {kind}, which integer firmware cannot be exact about; train with numeric features only "
        f"(encode it outside the model)"
    )


def _forest(data: Any) -> Forest:
    info = data["features_info"]
    for key, kind in NOT_NUMBERS.items():
        for feature in info.get(key) or []:
            refuse(kind, _name(feature))
    floats = info["float_features"]
    for feature in floats:
        if feature["has_nans"] or feature["nan_value_treatment"] != "AsIs":
            raise InputError(
                f"feature {_name(feature)!r} was trained with missing values, which integers do not have; fill them in "
                f'and train with nan_mode="Forbidden"'
            )
    names = tuple(map(_name, floats))
    if len(set(names)) != len(names):
        raise InputError("two features of the CatBoost model have the same name; name them apart and train again")
    scale, bias = data["scale_and_bias"]
    biases = tuple(Fraction(b) for b in (bias if isinstance(bias, list) else [bias]))
    loss = _loss(data["model_info"])
    if loss in SEVERAL_LABELS:
        raise InputError(f"the model's loss {loss} decides several labels at once; train one model a label")
    task = TASKS.get(loss, "regression")
    classes = _classes(data["model_info"], loss, {"regression": 0, "binary": 2}.get(task, len(biases)))
    places = [(place, _float32(b)) for place, feature in enumerate(floats) for b in feature["borders"] or []]
    reader = _Reader(Fraction(scale), len(biases), places)
    trees = [reader.symmetric(tree) for tree in data.get("oblivious_trees") or []]
    trees += [reader.nested(tree, 0) for tree in data.get("trees") or []]
    lost = set(range(len(places))) - reader.splits
    if lost:
        feature, border = places[min(lost)]
        raise InputError(
            f"the CatBoost model is not whole: no tree asks for border {border!r} of feature {names[feature]!r}, which "
            f"it lists; copy or save it again"
        )
    return Forest(
        library="CatBoost",
        names=names,
        trees=tuple(trees),
        bias=biases,
        task=task,
        input_bits=FLOAT32_BITS,
        sum_bits=FLOAT64_BITS,
        classes=classes,
        cut=_cut(data) if task == "binary" else Fraction(0),
    )


class _Reader:
    """Trees of one model, scaled. ``places``: of each split its feature and border; ``splits``: those met so far."""

    def __init__(self, scale: Fraction, outputs: int, places: list[tuple[int, float]]) -> None:
        self.scale, self.outputs, self.places = scale, outputs, places
        self.splits: set[int] = set()

    def symmetric(self, tree: Any) -> Value | Ask:
        splits, leaves = tree.get("splits") or [], tree["leaf_values"]
        if len(leaves) != self.outputs << len(splits):
            raise ValueError(f"{len(leaves)} leaf values for {len(splits)} splits and {self.outputs} outputs")
        if len(tree.get("leaf_weights") or []) not in (0, 1 << len(splits)):
            raise ValueError(f"{len(tree['leaf_weights'])} leaf weights for {len(splits)} splits")

        def level(number: int, place: int) -> Value | Ask:
            if number == len(splits):
                return self._value(leaves[place * self.outputs : (place + 1) * self.outputs])
            below, above = level(number + 1, place), level(number + 1, place | 1 << number)
            return self._ask(splits[number], above, below)

        return level(0, 0)

    def nested(self, node: Any, depth: int) -> Value | Ask:
        if depth > MAX_DEPTH:
            raise InputError(f"a tree is deeper than {MAX_DEPTH} questions; train with a lower depth")
        if "split" not in node:
            value = node["value"]
            return self._value(value if isinstance(value, list) else [value])
        return self._ask(node["split"], self.nested(node["right"], depth + 1), self.nested(node["left"], depth + 1))

    def _ask(self, split: Any, above: Value | Ask, below: Value | Ask) -> Value | Ask:
        if split["split_type"] != "FloatFeature":
            raise InputError(f"the model has a split of type {split['split_type']}; train with numeric features only")
        place, feature, border = int(split["split_index"]), int(split["float_feature_index"]), _float32(split["border"])
        if not 0 <= place < len(self.places) or self.places[place] != (feature, border):
            raise ValueError(f"split {place} on border {border} of feature {feature} is not in the list of borders")
        self.splits.add(place)
        return ask(feature, border, False, above, below)

    def _value(self, leaf: Any) -> Value:
        if len(leaf) != self.outputs:
            raise ValueError(f"a leaf of {len(leaf)} values for {self.outputs} outputs")
        return Value(tuple(self.scale * Fraction(v) for v in leaf))


def _name(feature: Any) -> str:
    """As CatBoost's Python names it: by its place where it has no name."""
    return str(feature.get("feature_id") or feature["flat_feature_index"])


def _float32(border: Any) -> float:
    return float(np.float32(border))


def _loss(info: Any) -> str:
    """Returns the loss that the model was trained for, by which CatBoost decides what its raw values mean."""
    own, of_a_sum = (info.get("params") or {}).get("loss_function"), info.get("loss_function")
    types = {str(loss["type"]) for loss in (own, json.loads(of_a_sum) if of_a_sum else None) if loss}
    if len(types) == 1:
        return types.pop()
    raise InputError(
        f"the CatBoost model says {' and '.join(sorted(types)) or 'no loss'}, so its raw values may be classes or not; "
        f"save the trained model itself"
    )


def _classes(info: Any, loss: str, count: int) -> tuple[str, ...]:
    """Returns the label of each class that the model decides among; () for a regression."""
    params = info.get("class_params") or {}
    labels, names = params.get("class_to_label") or [], params.get("class_names") or []
    if not count:
        if labels:
            raise InputError(f"the CatBoost model has {len(labels)} classes and the loss {loss}, which decides none")
        return ()
    if len(labels) != count:
        raise InputError(
            f"the CatBoost model says the labels of {len(labels)} classes and decides among {count}; save it again "
            f"with CatBoost 1.0 or later"
        )
    numbers = [int(label) for label in labels]
    if len(set(numbers)) < count or min(numbers) < 0:
        raise ValueError(f"class_to_label {labels}")
    return tuple(str(names[number] if names else number) for number in numbers)


def _cut(data: Any) -> Fraction:
    threshold = float(data["model_info"].get("binclass_probability_threshold", 0.5))
    if not 0 < threshold < 1:
        raise InputError(f"the model's probability threshold {threshold} is not between 0 and 1")
    return Fraction(-float(exact.log(1 / threshold - 1)))
