"""Visits of a forest: how often each of its cells was reached, and each interval of a feature.

A cell is one leaf of every tree: all decisions in it get the same sums, and no tree can tell them apart. An interval of
a feature lies between two neighbouring thresholds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.forest import Forest, integer, places

FORMAT, KIND = 1, "visits"
MAX_VISITS = 2**62


@dataclass(frozen=True)
class Intervals:
    """``counts[k]``: decisions in which the feature was above ``borders[k - 1]`` and at most ``borders[k]``."""

    borders: tuple[int, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if list(self.borders) != sorted(set(self.borders)) or len(self.counts) != len(self.borders) + 1:
            raise ValueError("thresholds ascend, and there is one count more than thresholds")
        if not all(0 <= count < MAX_VISITS for count in self.counts):
            raise ValueError("a count is no number of decisions")

    def shares(self) -> NDArray[np.float64]:
        """The parts of all decisions. All 0 where there was none."""
        each = np.asarray(self.counts, dtype=np.float64)
        return np.asarray(each / max(float(each.sum()), 1.0))

    def to_json(self) -> dict[str, Any]:
        return {"borders": list(self.borders), "counts": list(self.counts)}

    @staticmethod
    def from_json(data: Any) -> "Intervals":
        """ValueError, KeyError or TypeError where it is none."""
        return Intervals(tuple(map(integer, data["borders"])), tuple(map(integer, data["counts"])))


@dataclass(frozen=True)
class Visits:
    """``student``: the hash of whose forest it is; ``cells``: decisions by a cell's name; ``features``: by feature."""

    student: str
    cells: Mapping[str, int]
    features: Mapping[str, Intervals]

    @property
    def decisions(self) -> int:
        return sum(self.cells.values())

    def write(self, path: Path) -> None:
        features = {name: one.to_json() for name, one in self.features.items()}
        cells = dict(sorted(self.cells.items()))
        write_atomically(
            path,
            dump_json({"format": FORMAT, "kind": KIND, "student": self.student, "features": features, "cells": cells}),
        )

    @staticmethod
    def read(path: Path) -> "Visits":
        """InputError where the file holds none."""
        data = load_json(path)
        try:
            if data["kind"] != KIND or data["format"] != FORMAT:
                raise ValueError(f"kind {data['kind']!r}, format {data['format']!r}")
            cells = {str(name): integer(count) for name, count in data["cells"].items()}
            if not all(0 < count < MAX_VISITS for count in cells.values()):
                raise ValueError("a count is no number of decisions")
            features = {str(name): Intervals.from_json(one) for name, one in data["features"].items()}
            return Visits(str(data["student"]), cells, features)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{path} holds no visits ({error}); make it with rlcc visits") from None


def intervals(forest: Forest, rows: NDArray[np.int64]) -> dict[str, Intervals]:
    """Returns the intervals of feature rows [N, features], by the names of the features that some tree uses."""
    made = {}
    for feature, borders in forest.thresholds().items():
        at = np.searchsorted(np.asarray(borders), rows[:, feature], side="left")
        counts = np.bincount(at, minlength=len(borders) + 1)
        made[forest.features[feature]] = Intervals(tuple(borders), tuple(counts.tolist()))
    return made


def counted(student: str, forest: Forest, rows: NDArray[np.int64]) -> Visits:
    """Returns the visits of feature rows [N, features] of the student of this hash."""
    leaves = np.stack([places(tree, rows) for tree in forest.trees], axis=1).astype("<u2")
    met, times = np.unique(leaves, axis=0, return_counts=True)
    cells = {_name(leaf): int(count) for leaf, count in zip(met, times, strict=True)}
    return Visits(student, cells, intervals(forest, rows))


def _name(leaves: NDArray[np.uint16]) -> str:
    return blake2b(leaves.tobytes(), digest_size=8).hexdigest()


def joined(each: Iterable[Visits]) -> Visits:
    """Returns the visits of all together. InputError where they are of several students."""
    first, *rest = each
    cells, features = Counter(first.cells), dict(first.features)
    for one in rest:
        if one.student != first.student:
            raise InputError(f"visits of student {one.student[:12]} beside those of {first.student[:12]}; count one")
        cells.update(one.cells)
        for name, here in one.features.items():
            before = features.get(name, here)
            if before.borders != here.borders:
                raise InputError(f"{name} has other thresholds in some of the visits; count them anew")
            if name in features:
                added = tuple(a + b for a, b in zip(before.counts, here.counts, strict=True))
                features[name] = Intervals(here.borders, added)
            else:
                features[name] = here
    return Visits(first.student, cells, features)
