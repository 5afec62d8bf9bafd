"""From a forest to the integer model: pruning, leaf bits, the stated error, the fit of grid and model."""

from fractions import Fraction

import pytest

from codegen.frontends.forest import FLOAT32_BITS, FLOAT64_BITS, Ask, Forest, Question, Value, ask, grow
from codegen.frontends.grid import Grid
from codegen.frontends.quantise import quantise, rounded, upwards
from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Leaf

GRID = Grid.of({"a": (0, 8, 0), "b": (-1, 1, 4)})


def leaf(*values) -> Value:
    return Value(tuple(map(Fraction, values)))


def question(feature: int, border, above, below, or_equal: bool = False) -> Ask:
    return Ask(feature, Fraction(border), or_equal, above, below)


def forest(*trees, bias=(0,), task="regression", sum_bits=FLOAT64_BITS, **more) -> Forest:
    numbers = tuple(map(Fraction, bias))
    return Forest("a library", ("a", "b"), trees, numbers, task, FLOAT32_BITS, sum_bits, **more)


def test_questions_that_the_range_or_the_path_decides_are_dropped():
    inner = question(0, 3, leaf(1), question(0, 5, leaf(2), leaf(3)))
    tree = question(0, 100, leaf(9), question(0, -1, question(0, 4, inner, leaf(4)), leaf(9)))
    assert quantise(forest(tree), GRID).trees == (Branch(0, 4, Leaf((1,)), Leaf((4,))),)


def test_equal_sides_are_merged_and_trees_that_ask_nothing_are_bias():
    found = quantise(forest(question(1, 0, leaf(2), leaf(2)), leaf(3), bias=(0.5,)), GRID)
    assert (found.trees, found.bias, found.leaf_bits) == ((), (11,), 1)


def test_no_leaf_bits_are_wasted_where_nothing_is_rounded():
    found = quantise(forest(question(0, 3, leaf("0.125"), leaf(-1))), GRID)
    assert (found.leaf_bits, found.error) == (3, (0.0,))
    assert found.trees[0] == Branch(0, 3, Leaf((1,)), Leaf((-8,)))


def test_a_leaf_that_the_bias_makes_up_for_fits_32_bits_too():
    """A sum may stay small where its parts do not."""
    found = quantise(forest(question(0, 3, leaf("-3.1"), leaf("-2.9")), bias=(3,)), GRID)
    assert found.leaf_bits == 29
    wide = quantise(forest(question(0, 3, leaf("5.1"), leaf("0.1")), bias=("-3.5",)), GRID)
    assert wide.leaf_bits == 28


def test_as_many_leaf_bits_as_32_bits_hold_where_something_is():
    found = quantise(forest(question(0, 3, leaf("0.1"), leaf(-5))), GRID)
    assert found.leaf_bits == 28
    assert 0 < found.error[0] < 2.0**-28


def test_the_error_is_the_sum_of_the_greatest_roundings():
    trees = [question(0, 3, leaf("0.25"), leaf(1)), question(0, 4, leaf("0.125"), leaf("0.5"))]
    found = quantise(forest(*trees, bias=("0.0625",)), Grid(GRID.features, leaf_bits=1))
    assert found.error == (0.25 + 0.125 + 0.0625,)
    assert found.bias == (0,)


def test_the_librarys_own_roundings_are_in_the_error():
    tree = question(0, 3, leaf("0.1"), leaf(-5))
    rounding = quantise(forest(tree), GRID).error[0]
    narrow = quantise(forest(tree, sum_bits=FLOAT32_BITS), GRID).error[0]
    assert narrow - rounding == pytest.approx(5 * 9 * 2.0**-24, rel=1e-6)


def test_the_margin_is_two_errors_or_one_beside_a_cut():
    tree = question(0, 3, leaf("0.25", 1, "0.125"), leaf(0, 0, 0))
    grid = Grid(GRID.features, leaf_bits=0)
    assert quantise(forest(tree, bias=(0, 0, 0), task="argmax"), grid).margin == 0.25 + 0.125
    assert quantise(forest(question(0, 3, leaf("0.25"), leaf(0)), task="binary"), grid).margin == 0.25


