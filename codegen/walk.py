"""Unit that the back end compiles: a decision's forest where it stands, walked once for all its sums.

Beside the trees it holds what the decision around them tells: the range of each feature (a threshold outside it decides
nothing), the clamps behind each sum, and how often the features were seen where.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.forest import Forest, Leaf, Node, branches, leaves, value


@dataclass(frozen=True)
class Feature:
    """An integer input, ``low <= value <= high`` for all inputs. ``name`` is its identifier in the C.

    If it has ``factors``, it counts how many of these multiples of feature ``over`` the value called ``name`` is above:
    it is above threshold i where that is above ``factors[i]`` times the other."""

    name: str
    low: int
    high: int
    factors: tuple[int, ...] = ()
    over: int = -1


@dataclass(frozen=True)
class Sum:
    """One output: ``bias`` plus what each tree adds, clamped to ``low..high``."""

    bias: int
    low: int = -(2**31)
    high: int = 2**31 - 1


@dataclass(frozen=True)
class Walk:
    """``visits[feature]``: how often (relative) the feature lay between its neighbouring ``borders[feature]``, where
    that was measured; empty where not. ``ranks``: of a feature the thresholds that somebody besides asks how many of it
    is above; ``places``: features that are such a rank, at least 0, and few; ``masked``: those of them that are cut to
    their low bits, or need no cut.

    ``cells``: how many the features of the program's trees have together, where this walks only some of the trees; 0
    where it walks all."""

    features: tuple[Feature, ...]
    trees: tuple[Node, ...]
    sums: tuple[Sum, ...]
    visits: tuple["Histogram", ...] = ()
    ranks: tuple[tuple[int, tuple[int, ...]], ...] = ()
    places: frozenset[int] = frozenset()
    masked: frozenset[int] = frozenset()
    cells: int = 0

    def columns(self, tree: Node) -> tuple[int, ...]:
        """The sums that a tree adds to."""
        known = self._columns.get(id(tree))
        return added(tree) if known is None else known

    def adding_to(self, column: int) -> frozenset[int]:
        """The trees that add to a sum, by number."""
        return self._adding[column]

    @cached_property
    def _columns(self) -> dict[int, tuple[int, ...]]:
        """``columns`` of the walk's own trees, by identity: with many sums it takes long to find them anew."""
        return {id(tree): added(tree) for tree in self.trees}

    @cached_property
    def _adding(self) -> list[frozenset[int]]:
        numbers: list[set[int]] = [set() for _ in self.sums]
        for number, tree in enumerate(self.trees):
            for column in self._columns[id(tree)]:
                numbers[column].add(number)
        return list(map(frozenset, numbers))

    def evaluate(self, x: Integers) -> Integers:
        """Values [N, sums] of integer feature rows ``x`` [N, features]."""
        total = np.tile(np.array([s.bias for s in self.sums], dtype=np.int64), (len(x), 1))
        for tree in self.trees:
            total += value(tree, x)
        return np.clip(total, [s.low for s in self.sums], [s.high for s in self.sums])


@dataclass(frozen=True)
class Histogram:
    """Measured frequencies of a feature: ``counts[i]`` values in (borders[i - 1], borders[i]]."""

    borders: tuple[int, ...]
    counts: tuple[float, ...]

    def share(self, low: int, high: int) -> float:
        """Measured values in (low, high], as far as the borders tell; a part of an interval counts whole."""
        edges = [-(2**63), *self.borders, 2**63]
        return sum(c for c, a, b in zip(self.counts, edges, edges[1:], strict=False) if a < high and b > low)


def added(tree: Node) -> tuple[int, ...]:
    """The sums that a tree adds to; the first where it adds nothing."""
    columns = {k for leaf in leaves(tree) for k, value in enumerate(leaf.value) if value}
    return tuple(sorted(columns)) or (0,)


def features_of(node: Node) -> tuple[int, ...]:
    """The features that a tree looks at, ascending."""
    return tuple(sorted({branch.feature for branch in branches(node)}))


def walk_of(
    forest: Forest,
    ranges: Sequence[tuple[int, int]],
    limits: Sequence[tuple[int, int]] | None = None,
    visits: Sequence[Histogram] = (),
    outputs: Sequence[int] | None = None,
) -> Walk:
    """The forest with least and greatest value of each feature and, of each output, the ``limits`` that it is clamped
    to. ``outputs``: those that are asked for; None: all."""
    if len(ranges) != len(forest.features):
        raise InputError(f"{len(forest.features)} features need as many ranges, not {len(ranges)}")
    features = tuple(Feature(n, low, high) for n, (low, high) in zip(forest.features, ranges, strict=True))
    kept = tuple(range(forest.outputs)) if outputs is None else tuple(outputs)
    trees = forest.trees if len(kept) == forest.outputs else tuple(_only(tree, kept) for tree in forest.trees)
    clamps: Sequence[tuple[int, int]] = limits or [(-(2**31), 2**31 - 1)] * len(kept)
    sums = tuple(Sum(forest.bias[k], *clamp) for k, clamp in zip(kept, clamps, strict=True))
    return Walk(features, trees, sums, tuple(visits))


def only_trees_of(forest: Forest, outputs: Sequence[int]) -> Forest:
    """Without the trees that add nothing to these outputs."""
    adds = (any(leaf.value[k] for leaf in leaves(tree) for k in outputs) for tree in forest.trees)
    return replace(forest, trees=tuple(tree for tree, kept in zip(forest.trees, adds, strict=True) if kept))


def _only(node: Node, kept: Sequence[int]) -> Node:
    if isinstance(node, Leaf):
        return Leaf(tuple(node.value[k] for k in kept))
    return type(node)(node.feature, node.threshold, _only(node.above, kept), _only(node.below, kept))
