"""Lanes: columns of words side by side, what each knows, and the way that each has come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.prover.expressions import UNKNOWN, WORD, Pool, fold
from verify.prover.lanes import Ints, Lanes, Trails, constants, groups, joined, pairs, words

OPS = ["add", "sub", "and", "or", "xor", "sll", "srl", "sra", "sltu", "slt", "eq", "mul", "mulhu", "mulh", "mulhsu"]
WORDS = st.one_of(st.integers(0, WORD), st.sampled_from([0, 1, 31, 32, 1 << 31, (1 << 31) - 1, WORD]))


def column(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


def lanes(*values: int, low: int = 0, high: int = 9) -> Lanes:
    """A lane a value, in one column, each with one compared word."""
    count = len(values)
    flat = [column(*range(at, at + count)) for at in (0, 10, 20, 30, 40)]
    ends = [np.full((1, count), end, dtype=np.int64) for end in (low, high)]
    return Lanes(column(*values).reshape(1, -1), *ends, *flat)


@pytest.mark.parametrize("op", OPS)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=20))
def test_columns_of_constants_are_what_each_word_is(op: str, operands: list[tuple[int, int]]) -> None:
    a, b = (column(*side) for side in zip(*operands, strict=True))
    assert constants(op, a, b).tolist() == [fold(op, x, y) for x, y in operands]


@pytest.mark.parametrize("op", OPS)
@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), min_size=1, max_size=12))
def test_an_operation_of_columns_is_that_of_each_pair(op: str, chosen: list[tuple[int, int]]) -> None:
    """Constants and expressions mixed, and words that nothing has written (-1)."""
    pool = Pool()
    some = {n: pool.atom(f"x{n}") for n in (3, 4, 5)} | {-1: UNKNOWN}
    a, b = (column(*(some.get(n, n) for n in side)) for side in zip(*chosen, strict=True))
    assert words(pool, op, a, b).tolist() == [pool.make(op, int(x), int(y)) for x, y in zip(a, b, strict=True)]


def test_an_operation_that_there_is_not_is_a_defect() -> None:
    with pytest.raises(AssertionError, match="no operation rot"):
        constants("rot", column(1), column(2))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_pairs_are_told_once_with_all_their_rows(chosen: list[tuple[int, int]]) -> None:
    a, b = (column(*side) for side in zip(*chosen, strict=True)) if chosen else (column(), column())
    told = pairs(a, b)
    assert len({(x, y) for x, y, _ in told}) == len(told)
    assert sorted(n for _, _, rows in told for n in rows.tolist()) == list(range(len(chosen)))
    for x, y, rows in told:
        assert {chosen[n] for n in rows} == {(x, y)}


def test_taken_lanes_keep_all_that_they_know() -> None:
    part = lanes(5, 6, 7).take(column(2, 0))
    assert part.values.tolist() == [[7, 5]]
    assert [getattr(part, name).tolist() for name in ("facts", "trail", "origin", "cycles", "before")] == [
        [2, 0], [12, 10], [22, 20], [32, 30], [42, 40],
    ]  # fmt: skip
    assert len(part) == 2


def test_lanes_stand_side_by_side_in_their_order() -> None:
    both = joined([lanes(5, 6), lanes(7)])
    assert both.values.tolist() == [[5, 6, 7]]
    assert both.trail.tolist() == [10, 11, 10]
    assert both.low.shape == (1, 3)
    alone = lanes(5)
    assert joined([alone]) is alone


def test_a_lane_that_no_value_is_left_to_is_out_of_reach() -> None:
    made = lanes(1, 2, 3)
    made.low[0, 1] = 10  # of 0..9
    assert made.reachable().tolist() == [True, False, True]


def test_what_is_met_later_finds_room_without_a_value_and_over_its_range() -> None:
    made = lanes(5, 6)
    made.widen(3, [(0, 9), (-4, 4), (2, 2)])
    assert made.values.tolist() == [[5, 6], [UNKNOWN, UNKNOWN], [UNKNOWN, UNKNOWN]]
    assert made.low.tolist() == [[0, 0], [-4, -4], [2, 2]]
    assert made.high.tolist() == [[9, 9], [4, 4], [2, 2]]
    made.widen(3, [(0, 9), (-4, 4), (2, 2)])
    assert made.values.shape == (3, 2)


def test_a_trail_leads_back_to_where_it_began() -> None:
    trails = Trails.empty()
    first = trails.extend(column(-1, -1), column(100, 101), column(0, 1), column(5, 6))
    second = trails.extend(first[[1, 0, 1]], column(200, 201, 202), column(2, 3, 4), column(7, 8, 9))
    assert (first.tolist(), second.tolist(), trails.count) == ([0, 1], [2, 3, 4], 5)
    assert trails.conditions(int(second[2])) == [(202, 4, 9), (101, 1, 6)]
    assert trails.conditions(int(second[1])) == [(201, 3, 8), (100, 0, 5)]
    assert trails.conditions(-1) == []
    assert trails.extend(second[:1], column(300), column(0), column(0)).tolist() == [5]  # packed, and on
    assert [word for word, _, _ in trails.conditions(5)] == [300, 200, 101]


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 1), st.integers(0, 2)), max_size=20))
def test_groups_are_the_different_rows_in_order_each_with_its_places(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = [(key, at.tolist()) for key, at in groups(*columns)]
    assert found == [(key, [n for n, row in enumerate(rows) if row == key]) for key in sorted(set(rows))]
