"""The search of a feature's place: the word of every value, whatever is asked for, and pivots that only save."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.engines import engine_named
from codegen.joint import Placing
from codegen.search import MAX_OPTIMAL, MIN_THRESHOLDS, Ask, SearchNode, cheap_pivots, plan

SMALL = engine_named("ibex-small")
FAR = tuple(range(100, 100 + 4567 * 24, 4567))


def word_of(node: SearchNode, placing: Placing, x: int) -> int:
    while isinstance(node, Ask):
        node = node.above if x > placing.thresholds[node.border] else node.below
    return placing.words[node.place]


@given(
    thresholds=st.lists(st.integers(-(2**31), 2**31 - 2), min_size=1, max_size=40, unique=True).map(sorted),
    xs=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20),
)
def test_every_value_has_the_word_of_its_interval(thresholds: list[int], xs: list[int]) -> None:
    plain = Placing(0, tuple(thresholds), tuple(range(len(thresholds) + 1)))
    placing = plain.asking(cheap_pivots(thresholds))
    root, cycles = plan(placing.thresholds, placing.ends, SMALL)
    beside = [t + step for t in placing.thresholds for step in (0, 1)]
    for x in [*xs, *beside]:
        assert word_of(root, placing, x) == np.searchsorted(thresholds, x, side="left")
    assert cycles <= plan(plain.thresholds, plain.ends, SMALL)[1]


@given(
    words=st.lists(st.integers(0, 3).map(lambda k: 1000 * k), min_size=1, max_size=9),
    shares=st.lists(st.integers(0, 8), min_size=9, max_size=9),
    often=st.booleans(),
)
def test_no_search_is_cheaper(words: list[int], shares: list[int], often: bool) -> None:
    """Of all trees over the intervals, one after the other, in the worst case or on average."""
    thresholds, total = [1500 * k for k in range(len(words) - 1)], sum(shares) or 1

    def share(first: int, last: int) -> float:
        return sum(shares[first : last + 1]) / total

    @cache
    def least(first: int, last: int) -> float:
        if len(set(words[first : last + 1])) == 1:
            return (SMALL.constant(words[first]) + SMALL.jump) * (share(first, last) if often else 1)
        return min(asked(first, border, last) for border in range(first, last))

    def asked(first: int, border: int, last: int) -> float:
        below, above, ask = least(first, border), least(border + 1, last), SMALL.constant(thresholds[border] + 1)
        if not often:
            return ask + max(SMALL.not_taken + max(below, above), SMALL.taken + min(below, above))
        seldom, more = sorted((share(first, border), share(border + 1, last)))
        return below + above + ask * (seldom + more) + SMALL.not_taken * more + SMALL.taken * seldom

    met = [s / total for s in shares[: len(words)]] if often else None
    found = plan(thresholds, [(word,) for word in words], SMALL, met)[1]
    assert found == pytest.approx(least(0, len(words) - 1), abs=1e-9)


def test_a_search_of_very_many_thresholds_is_halved_until_the_cheapest_is_found() -> None:
    placing = Placing(0, tuple(range(0, 3000, 10)), tuple(range(301)))
    root, _ = plan(placing.thresholds, placing.ends, SMALL)
    assert isinstance(root, Ask)
    assert root.border == 150
    assert all(word_of(root, placing, x) == np.searchsorted(placing.thresholds, x) for x in range(-5, 3005, 5))


def test_a_pivot_inside_an_interval_saves_the_second_instruction_of_a_constant() -> None:
    plain = Placing(0, FAR, tuple(range(len(FAR) + 1)))
    asking = plain.asking(cheap_pivots(FAR))
    root, cycles = plan(asking.thresholds, asking.ends, SMALL)
    assert cycles < plan(plain.thresholds, plain.ends, SMALL)[1]
    assert isinstance(root, Ask)
    assert asking.thresholds[root.border] not in FAR


@pytest.mark.parametrize("count", [MIN_THRESHOLDS - 1, MAX_OPTIMAL])
def test_a_search_that_is_short_or_too_long_asks_for_its_thresholds_alone(count: int) -> None:
    assert cheap_pivots(tuple(5000 * k + 100 for k in range(count))) == ()
    assert cheap_pivots(FAR)
