"""Grow a tree anew from what it says: of all trees of questions with the same values, the cheapest in the worst case.

The thresholds cut the inputs into cells, and each question parts a box of cells in two. A box in which the tree has one
value is a leaf; of any other the cheapest tree is the cheapest question with the cheapest trees of its two halves:

    cost(box) = least over the thresholds inside of   ask + max(not taken + dearer half, taken + cheaper half)

A tree that a library grew leaf by leaf may be a long chain; here no path is longer than it has to be. The tree as it
came is one of those that are weighed. Boxes are taken by their extents, smallest first: all boxes of one size are one
array. A tree that adds to several sums stays: its leaves are long, and the cheapest tree repeats some.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from codegen.engines import CostModel
from codegen.joint import thresholds_of
from codegen.passes.reorder import asked_for, leaf_cycles, mixed, worst
from codegen.walk import Walk
from decision.ir.arrays import Integers
from decision.ir.forest import Branch, Leaf, Node, value

MAX_BOXES = 1 << 17
MAX_SIZES = 1 << 11
"""Of boxes: each takes as many steps as a box of that size has thresholds inside."""
WORTH = 2
"""Cycles of the longest path."""
NODES = 1 << 16
"""Nodes of a tree count less than a cycle of its longest path."""

Extents = tuple[int, ...]
"""How many thresholds of each feature lie inside a box."""


def rebalance(walk: Walk, engine: CostModel) -> Walk:
    """Each tree that asks other questions on other paths, where its longest path becomes shorter by so much that the
    model's guess at it counts."""

    def best(tree: Node) -> Node:
        if len(walk.columns(tree)) > 1 or not mixed(tree):
            return tree
        grown = rebalanced(tree, walk, engine)
        return tree if grown is None or worst(grown, walk, engine) + WORTH > worst(tree, walk, engine) else grown

    return replace(walk, trees=tuple(map(best, walk.trees)))


def rebalanced(tree: Node, walk: Walk, engine: CostModel) -> Node | None:
    """The tree whose longest path is cheapest by the cost model, of those the one with fewest nodes; None where there
    are too many boxes to weigh."""
    borders = {feature: sorted(values) for feature, values in sorted(thresholds_of([tree]).items())}
    classes = [len(values) + 1 for values in borders.values()]
    if prod(m * (m + 1) // 2 for m in classes) > MAX_BOXES or prod(classes) > MAX_SIZES:
        return None
    return _TreeBoxes(tree, borders, walk, engine).tree(tuple(m - 1 for m in classes), (0,) * len(classes))


class _TreeBoxes:
    """``price[extents][place]``: NODES times the cycles of a box's longest path, and its nodes; ``place`` counts the
    thresholds below the box. ``asked``: which feature is asked first there, and the how manieth threshold inside."""

    def __init__(self, tree: Node, borders: Mapping[int, Sequence[int]], walk: Walk, engine: CostModel) -> None:
        self.borders = list(borders.items())
        self.leaves, first = _cells(tree, borders, len(walk.features))
        leaf_price = np.array([NODES * leaf_cycles(leaf, engine) for leaf in self.leaves], dtype=np.int64)
        self.asks = [
            np.array([asked_for(feature, t, walk.features, engine) for t in values], dtype=np.int64)
            for feature, values in self.borders
        ]
        self.least, self.most = ({(0,) * first.ndim: first} for _ in range(2))
        self.price = {(0,) * first.ndim: leaf_price[first]}
        self.asked: dict[Extents, tuple[Integers, Integers]] = {}
        for extents in sorted(product(*map(range, first.shape)), key=sum):
            if any(extents):
                self._weigh(extents, leaf_price, engine)

    def _weigh(self, extents: Extents, leaf_price: Integers, engine: CostModel) -> None:
        axis = next(k for k, inside in enumerate(extents) if inside)
        below, above = self._halves(extents, axis, 0)
        self.least[extents] = np.minimum(self.least[below[0]][below[1]], self.least[above[0]][above[1]])
        self.most[extents] = np.maximum(self.most[below[0]][below[1]], self.most[above[0]][above[1]])
        shape = self.least[extents].shape
        best = np.full(shape, np.iinfo(np.int64).max, dtype=np.int64)
        feature, threshold = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for axis, inside in enumerate(extents):
            for border in range(inside):
                below, above = self._halves(extents, axis, border)
                a, b = self.price[below[0]][below[1]], self.price[above[0]][above[1]]
                dear, cheap = np.maximum(a, b) // NODES, np.minimum(a, b) // NODES
                longest = np.maximum(engine.not_taken + dear, engine.taken + cheap)
                ask = self.asks[axis][border : border + shape[axis]]
                longest += ask.reshape([-1 if k == axis else 1 for k in range(len(shape))])
                price = NODES * longest + 1 + a % NODES + b % NODES
                better = price < best
                best[better], feature[better], threshold[better] = price[better], axis, border
        same = self.least[extents] == self.most[extents]
        self.price[extents] = np.where(same, leaf_price[self.least[extents]], best)
        self.asked[extents] = feature, threshold

    def _halves(
        self, extents: Extents, axis: int, border: int
    ) -> tuple[tuple[Extents, tuple[slice, ...]], tuple[Extents, tuple[slice, ...]]]:
        """Extents of what lies below and above a threshold inside, and where in their arrays the boxes have them."""
        boxes = self.least[(0,) * len(extents)].shape[axis] - extents[axis]

        def half(inside: int, begin: int) -> tuple[Extents, tuple[slice, ...]]:
            at = tuple(slice(begin, begin + boxes) if k == axis else slice(None) for k in range(len(extents)))
            return (*extents[:axis], inside, *extents[axis + 1 :]), at

        return half(border, 0), half(extents[axis] - 1 - border, border + 1)

    def tree(self, extents: Extents, place: Extents) -> Node:
        """The cheapest tree of one box."""
        if self.least[extents][place] == self.most[extents][place]:
            return self.leaves[int(self.least[extents][place])]
        axis, inside = (int(chosen[place]) for chosen in self.asked[extents])
        feature, values = self.borders[axis]
        first = place[axis]

        def part(count: int, begin: int) -> Node:
            return self.tree((*extents[:axis], count, *extents[axis + 1 :]), (*place[:axis], begin, *place[axis + 1 :]))

        above = part(extents[axis] - 1 - inside, first + inside + 1)
        return Branch(feature, values[first + inside], above, part(inside, first))


def _cells(tree: Node, borders: Mapping[int, Sequence[int]], features: int) -> tuple[list[Leaf], Integers]:
    """The tree's distinct leaves, and of each cell the number of its leaf."""
    samples = [np.array([*values, values[-1] + 1], dtype=np.int64) for values in borders.values()]
    grid = np.meshgrid(*samples, indexing="ij")
    rows = np.zeros((grid[0].size, features), dtype=np.int64)
    for feature, column in zip(borders, grid, strict=True):
        rows[:, feature] = column.reshape(-1)
    found, numbers = np.unique(value(tree, rows), axis=0, return_inverse=True)
    return [Leaf(tuple(map(int, row))) for row in found], numbers.reshape(grid[0].shape)
