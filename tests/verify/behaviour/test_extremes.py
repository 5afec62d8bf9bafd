"""Extremes of a forest against every one of its cells."""

from itertools import product

import numpy as np
import pytest
from deciders import decision, policy, split
from hypothesis import given, settings
from hypothesis import strategies as st

from decision.ir.arrays import Integers
from decision.ir.forest import Branch, Forest, Leaf, Node
from verify.behaviour import extremes
from verify.behaviour.cells import Boxes, Cells
from verify.behaviour.extremes import greatest

COLUMNS = 3


def _trees(depth: int) -> st.SearchStrategy[Node]:
    leaf = st.builds(lambda v: Leaf((v,)), st.integers(-50, 50))
    if depth == 0:
        return leaf
    under = _trees(depth - 1)
    branch = st.builds(Branch, st.integers(0, COLUMNS - 1), st.integers(-4, 4), under, under)
    return st.one_of(leaf, branch)


FORESTS = st.builds(
    lambda trees, bias: Forest(("a", "b", "c"), tuple(trees), (bias,), 0),
    st.lists(_trees(3), max_size=5),
    st.integers(-9, 9),
)


def every(cells: Cells) -> Integers:
    return np.asarray(list(product(*(range(len(cuts) + 1) for cuts in cells.edges))), dtype=np.int64)


def rows_of(cells: Cells, places: Integers) -> Integers:
    ranges = [(-9, 9)] * COLUMNS
    return np.stack([cells.values(place, ranges) for place in places])


@given(FORESTS)
@settings(deadline=None)
def test_the_bounds_of_one_cell_are_its_sum(forest: Forest) -> None:
    cells = Cells.of(forest)
    places = every(cells)
    least, most = cells.bounds(Boxes(places, places))
    assert (least == most).all()
    np.testing.assert_array_equal(least, forest.evaluate(rows_of(cells, places))[:, 0])


@given(FORESTS, st.integers(1, 3))
@settings(deadline=None)
def test_the_greatest_sum_is_that_of_some_cell_and_above_all_others(forest: Forest, at_once: int) -> None:
    cells = Cells.of(forest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extremes, "AT_ONCE", at_once)
        found = greatest(cells, cells.box([(-9, 9)] * COLUMNS), lambda boxes: cells.bounds(boxes)[1], -(1 << 40))
    assert found.exact
    assert found.value == forest.evaluate(rows_of(cells, every(cells))).max()
    assert found.cell is not None
    assert forest.evaluate(rows_of(cells, found.cell[None]))[0, 0] == found.value


@given(FORESTS, st.integers(0, COLUMNS - 1))
@settings(deadline=None)
def test_a_rise_is_bounded_over_a_box_and_exact_in_a_cell(forest: Forest, column: int) -> None:
    cells = Cells.of(forest)
    places = every(cells)
    for k in range(len(cells.edges[column])):
        below, above = places.copy(), places.copy()
        below[:, column], above[:, column] = k, k + 1
        rises = forest.evaluate(rows_of(cells, above))[:, 0] - forest.evaluate(rows_of(cells, below))[:, 0]
        np.testing.assert_array_equal(cells.rises(Boxes(places, places), column, k), rises)
        assert (cells.rises(cells.box([(-9, 9)] * COLUMNS), column, k) >= rises.max()).all()


def test_a_column_stays_within_what_its_storage_holds() -> None:
    """A threshold outside of the range of a column cuts nothing off."""
    of = decision(policy(split(0, 40_000, 1, 2)))  # 16 bits, signed
    assert of.anywhere.low.tolist() == of.anywhere.high.tolist() == [[0]]


def test_what_is_given_up_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = tuple(Branch(c, t, Leaf((c + t,)), Leaf((-t,))) for c in range(COLUMNS) for t in range(4))
    cells = Cells.of(Forest(("a", "b", "c"), trees, (0,), 0))
    monkeypatch.setattr(extremes, "MAX_BOXES", 1)
    found = greatest(cells, cells.box([(-9, 9)] * COLUMNS), lambda boxes: cells.bounds(boxes)[1], -(1 << 40))
    assert not found.exact
    assert found.value < found.bound
