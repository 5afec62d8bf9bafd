"""Passes over the trees: what each does to a tree that shows it, and that no pass changes a sum."""

from collections.abc import Callable

import pytest
from drawn_walks import HIGH, LOW, WIDEST, all_rows, ask, leaf, walk, walks
from hypothesis import given

from codegen.engines import ENGINES, CostModel
from codegen.passes import limits as limits_pass
from codegen.passes.limits import limits
from codegen.passes.merge import merge
from codegen.passes.prune import prune
from codegen.passes.rebalance import rebalance, rebalanced
from codegen.passes.reorder import mean, reorder, worst
from codegen.walk import Histogram, Walk
from decision.ir.forest import Branch, branches, oblivious
from decision.ir.forest import value as walk_value

UNIT = CostModel("unit", alu=1, load=2, jump=2, taken=3, not_taken=1)
PASSES: dict[str, Callable[[Walk], Walk]] = {
    "prune": prune,
    "merge": merge,
    "limits": limits,
    "rebalance": lambda made: rebalance(made, UNIT),
    **{f"reorder {how}": lambda made, how=how: reorder(made, UNIT, how) for how in ("worst", "mean", "size")},
}


@pytest.mark.parametrize("name", PASSES)
@given(walks())
def test_no_pass_changes_a_sum(name: str, made: Walk) -> None:
    rows = all_rows(made)
    done = PASSES[name](made)
    assert (done.evaluate(rows) == made.evaluate(rows)).all()
    assert done.features == made.features


@given(walks())
def test_all_in_their_order_change_none_either(made: Walk) -> None:
    rows = all_rows(made)
    done = reorder(limits(merge(prune(made))), UNIT, "worst")
    assert (done.evaluate(rows) == made.evaluate(rows)).all()


# --- prune -----------------------------------------------------------------------------------------------------------


def test_a_threshold_that_the_range_decides_is_dropped() -> None:
    never, always = ask(0, HIGH, 1, ask(1, 0, 2, 3)), ask(0, LOW - 1, ask(1, 0, 2, 3), 1)
    for tree in (never, always):
        assert prune(walk(tree)).trees == (ask(1, 0, 2, 3),)
    kept = ask(0, HIGH - 1, 1, ask(0, LOW, 2, 3))
    assert prune(walk(kept)).trees == (kept,)


def test_what_an_earlier_answer_has_decided_is_not_asked_again() -> None:
    symmetric = oblivious([(0, 0), (0, 2)], [1, 2, 3, 4])  # leaf 2: above 2 but not above 0
    assert prune(walk(symmetric)).trees == (ask(0, 0, ask(0, 2, 4, 2), 1),)


def test_a_question_of_equal_answers_is_dropped_from_the_bottom_up() -> None:
    tree = ask(0, 0, ask(1, 0, 5, 5), ask(2, 0, 5, 5))
    assert prune(walk(tree)).trees == (leaf(5),)


@given(walks())
def test_every_branch_that_is_left_is_met_both_ways(made: Walk) -> None:
    """Each is reached by some row, and by rows on both of its sides."""
    rows = all_rows(made)
    for tree in prune(made).trees:
        todo = [(tree, rows)]
        while todo:
            node, here = todo.pop()
            if isinstance(node, Branch):
                above = here[:, node.feature] > node.threshold
                assert above.any()
                assert not above.all()
                todo += [(node.above, here[above]), (node.below, here[~above])]


# --- merge -----------------------------------------------------------------------------------------------------------


def test_trees_of_the_same_questions_become_one_and_constants_go_into_the_bias() -> None:
    made = walk(ask(0, 3, 5, 2), leaf(7), ask(1, 0, 1, 1), ask(0, 3, 1, -1), leaf(-2), bias=(10,))
    done = merge(made)
    assert done.trees == (ask(0, 3, 6, 1), ask(1, 0, 1, 1))
    assert done.sums[0].bias == 15


