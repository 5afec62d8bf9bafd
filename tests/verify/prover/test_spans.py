"""What a lane knows of a word makes a mask, or the word itself, simpler."""

import itertools

import numpy as np
import pytest
from expression_values import value_of

from verify.prover.expressions import WORD, Pool
from verify.prover.forks import compare
from verify.prover.implications import by_common_factor
from verify.prover.lanes import Ints, Lanes
from verify.prover.spans import Spans, masked, united
from verify.prover.state import State


def lanes_of(state: State, word: int, *ends: tuple[int, int]) -> Lanes:
    """Lanes, each with the word in its only column and between two ends."""
    count = len(ends)
    state.base(word)
    low, high = (np.array([end[k] for end in ends], dtype=np.int64)[None, :] for k in (0, 1))
    none = np.zeros(count, dtype=np.int64)
    return Lanes(np.full((1, count), word, dtype=np.int64), low, high, none, none - 1, none, none, none)


def column(count: int, word: int) -> Ints:
    return np.full(count, word, dtype=np.int64)


def test_a_mask_of_neighbouring_bits_drops_what_the_lane_has_below_them_only() -> None:
    state = State((), (0, b""))
    pool: Pool = state.pool
    word = pool.atom("word")
    lanes = lanes_of(state, word, (0, 1023), (1, 1024), (5, 5), (0, 1 << 20))
    spans = Spans(state, lanes)
    whole, plain = pool.sum(0, ((pool.make("srl", word, 4), 16),)), pool.make("and", word, 0x3F0)
    for a, b in ((word, 0x3F0), (0x3F0, word)):
        assert masked(spans, column(4, a), column(4, b)).tolist() == [whole, plain, whole, plain]
    assert masked(spans, column(4, word), column(4, 1023)).tolist()[:2] == [word, pool.make("and", word, 1023)]
    assert set(masked(spans, column(4, word), column(4, 0x2F0)).tolist()) == {pool.make("and", word, 0x2F0)}
    assert masked(spans, column(4, 12), column(4, 6)).tolist() == [4] * 4
    assert masked(spans, column(4, word), column(4, 0)).tolist() == [0] * 4


@pytest.mark.parametrize(("least", "most"), [(-100, 100), (0, WORD)])
def test_a_sign_spread_over_a_word_keeps_the_other_or_nothing_where_the_lane_knows_it(least: int, most: int) -> None:
    """x & (~x >> 31), as GCC writes max(x, 0), for x with sign and without."""
    state = State((), (0, b""))
    pool = state.pool
    word = pool.atom("word", least, most)
    ends = [(0, 7), (100, 100)] + ([(-9, -1), (-1, 0)] if least else [(1 << 31, WORD), ((1 << 31) - 1, 1 << 31)])
    lanes, mask = lanes_of(state, word, *ends), pool.make("sra", pool.sum(WORD, ((word, WORD),)), 31)
    plain = pool.make("and", word, mask)
    for a, b in ((word, mask), (mask, word)):
        assert masked(Spans(state, lanes), column(4, a), column(4, b)).tolist() == [word, word, 0, plain]
    for x in {x for low, high in ends for x in (low, high)}:
        assert value_of(pool, plain, {word: x & WORD}) == (x & WORD if x & WORD < 1 << 31 else 0)


def test_what_was_compared_and_has_one_value_left_becomes_it() -> None:
    state = State((), (0, b""))
    word = state.pool.atom("word")
    high = state.pool.make("srl", word, 8)
    lanes = lanes_of(state, word, (0, 1023))
    lanes.values[0] = high
    lanes.trail[0] = -1
    after, holds = compare(state, lanes, "sltu", column(1, high), column(1, 1))
    values = dict(zip(holds.tolist(), after.values[0].tolist(), strict=True))
    assert values == {True: 0, False: high}


def test_an_or_is_a_sum_where_the_lane_says_that_no_bit_is_shared() -> None:
    """As of a table's entry, 2^14 times what may be negative elsewhere, and the 1 of 1 + entry."""
    state = State((), (0, b""))
    pool = state.pool
    entry, other = pool.atom("node.7", -19661, 1 << 17), pool.atom("other")
    factor, multiple = pool.sum(0, ((entry, 1 << 14),)), pool.sum(0, ((other, 1 << 8),))
    lanes = lanes_of(state, entry, (0, 65_535), (0, 65_536), (-1, 65_535), (7, 7))
    spans = Spans(state, lanes)
    whole, plain = pool.sum(1 << 30, ((entry, 1 << 14),)), pool.make("or", factor, 1 << 30)
    for a, b in ((factor, 1 << 30), (1 << 30, factor)):
        assert united(spans, column(4, a), column(4, b)).tolist() == [whole, plain, plain, whole]
    small = lanes_of(state, entry, (0, 255), (0, 256), (255, 255))
    found = united(Spans(state, small), column(3, multiple), column(3, entry)).tolist()
    assert found == [pool.make("add", multiple, entry), pool.make("or", multiple, entry), found[0]]
    assert united(spans, column(4, 12), column(4, 6)).tolist() == [14] * 4
    assert united(spans, column(4, factor), column(4, -1)).tolist() == [-1] * 4


