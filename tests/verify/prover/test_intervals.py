"""Where a comparison of one word holds: a word that is mixed with a constant by exclusive or asks for one value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.prover.expressions import WORD, Pool
from verify.prover.intervals import truth

SMALL = st.integers(2, 2**20)


def asked(op: str, mixed: int, other: int) -> tuple[int, int]:
    """The operands of the question, whose constant may stand on either side."""
    return (0, mixed) if op == "is not" else (mixed, 1 if op == "is" else other)


@pytest.mark.parametrize("op", ["is", "is not", "eq"])
@given(mask=SMALL, other=SMALL)
def test_exclusive_or_with_a_constant_asks_for_one_value(op: str, mask: int, other: int) -> None:
    pool = Pool()
    word = pool.atom("word")
    mixed = pool.make("xor", mask, word)
    a, b = asked(op, mixed, other)
    found = truth(pool, "eq" if op == "eq" else "sltu", a, b)
    assert found is not None
    assert found.base == word
    value = mask ^ other if op == "eq" else mask
    for near in (0, max(value - 1, 0), value, value + 1, WORD):
        holds = next(holds for low, high, holds in found.pieces if low <= near <= high)
        expected = {"is": near == mask, "is not": near != mask, "eq": near == mask ^ other}[op]
        assert holds == expected


def test_other_questions_about_it_stay_what_they_are() -> None:
    pool = Pool()
    word = pool.atom("word")
    mixed = pool.make("xor", 6, word)
    found = truth(pool, "sltu", mixed, 5)
    assert found is None or found.base == mixed
