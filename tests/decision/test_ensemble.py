"""The integer ensemble against a walk through each tree in plain Python."""

import json

import numpy as np
import pytest
from drawing import drawn_students
from hypothesis import given
from hypothesis import strategies as st

from decision.ensemble import Ensemble, Split, Tree
from decision.errors import InputError


def walked(ensemble, row):
    total = ensemble.bias
    for tree in ensemble.trees:
        index = 0
        for level, split in enumerate(tree.splits):
            if row[split.feature] > split.threshold:
                index += 2**level
        total += tree.leaves[index]
    return total


@given(st.data())
def test_evaluate_is_the_walk_also_on_and_beside_thresholds(data):
    ensemble = data.draw(drawn_students()).ensemble
    points = [t + d for values in ensemble.thresholds().values() for t in values for d in (-1, 0, 1)]
    entry = st.one_of(st.sampled_from(points or [0]), st.integers(-(2**31), 2**32))
    width = len(ensemble.features)
    rows = data.draw(st.lists(st.lists(entry, min_size=width, max_size=width), min_size=1, max_size=20))
    assert ensemble.evaluate(np.array(rows, dtype=np.int64)).tolist() == [walked(ensemble, row) for row in rows]
    low, high = ensemble.range()
    assert all(low <= walked(ensemble, row) <= high for row in rows)


def test_on_the_threshold_is_not_above_it():
    ensemble = Ensemble(("x",), (Tree((Split(0, 7),), (-1, 1)),), 0, 16)
    assert ensemble.evaluate(np.array([[6], [7], [8]])).tolist() == [-1, -1, 1]


def test_split_i_is_bit_i_of_the_leaf():
    ensemble = Ensemble(("x", "y"), (Tree((Split(0, 0), Split(1, 0)), (0, 1, 2, 3)),), 10, 16)
    assert ensemble.evaluate(np.array([[0, 0], [1, 0], [0, 1], [1, 1]])).tolist() == [10, 11, 12, 13]


@given(drawn_students())
def test_json_round_trip(student):
    ensemble = student.ensemble
    assert Ensemble.from_json(json.loads(json.dumps(ensemble.to_json()))) == ensemble


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.pop("bias"), "not readable: KeyError"),
        (lambda d: d.update(bias=1.0), "1.0 is not an integer"),
        (lambda d: d.update(bias=True), "True is not an integer"),
        (lambda d: d.update(bias=2**31), "does not fit 32 bits"),
        (lambda d: d.update(trees=3), "not readable: TypeError"),
        (lambda d: d["trees"][0].update(leaves=[1, 2, 3]), "1 splits has 3 leaves"),
        (lambda d: d["trees"][0].update(leaves=[1, "2"]), "'2' is not an integer"),
        (lambda d: d["trees"][0].update(leaves=[1, -(2**31) - 1]), "does not fit 32 bits"),
        (lambda d: d["trees"][0].update(splits=[[1, 5]]), "tree 0 splits on feature 1 of 1"),
        (lambda d: d["trees"][0].update(splits=[[-1, 5]]), "tree 0 splits on feature -1 of 1"),
        (lambda d: d["trees"][0].update(splits=[[0, 2**32]]), "which no feature can reach"),
        (lambda d: d["trees"][0].update(splits=[[0, 5, 6]]), "not readable: ValueError"),
    ],
)
def test_refused(change, says):
    data = Ensemble(("x",), (Tree((Split(0, 7),), (-1, 1)),), 0, 16).to_json()
    change(data)
    with pytest.raises(InputError, match=says):
        Ensemble.from_json(data)
