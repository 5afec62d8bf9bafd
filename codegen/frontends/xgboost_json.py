"""XGBoost models in the JSON that ``save_model("model.json")`` writes.

Features, thresholds and leaves are float32, written with the fewest digits that give them back: each decimal is cut to
its float32 first. ``x < threshold`` goes left, so ``x >= threshold`` is the question. ``base_score`` is what the
objective's link makes of the bias; XGBoost computes that in float32, as is done here.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from codegen.frontends.forest import FLOAT32_BITS, Ask, Forest, Question, Value, as_many, grow, only
from decision.errors import InputError
from decision.model import Task

Float32 = np.float32


def _identity(score: Float32) -> Float32:
    return score


def _logit(score: Float32) -> Float32:
    one = Float32(1)
    return Float32(-np.log(one / score - one))


def _log(score: Float32) -> Float32:
    return Float32(np.log(score))


OBJECTIVES: dict[str, tuple[Task, Callable[[Float32], Float32]]] = {
    "reg:squarederror": ("regression", _identity),
    "reg:squaredlogerror": ("regression", _identity),
    "reg:absoluteerror": ("regression", _identity),
    "reg:pseudohubererror": ("regression", _identity),
    "reg:quantileerror": ("regression", _identity),
    "rank:pairwise": ("regression", _identity),
    "rank:ndcg": ("regression", _identity),
    "rank:map": ("regression", _identity),
    "multi:softmax": ("argmax", _identity),
    "multi:softprob": ("argmax", _identity),
    "binary:logistic": ("binary", _logit),
    "reg:logistic": ("regression", _logit),
    "count:poisson": ("regression", _log),
    "reg:gamma": ("regression", _log),
    "reg:tweedie": ("regression", _log),
}
"""Objective -> task, and from base_score to the bias of the raw value."""


def is_xgboost(data: Any) -> bool:
    return isinstance(data, dict) and "learner" in data


def read_xgboost(data: Any, where: str) -> Forest:
    """The forest of an XGBoost model's JSON; InputError where it is not one or asks for more than numbers."""
    try:
        return _forest(data["learner"])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(f"{where} is not an XGBoost model in JSON ({error!r}); save it again") from None


def _forest(learner: Any) -> Forest:
    parameters = learner["learner_model_param"]
    outputs = as_many(max(1, int(parameters["num_class"])) * max(1, int(parameters.get("num_target", "1"))))
    objective = learner["objective"]["name"]
    if objective not in OBJECTIVES:
        raise InputError(f"the objective {objective} is not read; train with one of {', '.join(OBJECTIVES)}")
    task, link = OBJECTIVES[objective]
    booster = learner["gradient_booster"]
    if booster["name"] not in ("gbtree", "dart"):
        raise InputError(f"the booster {booster['name']} is no tree ensemble; train with gbtree")
    model = booster["gbtree"]["model"] if booster["name"] == "dart" else booster["model"]
    weights = booster["weight_drop"] if booster["name"] == "dart" else [1] * len(model["trees"])
    _check_stopping(learner.get("attributes", {}), model, outputs)
    count = int(parameters["num_feature"])
    names = tuple(map(str, learner.get("feature_names") or [f"f{i}" for i in range(count)]))
    if len(names) != count:
        raise ValueError(f"{len(names)} feature names for {count} features")
    trees = [
        _tree(tree, number, only_output, outputs, _exact(weight), names)
        for number, (tree, only_output, weight) in enumerate(
            zip(model["trees"], model["tree_info"], weights, strict=True)
        )
    ]
    bias, doubt = _bias(parameters["base_score"], outputs, link)
    return Forest(
        library="XGBoost",
        names=names,
        trees=tuple(trees),
        bias=bias,
        task=task,
        input_bits=FLOAT32_BITS,
        sum_bits=FLOAT32_BITS,
        doubt=doubt,
    )


def _tree(tree: Any, number: int, output: int, outputs: int, weight: Fraction, names: tuple[str, ...]) -> Value | Ask:
    if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        raise InputError(f"tree {number} has vectors in its leaves; train with multi_strategy=one_output_per_tree")
    if not 0 <= output < outputs:
        raise ValueError(f"tree {number} adds to output {output} of {outputs}")
    columns = (tree[key] for key in ("left_children", "right_children", "split_indices", "split_conditions"))
    kinds = tree.get("split_type") or [0] * len(tree["left_children"])
    nodes: list[Value | Question] = []
    for left, right, feature, condition, kind in zip(*columns, kinds, strict=True):
        if left < 0:
            nodes.append(only(output, outputs, weight * _exact(condition)))
        elif kind != 0:
            raise InputError(f"feature {names[feature]!r} is categorical, which integer firmware cannot be exact about")
        else:
            if not 0 <= feature < len(names):
                raise ValueError(f"a split on feature {feature} of {len(names)}")
            nodes.append(Question(feature, float(Float32(condition)), True, above=right, below=left))
    return grow(nodes, f"tree {number}")


def _bias(written: Any, outputs: int, link: Callable[[Float32], Float32]) -> tuple[tuple[Fraction, ...], Fraction]:
    """The bias of each output, and two units in the last place where a logarithm made it."""
    scores = json.loads(written) if isinstance(written, str) else written
    scores = scores if isinstance(scores, list) else [scores]
    if len(scores) not in (1, outputs):
        raise ValueError(f"{len(scores)} base scores for {outputs} outputs")
    with np.errstate(all="ignore"):
        links = [link(Float32(score)) for score in scores]
    bias = tuple(Fraction(float(b)) for b in links)
    doubt = Fraction(0) if link is _identity else 2 * max(Fraction(float(np.spacing(abs(b)))) for b in links)
    return bias * (outputs // len(scores)), doubt


def _exact(number: Any) -> Fraction:
    return Fraction(float(Float32(number)))


def _check_stopping(attributes: Any, model: Any, outputs: int) -> None:
    """After early stopping some of XGBoost's own calls use fewer trees than the file holds."""
    if "best_iteration" not in attributes:
        return
    kept = int(attributes["best_iteration"]) + 1
    parallel = int(model["gbtree_model_param"].get("num_parallel_tree", "1"))
    if kept * outputs * max(1, parallel) != len(model["trees"]):
        raise InputError(f"training stopped early; save only the trees that count: booster[:{kept}].save_model(...)")
