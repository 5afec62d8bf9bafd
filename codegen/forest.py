"""Sums of decision trees over integer features: what the back end compiles.

A tree is a nest of branches, so that oblivious trees and the free-form ones of other libraries are one thing. Features
carry the range of all values they can have: a threshold outside it decides nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision import forest
from decision.errors import InputError

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Leaf:
    value: int


@dataclass(frozen=True)
class Branch:
    """``feature > threshold`` goes to ``above``, else to ``below``."""

    feature: int
    threshold: int
    above: "Leaf | Branch"
    below: "Leaf | Branch"


Node = Leaf | Branch


@dataclass(frozen=True)
class Feature:
    """An integer input, ``low <= value <= high`` for all inputs. ``name`` is its identifier in the C."""

    name: str
    low: int
    high: int


@dataclass(frozen=True)
class Sum:
    """One output: ``bias`` plus one leaf a tree, clamped to ``low..high``."""

    bias: int
    trees: tuple[Node, ...]
    low: int = -(2**31)
    high: int = 2**31 - 1


@dataclass(frozen=True)
class Forest:
    """``visits[feature]``: how often (relative) the feature lay between its neighbouring ``borders[feature]``, where
    that was measured; empty where not."""

    features: tuple[Feature, ...]
    sums: tuple[Sum, ...]
    visits: tuple["Histogram", ...] = ()

    def thresholds(self) -> dict[int, list[int]]:
        """The distinct thresholds of each feature that some branch asks for, ascending."""
        found: dict[int, set[int]] = {}
        for tree in self.trees():
            for branch in branches_of(tree):
                found.setdefault(branch.feature, set()).add(branch.threshold)
        return {feature: sorted(values) for feature, values in sorted(found.items())}

    def trees(self) -> Iterator[Node]:
        for total in self.sums:
            yield from total.trees

    def evaluate(self, x: Integers) -> Integers:
        """Values [N, sums] of integer feature rows ``x`` [N, features]."""
        totals = [np.full(len(x), total.bias, dtype=np.int64) for total in self.sums]
        for total, values in zip(self.sums, totals, strict=True):
            for tree in total.trees:
                values += value(tree, x)
            np.clip(values, total.low, total.high, out=values)
        return np.stack(totals, axis=1)


@dataclass(frozen=True)
class Histogram:
    """Measured frequencies of a feature: ``counts[i]`` values in (borders[i - 1], borders[i]]."""

    borders: tuple[int, ...]
    counts: tuple[float, ...]

    def share(self, low: int, high: int) -> float:
        """Measured values in (low, high], as far as the borders tell; a part of an interval counts whole."""
        edges = [-(2**63), *self.borders, 2**63]
        return sum(c for c, a, b in zip(self.counts, edges, edges[1:], strict=False) if a < high and b > low)


def value(node: Node, x: Integers) -> Integers:
    """A tree's values on feature rows [N, features]."""
    if isinstance(node, Leaf):
        return np.full(len(x), node.value, dtype=np.int64)
    above = x[:, node.feature] > node.threshold
    return np.where(above, value(node.above, x), value(node.below, x))


def branches_of(node: Node) -> Iterator[Branch]:
    if isinstance(node, Branch):
        yield node
        yield from branches_of(node.above)
        yield from branches_of(node.below)


def leaves_of(node: Node) -> Iterator[int]:
    if isinstance(node, Leaf):
        yield node.value
    else:
        yield from leaves_of(node.above)
        yield from leaves_of(node.below)


def features_of(node: Node) -> tuple[int, ...]:
    """The features that a tree looks at, ascending."""
    return tuple(sorted({branch.feature for branch in branches_of(node)}))


def depth(node: Node) -> int:
    return 0 if isinstance(node, Leaf) else 1 + max(depth(node.above), depth(node.below))


def of_forest(
    whole: forest.Forest,
    ranges: Sequence[tuple[int, int]],
    limits: tuple[int, int] = (-(2**31), 2**31 - 1),
    visits: Sequence[Histogram] = (),
) -> Forest:
    """A forest of one output, clamped to ``limits``; ``ranges`` holds least and greatest value of each feature."""
    if len(ranges) != len(whole.features):
        raise InputError(f"{len(whole.features)} features need as many ranges, not {len(ranges)}")
    features = tuple(Feature(n, low, high) for n, (low, high) in zip(whole.features, ranges, strict=True))
    return Forest(features, (Sum(whole.bias[0], tuple(map(of_tree, whole.trees)), *limits),), tuple(visits))


def of_tree(tree: forest.Node) -> Node:
    """A tree of one output."""
    if isinstance(tree, forest.Leaf):
        return Leaf(tree.value[0])
    return Branch(tree.feature, tree.threshold, of_tree(tree.above), of_tree(tree.below))
