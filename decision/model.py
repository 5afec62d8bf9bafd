"""A model made elsewhere, as exact integers: trees over grid features, with one or several outputs.

A feature is an integer k that stands for ``k / 2^fraction_bits``; a branch asks ``k > threshold``; a leaf adds one
integer to each output; the value of an output is that integer over ``2^leaf_bits``. Nothing is rounded when it is
evaluated: what was rounded when the model was read, and by how much, stands in ``error`` and ``margin``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from decision.documents import dump_json, load_json
from decision.errors import InputError
from decision.forest import (
    MAX_DEPTH,
    Branch,
    Leaf,
    branches,
    depth,
    flat,
    integer,
    leaves,
    nested,
    value,
)

FORMAT = 1
KIND = "model"
INT32 = (-(2**31), 2**31 - 1)

Task = Literal["regression", "binary", "argmax"]


@dataclass(frozen=True)
class GridFeature:
    """An input: integers ``low..high``, k for the value ``k / 2^fraction_bits`` (negative bits: steps above one)."""

    name: str
    fraction_bits: int
    low: int
    high: int


@dataclass(frozen=True)
class Model:
    """Trees and what their sums mean.

    ``task``: "regression" gives the outputs; "binary" (one output) gives class 1 where it is above ``cut``, else 0;
    "argmax" gives the first of the greatest outputs. ``error``: by how much an output over 2^leaf_bits can differ from
    what the library of the model that was read predicts, an upper bound each. ``margin``: where the library's outputs
    decide by more than this, the class is the same for certain; where it is 0, always.
    """

    features: tuple[GridFeature, ...]
    trees: tuple[Leaf | Branch, ...]
    bias: tuple[int, ...]
    leaf_bits: int
    task: Task
    cut: int = 0
    classes: tuple[str, ...] = ()
    error: tuple[float, ...] = ()
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not self.bias:
            raise InputError("the model has no output")
        if self.task not in get_args(Task):
            raise InputError(f"the model's task {self.task!r} is none of {', '.join(get_args(Task))}")
        if self.task == "binary" and self.outputs != 1:
            raise InputError(f"a binary model has one output, not {self.outputs}")
        if self.error and len(self.error) != self.outputs:
            raise InputError(f"the model states {len(self.error)} errors for {self.outputs} outputs")
        if self.classes and len(self.classes) != self.class_count:
            raise InputError(f"the model names {len(self.classes)} classes and decides among {self.class_count}")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            raise InputError("two features of the model have the same name")
        for feature in self.features:
            if not INT32[0] <= feature.low <= feature.high <= INT32[1]:
                raise InputError(f"feature {feature.name!r} has no range within 32 bits: {feature.low}..{feature.high}")
        for number, tree in enumerate(self.trees):
            _check_tree(number, tree, len(self.features), self.outputs)
        for output, (low, high) in enumerate(self.ranges()):
            if low < INT32[0] or high > INT32[1]:
                raise InputError(
                    f"output {output} can add up to {low}..{high}, which 32 bits do not hold; use fewer leaf bits"
                )

    @property
    def outputs(self) -> int:
        return len(self.bias)

    @property
    def class_count(self) -> int:
        """How many classes ``predict`` tells apart; 0 for regression."""
        return {"regression": 0, "binary": 2, "argmax": self.outputs}[self.task]

    @property
    def depth(self) -> int:
        return max(map(depth, self.trees), default=0)

    def ranges(self) -> list[tuple[int, int]]:
        """Bounds of each output, and of every partial sum that starts at the bias. Sound, not always attained."""
        low, high = list(self.bias), list(self.bias)
        for tree in self.trees:
            for output, column in enumerate(zip(*(leaf.value for leaf in leaves(tree)), strict=True)):
                low[output] += min(0, *column)
                high[output] += max(0, *column)
        return list(zip(low, high, strict=True))

    def thresholds(self) -> dict[int, list[int]]:
        """The distinct thresholds of each feature, ascending: the edges that exactness is tested on."""
        found: dict[int, set[int]] = {}
        for tree in self.trees:
            for branch in branches(tree):
                found.setdefault(branch.feature, set()).add(branch.threshold)
        return {feature: sorted(values) for feature, values in sorted(found.items())}

    def evaluate(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Outputs [N, outputs] of integer feature rows [N, features]."""
        total = np.tile(np.array(self.bias, dtype=np.int64), (len(rows), 1))
        for tree in self.trees:
            total += value(tree, rows)
        return total

    def predict(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Classes [N] of integer feature rows; the outputs [N, outputs] for regression."""
        return self.decide(self.evaluate(rows))

    def decide(self, outputs: NDArray[np.int64]) -> NDArray[np.int64]:
        """From ``evaluate`` to ``predict``."""
        if self.task == "regression":
            return outputs
        if self.task == "binary":
            return (outputs[:, 0] > self.cut).astype(np.int64)
        best: NDArray[np.int64] = np.argmax(outputs, axis=1).astype(np.int64)
        return best

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "kind": KIND,
            "task": self.task,
            "features": [[f.name, f.fraction_bits, f.low, f.high] for f in self.features],
            "classes": list(self.classes),
            "leaf_bits": self.leaf_bits,
            "cut": self.cut,
            "error": list(self.error),
            "margin": self.margin,
            "bias": list(self.bias),
            "trees": [flat(tree) for tree in self.trees],
        }

    def dump(self) -> str:
        """The text of a model file; ``load_model`` reads it."""
        return dump_json(self.to_json())

    @staticmethod
    def from_json(data: Any) -> "Model":
        """Inverse of ``to_json``; InputError where it is not one."""
        try:
            if data["format"] != FORMAT or data["kind"] != KIND:
                raise InputError(f"not a model of format {FORMAT}; make it again")
            return Model(
                features=tuple(
                    GridFeature(str(name), integer(q), integer(low), integer(high))
                    for name, q, low, high in data["features"]
                ),
                trees=tuple(nested(nodes) for nodes in data["trees"]),
                bias=tuple(integer(v) for v in data["bias"]),
                leaf_bits=integer(data["leaf_bits"]),
                task=data["task"],
                cut=integer(data["cut"]),
                classes=tuple(str(name) for name in data["classes"]),
                error=tuple(float(v) for v in data["error"]),
                margin=float(data["margin"]),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"the model is not readable: {error!r}; make it again") from None


def load_model(path: Path) -> Model:
    """Read a model file of rlcc; InputError where it is not one."""
    try:
        return Model.from_json(load_json(path))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _check_tree(number: int, tree: Leaf | Branch, features: int, outputs: int) -> None:
    if depth(tree) > MAX_DEPTH:
        raise InputError(f"tree {number} is deeper than {MAX_DEPTH} questions, which C compilers need not accept")
    for leaf in leaves(tree):
        if len(leaf.value) != outputs:
            raise InputError(f"tree {number} has a leaf of {len(leaf.value)} values in a model of {outputs} outputs")
    for branch in branches(tree):
        if not 0 <= branch.feature < features:
            raise InputError(f"tree {number} asks for feature {branch.feature} of {features}")
        if not INT32[0] <= branch.threshold <= INT32[1]:
            raise InputError(f"tree {number} compares with {branch.threshold}, which 32 bits do not hold")
