"""XGBoost models in the JSON that ``save_model("model.json")`` writes.

Features, thresholds and leaves are float32, written with the fewest digits that restore them. Each decimal is therefore
read as its float32 first. ``x < threshold`` goes left, so ``x >= threshold`` is the question. ``base_score`` is what
the objective's link makes of the bias; XGBoost computes that in float32, as is done here. Since 3.2 it keeps a
probability within 1e-6 of 0 and 1 before the logit; earlier versions do not.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from codegen.frontends.forest import FLOAT32_BITS, Ask, Forest, Question, Value, as_many, grow, only
from decision.artefact.errors import InputError
from decision.ir import exact
from decision.policy.model import Task

Float32 = np.float32


Version = tuple[int, ...]
EDGE = Float32(1e-6)
"""How near to 0 and 1 a probability comes before its logit."""
EDGE_SINCE: Version = (3, 2)
MAJORS = (1, 2, 3)
"""Versions that wrote JSON whose meaning is known here."""


def _identity(score: Float32, version: Version) -> Float32:
    if not np.isfinite(score):
        raise InputError(f"the model's base_score is {score}; train it again with a finite one")
    return score


def _logit(score: Float32, version: Version) -> Float32:
    one = Float32(1)
    if not 0 <= score <= 1:
        raise InputError(f"the model's base_score {score} is no probability, which its objective takes; train it again")
    inside = min(max(score, EDGE), one - EDGE)
    if inside != score and version < EDGE_SINCE:
        raise InputError(
            f"the model's base_score {score} is read one way by XGBoost before 3.2 and another way since; load the "
            f"model with XGBoost 3.2 or later and save it again"
        )
    return Float32(-exact.log(one / inside - one))


def _log(score: Float32, version: Version) -> Float32:
    if not 0 < score < np.inf:
        raise InputError(
            f"the model's base_score {score} has no logarithm, so XGBoost predicts no finite raw value; train with "
            f"base_score above 0, or on a target that is not all zero"
        )
    return Float32(exact.log(score))


Link = Callable[[Float32, Version], Float32]
OBJECTIVES: dict[str, tuple[Task, Link]] = {
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
        return _forest(data["learner"], _version(data["version"]))
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(f"{where} is not an XGBoost model in JSON ({error!r}); save it again") from None


def _version(written: Any) -> Version:
    version = tuple(map(int, written))
    if not version or version[0] not in MAJORS:
        raise InputError(
            f"the model was saved by XGBoost {'.'.join(map(str, version)) or 'of no version'}; files of "
            f"{', '.join(map(str, MAJORS))} are read"
        )
    return version


def _forest(learner: Any, version: Version) -> Forest:
    parameters = learner["learner_model_param"]
    kinds, targets = max(1, int(parameters["num_class"])), max(1, int(parameters.get("num_target", "1")))
    if kinds > 1 and targets > 1:
        raise InputError(f"the model decides {targets} labels of {kinds} classes at once; train one model a label")
    outputs = as_many(kinds * targets)
    objective = learner["objective"]["name"]
    if objective not in OBJECTIVES:
        raise InputError(f"the objective {objective} is not read; train with one of {', '.join(OBJECTIVES)}")
    task, link = OBJECTIVES[objective]
    booster = learner["gradient_booster"]
    if booster["name"] not in ("gbtree", "dart"):
        raise InputError(f"the booster {booster['name']} is no tree ensemble; train with gbtree")
    model = booster["gbtree"]["model"] if booster["name"] == "dart" else booster["model"]
    weights = booster["weight_drop"] if booster["name"] == "dart" else [1] * len(model["trees"])
    _check_whole(model)
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
    bias, doubt = _bias(parameters["base_score"], outputs, link, version)
    return Forest(
        library="XGBoost",
        names=names,
        trees=tuple(trees),
        bias=bias,
        task=task,
        input_bits=FLOAT32_BITS,
        sum_bits=FLOAT32_BITS,
        doubt=doubt,
        classes=_classes(learner.get("attributes", {}), {"regression": 0, "binary": 2}.get(task, outputs)),
    )


def _check_whole(model: Any) -> None:
    """InputError where the file does not hold every tree that it counts, in its place."""
    held = len(model["trees"])
    said = {"num_trees": int(model["gbtree_model_param"]["num_trees"]), "tree_info": len(model["tree_info"])}
    rounds = model.get("iteration_indptr", [0, held])
    said["iteration_indptr"] = int(rounds[-1]) if rounds else 0
    for key, count in said.items():
        if count != held:
            raise InputError(f"the model is not whole: it holds {held} of {count} trees ({key}); copy or save it again")
    if list(rounds) != sorted(rounds) or (rounds and rounds[0] != 0):
        raise InputError("the model's iteration_indptr does not ascend from 0; save the model again")
    for number, tree in enumerate(model["trees"]):
        if int(tree.get("id", number)) != number:
            raise InputError(f"the model has tree {tree['id']} where tree {number} belongs; save it again")
        nodes, counted = len(tree["left_children"]), int(tree["tree_param"]["num_nodes"])
        if nodes != counted:
            raise InputError(
                f"tree {number} holds {nodes} of {counted} nodes (num_nodes); copy or save the model again"
            )


def _classes(attributes: Any, count: int) -> tuple[str, ...]:
    """Returns the labels that scikit-learn's wrapper wrote, in versions that number them by itself; else none."""
    wrapper = json.loads(attributes.get("scikit_learn", "{}"))
    labels = wrapper.get("classes_", (wrapper.get("_le") or {}).get("classes_"))
    if labels is None or not count:
        return ()
    if len(labels) != count:
        raise InputError(f"the model names {len(labels)} classes and decides among {count}; save it again")
    return tuple(map(str, labels))


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


def _bias(written: Any, outputs: int, link: Link, version: Version) -> tuple[tuple[Fraction, ...], Fraction]:
    """The bias of each output, and two units in the last place where a logarithm made it."""
    scores = json.loads(written) if isinstance(written, str) else written
    scores = scores if isinstance(scores, list) else [scores]
    if len(scores) not in (1, outputs):
        raise ValueError(f"{len(scores)} base scores for {outputs} outputs")
    with np.errstate(all="ignore"):
        links = [link(Float32(score), version) for score in scores]
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