def test_a_comparison_without_the_factor_of_both_sides_says_what_it_is_with_it() -> None:
    """c * u + a < c * v + b by what is known of u and v, as long as neither wraps; checked with numbers."""
    state = State((), (0, b""))
    pool = state.pool
    u, v = pool.atom("u"), pool.atom("v")
    facts = {f"{x} < {y}": pool.make("sltu", p, q) for x, y, p, q in (("u", "v", u, v), ("v", "u", v, u))}
    state.base(u), state.base(v)
    most = (WORD >> 8) - 1
    fits, wraps = (lanes_of(state, u, (0, end)) for end in (most, most + 2))
    for lanes in (fits, wraps):
        state.widen(lanes)
        lanes.low[1], lanes.high[1] = 0, most
    told = 0
    for a, b in ((0, 0), (1, 0), (0, 1), (5, 255), (255, 5), (256, 0), (0, 256)):
        less = pool.make("sltu", pool.sum(a, ((u, 256),)), pool.sum(b, ((v, 256),)))
        for fact in facts.values():
            for side in (False, True):
                known = frozenset({(fact, side)})
                assert by_common_factor(Spans(state, wraps), known, less, np.array([0])) is None
                said = by_common_factor(Spans(state, fits), known, less, np.array([0]))
                pairs = [{u: x, v: y} for x in range(4) for y in range(4)]
                held = {value_of(pool, less, at) for at in pairs if value_of(pool, fact, at) == side}
                assert said is None or held == {int(said)}
                told += said is not None
    assert told > 10
    assert by_common_factor(Spans(state, fits), frozenset(), less, np.array([0])) is None
    odd = pool.make("sltu", pool.sum(0, ((u, 256), (v, 1))), pool.sum(0, ((v, 256),)))
    assert by_common_factor(Spans(state, fits), frozenset({(facts["u < v"], True)}), odd, np.array([0])) is None


WITHOUT_SIGN, WITH_SIGN = (0, 6), (-3, 3)


def two(state: State, x: int, y: int, ends: tuple[int, int, int, int]) -> Lanes:
    """A lane with two words in its columns, and what it knows of both."""
    rows = [state.base(x), state.base(y)]
    low, high = np.array(ends[:2])[rows, None], np.array(ends[2:])[rows, None]
    none = np.zeros(1, dtype=np.int64)
    return Lanes(np.array([[x], [y]]), low, high, none, none - 1, none, none, none)


@pytest.mark.parametrize(("op", "ends"), [("sltu", WITHOUT_SIGN), ("slt", WITH_SIGN)])
def test_a_comparison_says_what_one_number_is_or_that_it_is_not_0(op: str, ends: tuple[int, int]) -> None:
    numbers = range(ends[0], ends[1] + 1)
    ranges = [(a, b) for a in numbers for b in numbers if a <= b]
    for (a, b), (c, d) in itertools.product(ranges, ranges):
        state = State((), (0, b""))
        x, y = state.pool.atom("x", *ends), state.pool.atom("y", *ends)
        after, holds = compare(state, two(state, x, y, (a, c, b, d)), op, column(1, x), column(1, y))
        for row, side in enumerate(holds.tolist()):
            met = [(p, q) for p in range(a, b + 1) for q in range(c, d + 1) if (p < q) == side]
            assert met, "a side that is nowhere"
            for at, (before, known) in enumerate(zip(((a, b), (c, d)), zip(*met, strict=True), strict=True)):
                said, exact = (after.low[at, row], after.high[at, row]), (min(known), max(known))
                tells = exact[0] == exact[1] or before[0] <= 0 < exact[0]
                assert said == (exact if tells else before)
                if before[0] < before[1] and exact[0] == exact[1]:  # what has one value left becomes it
                    assert after.values[at, row] == exact[0] & WORD


def test_a_comparison_that_signs_turn_says_nothing_of_the_ends() -> None:
    state = State((), (0, b""))
    x, y = state.pool.atom("x", -3, 3), state.pool.atom("y", 0, 6)
    after, _ = compare(state, two(state, x, y, (-3, 2, 3, 4)), "sltu", column(1, x), column(1, y))
    assert (after.low == [[-3], [2]]).all()
    assert (after.high == [[3], [4]]).all()


def test_an_equality_is_one_of_the_difference_that_was_compared_before() -> None:
    """x - y and y - x are one question to a compiler: what is learnt of the one is of the other."""
    for one, other in (("x", "y"), ("y", "x")):
        state = State((), (0, b""))
        x, y = (state.pool.atom(name, 0, 100) for name in (one, other))
        between = state.pool.sum(0, ((x, 1), (y, -1)))
        lanes = lanes_of(state, between, (7, 12))
        lanes.trail[0] = -1
        after, holds = compare(state, lanes, "eq", column(1, between), column(1, 7))
        known = dict(zip(holds.tolist(), zip(after.low[0].tolist(), after.high[0].tolist(), strict=True), strict=True))
        assert known == {True: (7, 7), False: (8, 12)}


def test_what_all_lanes_share_takes_the_memory_of_one_and_an_answer_a_byte() -> None:
    """There are tens of thousands of words with tens of thousands of lanes each."""
    state = State((), (0, b""))
    word, other = state.pool.atom("word"), state.pool.atom("other")
    spans = Spans(state, lanes_of(state, word, (0, 5), (7, 9)))
    assert [end.tolist() for end in spans.of(word)] == [[0, 7], [5, 9]]
    assert [end.tolist() for end in spans.of(other)] == [[0, 0], [WORD, WORD]]
    assert [end.strides for end in spans.of(other)] == [(0,), (0,)]
    answers = spans.less("sltu", word, 6)
    assert answers.tolist() == [1, 0]
    assert answers.itemsize == 1
