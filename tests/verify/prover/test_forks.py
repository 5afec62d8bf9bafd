"""Look-ups whose address several words make: each lane has one address, and all lanes together every value."""

from itertools import product

import numpy as np
import pytest

from verify.code.failures import Refused
from verify.prover.forks import split_addresses
from verify.prover.state import State

TABLE, ENTRIES = 0x20000, 4096


def split(terms: list[tuple[str, int, int]], factors: list[int], step: int = 4) -> list[tuple[int, list[int]]]:
    """The addresses of the lanes, less the table's, and the least value of each word there; each has one value."""
    state = State((), (TABLE, bytes(ENTRIES * step)))
    words = [state.pool.atom(*term) for term in terms]
    address = state.pool.sum(TABLE + 64, list(zip(words, factors, strict=True)))
    lanes, addresses = split_addresses(state, state.start(), np.array([address]), step)
    state.widen(lanes)
    rows = [state.bases[word] for word in words]
    assert all((lanes.low[row] == lanes.high[row]).all() for row in rows)
    values = lanes.low[rows].T.tolist()
    return [(int(a) - TABLE - 64, value) for a, value in zip(addresses, values, strict=True)]


@pytest.mark.parametrize(
    ("terms", "factors"),
    [
        ([("x", 0, 3), ("y", 0, 15)], [4, 16]),
        ([("x", -3, 4), ("y", 0, 15)], [4, 64]),
        ([("x", 0, 7), ("y", 0, 1), ("z", 0, 2)], [8, 4, 64]),
    ],
)
def test_each_lane_has_the_address_of_its_values_and_none_is_lost(
    terms: list[tuple[str, int, int]], factors: list[int]
) -> None:
    lanes = split(terms, factors)
    spans = [range(low, high + 1) for _, low, high in terms]
    assert sorted(values for _, values in lanes) == sorted(map(list, product(*spans)))
    assert all(at == sum(v * f for v, f in zip(values, factors, strict=True)) for at, values in lanes)


def test_a_word_that_is_asked_about_through_another_has_its_own_value() -> None:
    """`x ^ 1` is asked about through x: a lane of x = 2 is one of x ^ 1 = 3."""
    state = State((), (TABLE, bytes(ENTRIES)))
    x, y = state.pool.atom("x", 0, 3), state.pool.atom("y", 0, 15)
    turned = state.pool.make("xor", x, 1)
    address = state.pool.sum(TABLE, ((turned, 4), (y, 16)))
    lanes, addresses = split_addresses(state, state.start(), np.array([address]), 4)
    state.widen(lanes)
    row = state.bases[x]
    assert all(((int(x) ^ 1) == (int(a) - TABLE) // 4 % 4) for x, a in zip(lanes.low[row], addresses, strict=True))


def test_words_of_many_values_are_refused() -> None:
    state = State((), (TABLE, bytes(ENTRIES)))
    address = state.pool.sum(TABLE, ((state.pool.atom("x"), 4), (state.pool.atom("y", 0, 3), 16)))
    with pytest.raises(Refused):
        split_addresses(state, state.start(), np.array([address]), 4)
