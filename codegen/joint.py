"""Trees joined through a small table: each feature is placed among its thresholds once, the places of all features make
an index, and one load gives the sum of all trees of the group.

    word  = place of feature 0 + place of feature 1 + ..        one constant a feature holds its share of every index
    index = (word >> shift) & mask                              a field of the word a group
    sum  += leaves[offset + index]

A place contributes ``class * stride`` to the index, as in an array of several dimensions. The fields never carry into
each other, because the greatest index of a group fits its field.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from codegen.walk import Walk
from decision.ir.arrays import Integers
from decision.ir.forest import Node, branches, value

WORD_BITS = 32
MAX_REST = 1 << 30
"""With the entries of all groups, of 16 bits where there is a rest, it stays within 32 bits."""


@dataclass(frozen=True)
class Axis:
    """The classes of a feature that a group tells apart: ``len(thresholds) + 1`` of them."""

    feature: int
    thresholds: tuple[int, ...]
    stride: int


@dataclass(frozen=True)
class Group:
    """Trees, by number, and their joint tables, one for each of the sums ``columns`` that they add to: one behind the
    other, so that one index serves all. ``shift``, ``offset``: the field and the part of the array. Groups are kept in
    the order of their fields, the topmost last."""

    columns: tuple[int, ...]
    trees: tuple[int, ...]
    axes: tuple[Axis, ...]
    entries: tuple[int, ...]
    shift: int = 0
    offset: int = 0
    rests: tuple[int, ...] = ()
    """What is added to each of the sums besides: for entries that take fewer bytes."""

    @property
    def size(self) -> int:
        """Entries of one table."""
        return len(self.entries) // len(self.columns)

    @cached_property
    def width(self) -> int:
        """Bits of the field."""
        return (self.size - 1).bit_length()

    def table(self, column: int) -> tuple[int, ...]:
        first = self.columns.index(column) * self.size
        return self.entries[first : first + self.size]

    def rest(self, column: int) -> int:
        return self.rests[self.columns.index(column)] if self.rests else 0

    def start(self, column: int) -> int:
        """Returns the index at which a sum's table begins in the array."""
        return self.offset + self.columns.index(column) * self.size


def thresholds_of(trees: Sequence[Node]) -> dict[int, set[int]]:
    thresholds: dict[int, set[int]] = {}
    for tree in trees:
        for branch in branches(tree):
            thresholds.setdefault(branch.feature, set()).add(branch.threshold)
    return thresholds


def size_of(thresholds: dict[int, set[int]]) -> int:
    """Entries of a joint table before any is found idle."""
    return prod(len(values) + 1 for values in thresholds.values())


def join(walk: Walk, trees: Sequence[int], columns: Sequence[int] | None = None, direct: int | None = None) -> Group:
    """The joint tables of some trees, for all sums that they add to or for some ``columns``; classes that no tree of
    the group tells apart are one. ``direct``: a feature from 0 whose every value is a class, side by side."""
    members = [walk.trees[number] for number in trees]
    kept_sums = tuple(columns or sorted({k for tree in members for k in walk.columns(tree)}))
    borders = {feature: sorted(values) for feature, values in sorted(thresholds_of(members).items())}
    if direct is not None and borders.pop(direct, []):
        borders[direct] = list(range(walk.features[direct].high))
    table = _table(members, borders, len(walk.features), kept_sums)
    for axis, feature in enumerate(borders):
        if feature == direct:
            continue
        same = [
            np.array_equal(np.take(table, place, axis), np.take(table, place + 1, axis))
            for place in range(len(borders[feature]))
        ]
        table = np.delete(table, np.flatnonzero(same), axis)
        borders[feature] = [t for t, idle in zip(borders[feature], same, strict=True) if not idle]
    kept = [feature for feature in borders if borders[feature]]
    axes, stride = [], 1
    for feature in reversed(kept):
        axes.append(Axis(feature, tuple(borders[feature]), stride))
        stride *= len(borders[feature]) + 1
    entries = np.moveaxis(table, -1, 0).reshape(-1)
    return Group(kept_sums, tuple(trees), tuple(reversed(axes)), tuple(int(v) for v in entries))


def _table(trees: Sequence[Node], borders: dict[int, list[int]], features: int, columns: tuple[int, ...]) -> Integers:
    """Sums of the trees over all classes, one axis a feature and one for the sums. The value ``t`` stands for
    the class that ends there."""
    samples = [np.array([*values, values[-1] + 1], dtype=np.int64) for values in borders.values()]
    grid = np.meshgrid(*samples, indexing="ij") if samples else []
    shape = tuple(len(s) for s in samples)
    rows = np.zeros((prod(shape), features), dtype=np.int64)
    for feature, column in zip(borders, grid, strict=True):
        rows[:, feature] = column.reshape(-1)
    total = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for tree in trees:
        total += value(tree, rows)[:, columns]
    return total.reshape((*shape, len(columns)))


