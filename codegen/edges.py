"""Inputs that put a feature exactly on a point: on a threshold, one below it, one above it.

A past feature stands in the flow context and is simply set. A current one is computed from raw signals, all of which it
grows with: for many surroundings, the least raw value that reaches the point is found by bisection, and kept where the
feature then is the point itself. One that grows with nothing, a count of what holds some value, is led there: signal by
signal another plausible value is taken where the feature is then no further from the point.
"""

from dataclasses import dataclass, replace

import numpy as np

from codegen.inputs import Columns, Row, columns_of, count, keys, plausible_rows, split
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interpret import trace
from decision.ir.program import Op, Program
from decision.ir.ranks import field_behind

SURROUNDINGS = 32
LED, SWEEPS = 8, 12
"""Rows that are led to each point that no other has, and how often each signal is then taken anew."""


@dataclass(frozen=True)
class EdgePool:
    """Plausible rows, and rows with a computed feature exactly on a point; ``features`` [N, features] is what they
    give."""

    columns: Columns
    features: Integers


def trees_node(program: Program) -> int | None:
    return next((number for number, node in enumerate(program.nodes) if node.op is Op.TREES), None)


def stored_key(program: Program, feature: int) -> str | None:
    """The input that the trees' feature is, cut to a range or not, so that it can be set; None where it is computed."""
    trees = trees_node(program)
    assert trees is not None
    return program.key(program.nodes[field_behind(program, program.nodes[trees].args[feature])])


def points_of(program: Program, feature: int) -> list[int]:
    """Each threshold of the feature and its two neighbours, within what the feature can be."""
    trees = trees_node(program)
    assert trees is not None
    node = program.nodes[program.nodes[trees].args[feature]]
    points = {t + step for t in program.forest.thresholds()[feature] for step in (-1, 0, 1)}
    return sorted(p for p in points if node.low <= p <= node.high)


