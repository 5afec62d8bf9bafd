"""Expressions keep value and range through every rewriting; intervals say exactly where a comparison holds."""

import pytest
from expression_values import value_of
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from verify.prover.expressions import MODULUS, WORD, Pool, fold
from verify.prover.intervals import truth

OPS = ["add", "sub", "and", "or", "xor", "sll", "srl", "sra", "sltu", "slt", "eq", "mul", "mulhu", "mulh", "mulhsu"]
RANGES = ((0, WORD), (-(1 << 15), (1 << 15) - 1), (0, 4_000_000), (0, 7))
CONSTANTS = st.one_of(st.integers(0, 40), st.integers(0, WORD), st.sampled_from([1 << k for k in range(32)]),
                      st.sampled_from([(1 << k) - 1 for k in range(33)]))  # fmt: skip


@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_every_form_has_the_value_and_the_range_it_says(data: st.DataObject) -> None:
    pool, inputs = Pool(), {}
    for n, (low, high) in enumerate(RANGES):
        edges = st.sampled_from([low, high, 0, 1])
        inputs[pool.atom(f"x{n}", low, high)] = data.draw(st.one_of(edges, st.integers(low, high))) & WORD
    known = [*inputs.items(), *((c, c) for c in data.draw(st.lists(CONSTANTS, min_size=3, max_size=3)))]
    for _ in range(data.draw(st.integers(1, 8))):
        op = data.draw(st.sampled_from(OPS))
        (a, x), (b, y) = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(known))
        if op in ("sll", "srl", "sra"):
            b = y = data.draw(st.integers(0, 31))
        e, expected = pool.make(op, a, b), fold(op, x, y)
        assert value_of(pool, e, inputs) == expected, f"{op} {pool.text(a)} {pool.text(b)} -> {pool.text(e)}"
        low, high = pool.range(e)
        assert any(low <= expected + turn <= high for turn in (-MODULUS, 0, MODULUS))
        known.append((e, expected))
    (a, x), (b, y) = known[-1], data.draw(st.sampled_from(known))
    for op in ("sltu", "slt", "eq"):
        found = truth(pool, op, a, b)
        if found is None:
            continue
        low, high = pool.range(found.base)
        integer = next(
            v for t in (-MODULUS, 0, MODULUS) if low <= (v := value_of(pool, found.base, inputs) + t) <= high
        )
        holds = [piece[2] for piece in found.pieces if piece[0] <= integer <= piece[1]]
        assert holds == [bool(fold(op, x, y))]


def test_a_product_is_one_expression_however_its_halves_are_taken() -> None:
    pool = Pool()
    a, b = pool.atom("a", 0, WORD), pool.atom("b", 0, (1 << 30) - 1)
    low, high = pool.make("mul", a, b), pool.make("mulhu", a, b)
    joined = pool.make("or", pool.make("srl", low, 30), pool.make("sll", high, 2))
    assert joined == pool.make("mulhu", a, pool.make("sll", b, 2)) == pool.product(b, a, 30)


def test_a_factor_loses_its_power_of_two_whatever_the_sign_of_its_constant() -> None:
    pool = Pool()
    x, y = pool.atom("x", -7680, 13107), pool.atom("y", 0, (1 << 30) - 1)
    scaled = pool.sum(1 << 31, ((x, 1 << 15),))
    assert pool.product(scaled, y, 31) == pool.product(pool.sum(65536, ((x, 1),)), y, 16)
    assert pool.product(x, y, 34) == pool.make("srl", pool.product(x, y, 32), 2)


def test_bits_below_a_multiple_of_a_power_of_two_are_added() -> None:
    pool = Pool()
    multiple, any_word = pool.atom("multiple", 0, 248, 8), pool.atom("any")
    assert pool.make("or", multiple, 7) == pool.sum(7, ((multiple, 1),))
    assert pool.make("or", pool.make("sll", multiple, 1), 15) == pool.sum(15, ((multiple, 2),))
    assert pool.op(pool.make("or", multiple, 8)) == pool.op(pool.make("or", any_word, 1)) == "or"


