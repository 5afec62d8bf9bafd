"""The forms of trees: what each is called, what it is predicted to cost, and what the tables of indexed trees hold."""

from typing import Any

import numpy as np
import pytest
from drawn_walks import all_rows, ask, leaf, walk, walks
from hypothesis import given

from codegen.engines import ENGINES, CostModel
from codegen.forms import Lowered, entry_bytes, lowered, questions_of, table_of
from codegen.joint import Group, join, packed
from codegen.search import Ask, Found, SearchNode
from codegen.walk import Histogram, Walk
from decision.ir.forest import value

UNIT = CostModel("unit", alu=1, load=2, jump=2, taken=3, not_taken=1)
SMALL = ENGINES["ibex-small"]


def groups_of(made: Walk, *trees: tuple[int, ...]) -> tuple[Group, ...]:
    groups = packed(made, [join(made, each) for each in trees])
    assert groups is not None
    return groups


@pytest.mark.parametrize(
    ("entries", "bytes_"),
    [
        ((), 1),
        ((127, -128), 1),
        ((128,), 2),
        ((-129,), 2),
        ((32767, -32768), 2),
        ((32768,), 4),
        ((-32769,), 4),
        ((2**31 - 1, -(2**31)), 4),
    ],
)
def test_an_entry_takes_the_narrowest_type_that_holds_all(entries: tuple[int, ...], bytes_: int) -> None:
    assert entry_bytes(entries) == bytes_


def test_a_form_is_called_what_it_is() -> None:
    made = walk(ask(0, 0, 1, 2), ask(1, 0, 1, 2), ask(2, 0, 1, 2), ask(2, 1, 1, 2))

    def form(branches: tuple[int, ...], indexed: tuple[int, ...], *groups: tuple[int, ...]) -> str:
        return lowered(made, branches, indexed, groups_of(made, *groups), UNIT, "worst").form

    assert form((0, 1, 2, 3), ()) == "branches"
    assert form((), (0, 1, 2, 3)) == "index"
    assert form((), (), (0,), (1,), (2,), (3,)) == "rank and table"
    assert form((), (), (0, 1), (2,), (3,)) == "joint tables"
    assert form((0,), (1,), (2, 3)).split(" + ") == ["branches", "index", "joint tables"]
    assert lowered(walk(), (), (), (), UNIT, "worst").form == "constant"


def test_branches_cost_their_longest_path_and_three_instructions_a_node() -> None:
    made = walk(ask(0, 4095, ask(1, 1, 5, 6), 7))
    whole = lowered(made, (0,), (), (), UNIT, "worst")
    inner = 1 + max(1 + 3, 3 + 3)  # the constant 2; then the dearer side falls through, the other is taken
    assert whole.cycles == 1 + max(1 + inner, 3 + 3)  # the constant 4096 is a single lui
    assert (whole.code_bytes, whole.table_bytes) == (4 * (3 * 2 + 2 * 3 + 1), 0)


def test_an_index_costs_each_of_its_questions_once() -> None:
    made = walk(ask(0, 1, ask(1, 5000, 1, 2), ask(1, 5000, 3, 4)))
    whole = lowered(made, (), (0,), (), UNIT, "worst")
    assert whole.cycles == (1 + 3) + (2 + 3) + UNIT.look_up()
    assert (whole.code_bytes, whole.table_bytes) == (4 * (5 * 2 + 4 + 2), 4 * 2)


def test_a_joint_table_costs_a_search_a_feature_and_a_look_up_a_group() -> None:
    made = walk(ask(0, 1, 1, 2), ask(1, 1, 300, 4))
    whole = lowered(made, (), (), groups_of(made, (0, 1)), UNIT, "worst")
    assert whole.cycles == sum(search.cycles for search in whole.searches) + 1 + UNIT.look_up() + 2
    assert len(whole.searches) == 2
    assert whole.code_bytes == 4 * (2 * (3 + 3 * 2) + 6)
    assert whole.table_bytes == 4 * 2
    assert whole.array == (6, 302, 5, 301)


