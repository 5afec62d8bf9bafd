"""Joint tables: which entries they have, where they lie, and that a word of places names the right one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from drawn_walks import all_rows, ask, leaf, walk, walks
from hypothesis import assume, given
from hypothesis import strategies as st

from codegen.joint import Axis, Group, array_of, join, packed, placings, size_of, thresholds_of
from codegen.walk import Sum, Walk
from decision.ir.arrays import Integers


def looked_up(made: Walk, groups: Sequence[Group], rows: Integers) -> Integers:
    """The sums [N, sums] as the C finds them: places, a word, a field of it, an entry; then the clamps."""
    word = np.zeros(len(rows), dtype=np.int64)
    for placing in placings(groups):
        words = np.array(placing.words)
        word += words[np.searchsorted(np.array(placing.thresholds), rows[:, placing.feature], side="left")]
    assert (word >> 32 == 0).all()
    array = np.array(array_of(groups))
    total = np.zeros((len(rows), len(made.sums)), dtype=np.int64)
    for number, group in enumerate(groups):
        field = word >> group.shift
        if number < len(groups) - 1:
            field &= (1 << group.width) - 1
        for column in group.columns:
            total[:, column] += array[group.start(column) + field] + group.rest(column)
    return np.clip(total, [s.low for s in made.sums], [s.high for s in made.sums])


def test_a_group_is_an_array_with_an_axis_a_feature() -> None:
    made = walk(ask(0, 1, 10, 20), ask(1, 0, ask(1, 2, 3, 2), 1))
    assert join(made, [0, 1]) == Group(
        columns=(0,),
        trees=(0, 1),
        axes=(Axis(0, (1,), stride=3), Axis(1, (0, 2), stride=1)),
        entries=(21, 22, 23, 11, 12, 13),
    )
    assert size_of(thresholds_of(made.trees)) == 6


def test_classes_that_no_tree_tells_apart_are_one() -> None:
    """The second threshold of a only moves what the third takes back; b decides nothing at all."""
    same = ask(0, 0, ask(1, 0, 5, 5), ask(0, -1, 7, 7))
    group = join(walk(same), [0])
    assert (group.axes, group.entries) == ((Axis(0, (0,), 1),), (7, 5))
    assert join(walk(ask(2, 1, 4, 4)), [0]).axes == ()


def test_one_index_serves_all_sums_and_each_has_its_table() -> None:
    made = walk(ask(0, 1, leaf(1, 0), leaf(2, 0)), ask(0, 1, leaf(0, 30), leaf(0, 40)), bias=(0, 0))
    group = join(made, [0, 1])
    assert (group.columns, group.size, group.width) == ((0, 1), 2, 1)
    assert (group.table(0), group.table(1)) == ((2, 1), (40, 30))
    assert (group.start(0), group.start(1)) == (0, 2)
    assert join(made, [0, 1], (1,)).table(1) == (40, 30)


def test_the_bias_is_in_the_table_and_the_limits_where_one_group_has_all() -> None:
    made = walk(ask(0, 1, 10, 20), bias=(5,), clamps=((0, 18),))
    groups = packed(made, [join(made, [0])])
    assert groups is not None
    assert groups[0].entries == (18, 15)
    two = walk(ask(0, 1, 10, 20), ask(1, 0, 1, 2), bias=(5,), clamps=((0, 18),))
    groups = packed(two, [join(two, [0]), join(two, [1])])
    assert groups is not None
    assert sorted(group.entries for group in groups) in ([(2, 1), (25, 15)], [(7, 6), (20, 10)])


def test_fields_that_no_word_holds_are_refused() -> None:
    chain = leaf(0)
    for threshold in range(-3, 4):
        chain = ask(0, threshold, threshold, chain)
    made = walk(*[chain] * 11)  # of 8 classes, so 3 bits each
    groups = [join(made, [n]) for n in range(11)]
    assert packed(made, groups) is None
    placed = packed(made, groups[:10])
    assert placed is not None
    assert sorted(group.shift for group in placed) == list(range(0, 30, 3))


@given(walks(), st.data())
def test_however_trees_are_grouped_the_tables_give_the_sums(made: Walk, data: st.DataObject) -> None:
    numbers = data.draw(st.permutations(range(len(made.trees))))
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(numbers) - 1)), max_size=3)))
    parts = [numbers[a:b] for a, b in zip([0, *cuts], [*cuts, len(numbers)], strict=True)]
    size = data.draw(st.sampled_from([4, 2, 1]))
    groups = packed(made, [join(made, sorted(part)) for part in parts if part], size=size)
    assume(groups is not None or size < 4)  # entries of one table may lie further apart than that
    assert groups is not None
    assert all(-(1 << 8 * size - 1) <= entry < 1 << 8 * size - 1 for entry in array_of(groups))
    made = covered(made, groups)
    rows = all_rows(made)
    assert (looked_up(made, groups, rows) == made.evaluate(rows)).all()


def covered(made: Walk, groups: Sequence[Group]) -> Walk:
    """The walk with the sums that no group adds to (their bias is nobody's) left at 0."""
    seen = {column for group in groups for column in group.columns}
    return Walk(
        made.features, made.trees, tuple(s if k in seen else Sum(0, s.low, s.high) for k, s in enumerate(made.sums))
    )


@given(walks())
def test_no_word_whatsoever_leads_out_of_the_array(made: Walk) -> None:
    """Behind a masked field lie as many entries as the field can name."""
    groups = packed(made, [join(made, [n]) for n in range(len(made.trees))]) or ()
    for group in groups[:-1]:
        assert group.start(group.columns[-1]) + (1 << group.width) <= len(array_of(groups))
    assert [group.width for group in groups] == sorted(group.width for group in groups)


@pytest.mark.parametrize("wrong", ["stride", "offset", "entry"])
def test_a_wrong_stride_offset_or_entry_gives_other_sums(wrong: str) -> None:
    """So the tests above can fail."""
    made = walk(ask(0, 1, 10, 20), ask(1, 0, ask(1, 2, 3, 2), 1), ask(2, 0, ask(2, 1, 50, 60), 70))
    groups = packed(made, [join(made, [0, 1]), join(made, [2])])
    assert groups is not None
    rows = all_rows(made)
    assert (looked_up(made, groups, rows) == made.evaluate(rows)).all()
    last = groups[-1]
    change: dict[str, Any] = {
        "stride": {"axes": tuple(Axis(a.feature, a.thresholds, 1) for a in last.axes)},
        "offset": {"offset": last.offset - 1},
        "entry": {"entries": (last.entries[0] + 1, *last.entries[1:])},
    }[wrong]
    other = (*groups[:-1], replace(last, **change))
    assert (looked_up(made, other, rows) != made.evaluate(rows)).any()
