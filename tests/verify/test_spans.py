"""What a lane knows of a word makes a mask, or the word itself, simpler."""

import numpy as np

from verify.expressions import Pool
from verify.forks import compare
from verify.lanes import Ints, Lanes
from verify.spans import Spans, masked
from verify.state import State


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