def test_a_clamp_costs_its_constant_and_a_branch_unless_a_table_holds_it() -> None:
    tree = ask(0, 1, 1, 2)
    free, clamped = walk(tree), walk(tree, clamps=((0, 5000),))
    costs = [lowered(made, (0,), (), (), UNIT, "worst").cycles for made in (free, clamped)]
    assert costs[1] - costs[0] == (0 + 3) + (2 + 3)  # 0 needs no instruction, 5000 two
    tables = [lowered(made, (), (), groups_of(made, (0,)), UNIT, "worst") for made in (free, clamped)]
    assert tables[0].cycles == tables[1].cycles
    assert not tables[1].clamps(0)
    assert lowered(clamped, (0,), (), (), UNIT, "worst").clamps(0)


def test_a_sum_of_two_groups_is_clamped_behind_them() -> None:
    made = walk(ask(0, 1, 1, 2), ask(1, 1, 3, 4), clamps=((0, 5),))
    assert lowered(made, (), (), groups_of(made, (0,), (1,)), UNIT, "worst").clamps(0)
    assert not lowered(made, (), (), groups_of(made, (0, 1)), UNIT, "worst").clamps(0)


def test_the_mean_follows_where_the_features_were_seen() -> None:
    tree = ask(0, 0, ask(1, 0, 1, 2), 3)
    made = walk(tree)

    def cycles(above: float, optimise: str) -> float:
        seen = tuple(Histogram((0,), (1 - above, above)) for _ in made.features)
        return lowered(Walk(made.features, made.trees, made.sums, seen), (0,), (), (), UNIT, optimise).cycles

    assert cycles(0.1, "mean") < cycles(0.9, "mean")
    assert cycles(0.1, "worst") == cycles(0.9, "worst")


def test_a_search_is_shallow_where_the_feature_is_mostly_seen() -> None:
    """Of the intervals' shares: the likeliest one is asked for first."""
    chain: Any = 0
    for threshold in (2, 1, 0, -1, -2):
        chain = ask(0, threshold, threshold, chain) if chain else ask(0, threshold, threshold, 9)
    made = walk(chain)

    def depth(node: SearchNode, place: int) -> int:
        if isinstance(node, Found):
            return 0
        assert isinstance(node, Ask)
        return 1 + depth(node.above if place > node.border else node.below, place)

    def search(*counts: float) -> SearchNode:
        thresholds = tuple(sorted({t for _, t in questions_of(chain)}))
        seen = (Histogram(thresholds, counts), *[Histogram((0,), (1.0, 1.0))] * 2)
        measured = Walk(made.features, made.trees, made.sums, seen)
        return lowered(measured, (), (), groups_of(measured, (0,)), SMALL, "mean").searches[0].root

    assert depth(search(90, 2, 2, 2, 2, 2), 0) == 1
    assert depth(search(2, 2, 2, 2, 2, 90), 5) == 1
    assert search(0, 0, 0, 0, 0, 0) == search(1, 1, 1, 1, 1, 1)  # nothing was seen: all alike


@given(walks())
def test_the_index_of_the_answers_names_the_leaf(made: Walk) -> None:
    rows = all_rows(made)
    for tree in made.trees:
        questions = questions_of(tree)
        index = sum((rows[:, f] > t).astype(np.int64) << bit for bit, (f, t) in enumerate(questions))
        for column in range(len(made.sums)):
            table = np.array(table_of(tree, questions, column))
            assert (table[index] == value(tree, rows)[:, column]).all()


def test_a_combination_of_answers_that_no_value_gives_still_has_an_entry() -> None:
    tree = ask(0, 2, 1, ask(0, 0, 2, 3))
    assert questions_of(tree) == [(0, 0), (0, 2)]
    assert table_of(tree, questions_of(tree), 0) == [3, 2, 1, 1]


def test_what_leaves_add_to_no_sum_costs_as_one() -> None:
    """A tree of zeros still is a column's, so that its form is printed."""
    made = walk(ask(0, 0, leaf(0, 0), leaf(0, 0)), bias=(0, 0))
    assert isinstance(lowered(made, (0,), (), (), UNIT, "worst"), Lowered)
    assert made.columns(made.trees[0]) == (0,)
