"""Test vectors of a model: random rows and edges, with the outputs that its NumPy meaning gives.

Edges: every threshold of every feature, one below, one above; on every path to a branch the threshold and one above it,
with the other features such that the two sides differ; every feature at its ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ctypes99 import I32, literal
from codegen.model_print import field_names
from decision.forest import Branch, Leaf, value
from decision.model import Model

Rows = NDArray[np.int64]
Bounds = dict[int, tuple[int, int]]

CANDIDATES = 12
"""Rows tried for each branch, to find one in which its sides differ."""
MOST_VISITS = 4096
"""Branches that get rows of their own; in a model of more, as many are drawn."""


@dataclass(frozen=True)
class Vectors:
    """``rows`` [N, features] in, ``outputs`` [N, outputs] and ``returned`` [N] out. ``branches``: how many the model
    has; ``visited``: for how many of them there are rows on both sides that tell them apart."""

    kinds: tuple[str, ...]
    rows: Rows
    outputs: Rows
    returned: Rows
    branches: int
    visited: int

    def __len__(self) -> int:
        return len(self.kinds)

    def to_csv(self, model: Model) -> str:
        outputs = [f"expect.out_{k}" for k in range(model.outputs)]
        lines = [",".join(["kind", *field_names(model.features), *outputs, "expect.return"])]
        table = np.column_stack([self.rows, self.outputs, self.returned]).tolist()
        lines += [",".join([kind, *map(str, row)]) for kind, row in zip(self.kinds, table, strict=True)]
        return "\n".join(lines) + "\n"

    def to_inc(self) -> str:
        """The rows as C initialisers of the self-test's vectors."""
        lines = []
        for row, outputs, returned in zip(
            self.rows.tolist(), self.outputs.tolist(), self.returned.tolist(), strict=True
        ):
            x, out = (", ".join(literal(v, I32) for v in part) for part in (row, outputs))
            lines.append(f"{{ {{ {x} }}, {{ {out} }}, {literal(returned, I32)} }},")
        return "\n".join(lines) + "\n"


def make(model: Model, *, seed: int, random_rows: int = 1024) -> Vectors:
    """Vectors for ``model``; the same seed gives the same ones."""
    rng = np.random.default_rng(seed)
    parts = [("random", row) for row in random_grid(model, rng, random_rows)]
    parts += [("random:edges", row) for row in _near(model, rng, random_rows // 2)]
    parts += list(_ends(model, rng)) + list(_thresholds(model, rng))
    found = [path for number, tree in enumerate(model.trees) for path in _paths(f"tree {number}", tree, model)]
    chosen = np.sort(rng.permutation(len(found))[:MOST_VISITS])
    visited = 0
    for label, branch, bounds in (found[int(i)] for i in chosen):
        visiting = _visit(model, branch, bounds, rng)
        if visiting is not None:
            parts += [(f"edge:{label}", row) for row in visiting]
            visited += 1
    rows = np.array([row for _, row in parts], dtype=np.int64).reshape(len(parts), len(model.features))
    outputs = model.evaluate(rows)
    returned = outputs[:, 0] if model.task == "regression" else model.decide(outputs)
    return Vectors(tuple(k for k, _ in parts), rows, outputs, returned, len(found), visited)


def random_grid(model: Model, rng: np.random.Generator, count: int) -> Rows:
    """Rows [count, features] anywhere in the features' ranges."""
    low, high = (np.array([getattr(f, end) for f in model.features], dtype=np.int64) for end in ("low", "high"))
    return rng.integers(low, high + 1, size=(count, len(model.features)), dtype=np.int64)


def _near(model: Model, rng: np.random.Generator, count: int) -> Rows:
    """Rows with every feature beside some threshold of it."""
    rows = random_grid(model, rng, count)
    for feature, found in model.thresholds().items():
        spec = model.features[feature]
        rows[:, feature] = np.clip(rng.choice(found, count) + rng.integers(-1, 3, count), spec.low, spec.high)
    return rows


def _ends(model: Model, rng: np.random.Generator) -> Iterator[tuple[str, Rows]]:
    for index, feature in enumerate(model.features):
        for end in sorted({feature.low, feature.high, min(max(0, feature.low), feature.high)}):
            row = random_grid(model, rng, 1)[0]
            row[index] = end
            yield f"edge:{field_names(model.features)[index]}={end}", row
    yield "edge:every feature least", np.array([f.low for f in model.features], dtype=np.int64)
    yield "edge:every feature greatest", np.array([f.high for f in model.features], dtype=np.int64)


def _thresholds(model: Model, rng: np.random.Generator) -> Iterator[tuple[str, Rows]]:
    names = field_names(model.features)
    for feature, found in model.thresholds().items():
        low, high = model.features[feature].low, model.features[feature].high
        for point in sorted({t + step for t in found for step in (-1, 0, 1)}):
            if low <= point <= high:
                row = random_grid(model, rng, 1)[0]
                row[feature] = point
                yield f"edge:{names[feature]}={point}", row


def _paths(label: str, tree: Leaf | Branch, model: Model) -> Iterator[tuple[str, Branch, Bounds]]:
    """Every branch with what the path to it leaves of the features."""
    names = field_names(model.features)

    def walk(node: Leaf | Branch, bounds: Bounds) -> Iterator[tuple[str, Branch, Bounds]]:
        if isinstance(node, Leaf):
            return
        low, high = bounds[node.feature]
        if low <= node.threshold < high:
            yield f"{label} {names[node.feature]}={node.threshold}", node, bounds
        yield from walk(node.above, bounds | {node.feature: (max(low, node.threshold + 1), high)})
        yield from walk(node.below, bounds | {node.feature: (low, min(high, node.threshold))})

    return walk(tree, {index: (f.low, f.high) for index, f in enumerate(model.features)})


def _visit(model: Model, branch: Branch, bounds: Bounds, rng: np.random.Generator) -> Rows | None:
    """A row on the branch's threshold and one just above it, on its path, where its sides differ; None if not found."""
    if any(low > high for low, high in bounds.values()):
        return None
    low, high = (np.array([bounds[i][end] for i in range(len(model.features))], dtype=np.int64) for end in (0, 1))
    rows = rng.integers(low, high + 1, size=(CANDIDATES, len(model.features)), dtype=np.int64)
    below, above = rows.copy(), rows.copy()
    below[:, branch.feature], above[:, branch.feature] = branch.threshold, branch.threshold + 1
    seen = [np.any(value(branch.above, side) != value(branch.below, side), axis=1) for side in (below, above)]
    if not (seen[0].any() and seen[1].any()):
        return None
    return np.stack([below[np.argmax(seen[0])], above[np.argmax(seen[1])]])
