"""Monotone leaves: the constrained least squares against conditions that only its solution meets, and trees of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples
from test_boost import LOSS, noisy

from decision.ir.arrays import Floats
from decision.ir.forest import Forest, leaves, oblivious, unrolled
from decision.policy.rate import multiplied
from decision.policy.student import Student
from distill import boost
from distill.distil import distil
from distill.monotone import Pairs, monotone_leaves, ordered, pairs_of
from distill.options import DistillOptions
from distill.quantise import quantise
from verify.behaviour.split_decision import decided
from verify.behaviour.steps import monotone
from verify.trusted.properties import Monotone


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3))
@settings(deadline=None, max_examples=examples(40))
def test_no_monotone_leaves_are_better(seed: int, depth: int, trees: int) -> None:
    """The conditions of Karush, Kuhn and Tucker: the gradient is a sum of the inequalities that bind, each pushing."""
    rng = np.random.default_rng(seed)
    size = trees << depth
    root = rng.normal(size=(size, size))
    gram, right = root @ root.T + 0.1 * np.eye(size), rng.normal(size=size)
    pairs: Pairs = [
        (first + leaf, first + leaf + (1 << bit))
        for first in range(0, size, 1 << depth)
        for bit in range(0, depth, 2)
        for leaf in range(1 << depth)
        if not leaf >> bit & 1
    ]
    x = monotone_leaves(gram, right, pairs)
    gaps = np.asarray([x[below] - x[above] for below, above in pairs])
    assert (gaps >= 0).all()
    value = objective(gram, right, x)
    for _ in range(50):
        other = ordered(x + rng.normal(size=size) * 10 ** rng.uniform(-4, 0), pairs)
        assert objective(gram, right, other) >= value - 1e-9 * (1 + abs(value))


def objective(gram: Floats, right: Floats, x: Floats) -> float:
    return float(0.5 * x @ gram @ x - right @ x)


def test_without_a_binding_inequality_it_is_the_least_squares_solution() -> None:
    gram, right = np.asarray([[2.0, 0.5], [0.5, 1.0]]), np.asarray([3.0, 0.1])
    np.testing.assert_allclose(monotone_leaves(gram, right, [(0, 1)]), np.linalg.solve(gram, right), rtol=1e-12)
    # The other way round it binds, and both are one number.
    both = monotone_leaves(gram, right, [(1, 0)])
    assert both[0] == pytest.approx(both[1])


@pytest.mark.parametrize("columns", [[0], [0, 1]])
def test_a_fit_is_monotone_decreasing_in_the_features_that_it_is_given(columns: list[int]) -> None:
    """The teacher rises in both: what decreases in them can only be flat there, and still tells the third apart."""
    data = noisy(9, rows=2000)
    data.y[:, 0] += 0.1 * np.tanh(data.x[:, 2] / 2000)
    options = DistillOptions(trees=5, depth=3, learning_rate=[0.5])
    free = boost.fit(data, options, LOSS, seed=1)
    decreasing = boost.fit(data, options, LOSS, seed=1, decreasing=columns)
    assert rises(quantise(free, ("a", "b", "c"), 16), columns) > 0
    forest = quantise(decreasing, ("a", "b", "c"), 16)
    assert rises(forest, columns) == 0
    assert len(set(forest.evaluate(data.x)[:, 0].tolist())) > 3


def rises(forest: Forest, columns: list[int]) -> int:
    """How many leaves are above the one below a question for a column."""
    count = 0
    for tree in forest.trees:
        shape = unrolled(tree)
        assert shape is not None
        questions, ends = shape
        for bit, (feature, _) in enumerate(questions):
            for leaf in range(len(ends)):
                if feature in columns and not leaf >> bit & 1:
                    count += ends[leaf | 1 << bit].value[0] > ends[leaf].value[0]
    return count


def test_the_pairs_are_the_leaves_beside_a_question() -> None:
    model = boost.fit(noisy(10), DistillOptions(trees=2, depth=2, learning_rate=[0.5]), LOSS, seed=1)
    forest = quantise(model, ("a", "b", "c"), 16)
    expected = []
    first = 0
    for tree in forest.trees:
        shape = unrolled(tree)
        assert shape is not None
        for bit, (feature, _) in enumerate(shape[0]):
            expected += [
                (first + leaf, first + leaf + (1 << bit))
                for leaf in range(len(shape[1]))
                if feature == 1 and not leaf >> bit & 1
            ]
        first += len(list(leaves(tree)))
    assert pairs_of(model, [1]) == expected


def test_what_rounding_could_turn_into_a_unit_is_taken_away() -> None:
    chain: Pairs = [(0, 1), (1, 2)]
    np.testing.assert_array_equal(ordered(np.asarray([1.0, 1.0 + 1e-12, 1.0 + 2e-12]), chain), [1.0, 1.0, 1.0])


def verdicts(student: Student) -> dict[str, str]:
    """Of each feature that is seen, whether more of it never raises the multiplier: decided for all states."""
    program = student.program()
    scaled = multiplied(program)
    assert scaled is not None
    findings = monotone(decided(program, student.params(), scaled.multiplier, scaled.otherwise), Monotone())
    return {finding.says.split()[1]: finding.verdict for finding in findings}


def test_a_student_that_is_not_monotone_is_repaired_proved_and_the_cost_is_told(
    teacher: Any, runs: Any, small: DistillOptions, network: Any
) -> None:
    once = small.model_copy(update={"rounds": 0})
    free = distil(teacher, runs, once, network, seed=1)
    wrong = [name for name, verdict in verdicts(free.student).items() if verdict == "fails"]
    assert wrong
    repaired = distil(teacher, runs, once.model_copy(update={"monotone_decreasing": wrong}), network, seed=1)
    assert set(verdicts(repaired.student).values()) == {"holds"}
    (chosen,) = repaired.student.report["rounds"]
    without = repaired.student.report["free"]
    assert without["fit_rmse"] == free.student.report["rounds"][0]["fit_rmse"] < chosen["fit_rmse"]
    assert without["distance"] == free.student.report["rounds"][0]["distance"]
    assert "free" not in free.student.report
    # One leaf, where all is above its threshold, higher than the one below: no longer.
    forest = repaired.student.forest
    shape = unrolled(forest.trees[0])
    assert shape is not None
    values = [end.value[0] for end in shape[1]]
    tree = oblivious(shape[0], (*values[:-1], values[0] + 20_000))
    broken = replace(repaired.student, forest=replace(forest, trees=(tree, *forest.trees[1:])))
    assert "fails" in verdicts(broken).values()
