"""Comparisons as words of 0 or 1: each form is right for every value, and the same question is the same word."""

from itertools import product

import pytest
from expression_values import value_of

from verify.prover.bits import asked, both, either, question, without
from verify.prover.expressions import FIRST, MODULUS, WORD, Pool, fold

LOW, HIGH = -3, 9
OPS = ("sltu", "slt", "eq")


@pytest.mark.parametrize(("low", "high"), [(0, 9), (-3, 6), (0, WORD)])
@pytest.mark.parametrize("op", OPS)
def test_a_comparison_is_right_for_every_value(op: str, low: int, high: int) -> None:
    pool = Pool()
    x = pool.atom("x", low, high)
    values = {v & WORD for v in (*range(-12, 13), high, high - 1, MODULUS >> 1, (MODULUS >> 1) - 1)}
    values = {v for v in values if low <= v <= high or low <= v - MODULUS <= high}
    words = [x, pool.sum(2, ((x, 1),)), pool.sum(5, ((x, -1),)), pool.make("xor", x, 2), pool.make("srl", x, 1)]
    for word, bound, turned in product(words, (0, 1, 2, 7, WORD, MODULUS >> 1), (False, True)):
        a, b = (bound, word) if turned else (word, bound)
        bit = asked(pool, op, a, b)
        for v in values:
            args = (value_of(pool, e, {x: v}) for e in (a, b))
            assert value_of(pool, bit, {x: v}) == fold(op, *args), (pool.text(word), bound, v)


def test_two_comparisons_together_are_right_for_every_value() -> None:
    pool = Pool()
    x, y = pool.atom("x", LOW, HIGH), pool.atom("y", 0, 3)
    single = [asked(pool, op, pool.sum(c, ((x, 1),)), d) for op in OPS for c, d in ((0, 1), (3, 4))]
    single += [without(pool, bit) for bit in single] + [asked(pool, "eq", y, 2), asked(pool, "sltu", y, x), 0, 1]
    for a, b in product(single, repeat=2):
        for v, w in product(range(LOW, HIGH + 1), range(4)):
            inputs = {x: v & WORD, y: w}
            p, q = value_of(pool, a, inputs), value_of(pool, b, inputs)
            assert value_of(pool, both(pool, a, b), inputs) == p & q
            assert value_of(pool, either(pool, a, b), inputs) == p | q


def test_the_same_question_is_the_same_word() -> None:
    pool = Pool()
    x, y = pool.atom("x"), pool.atom("y")
    inside = both(pool, asked(pool, "sltu", 1, x), asked(pool, "sltu", x, 5))
    assert inside == asked(pool, "sltu", pool.sum(-2, ((x, 1),)), 3) == both(pool, inside, asked(pool, "sltu", x, 9))
    same = asked(pool, "eq", x, y)
    apart = pool.make("xor", x, y)
    assert (
        same == asked(pool, "eq", y, x) == asked(pool, "sltu", apart, 1) == without(pool, asked(pool, "sltu", 0, apart))
    )
    assert same == asked(pool, "sltu", pool.make("sub", y, x), 1) == asked(pool, "sltu", 0, same)
    assert without(pool, same) == asked(pool, "eq", same, 0)
    assert asked(pool, "eq", x, 3) == asked(pool, "sltu", pool.make("xor", x, 3), 1)
    assert both(pool, asked(pool, "sltu", x, 3), asked(pool, "sltu", 7, x)) == 0
    assert either(pool, asked(pool, "sltu", x, 3), asked(pool, "sltu", 2, x)) == 1
    assert question(pool, x) is question(pool, 7) is question(pool, pool.sum(2, ((same, -1),))) is None
    assert FIRST <= both(pool, same, inside) == pool.make("and", same, inside)
