"""The integer forest against a walk through each tree in plain Python."""

import json

import numpy as np
import pytest
from drawing import drawn_students
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Forest, Leaf, oblivious, unrolled


def walked(forest, row):
    total = list(forest.bias)
    for node in forest.trees:
        while isinstance(node, Branch):
            node = node.above if row[node.feature] > node.threshold else node.below
        total = [a + b for a, b in zip(total, node.value, strict=True)]
    return total


@given(st.data())
def test_evaluate_is_the_walk_also_on_and_beside_thresholds(data):
    forest = data.draw(drawn_students()).forest
    points = [t + d for values in forest.thresholds().values() for t in values for d in (-1, 0, 1)]
    entry = st.one_of(st.sampled_from(points or [0]), st.integers(-(2**31), 2**32))
    width = len(forest.features)
    rows = data.draw(st.lists(st.lists(entry, min_size=width, max_size=width), min_size=1, max_size=20))
    assert forest.evaluate(np.array(rows, dtype=np.int64)).tolist() == [walked(forest, row) for row in rows]
    low, high = forest.range(0)
    assert all(low <= walked(forest, row)[0] <= high for row in rows)


def test_on_the_threshold_is_not_above_it():
    forest = Forest(("x",), (oblivious(((0, 7),), (-1, 1)),), (0,), 16)
    assert forest.evaluate(np.array([[6], [7], [8]])).tolist() == [[-1], [-1], [1]]


def test_split_i_is_bit_i_of_the_leaf():
    forest = Forest(("x", "y"), (oblivious(((0, 0), (1, 0)), (0, 1, 2, 3)),), (10,), 16)
    assert forest.evaluate(np.array([[0, 0], [1, 0], [0, 1], [1, 1]])).tolist() == [[10], [11], [12], [13]]


@given(drawn_students())
def test_json_round_trip(student):
    forest = student.forest
    assert Forest.from_json(json.loads(json.dumps(forest.to_json()))) == forest


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.pop("bias"), "not readable: KeyError"),
        (lambda d: d.update(bias=1.0), "1.0 .*integer"),
        (lambda d: d.update(bias=True), "True .*integer"),
        (lambda d: d.update(bias=2**31), "32 bits"),
        (lambda d: d.update(trees=3), "not readable: TypeError"),
        (lambda d: d["trees"][0].update(leaves=[1, 2, 3]), "1 splits has 3 leaves"),
        (lambda d: d["trees"][0].update(leaves=[1, "2"]), "'2' .*integer"),
        (lambda d: d["trees"][0].update(leaves=[1, -(2**31) - 1]), "32 bits"),
        (lambda d: d["trees"][0].update(splits=[[1, 5]]), "tree 0 .*feature 1 of 1"),
        (lambda d: d["trees"][0].update(splits=[[-1, 5]]), "tree 0 .*feature -1 of 1"),
        (lambda d: d["trees"][0].update(splits=[[0, 2**32]]), "no feature"),
        (lambda d: d["trees"][0].update(splits=[[0, 5, 6]]), "not readable: ValueError"),
    ],
)
def test_refused(change, says):
    data = Forest(("x",), (oblivious(((0, 7),), (-1, 1)),), (0,), 16).to_json()
    change(data)
    with pytest.raises(InputError, match=says):
        Forest.from_json(data)


# --- trees of any shape, several outputs ----------------------------------------------------------------------------


def free_trees(outputs):
    values = st.lists(st.integers(-1000, 1000), min_size=outputs, max_size=outputs)
    asked = st.tuples(st.integers(0, 1), st.integers(-60, 110))
    return st.recursive(
        values.map(lambda v: Leaf(tuple(v))),
        lambda inner: st.builds(lambda a, above, below: Branch(*a, above, below), asked, inner, inner),
        max_leaves=8,
    )


@st.composite
def free_forests(draw):
    outputs = draw(st.integers(1, 3))
    trees = tuple(draw(st.lists(free_trees(outputs), max_size=3)))
    bias = tuple(draw(st.lists(st.integers(-1000, 1000), min_size=outputs, max_size=outputs)))
    return Forest(("x", "y"), trees, bias, 7)


@given(free_forests(), st.integers(0, 10**6))
def test_every_output_is_its_bias_plus_one_leaf_a_tree(forest, seed):
    rows = np.random.default_rng(seed).integers(-70, 120, size=(20, 2))
    outputs = forest.evaluate(rows)
    assert outputs.tolist() == [walked(forest, row) for row in rows]
    for output in range(forest.outputs):
        low, high = forest.range(output)
        assert low <= outputs[:, output].min() <= outputs[:, output].max() <= high


@given(free_forests())
def test_json_round_trip_of_any_shape(forest):
    assert Forest.from_json(json.loads(json.dumps(forest.to_json()))) == forest


@given(free_forests())
def test_only_used_features_are_kept_and_decide_the_same(forest):
    less = forest.only_used()
    rows = np.random.default_rng(1).integers(-70, 120, size=(20, 2))
    kept = [forest.features.index(name) for name in less.features]
    assert np.array_equal(less.evaluate(rows[:, kept]), forest.evaluate(rows))
    assert set(less.thresholds()) == set(range(len(kept)))


def test_an_oblivious_tree_is_known_by_its_questions():
    questions, values = ((0, 5), (1, -3)), ((1, 9), (2, 8), (3, 7), (4, 6))
    tree = oblivious(questions, values)
    assert unrolled(tree) == (questions, tuple(map(Leaf, values)))
    assert Forest(("x", "y"), (tree,), (0, 0), 0).oblivious
    other = Branch(0, 5, Leaf((1,)), Branch(1, 3, Leaf((2,)), Leaf((3,))))
    assert unrolled(other) is None
    assert unrolled(Branch(0, 5, Branch(1, 3, Leaf((1,)), Leaf((2,))), Branch(1, 4, Leaf((3,)), Leaf((4,))))) is None
    assert not Forest(("x", "y"), (oblivious(((0, 1),), (1, 2)), other), (0,), 0).oblivious


def test_oblivious_trees_are_told_by_level():
    forest = Forest(("x", "y"), (oblivious(((0, 5), (1, 3)), (1, 2, 3, 4)),), (7,), 16)
    assert forest.to_json() == {
        "features": ["x", "y"],
        "leaf_bits": 16,
        "bias": 7,
        "trees": [{"splits": [[0, 5], [1, 3]], "leaves": [1, 2, 3, 4]}],
    }


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([[0, 5, 1, 1], {"leaf": [1]}], "not readable: KeyError"),
        ([[0, 5, 1, 0], {"leaf": [1]}], "not readable: KeyError"),
        ([{"leaf": [1]}, {"leaf": [2]}], "not one tree"),
        ([], "not one tree"),
        ([[0, 5, 1, 2], {"leaf": [1]}, {"leaf": [1, 2]}], "leaf of 2 .*1 outputs"),
    ],
)
def test_nodes_that_are_no_tree_are_refused(nodes, says):
    data = {"features": ["x"], "leaf_bits": 0, "bias": 0, "trees": [{"nodes": nodes}]}
    with pytest.raises(InputError, match=says):
        Forest.from_json(data)