def test_trees_that_differ_in_a_threshold_a_feature_or_a_depth_stay_apart() -> None:
    tree = ask(0, 3, ask(1, 0, 1, 2), 3)
    others = (
        ask(0, 3, ask(1, 1, 1, 2), 3),
        ask(0, 3, ask(2, 0, 1, 2), 3),
        ask(0, 3, 1, 3),
        ask(0, 3, 1, ask(1, 0, 1, 2)),
    )
    assert merge(walk(tree, *others)).trees == (tree, *others)


def test_what_is_added_keeps_its_sum() -> None:
    made = walk(ask(0, 3, leaf(5, 1), leaf(2, 0)), ask(0, 3, leaf(0, 9), leaf(1, 0)), leaf(3, 4), bias=(0, 0))
    done = merge(made)
    assert done.trees == (ask(0, 3, leaf(5, 10), leaf(3, 0)),)
    assert [total.bias for total in done.sums] == [3, 4]


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_clamp_that_no_row_reaches_goes_though_the_leaves_alone_would() -> None:
    """Both trees look at a: their greatest leaves are never added, so 9 + 1 is never reached."""
    made = walk(ask(0, 0, 9, 0), ask(0, 0, 0, 1), clamps=((0, 9),))
    assert (limits(made).sums[0].low, limits(made).sums[0].high) == WIDEST
    acts = walk(ask(0, 0, 9, 0), ask(0, 0, 0, 1), clamps=((2, 8),))
    assert limits(acts).sums == acts.sums


def test_the_bias_counts_and_each_end_is_judged_by_itself() -> None:
    made = walk(ask(0, 0, 9, 0), bias=(5,), clamps=((5, 13),))
    assert (limits(made).sums[0].low, limits(made).sums[0].high) == (WIDEST[0], 13)


def test_clamps_stay_where_the_sums_are_too_many_to_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made = walk(ask(0, 0, 9, 0), clamps=((0, 9),))
    monkeypatch.setattr(limits_pass, "MAX_CELLS", 1)
    assert limits(made).sums == made.sums
    monkeypatch.setattr(limits_pass, "MAX_CELLS", 2)
    assert limits(made).sums != made.sums


# --- reorder ---------------------------------------------------------------------------------------------------------


@given(walks())
def test_no_order_is_dearer_than_the_one_before(made: Walk) -> None:
    made = prune(made)
    known = {number: (f.low, f.high) for number, f in enumerate(made.features)}
    for before, after in zip(made.trees, reorder(made, UNIT, "worst").trees, strict=True):
        assert worst(after, made, UNIT) <= worst(before, made, UNIT)
    for before, after in zip(made.trees, reorder(made, UNIT, "mean").trees, strict=True):
        assert mean(after, made, UNIT, known) <= mean(before, made, UNIT, known)
    for before, after in zip(made.trees, reorder(made, UNIT, "size").trees, strict=True):
        assert len(list(branches(after))) <= len(list(branches(before)))


def test_the_question_that_decides_the_others_is_asked_first() -> None:
    """b matters only where a is not above 0: asked the other way round a stands twice."""
    tree = ask(1, 0, ask(0, 0, 1, 2), ask(0, 0, 1, 3))
    for optimise in ("size", "worst"):
        assert reorder(walk(tree), UNIT, optimise).trees == (ask(0, 0, 1, ask(1, 0, 2, 3)),)


def test_where_nothing_was_measured_each_answer_counts_half() -> None:
    tree = oblivious([(0, 0), (1, 0)], [1, 2, 3, 4])
    made = walk(tree)
    known = {number: (f.low, f.high) for number, f in enumerate(made.features)}

    def price(*above: float) -> float:
        seen = tuple(Histogram((0,), (1 - share, share)) for share in above)
        return mean(tree, Walk(made.features, made.trees, made.sums, seen), UNIT, known)

    assert price(0.5, 0.5, 0.5) == mean(tree, made, UNIT, known)
    assert price(0.9, 0.9, 0.5) < price(0.5, 0.5, 0.5)  # the likelier side falls through


