"""Numbers of a specification, and quotients by constants as compilers make them.

A rewriting without its condition is no quotient: the solver finds the number.
"""

import numpy as np
import pytest
from bitwuzla import Kind
from hypothesis import given
from hypothesis import strategies as st

from verify.adapter.values import AdapterWords, Unknowns
from verify.rv64.values import MachineWord, MachineWords, PointerUse
from verify.rv64.words import XLEN

WORD = 1 << XLEN
UNSIGNED = (False, False)


def multiplier(divisor: int) -> int:
    """The least number with multiplier x divisor >= 2^64."""
    return -(-WORD // divisor)


def bounded(unknowns: Unknowns, bits: int) -> MachineWord:
    return unknowns.words.low(unknowns.u64("number").word, bits, False)


@given(st.integers(2, 1 << 20), st.integers(1, 40), st.lists(st.integers(0, WORD - 1), min_size=1, max_size=20))
def test_a_product_with_a_multiplier_is_the_quotient(divisor, bits, drawn):
    unknowns, c = Unknowns(), multiplier(divisor)
    words, number = unknowns.words, bounded(unknowns, bits)
    found = words.high_product(number, words.number(c), UNSIGNED)
    due = words.quotient(number, words.number(divisor))
    assert found.term == due.term
    assert (found.samples == due.samples).all()
    ends = [0, (1 << bits) - 1, divisor - 1, divisor, *drawn]
    for value in (value % (1 << bits) for value in ends):
        assert value * c >> XLEN == value // divisor


@given(st.integers(0, WORD - 1), st.integers(1, 64))
def test_any_product_keeps_its_value(factor, bits):
    unknowns = Unknowns()
    words, number = unknowns.words, bounded(unknowns, bits)
    found = words.high_product(number, words.number(factor), UNSIGNED)
    assert [int(value) for value in np.broadcast_to(found.samples, number.samples.shape)] == [
        int(value) * factor >> XLEN for value in number.samples
    ]


def test_a_dividend_that_may_be_too_large_is_left_a_product(monkeypatch):
    """The product of 64 bits with the multiplier of 1000 is no quotient."""
    large = WORD - WORD % 1000 - 1

    def differs() -> bool:
        unknowns = Unknowns()
        words, bits, number = unknowns.words, unknowns.bits, unknowns.u64("number").word
        found = words.high_product(number, words.number(multiplier(1000)), UNSIGNED)
        plain = MachineWords.high_product(words, number, words.number(multiplier(1000)), UNSIGNED)
        at = bits.term(Kind.EQUAL, [number.term, bits.number(large, XLEN)])
        return bits.satisfiable([at, bits.term(Kind.DISTINCT, [found.term, plain.term])], "the quotient")

    assert large * multiplier(1000) >> XLEN != large // 1000
    assert not differs()
    monkeypatch.setattr(AdapterWords, "_at_most", lambda *_: True)
    assert differs()


def test_numbers_wrap_in_their_bits():
    unknowns = Unknowns()
    most, one = unknowns.number((1 << 32) - 1), unknowns.number(1)
    assert (most + one).word.signed == 0
    assert (most.of_bits(64) + one).word.signed == 1 << 32
    assert ((most.of_bits(64) + one) >> 1).of_bits(32).word.signed == 1 << 31
    assert (one - 2).word.signed == (1 << 32) - 1
    assert (most // 0).word.signed == (1 << 32) - 1
    assert (most.at_most(5).word.signed, one.at_least(5).word.signed) == (5, 5)
    with pytest.raises(AssertionError):
        one + most.of_bits(64)


@pytest.mark.parametrize("offset", [0, 1, 2, 8])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_pointer_is_no_factor(offset, swapped):
    words = Unknowns().words
    factors = [Unknowns().u32("x").word, words.pointer("memory", offset)]
    with pytest.raises(PointerUse):
        words.high_product(*(factors[::-1] if swapped else factors), UNSIGNED)
