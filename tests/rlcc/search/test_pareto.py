"""Which points are the best: dominance, by its definition."""

from itertools import pairwise
from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st

from rlcc.search.pareto import dominates, front, layers

FIGURES = st.tuples(st.integers(0, 6), st.one_of(st.integers(0, 6), st.just(inf)))
POINTS = st.dictionaries(st.integers(0, 99), FIGURES, max_size=20)


@given(POINTS)
def test_no_point_of_the_front_is_beaten_and_every_other_is_by_one_of_it(points):
    best = front(points)
    assert not any(dominates(points[a], points[b]) for a in points for b in best)
    assert all(any(dominates(points[b], points[a]) for b in best) for a in points if a not in best)


@given(POINTS)
def test_the_front_is_in_order_of_its_first_figure_and_never_empty_of_points(points):
    best = front(points)
    assert bool(best) == bool(points)
    assert [points[n] for n in best] == sorted(points[n] for n in best)


@given(POINTS)
def test_layers_are_all_points_once_and_each_beats_the_next(points):
    parts = list(layers(points))
    assert sorted(n for part in parts for n in part) == sorted(points)
    for before, after in pairwise(parts):
        assert all(any(dominates(points[a], points[b]) for a in before) for b in after)


@given(FIGURES, FIGURES)
def test_of_two_points_at_most_one_dominates_and_equal_ones_do_not(one, other):
    assert not (dominates(one, other) and dominates(other, one))
    assert not dominates(one, one)


def test_what_could_not_be_measured_is_on_no_front():
    assert front({0: (1.0, nan), 1: (2.0, 3.0)}) == [1]