def make_pool(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> EdgePool:
    """Rows for every point of every computed feature, as far as they are found."""
    trees = trees_node(program)
    assert trees is not None
    parts = [columns_of(program, plausible_rows(program, defaults, rng, 8 * SURROUNDINGS))]
    for feature, node in enumerate(program.nodes[trees].args):
        if stored_key(program, feature) is not None:
            continue
        inner = replace(program, nodes=program.nodes[: node + 1])
        points = np.array(points_of(program, feature), dtype=np.int64)
        for key in moved_by(program, node):
            if key.startswith("params."):
                points = np.setdiff1d(points, _values(program, _joined(parts), node))
            if points.size:
                surroundings = columns_of(program, _surroundings(program, defaults, key, rng))
                parts.append(exact(inner, node, surroundings, key, points))
        if fixed := [] if moved_by(program, node) else used_by(program, node):
            points = np.setdiff1d(points, _values(program, _joined(parts), node))
            if points.size:
                parts.append(led(inner, node, parts[0], fixed, points, rng))
    columns = _joined(parts)
    columns = _joined([columns, *(_mixed(columns, groups, rng) for groups in program.interface.mixes)])
    values = trace(program, *split(program, columns))
    features = np.array([values[node] for node in program.nodes[trees].args], dtype=np.int64)
    return EdgePool(columns, features.reshape(-1, count(columns)).T)


def _joined(parts: list[Columns]) -> Columns:
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _mixed(columns: Columns, groups: tuple[tuple[str, ...], ...], rng: np.random.Generator) -> Columns:
    """The rows with each group of columns taken from some other row."""
    mixed = dict(columns)
    for group in groups:
        order = rng.permutation(count(columns))
        mixed |= {key: columns[key][order] for key in group}
    return mixed


def _values(program: Program, columns: Columns, node: int) -> Integers:
    return trace(replace(program, nodes=program.nodes[: node + 1]), *split(program, columns))[node]


def moved_by(program: Program, node: int) -> list[str]:
    """Keys of the growing signals that the node depends on; parameters last: they are moved only if need be (with a
    base RTT below 1024 ns the inflation moves in steps of more than one)."""
    signals = program.interface.signals()
    return [key for key in used_by(program, node) if signals[key].grows]


def used_by(program: Program, node: int) -> list[str]:
    """Keys of the signals and parameters that the node depends on, in the interface's order."""
    todo, seen = [node], set()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += program.nodes[number].args
    used = {program.key(program.nodes[i]) for i in seen}
    return [key for key in program.interface.signals() if key in used]


def _surroundings(program: Program, defaults: dict[str, int], key: str, rng: np.random.Generator) -> list[Row]:
    """Plausible rows, the first of them such that ``key`` moves its features over their whole range in small steps."""
    rows = plausible_rows(program, defaults, rng, SURROUNDINGS)
    for other, levels in program.interface.signals()[key].beside.items():
        for row, level in zip(rows, levels, strict=False):
            row[other] = _raw(program, other, level, row)
    return rows


def _raw(program: Program, key: str, level: int, row: Row) -> int:
    since = program.interface.since(key)
    return level if since is None else (row[since] + level) & U32_MAX


def exact(inner: Program, node: int, surroundings: Columns, key: str, points: Integers) -> Columns:
    """Every point under every surrounding: the rows in which ``node`` is the point. ``inner`` ends with ``node``."""
    target = np.repeat(points, count(surroundings))
    columns = {name: np.tile(column, points.size) for name, column in surroundings.items()}
    since, grows = inner.interface.since(key), inner.interface.signals()[key].grows
    assert grows is not None
    way, fixed = _way(inner, key, node)
    values = trace(inner, *split(inner, surroundings))
    forced = {number: np.tile(values[behind], points.size) for number, behind in fixed.items()}

    def with_raw(raw: Integers) -> Columns:
        return columns | {key: raw if since is None else (columns[since] + raw) & U32_MAX}

    def reached(raw: Integers) -> Integers:
        return trace(way, *split(way, with_raw(raw)), forced=forced)[-1]

    low, high = grows
    lows, highs = np.full_like(target, low), np.full_like(target, high)
    for _ in range((high - low).bit_length() + 1):
        middle = (lows + highs) // 2
        enough = reached(middle) >= target
        highs = np.where(enough, middle, highs)
        lows = np.where(enough, lows, np.minimum(middle + 1, highs))
    solved = with_raw(highs)
    hit = reached(highs) == target
    return {name: solved[name][hit] for name in keys(inner)}


def _way(program: Program, key: str, node: int) -> tuple[Program, dict[int, int]]:
    """Returns the program of what ``key`` moves on its way to ``node``, which stands last. The second result maps the
    operands that ``key`` does not move: number there -> number in ``program``."""
    nodes = program.nodes
    moved: set[int] = set()
    for number in range(node + 1):
        if program.key(nodes[number]) == key or moved.intersection(nodes[number].args):
            moved.add(number)
    needed = {node}
    for number in range(node, -1, -1):
        if number in needed and number in moved:
            needed.update(nodes[number].args)
    place = {number: index for index, number in enumerate(sorted(needed))}
    way = tuple(
        replace(nodes[n], args=tuple(place[a] for a in nodes[n].args) if n in moved else ()) for n in sorted(needed)
    )
    return replace(program, nodes=way), {place[n]: n for n in needed - moved}


def led(
    inner: Program, node: int, plausible_rows: Columns, moved: list[str], points: Integers, rng: np.random.Generator
) -> Columns:
    """Rows in which ``node`` is one of the points, as far as they are found: each begins as one of the plausible rows
    and takes the values of ``moved`` from others. ``inner`` ends with ``node``."""
    target = np.repeat(points, LED)
    size = count(plausible_rows)
    first = rng.integers(size, size=target.size)
    columns = {name: column[first] for name, column in plausible_rows.items()}
    off = np.abs(_values(inner, columns, node) - target)
    for key in rng.permutation(np.repeat(np.array(moved), SWEEPS)):
        tried = columns | {str(key): plausible_rows[str(key)][rng.integers(size, size=target.size)]}
        then = np.abs(_values(inner, tried, node) - target)
        columns[str(key)] = np.where(then <= off, tried[str(key)], columns[str(key)])
        off = np.minimum(then, off)
    return {name: column[off == 0] for name, column in columns.items()}
