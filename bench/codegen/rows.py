"""Inputs of the contenders: rows on and next to the model's thresholds, corners, random rows; all cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bench.codegen.foreign_models import AnySubject

RANDOM, COPIES = 400, 2
CELL_LIMIT = 50_000


@dataclass(frozen=True)
class Rows:
    """Integer rows [N, features]; the first ``edges`` of them are edge rows."""

    table: NDArray[np.int64]
    edges: int


def rows(subject: AnySubject, seed: int) -> Rows:
    """Each threshold, one below and one above, the other features random; all corners; random rows.

    A random feature lies in a random interval between two neighbouring thresholds, all intervals alike: so a mean over
    the rows is over branches taken, not over one wide interval.
    """
    rng = np.random.default_rng([seed, 2])
    thresholds = subject.thresholds()
    parts = []
    for feature, values in thresholds.items():
        for value in values:
            for step in (-1, 0, 1):
                part = between(subject, COPIES, rng)
                part[:, feature] = np.clip(value + step, *subject.ranges[feature])
                parts.append(part)
    parts.append(np.array(list(product(*subject.ranges)), dtype=np.int64))
    edges = np.concatenate(parts)
    return Rows(np.concatenate([edges, between(subject, RANDOM, rng)]), len(edges))


def between(subject: AnySubject, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``count`` random rows, see ``rows``."""
    columns = []
    for feature, (low, high) in enumerate(subject.ranges):
        cuts = _cuts(subject, feature)
        firsts, lasts = np.array([low, *(c + 1 for c in cuts)]), np.array([*cuts, high])
        interval = rng.integers(0, len(firsts), size=count)
        columns.append(rng.integers(firsts[interval], lasts[interval] + 1))
    return np.column_stack(columns)


def cells(subject: AnySubject, more: Mapping[int, tuple[int, ...]] | None = None) -> NDArray[np.int64] | None:
    """One row for each cell of the input space that the thresholds cut, and ``more`` values of a feature; None where
    there are too many.

    Code that only compares features with these does the same at every point of a cell, so the rows stand for all
    inputs.
    """
    besides = more or {}
    points = [
        sorted({*_cuts(subject, f), *(v for v in besides.get(f, ()) if low <= v < high), high})
        for f, (low, high) in enumerate(subject.ranges)
    ]
    if np.prod([float(len(p)) for p in points]) > CELL_LIMIT:
        return None
    return np.array(list(product(*points)), dtype=np.int64)


def _cuts(subject: AnySubject, feature: int) -> list[int]:
    """Thresholds that some value of the feature lies above and some not, ascending."""
    low, high = subject.ranges[feature]
    return [t for t in subject.thresholds().get(feature, []) if low <= t < high]
