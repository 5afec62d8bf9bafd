"""The cells of a forest: the products of intervals between neighbouring thresholds, in which its sum is one number."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Integers
from decision.ir.forest import Branch, Forest, Leaf, Node

FAR = 1 << 40
"""Beyond every sum of leaves."""


@dataclass(frozen=True)
class Boxes:
    """``low``, ``high`` [N, columns]: cells of each column, both ends included."""

    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.low)

    def only(self, rows: NDArray[np.bool_] | Integers) -> "Boxes":
        return Boxes(self.low[rows], self.high[rows])

    def at(self, column: int, cell: int) -> "Boxes":
        """The same with a column in one cell."""
        low, high = self.low.copy(), self.high.copy()
        low[:, column] = high[:, column] = cell
        return Boxes(low, high)

    @staticmethod
    def joined(*parts: "Boxes") -> "Boxes":
        return Boxes(np.concatenate([p.low for p in parts]), np.concatenate([p.high for p in parts]))


@dataclass(frozen=True)
class Cells:
    """A forest of one output. ``edges`` [columns]: its thresholds, ascending; cell k of a column holds the values above
    edges[k - 1], up to edges[k] included. ``low``, ``high`` [leaves, columns]: the cells in which a leaf is reached;
    ``value`` [leaves]; ``first`` [trees] the first leaf of each; ``asked`` [columns][edges] how many branches ask."""

    edges: tuple[Integers, ...]
    low: Integers
    high: Integers
    value: Integers
    first: Integers
    asked: tuple[Integers, ...]
    bias: int

    @staticmethod
    def of(forest: Forest) -> "Cells":
        thresholds = forest.thresholds()
        edges = tuple(np.asarray(thresholds.get(c, []), dtype=np.int64) for c in range(len(forest.features)))
        asked = tuple(np.zeros(len(cuts), dtype=np.int64) for cuts in edges)
        low, high, value, first = [], [], [], []

        def visit(node: Node, least: list[int], most: list[int]) -> None:
            if isinstance(node, Leaf):
                low.append(least)
                high.append(most)
                value.append(node.value[0])
                return
            assert isinstance(node, Branch)
            c = node.feature
            cell = int(np.searchsorted(edges[c], node.threshold))
            asked[c][cell] += 1
            if least[c] <= cell:
                visit(node.below, least, [*most[:c], min(most[c], cell), *most[c + 1 :]])
            if most[c] > cell:
                visit(node.above, [*least[:c], max(least[c], cell + 1), *least[c + 1 :]], most)

        for tree in forest.trees:
            first.append(len(value))
            visit(tree, [0] * len(edges), [len(cuts) for cuts in edges])
        shape = len(value), len(edges)
        return Cells(
            edges,
            np.asarray(low, dtype=np.int64).reshape(shape),
            np.asarray(high, dtype=np.int64).reshape(shape),
            np.asarray(value, dtype=np.int64),
            np.asarray(first, dtype=np.intp),
            asked,
            forest.bias[0],
        )

    def box(self, ranges: list[tuple[int, int]]) -> Boxes:
        """The cells that hold values of these ranges, one a column."""
        low = [np.searchsorted(cuts, least, side="left") for cuts, (least, _) in zip(self.edges, ranges, strict=True)]
        high = [np.searchsorted(cuts, most, side="left") for cuts, (_, most) in zip(self.edges, ranges, strict=True)]
        return Boxes(np.asarray([low], dtype=np.int64), np.asarray([high], dtype=np.int64))

    def bounds(self, boxes: Boxes) -> tuple[Integers, Integers]:
        """Returns bounds of the sum in each box [N]: not below, not above. In a box of one cell both are its sum."""
        least, most = self._by_tree(boxes)
        return least.sum(axis=1) + self.bias, most.sum(axis=1) + self.bias

    def rises(self, boxes: Boxes, column: int, cell: int) -> Integers:
        """Returns the largest rise of the sum [N] if a column goes from a cell to the next one and all else stays."""
        below, above = self._by_tree(boxes.at(column, cell)), self._by_tree(boxes.at(column, cell + 1))
        crossed = (self.high[:, column] == cell) | (self.low[:, column] == cell + 1)
        trees = np.bitwise_or.reduceat(crossed, self.first) if len(self.first) else np.zeros(0, dtype=np.bool_)
        # A tree that does not ask for this threshold stays in its leaf.
        rises: Integers = np.where(trees, above[1] - below[0], 0).sum(axis=1)
        return rises

    def _by_tree(self, boxes: Boxes) -> tuple[Integers, Integers]:
        if not len(self.first):
            none = np.zeros((len(boxes), 0), dtype=np.int64)
            return none, none
        reached = np.ones((len(boxes), len(self.value)), dtype=np.bool_)
        for c in range(len(self.edges)):
            reached &= self.low[:, c] <= boxes.high[:, c, None]
            reached &= self.high[:, c] >= boxes.low[:, c, None]
        least = np.minimum.reduceat(np.where(reached, self.value, FAR), self.first, axis=1)
        most = np.maximum.reduceat(np.where(reached, self.value, -FAR), self.first, axis=1)
        return least, most

    def halves(self, boxes: Boxes) -> Boxes:
        """Each box in two, at the middle of the branches that ask within it, in the column where most do; none of a
        box of one cell."""
        if not self.edges:
            return boxes.only(np.zeros(0, dtype=np.intp))
        asked = [np.concatenate([[0], np.cumsum(counts)]) for counts in self.asked]
        within = np.stack([a[boxes.high[:, c]] - a[boxes.low[:, c]] for c, a in enumerate(asked)], axis=1)
        column = within.argmax(axis=1)
        lower, upper = Boxes(boxes.low, boxes.high.copy()), Boxes(boxes.low.copy(), boxes.high)
        for c, a in enumerate(asked):
            rows = np.flatnonzero(column == c)
            low, high = boxes.low[rows, c], boxes.high[rows, c]
            cut = np.searchsorted(a, (a[low] + a[high]) / 2, side="right") - 1
            cut = np.clip(cut, low, np.maximum(high - 1, low))
            lower.high[rows, c], upper.low[rows, c] = cut, cut + 1
        many = within.max(axis=1) > 0
        return Boxes.joined(lower.only(many), upper.only(many))

    def values(self, cell: Integers, ranges: list[tuple[int, int]]) -> Integers:
        """A value of each column in its cell [columns], the one of the range that is nearest to 0."""
        chosen = []
        for cuts, k, (least, most) in zip(self.edges, cell, ranges, strict=True):
            low = max(least, int(cuts[k - 1]) + 1) if k > 0 else least
            high = min(most, int(cuts[k])) if k < len(cuts) else most
            chosen.append(min(max(0, low), high))
        return np.asarray(chosen, dtype=np.int64)
