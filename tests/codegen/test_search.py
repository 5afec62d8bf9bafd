"""The search of a feature's place: the word of every value, whatever is asked for, and pivots that only save."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.engines import engine_named
from codegen.joint import Placing
from codegen.search import LEAST, MOST, Ask, SearchNode, cheap_pivots, plan

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


def test_a_pivot_inside_an_interval_saves_the_second_instruction_of_a_constant() -> None:
    plain = Placing(0, FAR, tuple(range(len(FAR) + 1)))
    asking = plain.asking(cheap_pivots(FAR))
    root, cycles = plan(asking.thresholds, asking.ends, SMALL)
    assert cycles < plan(plain.thresholds, plain.ends, SMALL)[1]
    assert isinstance(root, Ask)
    assert asking.thresholds[root.border] not in FAR


@pytest.mark.parametrize("count", [LEAST - 1, MOST])
def test_a_search_that_is_short_or_too_long_asks_for_its_thresholds_alone(count: int) -> None:
    assert cheap_pivots(tuple(5000 * k + 100 for k in range(count))) == ()
    assert cheap_pivots(FAR)
