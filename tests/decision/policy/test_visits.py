"""Visits: counts of cells and of intervals, and files of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Forest, Leaf, leaves, places, unrolled, value
from decision.policy.visits import Intervals, Visits, counted, intervals, joined

FREE = Branch(0, 10, Leaf((1,)), Branch(1, -3, Leaf((2,)), Leaf((3,))))
FOREST = Forest(("x", "y", "z"), (FREE, Branch(0, 20, Leaf((1,)), Leaf((0,)))), (0,), 4)


def rows(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-30, 40, (count, 3))


def test_a_value_at_a_threshold_is_below_it_as_the_trees_have_it() -> None:
    x = np.array([[9, -3, 0], [10, -2, 0], [11, 0, 0], [19, 0, 0], [20, 0, 0], [21, 0, 0]])
    assert intervals(FOREST, x) == {"x": Intervals((10, 20), (2, 3, 1)), "y": Intervals((-3,), (1, 5))}


def test_a_cell_is_one_leaf_of_every_tree() -> None:
    """As many cells as sets of leaves that rows reach, each with its rows; the values say which leaf that is."""
    x = rows(500)
    sets = {tuple(places(tree, x[k : k + 1])[0] for tree in FOREST.trees) for k in range(len(x))}
    made = counted("ab", FOREST, x)
    assert (made.decisions, len(made.cells), len(sets)) == (500, 4, 4)
    for tree in FOREST.trees:
        symmetric = unrolled(tree)
        ends = symmetric[1] if symmetric else tuple(leaves(tree))
        assert [ends[k].value for k in places(tree, x)] == [tuple(v) for v in value(tree, x)]


def test_a_forest_over_the_features_that_it_uses_has_the_same_cells() -> None:
    """What the firmware's program holds is that one."""
    x = rows(300)
    compact = FOREST.only_used()
    assert counted("ab", compact, x[:, :2]).cells == counted("ab", FOREST, x).cells


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    made, more = counted("ab", FOREST, rows(50)), counted("ab", FOREST, rows(70, seed=2))
    made.write(tmp_path / "a.json")
    assert Visits.read(tmp_path / "a.json") == made
    assert joined([made, more]) == counted("ab", FOREST, np.concatenate([rows(50), rows(70, seed=2)]))
    with pytest.raises(InputError, match=r"cd .*ab"):
        joined([made, counted("cd", FOREST, rows(3))])
    with pytest.raises(InputError, match=r"x .*other thresholds"):
        joined([made, Visits("ab", {}, {"x": Intervals((1,), (0, 0))})])


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "student"},
        {"format": 2},
        {"features": {"x": {"borders": [2, 1], "counts": [0, 0, 0]}}},
        {"features": {"x": {"borders": [1, 1], "counts": [0, 0, 0]}}},
        {"features": {"x": {"borders": [1], "counts": [0]}}},
        {"features": {"x": {"borders": [1], "counts": [0, -1]}}},
        {"features": {"x": {"borders": [1], "counts": [0, 2**62]}}},
        {"features": {"x": {"borders": [1], "counts": [0, 1.0]}}},
        {"features": {"x": {"borders": [True], "counts": [0, 1]}}},
        {"features": [1]},
        {"cells": {"00": 0}},
        {"cells": {"00": 1.5}},
        {"cells": ["00"]},
    ],
)
def test_a_file_that_holds_none_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    good = {"format": 1, "kind": "visits", "student": "ab", "cells": {"00": 1}}
    good |= {"features": {"x": {"borders": [1], "counts": [0, 1]}}}
    (tmp_path / "a.json").write_text(json.dumps(good))
    assert Visits.read(tmp_path / "a.json") == Visits("ab", {"00": 1}, {"x": Intervals((1,), (0, 1))})
    (tmp_path / "a.json").write_text(json.dumps(good | change))
    with pytest.raises(InputError, match=r"a\.json holds no visits"):
        Visits.read(tmp_path / "a.json")
