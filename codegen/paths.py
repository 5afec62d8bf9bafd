"""Inputs that visit every branch and every leaf of the emitted trees, visibly.

A vector on a threshold finds an error in that comparison only if the other answers lead to it, if its two sides differ
there, and if no clamp hides the difference. For each branch one row on the threshold and one just above it are
therefore chosen, in which the other side would change the new rate or the new context. For each leaf a row is chosen in
which one unit more would.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from codegen.edges import EdgePool, points_of, stored_key, trees_node
from codegen.inputs import Columns, Row, count, field_range, split
from codegen.joint import Group
from codegen.passes.prune import pruned
from decision.ir.forest import Leaf, Node, value
from decision.ir.interpret import trace
from decision.ir.program import Op, Program

CANDIDATES = 96
"""Rows for each visit."""
STAGES = (8, CANDIDATES)
"""The first rows of all visits are tried, then the rest of those visits in which no error would show: mostly few."""
MAX_NUMBERS = 1 << 25
"""Of inputs that are tried at once."""
MAX_SHOWN = 80
"""Characters of a leaf in a label: readers of vectors take no label that is longer than 120."""


@dataclass(frozen=True)
class Visit:
    """A place in a tree: ``bounds[feature] = (a, b)`` means a <= feature <= b.

    ``instead`` is what an error would make of ``here``. A branch counts as visited only if that shows; a leaf when it
    is reached (one unit more of a leaf never shows where the sum is rounded to a table's entry, or clamped).
    """

    label: str
    bounds: dict[int, tuple[int, int]]
    here: Node
    instead: Node
    must_show: bool


def visits(program: Program) -> list[Visit]:
    """All visits of the trees as they are emitted."""
    trees = trees_node(program)
    if trees is None:
        return []
    ranges = {f: (program.nodes[n].low, program.nodes[n].high) for f, n in enumerate(program.nodes[trees].args)}
    made: list[Visit] = []
    for number, tree in enumerate(program.forest.trees):
        made += _walk(program, f"tree {number}", pruned(tree, ranges), ranges)
    return made


def cells(program: Program, groups: Sequence[Group]) -> list[Visit]:
    """A visit to every entry of the joint tables: a row that leads there, and shows one unit more."""
    trees = trees_node(program)
    if trees is None:
        return []
    ranges = {f: (program.nodes[n].low, program.nodes[n].high) for f, n in enumerate(program.nodes[trees].args)}
    less, more = (Leaf((step,) * program.forest.outputs) for step in (0, 1))
    made = []
    for number, group in enumerate(groups):
        classes = [range(len(axis.thresholds) + 1) for axis in group.axes]
        for places in product(*classes):
            bounds = dict(ranges)
            for axis, place in zip(group.axes, places, strict=True):
                low, high = ranges[axis.feature]
                first = axis.thresholds[place - 1] + 1 if place else low
                last = axis.thresholds[place] if place < len(axis.thresholds) else high
                bounds[axis.feature] = (first, last)
            index = sum(axis.stride * place for axis, place in zip(group.axes, places, strict=True))
            if all(low <= high for low, high in bounds.values()):
                made.append(Visit(f"table {number} entry {index}", bounds, less, more, False))
    return made


def find(
    program: Program, pool: EdgePool, to_make: list[Visit], rng: np.random.Generator
) -> tuple[list[tuple[str, Row]], int]:
    """Chosen rows with their labels, and how many of the visits they make visibly (leaves: at all)."""
    stored = _stored(program)
    chosen, made = [], 0
    # Not all at once: a row holds every input, of which there may be a hundred, and a value of every node.
    step = max(1, MAX_NUMBERS // (CANDIDATES * (len(pool.columns) + 2 * len(program.nodes))))
    for first in range(0, len(to_make), step):
        drawn = ((visit, _rows(stored, pool, visit, rng)) for visit in to_make[first : first + step])
        tried = [(visit, rows) for visit, rows in drawn if count(rows)]
        for (visit, rows), row in zip(tried, _first_visible(program, tried), strict=True):
            made += row is not None or not visit.must_show
            chosen.append((f"edge:{visit.label}", {key: int(column[row or 0]) for key, column in rows.items()}))
    return chosen, made


def _first_visible(program: Program, tried: list[tuple[Visit, Columns]]) -> list[int | None]:
    """For each visit the first of its rows in which an error there would show, if any."""
    found: list[int | None] = [None] * len(tried)
    for first, end in pairwise((0, *STAGES)):
        left = [n for n, row in enumerate(found) if row is None]
        some = [(tried[n][0], {key: column[first:end] for key, column in tried[n][1].items()}) for n in left]
        for n, visible in zip(left, _visible(program, some), strict=True):
            if visible.any():
                found[n] = first + int(visible.argmax())
    return found


def _visible(program: Program, tried: list[tuple[Visit, Columns]]) -> Iterator[NDArray[np.bool_]]:
    """For each visit the rows in which an error there would show."""
    if not tried:
        return iter(())
    columns = {key: np.concatenate([part[key] for _, part in tried]) for key in tried[0][1]}
    values = trace(program, *split(program, columns))
    sums = [number for number, node in enumerate(program.nodes) if node.op is Op.TREES]
    args = program.nodes[sums[0]].args
    features = np.array([values[n] for n in args], dtype=np.int64).reshape(-1, values[sums[0]].size).T
    sizes = [count(part) for _, part in tried]
    slices = [slice(end - size, end) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    error = np.concatenate(
        [value(v.instead, features[s]) - value(v.here, features[s]) for (v, _), s in zip(tried, slices, strict=True)]
    )
    forced = {number: values[number] + error[:, program.nodes[number].imm] for number in sums}
    wrong = trace(program, *split(program, columns), forced=forced)
    visible = np.any([values[n] != wrong[n] for n in program.outputs], axis=0)
    return (visible[s] for s in slices)


def _walk(program: Program, label: str, node: Node, bounds: dict[int, tuple[int, int]]) -> Iterator[Visit]:
    if isinstance(node, Leaf):
        more = Leaf(tuple(v + 1 for v in node.value))
        adds = " ".join(map(str, node.value))
        shown = adds if len(adds) <= MAX_SHOWN else f"{adds[:MAX_SHOWN].rpartition(' ')[0]} .."
        yield Visit(f"{label} leaf {shown}", bounds, node, more, False)
        return
    name, t = program.forest.features[node.feature], node.threshold
    low, high = bounds[node.feature]
    if low <= t <= high:
        yield Visit(f"{label} {name}={t}", bounds | {node.feature: (t, t)}, node.below, node.above, True)
        yield from _walk(program, label, node.below, bounds | {node.feature: (low, t)})
    if low <= t + 1 <= high:
        yield Visit(f"{label} {name}={t + 1}", bounds | {node.feature: (t + 1, t + 1)}, node.above, node.below, True)
        yield from _walk(program, label, node.above, bounds | {node.feature: (t + 1, high)})


@dataclass(frozen=True)
class _Stored:
    """A feature that stands in an input ``key``, which holds ``low..high``; ``points``: on and beside its
    thresholds."""

    key: str
    low: int
    high: int
    points: NDArray[np.int64]


def _stored(program: Program) -> dict[int, _Stored]:
    """The features that can be set."""
    keys = {feature: stored_key(program, feature) for feature in range(len(program.forest.features))}
    return {
        feature: _Stored(key, *field_range(program, key), np.array(points_of(program, feature), dtype=np.int64))
        for feature, key in keys.items()
        if key is not None
    }


def _rows(stored: dict[int, _Stored], pool: EdgePool, visit: Visit, rng: np.random.Generator) -> Columns:
    """Up to CANDIDATES rows on the visit's path: the pool's where the computed features fit, past features set."""
    fits = np.ones(len(pool.features), dtype=bool)
    for feature, (low, high) in visit.bounds.items():
        if feature not in stored:
            fits &= (pool.features[:, feature] >= low) & (pool.features[:, feature] <= high)
    rows = np.flatnonzero(fits)
    if rows.size:
        rows = rng.choice(rows, size=CANDIDATES, replace=True) if rows.size < CANDIDATES else rng.permutation(rows)
    rows = rows[:CANDIDATES]
    columns = {key: column[rows] for key, column in pool.columns.items()}
    for feature, (low, high) in visit.bounds.items():
        if (field := stored.get(feature)) is not None:
            values = _inside(field.points, max(low, field.low), min(high, field.high))
            columns[field.key] = values[rng.integers(values.size, size=rows.size)]
    return columns


def _inside(points: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    """One value for each side of each threshold, as far as ``low..high`` lets; the ends where none can be met."""
    if low >= high or not points.size:
        return np.unique([low, high] if low < high else [high])
    first, last = int(points.searchsorted(low)), int(points.searchsorted(high, side="right"))
    met = points[first:last]
    below = [low] if first and (not met.size or met[0] != low) else []
    above = [high] if last < points.size and (not met.size or met[-1] != high) else []
    return np.concatenate([np.array(below, dtype=np.int64), met, np.array(above, dtype=np.int64)])