def test_a_tree_of_too_many_questions_is_left_as_it_is() -> None:
    tree = oblivious([(n % 3, n - 3) for n in range(6)], list(range(64)))
    assert reorder(walk(tree), ENGINES["ibex-small"], "worst").trees == (tree,)


def test_the_dearer_side_falls_through() -> None:
    made = walk(leaf(0))
    assert worst(ask(0, 0, 5, ask(1, 0, 5, 6)), made, UNIT) == worst(ask(0, 0, ask(1, 0, 5, 6), 5), made, UNIT)
    assert worst(leaf(0), made, UNIT) == 2  # the jump alone: 0 is no constant to load
    assert worst(leaf(5, 5000), made, UNIT) == 1 + 2 + 1 + 2


# --- rebalance -------------------------------------------------------------------------------------------------------


def chain(*values: int) -> Branch:
    """Leaves one after the other along one feature, as a library may grow them: the last is the deepest."""
    tree: Branch | int = values[-1]
    for place in reversed(range(len(values) - 1)):
        tree = ask(0, place, tree, values[place])
    assert isinstance(tree, Branch)
    return tree


def cheapest(rows: list[tuple[int, int]], questions: list[int], made: Walk) -> int:
    """By trying every tree over (value of the feature, leaf)."""
    if len({value for _, value in rows}) == 1:
        return worst(leaf(rows[0][1]), made, UNIT)
    prices = []
    for t in questions:
        below, above = [r for r in rows if r[0] <= t], [r for r in rows if r[0] > t]
        if below and above:
            cheap, dear = sorted((cheapest(below, questions, made), cheapest(above, questions, made)))
            prices.append(UNIT.constant(t + 1) + max(UNIT.not_taken + dear, UNIT.taken + cheap))
    return min(prices)


@given(walks())
def test_a_tree_grown_anew_says_the_same_on_no_longer_a_path(made: Walk) -> None:
    made = prune(made)
    rows = all_rows(made)
    for tree in made.trees:
        if isinstance(tree, Branch):
            grown = rebalanced(tree, made, UNIT)
            assert grown is not None
            assert worst(grown, made, UNIT) <= worst(tree, made, UNIT)
            assert (walk_value(grown, rows) == walk_value(tree, rows)).all()


def test_a_chain_becomes_the_cheapest_search() -> None:
    values = [10, 20, 3000, 40, 50, 6000, 70, 80]
    made = walk(chain(*values))
    grown = rebalanced(made.trees[0], made, UNIT)
    assert grown is not None
    least = cheapest(list(enumerate(values)), list(range(len(values) - 1)), made)
    assert worst(grown, made, UNIT) == least < worst(made.trees[0], made, UNIT)
    assert len(list(branches(grown))) == len(values) - 1


def test_what_asks_elsewhere_otherwise_is_grown_anew_where_that_saves_enough() -> None:
    long = ask(1, 0, chain(10, 20, 3000, 40, 50, 6000, 70, 80), ask(2, 0, 1, 2))
    made = walk(long)
    (grown,) = rebalance(made, UNIT).trees
    assert worst(grown, made, UNIT) + 2 <= worst(long, made, UNIT)
    assert rebalance(walk(grown), UNIT).trees == (grown,)  # there is nothing more to save


def test_what_adds_to_several_sums_or_asks_the_same_everywhere_or_is_too_large_stays() -> None:
    rows = ask(1, 0, ask(0, 0, leaf(1, 2), ask(0, -1, leaf(3, 4), leaf(5, 6))), ask(2, 0, leaf(7, 8), leaf(9, 9)))
    symmetric = oblivious([(n % 3, n - 3) for n in range(6)], list(range(64)))
    assert rebalance(walk(rows, bias=(0, 0)), UNIT).trees == (rows,)
    assert rebalance(walk(symmetric), UNIT).trees == (symmetric,)
    assert rebalanced(chain(*range(600)), walk(leaf(0)), UNIT) is None