def test_a_product_is_one_however_its_factors_were_shifted() -> None:
    pool = Pool()
    x, y = pool.atom("x"), pool.atom("y")
    four, two = pool.make("sll", x, 2), pool.make("sll", x, 1)
    whole = pool.product(four, y, 32)
    quarter, low = pool.make("srl", four, 2), pool.make("and", x, (1 << 30) - 1)
    same = [pool.product(quarter, y, 30), pool.product(low, y, 30), pool.product(y, low, 30)]
    others = [
        pool.product(quarter, y, 29),
        pool.product(pool.make("and", x, (1 << 29) - 1), y, 30),
        pool.product(pool.make("and", x, (1 << 30) - 2), y, 30),
        pool.product(pool.make("srl", two, 2), y, 30),
        pool.product(x, y, 30),
        pool.product(four, x, 32),
        x,
        7,
    ]
    for a in (whole, *same):
        assert all(pool.one_product(a, b) and pool.one_product(b, a) for b in (whole, *same))
        assert not any(pool.one_product(a, b) or pool.one_product(b, a) for b in others)
    odd = pool.sum(1, ((pool.make("sll", pool.make("srl", x, 1), 1), 1),))
    assert pool.one_product(pool.product(pool.make("or", x, 1), y, 32), pool.product(odd, y, 32))
    assert not pool.one_product(pool.product(pool.make("or", x, 2), y, 32), pool.product(odd, y, 32))
    assert pool.one_product(pool.product(quarter, y, 34), pool.product(four, y, 36))
    assert not pool.one_product(pool.product(quarter, y, 34), pool.product(four, y, 35))
    assert not pool.one_product(pool.make("srl", pool.product(x, y, 20), 12), pool.product(x, y, 32))


@given(st.integers(0, WORD), st.integers(0, WORD), st.integers(0, 31), st.integers(1, 31))
def test_words_that_are_one_product_have_one_value(a: int, b: int, bits: int, shift: int) -> None:
    pool = Pool()
    x, y = pool.atom("x"), pool.atom("y")
    factors = [x, pool.make("sll", x, bits), pool.make("srl", pool.make("sll", x, bits), bits)]
    factors += [
        pool.make("or", x, WORD >> bits),
        pool.sum(WORD >> bits, ((pool.make("and", x, ~(WORD >> bits) & WORD), 1),)),
    ]
    factors += [pool.make("and", x, WORD >> bits), pool.make("and", x, MODULUS - (1 << bits) & WORD)]
    made = [pool.product(f, y, s) for f in factors for s in (shift, shift + bits, 32)]
    for p in made:
        for q in made:
            if pool.one_product(p, q):
                values = {x: a, y: b}
                assert value_of(pool, p, values) == value_of(pool, q, values)


def test_bits_above_a_small_word_are_added() -> None:
    pool = Pool()
    small, large = pool.atom("small", 0, 7), pool.atom("large", 0, 8)
    assert pool.make("or", small, 24) == pool.sum(24, ((small, 1),))
    assert pool.op(pool.make("or", large, 24)) == "or"


def test_words_without_a_bit_in_common_are_added() -> None:
    pool = Pool()
    bit, three, word = pool.atom("bit", 0, 1), pool.atom("three", 0, 7), pool.atom("word")
    rank = pool.make("sll", pool.make("srl", word, 31), 3)
    for low in (bit, three):
        assert pool.make("or", rank, low) == pool.make("or", low, rank) == pool.make("add", rank, low)
    assert pool.op(pool.make("or", rank, pool.atom("eight", 0, 8))) == "or"
    assert pool.op(pool.make("or", rank, pool.atom("below", -1, 7))) == "or"
    assert pool.op(pool.make("or", pool.make("sll", word, 3), word)) == "or"
    assert (pool.op(pool.make("and", rank, bit)), pool.op(pool.make("xor", rank, bit))) == ("and", "xor")


def test_a_sign_spread_over_a_word_masks_as_the_sign_multiplies() -> None:
    pool = Pool()
    word, bit, below = pool.atom("word"), pool.atom("bit", 0, 1), pool.atom("below", -2, 0)
    sign = pool.make("srl", word, 31)
    for mask in (1, 3, 11, 0x80, WORD - 7, 1 << 31):
        assert pool.make("and", pool.make("sra", word, 31), mask) == pool.sum(0, ((sign, mask),))
        assert pool.make("and", pool.sum(0, ((bit, -1),)), mask) == pool.sum(0, ((bit, mask),))
        assert pool.make("and", pool.sum(WORD, ((bit, 1),)), mask) == pool.sum(mask, ((bit, -mask),))
    for plain in (below, pool.make("sra", word, 30)):
        assert pool.make("and", plain, 11) != pool.sum(0, ((plain, -11),))


