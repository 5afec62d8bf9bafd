"""The integer tree ensemble: what a distilled student is, exactly.

Trees are oblivious (symmetric): one split a level, as CatBoost grows them. Features, thresholds and leaves are
integers; the value is ``bias + sum of one leaf a tree``, an integer with ``leaf_bits`` fraction bits. Nothing is
rounded when it is evaluated.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.errors import InputError

MAX_FEATURES, MAX_LEAVES = 256, 1 << 16
"""A window of 16 decisions of 16 features; 200 trees of depth 8, with room."""


@dataclass(frozen=True)
class Split:
    """``features[feature] > threshold`` sets this level's bit of the leaf index."""

    feature: int
    threshold: int


@dataclass(frozen=True)
class Tree:
    """An oblivious tree. The leaf index has bit ``i`` set where ``splits[i]`` holds."""

    splits: tuple[Split, ...]
    leaves: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.leaves) != 1 << len(self.splits):
            raise InputError(f"a tree with {len(self.splits)} splits has {len(self.leaves)} leaves; it needs 2^splits")

    @property
    def depth(self) -> int:
        return len(self.splits)


@dataclass(frozen=True)
class Ensemble:
    """Trees over named integer features; see the module's docstring for the value."""

    features: tuple[str, ...]
    trees: tuple[Tree, ...]
    bias: int
    leaf_bits: int

    def __post_init__(self) -> None:
        if len(self.features) > MAX_FEATURES or sum(len(tree.leaves) for tree in self.trees) > MAX_LEAVES:
            raise InputError(
                f"the tree ensemble has over {MAX_FEATURES} features or {MAX_LEAVES} leaves; distil a smaller student"
            )
        values = [self.bias, *(leaf for tree in self.trees for leaf in tree.leaves)]
        if any(not -(2**31) <= value < 2**31 for value in values):
            raise InputError("a leaf or the bias of the tree ensemble does not fit 32 bits; use fewer leaf bits")
        for number, tree in enumerate(self.trees):
            for split in tree.splits:
                if not -(2**31) <= split.threshold < 2**32:
                    raise InputError(f"tree {number} compares with {split.threshold}, which no feature can reach")
                if not 0 <= split.feature < len(self.features):
                    raise InputError(f"tree {number} splits on feature {split.feature} of {len(self.features)}")

    @property
    def depth(self) -> int:
        return max((tree.depth for tree in self.trees), default=0)

    def range(self) -> tuple[int, int]:
        """Bounds of the value: the sum of the least and of the greatest leaves. Sound, not always attained."""
        low = self.bias + sum(min(tree.leaves) for tree in self.trees)
        high = self.bias + sum(max(tree.leaves) for tree in self.trees)
        return low, high

    def evaluate(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Values of integer feature rows ``x`` [N, features] as int64 [N]."""
        total = np.full(x.shape[0], self.bias, dtype=np.int64)
        for tree in self.trees:
            index = np.zeros(x.shape[0], dtype=np.int64)
            for level, split in enumerate(tree.splits):
                index |= (x[:, split.feature] > split.threshold).astype(np.int64) << level
            total += np.asarray(tree.leaves, dtype=np.int64)[index]
        return total

    def thresholds(self) -> dict[int, list[int]]:
        """The distinct thresholds of each feature, ascending: the edges that exactness is tested on."""
        found: dict[int, set[int]] = {}
        for tree in self.trees:
            for split in tree.splits:
                found.setdefault(split.feature, set()).add(split.threshold)
        return {feature: sorted(values) for feature, values in sorted(found.items())}

    def to_json(self) -> dict[str, Any]:
        return {
            "features": list(self.features),
            "leaf_bits": self.leaf_bits,
            "bias": self.bias,
            "trees": [
                {"splits": [[s.feature, s.threshold] for s in tree.splits], "leaves": list(tree.leaves)}
                for tree in self.trees
            ],
        }

    @staticmethod
    def from_json(data: Any) -> "Ensemble":
        """Inverse of ``to_json``; InputError where a field is missing or is not an integer."""
        try:
            trees = tuple(
                Tree(
                    splits=tuple(Split(integer(f), integer(t)) for f, t in tree["splits"]),
                    leaves=tuple(integer(leaf) for leaf in tree["leaves"]),
                )
                for tree in data["trees"]
            )
            names = tuple(str(name) for name in data["features"])
            return Ensemble(names, trees, integer(data["bias"]), integer(data["leaf_bits"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"the tree ensemble is not readable: {error!r}; distil the student again") from None


def integer(value: Any) -> int:
    """The JSON value if it is an integer (also not true, and not 1.0), else ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not an integer")
    return value
