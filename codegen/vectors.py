"""Test vectors: inputs with the outputs that the NumPy meaning of the program gives.

Random vectors have plausible traffic, or any bit pattern. Edges are every threshold with its two neighbours, extremes
of each field, RTT wrap and the new flow; and for every branch and leaf of the trees an input that shows an error in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.clamps import clamp_rows, phase_rows, window_rows
from codegen.edges import EdgePool, make_pool, points_of, stored_key, trees_node
from codegen.inputs import Row, anything_rows, columns_of, field_range, keys, plausible_rows, split
from codegen.joint import Group
from codegen.paths import cells, find, visits
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interpret import evaluate
from decision.ir.program import Program

MAX_VISITS = 8192
"""Branches, leaves and entries that get rows of their own; of more, as many are drawn."""


@dataclass(frozen=True)
class Vectors:
    """``columns`` maps "event.x", "params.x", "context.x", "expect.KNOB", "expect.context.x" to int64 arrays."""

    kinds: tuple[str, ...]
    columns: dict[str, Integers]

    def __len__(self) -> int:
        return len(self.kinds)

    def to_csv(self) -> str:
        names = list(self.columns)
        table = [self.columns[name].tolist() for name in names]
        lines = [",".join(["kind", *names])]
        lines += [
            ",".join([kind, *map(str, row)]) for kind, row in zip(self.kinds, zip(*table, strict=True), strict=True)
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class EdgeCount:
    """How many of the points (threshold - 1, threshold, threshold + 1) the vectors hit exactly; how many of the visits
    to branches and leaves they make."""

    wanted: int
    hit: int
    visits_wanted: int = 0
    visits_made: int = 0


def make(
    program: Program,
    defaults: dict[str, int],
    *,
    seed: int,
    random_rows: int = 1024,
    groups: Sequence[Group] = (),
    more: Sequence[tuple[str, Row]] = (),
) -> tuple[Vectors, EdgeCount]:
    """Vectors for ``program`` and the operator's default parameters; the same seed gives the same ones. ``groups``:
    joint tables of the emitted C, each entry of which gets a row; ``more``: labelled rows of the caller's."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, Row]] = []
    rows += [("random", row) for row in plausible_rows(program, defaults, rng, random_rows)]
    rows += [("random:any", row) for row in anything_rows(program, rng, random_rows // 2)]
    rows += _extremes(program, defaults, rng) + clamp_rows(program, defaults, rng)
    rows += phase_rows(program, defaults, rng) + window_rows(program, defaults, rng)
    rows += more
    edges = EdgeCount(0, 0)
    if trees_node(program) is not None:
        pool = make_pool(program, defaults, rng)
        on_thresholds, points = _thresholds(program, defaults, pool, rng)
        places = [*visits(program), *cells(program, groups)]
        if len(places) > MAX_VISITS:
            places = [places[int(n)] for n in np.sort(rng.permutation(len(places))[:MAX_VISITS])]
        visiting, made = find(program, pool, places, rng)
        rows += on_thresholds + visiting
        edges = EdgeCount(points, len(on_thresholds), len(places), made)
    columns = columns_of(program, (row for _, row in rows))
    knobs, context = evaluate(program, *split(program, columns))
    columns |= {f"expect.{name}": values for name, values in zip(program.interface.knob_names, knobs, strict=True)}
    columns |= {f"expect.context.{name}": values for name, values in context.items()}
    return Vectors(tuple(kind for kind, _ in rows), columns), edges


def _extremes(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Row]]:
    changes: list[tuple[str, Row]] = []
    for key in keys(program):
        low, high = field_range(program, key)
        for value in sorted({low, -1, 0, 1, 2**30, 2**31 - 1, 2**31, high - 1, high}):
            if low <= value <= high:
                changes.append((f"edge:{key}={value}", {key: value}))
    for key in program.interface.signals():
        if (since := program.interface.since(key)) is not None:
            for before in (0, 1, 5000, 8192):
                wrapped = {since: U32_MAX - before, key: 8191 - before & U32_MAX}
                changes.append((f"edge:{key} wraps {before} after {since}", wrapped))
    rows = _changed(program, defaults, changes, rng)
    for end in (0, 1):
        row = {key: field_range(program, key)[end] for key in keys(program)}
        rows.append((f"edge:every field {('least', 'greatest')[end]}", row))
    new = {f"context.{s.name}": 0 for s in program.state}
    return rows + _changed(program, defaults, [("edge:new agent", new)] * (8 if new else 0), rng)


def _changed(
    program: Program, defaults: dict[str, int], changes: Sequence[tuple[str, Row]], rng: np.random.Generator
) -> list[tuple[str, Row]]:
    """Returns a plausible row for each labelled change, with the change in it."""
    rows = plausible_rows(program, defaults, rng, len(changes))
    return [(label, row | change) for row, (label, change) in zip(rows, changes, strict=True)]


def _thresholds(
    program: Program, defaults: dict[str, int], pool: EdgePool, rng: np.random.Generator
) -> tuple[list[tuple[str, Row]], int]:
    """A row for each point that is reached, and how many points there are."""
    rows: list[tuple[str, Row]] = []
    changes: list[int] = []
    count = 0
    for feature, name in enumerate(program.forest.features):
        key = stored_key(program, feature)
        points = points_of(program, feature)
        count += len(points)
        for point in points:
            if key is not None:
                changes.append(len(rows))
                rows.append((f"edge:{name}={point}", {key: point}))
                continue
            there = np.flatnonzero(pool.features[:, feature] == point)
            if there.size:
                row = {k: int(column[there[0]]) for k, column in pool.columns.items()}
                rows.append((f"edge:{name}={point}", row))
    changed = _changed(program, defaults, [rows[n] for n in changes], rng)
    for place, labelled in zip(changes, changed, strict=True):
        rows[place] = labelled
    return rows, count