def test_a_multiple_is_a_question_about_what_is_multiplied() -> None:
    pool = Pool()
    word, large = pool.atom("word", 0, 9), pool.atom("large", 0, (WORD // 11) + 1)
    times, over = pool.sum(5, ((word, 11),)), pool.sum(0, ((large, 11),))
    found = truth(pool, "sltu", times, 50)
    assert found is not None
    assert (found.base, found.pieces) == (word, ((0, 4, True), (5, 9, False)))
    nowhere = truth(pool, "eq", times, 50)
    assert nowhere is not None
    assert nowhere.pieces == ((0, 9, False),)
    beyond = truth(pool, "sltu", over, 50)
    assert beyond is not None
    assert beyond.base == over


def test_neighbouring_bits_are_those_below_a_bit_without_the_lowest() -> None:
    pool = Pool()
    word, short = pool.atom("word"), pool.atom("short", 0, 255)
    inner = pool.make("srl", pool.make("and", word, 0x3FF), 4)
    assert pool.make("and", word, 0x3F0) == pool.make("sll", inner, 4)
    assert pool.make("and", short, 0xF0) == pool.make("sll", pool.make("srl", short, 4), 4)
    assert pool.op(pool.make("and", word, 0x3F1)) == pool.op(pool.make("and", word, 0x2F0)) == "and"


@pytest.mark.parametrize(("shift", "mask"), [(4, 16), (1, 6), (2, 124), (2, 5), (31, 1 << 31)])
def test_a_word_is_shifted_and_then_masked_as_it_is_masked_and_then_shifted(shift: int, mask: int) -> None:
    pool = Pool()
    x = pool.atom("x")
    shifted = pool.make("and", pool.make("sll", x, shift), mask)
    whole = mask >> shift == WORD >> shift  # the mask drops nothing that the shift leaves
    assert shifted == pool.make("sll", x if whole else pool.make("and", x, mask >> shift), shift)


def test_not_of_a_bit_is_a_difference() -> None:
    pool = Pool()
    bit, word = pool.atom("bit", 0, 1), pool.atom("word")
    assert pool.make("xor", bit, 1) == pool.sum(1, ((bit, -1),))
    assert pool.op(pool.make("xor", word, 1)) == "xor"


@given(st.integers(0, WORD), st.sampled_from(["srl", "sra"]), st.integers(1, 31), st.integers(0, 31), st.booleans())
def test_what_is_shifted_right_and_back_is_what_it_was_above_the_low_bits(
    value: int, op: str, k: int, back: int, whole: bool
) -> None:
    pool = Pool()
    x = pool.atom("x")
    shifted = pool.make(op, pool.make("sll", x, k) if whole else x, k)
    word = pool.make("sll", shifted, back)
    expected = fold("sll", fold(op, fold("sll", value, k) if whole else value, k), back)
    assert value_of(pool, word, {x: value}) == expected
    if op == "sra":
        assert (word == pool.make("sll", x, back)) is (whole and back >= k)


def test_a_half_word_that_is_loaded_with_its_sign_is_what_it_was_at_the_top() -> None:
    """As compilers ask whether it is 0."""
    pool = Pool()
    half = pool.atom("half", 0, 65535)
    top = pool.make("sll", half, 16)
    loaded = pool.make("sra", top, 16)
    assert pool.make("eq", pool.make("sll", loaded, 16), 0) == pool.make("eq", top, 0)
    assert loaded != half


@settings(max_examples=examples(300))
@given(st.data())
def test_a_sum_of_multiples_is_shifted_down_word_by_word_where_it_does_not_wrap(data: st.DataObject) -> None:
    pool, k = Pool(), data.draw(st.integers(1, 20))
    inputs, terms = {}, []
    for n in range(data.draw(st.integers(1, 3))):
        low = data.draw(st.sampled_from([0, -3, -(1 << 15)]))
        high = data.draw(st.sampled_from([3, 1023, (1 << 15) - 1, WORD >> 1]))
        atom = pool.atom(f"x{n}", low, high)
        inputs[atom] = data.draw(st.one_of(st.sampled_from([low, high, 0]), st.integers(low, high))) & WORD
        terms.append((atom, data.draw(st.integers(-5, 5)) << k))
    shifted = pool.sum(data.draw(st.integers(-4, 1 << 12)) << k, terms)
    down = pool.make("srl", shifted, k)
    assert value_of(pool, down, inputs) == value_of(pool, shifted, inputs) >> k
    low, high = pool.range(down)
    assert low <= value_of(pool, down, inputs) <= high


@pytest.mark.parametrize(
    ("low", "high", "factor", "constant", "sum_of_words"),
    [
        (0, 255, 1, 1, True),
        (0, 65534, 1, 1, True),
        (0, 65535, 1, 1, False),  # wraps
        (0, 255, 1, -1, False),  # is less than 0
        (1, 255, 1, -1, True),
        (0, 255, -1, 255, True),
        (0, 256, -1, 255, False),
    ],
)
def test_two_values_of_16_bits_are_taken_apart_again(
    low: int, high: int, factor: int, constant: int, sum_of_words: bool
) -> None:
    pool = Pool()
    x = pool.atom("x", low, high)
    above = pool.sum(constant << 16, [(x, factor << 16)])
    assert (pool.make("srl", above, 16) == pool.sum(constant, [(x, factor)])) is sum_of_words


def test_bits_of_a_sum_that_has_none_of_them_are_folded() -> None:
    pool = Pool()
    x = pool.atom("x", 0, 15)
    assert pool.make("and", pool.sum(384, [(x, 512)]), 384) == 384
