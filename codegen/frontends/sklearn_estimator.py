"""scikit-learn estimators in memory: decision trees, forests, gradient boosting.

Their pickles run code when they are opened and are not read. scikit-learn sees an input as float32 and asks
``x <= threshold`` with a double. A forest is the mean of its trees; boosting is an initial value plus the learning rate
times the sum. Ties: the first of the greatest, but binary boosting gives class 1 from 0 on, 0 included.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from codegen.frontends.forest import FLOAT32_BITS, FLOAT64_BITS, Ask, Forest, Question, Value, grow
from decision.artefact.errors import InputError
from decision.policy.model import Task

TREES = ("DecisionTreeRegressor", "DecisionTreeClassifier", "ExtraTreeRegressor", "ExtraTreeClassifier")
FORESTS = ("RandomForestRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "ExtraTreesClassifier")
BOOSTING = ("GradientBoostingRegressor", "GradientBoostingClassifier")


def forest_of(estimator: Any) -> Forest:
    """The forest of a fitted estimator; InputError where it is another one, or not fitted."""
    kind = type(estimator).__name__
    if kind not in (*TREES, *FORESTS, *BOOSTING):
        raise InputError(f"a {kind} is not read; fit one of {', '.join((*TREES, *FORESTS, *BOOSTING))}")
    if not hasattr(estimator, "n_features_in_"):
        raise InputError(f"the {kind} is not fitted; fit it first")
    if kind in BOOSTING:
        return _boosting(estimator)
    classifier = kind.endswith("Classifier")
    if classifier and estimator.n_outputs_ > 1:
        raise InputError(f"the {kind} decides several labels at once; fit one a label")
    trees = estimator.estimators_ if kind in FORESTS else [estimator]
    grown = tuple(_tree(tree.tree_, f"tree {n}", _leaves(tree.tree_, len(trees))) for n, tree in enumerate(trees))
    outputs = int(estimator.n_classes_ if classifier else estimator.n_outputs_)
    classes = tuple(map(str, estimator.classes_)) if classifier else ()
    task: Task = "argmax" if classifier else "regression"
    bias = (Fraction(0),) * outputs
    return Forest("scikit-learn", _names(estimator), grown, bias, task, FLOAT32_BITS, FLOAT64_BITS, classes)


def _boosting(estimator: Any) -> Forest:
    rounds, outputs = estimator.estimators_.shape
    shrinkage = Fraction(float(estimator.learning_rate))
    trees = []
    for number in range(rounds):
        for output in range(outputs):
            tree = estimator.estimators_[number, output].tree_
            leaves = (
                Value(tuple(shrinkage * Fraction(float(v)) if k == output else Fraction(0) for k in range(outputs)))
                for v in tree.value[:, 0, 0]
            )
            trees.append(_tree(tree, f"tree {number * outputs + output}", leaves))
    classes = tuple(map(str, estimator.classes_)) if hasattr(estimator, "classes_") else ()
    task: Task = "regression" if not classes else "binary" if outputs == 1 else "argmax"
    return Forest(
        library="scikit-learn",
        names=_names(estimator),
        trees=tuple(trees),
        bias=_initial(estimator, outputs),
        task=task,
        input_bits=FLOAT32_BITS,
        sum_bits=FLOAT64_BITS,
        classes=classes,
        cut_or_equal=task == "binary",
    )


def _initial(estimator: Any, outputs: int) -> tuple[Fraction, ...]:
    """Returns the start of boosting: zero, or a constant that does not depend on the features."""
    if isinstance(estimator.init_, str):
        return (Fraction(0),) * outputs
    if type(estimator.init_).__name__ not in ("DummyRegressor", "DummyClassifier"):
        raise InputError(f"the initial estimator {type(estimator.init_).__name__} is not read; fit with init=None")
    nowhere = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
    return tuple(Fraction(float(v)) for v in np.ravel(estimator._raw_predict_init(nowhere)))


def _leaves(tree: Any, share: int) -> Iterable[Value]:
    """Yields for each node the mean of every target, or the share of every class."""
    columns = tree.value[:, 0, :] if tree.n_outputs == 1 else tree.value[:, :, 0]
    return (Value(tuple(Fraction(float(v)) / share for v in row)) for row in columns)


def _tree(tree: Any, where: str, leaves: Iterable[Value]) -> Value | Ask:
    columns = (tree.children_left, tree.children_right, tree.feature, tree.threshold)
    nodes: list[Value | Question] = [
        leaf if left < 0 else Question(int(feature), float(border), False, above=int(right), below=int(left))
        for left, right, feature, border, leaf in zip(*columns, leaves, strict=True)
    ]
    return grow(nodes, where)


def _names(estimator: Any) -> tuple[str, ...]:
    """As given in a data frame, else x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(map(str, names)) if names is not None else tuple(f"x{i}" for i in range(estimator.n_features_in_))