def test_cuts_are_floors_or_just_below_where_equal_counts():
    tree = question(0, 3, leaf(1), leaf(0))
    cuts = [
        quantise(forest(tree, task="binary", cut=Fraction(cut), cut_or_equal=equal), Grid(GRID.features, 2)).cut
        for cut, equal in (("0.5", False), ("0.5", True), ("-0.3", False), ("-0.3", True), (10**12, False))
    ]
    assert cuts == [2, 1, -2, -2, 2**31 - 1]


def test_leaf_bits_that_32_bits_cannot_hold_are_refused_with_those_that_they_can():
    trees = [question(0, 3, leaf(1000), leaf(-1000))] * 4
    with pytest.raises(InputError, match="leaf_bits = 20; declare at most 19"):
        quantise(forest(*trees), Grid(GRID.features, leaf_bits=20))
    assert quantise(forest(*trees), Grid(GRID.features, leaf_bits=19)).forest.reach(0) == (-4000 << 19, 4000 << 19)
    with pytest.raises(InputError, match="as whole numbers"):
        quantise(forest(question(0, 3, leaf(2**32), leaf(0))), GRID)


def test_features_of_grid_and_model_must_meet():
    with pytest.raises(InputError, match=r"'b', .*\[features.b\]"):
        quantise(forest(question(1, 0, leaf(1), leaf(0))), Grid.of({"a": (0, 1, 0)}))
    with pytest.raises(InputError, match=r"'c', .* 'a', 'b'"):
        quantise(forest(leaf(1)), Grid.of({"c": (0, 1, 0)}))


def test_features_stand_in_the_order_of_the_grid():
    found = quantise(forest(question(1, 0, leaf(1), leaf(0))), Grid.of({"b": (0, 1, 2), "a": (0, 1, 2)}))
    assert [f.name for f in found.features] == ["b", "a"]
    assert found.trees[0].feature == 0


def test_infinite_borders_are_no_questions_and_a_nan_is_refused():
    above, below = leaf(1), leaf(0)
    assert ask(0, float("inf"), True, above, below) is below
    assert ask(0, float("-inf"), False, above, below) is above
    with pytest.raises(InputError, match="not a number"):
        ask(0, float("nan"), False, above, below)


@pytest.mark.parametrize("children", [(0, 1), (1, 1), (1, 9), (-1, 1)])
def test_nodes_that_are_no_tree_are_refused(children):
    with pytest.raises(InputError, match="tree 7"):
        grow([Question(0, 0.5, False, *children), leaf(0)], "tree 7")


def test_leaves_are_rounded_to_the_nearest_halves_up():
    assert [rounded(Fraction(v), 1) for v in ("0.75", "0.7", "-0.75", "-0.8", "0.25", "1e-9")] == [2, 1, -1, -2, 1, 0]


def test_a_question_that_only_the_ends_of_the_range_decide_is_dropped():
    """The range of a is 0..8: nothing is above 8, all is above -1."""
    trees = [question(0, 8, leaf(1), leaf(2)), question(0, -1, leaf(4), leaf(8)), question(0, 7, leaf(16), leaf(0))]
    found = quantise(forest(*trees), GRID)
    assert (found.bias, found.trees) == ((6,), (Branch(0, 7, Leaf((16,)), Leaf((0,))),))


@pytest.mark.parametrize("bias", ["0.1", "0.3", "0.7", "-0.1"])
def test_the_stated_error_is_never_below_the_exact_one(bias):
    found = quantise(forest(leaf(0), bias=(bias,)), Grid(GRID.features, leaf_bits=3))
    assert Fraction(found.error[0]) >= abs(Fraction(found.bias[0], 8) - Fraction(bias))


def test_a_bound_as_a_float_is_not_below_the_bound():
    third = Fraction(1, 3)
    assert float(third) < third < upwards(third) <= float(third) * (1 + 2**-52)
    assert upwards(Fraction(1, 4)) == 0.25