def packed(walk: Walk, groups: Sequence[Group], *, size: int = 4) -> tuple[Group, ...] | None:
    """The groups with their fields and offsets, widest last; None where a word cannot hold the fields, or an entry does
    not go into ``size`` bytes.

    The widest is last, so that behind each narrower table follow (or are padded) as many entries as its field can name:
    no word whatsoever leads its look-up out of the array. The topmost field needs no mask: no sum of words leads it
    out.

    The bias goes into the tables of a sum, and where all that adds to it is in one group, so do its limits: its entries
    are then the clamped sums themselves. A rest that the tables cannot take is added to the last of them.
    """
    ordered = sorted(groups, key=lambda g: (-g.width, g.trees))
    left = {k: walk.sums[k].bias for group in groups for k in group.columns}
    first = {k: group for group in reversed(ordered) for k in group.columns}
    last = {k: group for group in ordered for k in group.columns}
    placed, shift, offset = [], 0, 0
    for group in ordered:
        entries: list[int] = []
        for column in group.columns:
            total, table = walk.sums[column], group.table(column)
            if walk.adding_to(column) <= set(group.trees):
                table = tuple(min(max(entry + total.bias, total.low), total.high) for entry in table)
                left[column] = 0
            moved = _fitting(table, left[column], size) if size < 4 or first[column] is group else 0
            if moved is None:
                return None
            left[column] -= moved
            entries += [entry + moved for entry in table]
        rests = tuple(left[k] if last[k] is group else 0 for k in group.columns)
        if any(abs(rest) > MAX_REST for rest in rests):
            return None
        placed.append(replace(group, entries=tuple(entries), rests=rests if any(rests) else ()))
    for number, group in enumerate(reversed(placed)):
        placed[-1 - number] = replace(group, shift=shift, offset=offset)
        shift += group.width
        offset += len(group.entries)
    return tuple(reversed(placed)) if shift <= WORD_BITS else None


def _fitting(table: Sequence[int], added: int, size: int) -> int | None:
    """Returns the number nearest to ``added`` that fits all entries into ``size`` bytes when it is added to them; None
    if they lie too far apart."""
    half = 1 << (8 * size - 1)
    low, high = -half - min(table), half - 1 - max(table)
    return min(max(added, low), high) if low <= high else None


def array_of(groups: Sequence[Group]) -> tuple[int, ...]:
    """The tables of all groups one behind the other, padded with zeros to what a masked field can name."""
    entries = [entry for group in groups for entry in group.entries]
    reach = max((group.start(group.columns[-1]) + (1 << group.width) for group in groups[:-1]), default=0)
    return (*entries, *([0] * (reach - len(entries))))


@dataclass(frozen=True)
class Placing:
    """``words[i]``: what interval i of a feature (between its ``thresholds``) contributes to the word of all groups;
    ``ranks[i]``: how many of the thresholds that are counted besides it lies above, where some are."""

    feature: int
    thresholds: tuple[int, ...]
    words: tuple[int, ...]
    ranks: tuple[int, ...] = ()

    @property
    def ends(self) -> tuple[tuple[int, ...], ...]:
        """All that a search finds in each interval."""
        return tuple(zip(self.words, self.ranks, strict=True)) if self.ranks else tuple((word,) for word in self.words)

    def asking(self, pivots: Sequence[int]) -> "Placing":
        """The same with thresholds inside the intervals."""
        thresholds = sorted({*self.thresholds, *pivots})
        places = [*(bisect_left(self.thresholds, t) for t in thresholds), len(self.thresholds)]
        ranks = tuple(self.ranks[place] for place in places) if self.ranks else ()
        return Placing(self.feature, tuple(thresholds), tuple(self.words[place] for place in places), ranks)

    def counting(self, counted: Sequence[int]) -> "Placing":
        """The same that also finds how many of other thresholds the feature is above."""
        asked = self.asking(counted)
        ranks = (*(bisect_left(counted, t) for t in asked.thresholds), len(counted))
        return replace(asked, ranks=ranks)


def placings(groups: Sequence[Group], direct: int | None = None) -> tuple[Placing, ...]:
    """The search of each feature that some group looks at, but the one that needs none."""
    axes: dict[int, list[tuple[Group, Axis]]] = {}
    for group in groups:
        for axis in group.axes:
            axes.setdefault(axis.feature, []).append((group, axis))
    placed = []
    for feature, uses in sorted(axes.items()):
        if feature == direct:
            continue
        thresholds = sorted({t for _, axis in uses for t in axis.thresholds})
        samples = np.array([*thresholds, thresholds[-1] + 1])
        words = np.zeros(len(samples), dtype=np.int64)
        for group, axis in uses:
            places = np.searchsorted(np.array(axis.thresholds), samples, side="left")
            words += places * axis.stride << group.shift
        placed.append(Placing(feature, tuple(thresholds), tuple(int(w) for w in words)))
    return tuple(placed)


def share(groups: Sequence[Group], direct: int) -> int:
    """Returns what each step of a feature that is its own class adds to the word of all groups."""
    return sum(axis.stride << group.shift for group in groups for axis in group.axes if axis.feature == direct)
