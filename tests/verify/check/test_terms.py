"""The checker's terms: every operation and every simplification means what SMT-LIB says, and each is made."""

import itertools
import operator

import pytest
from term_values import SMT, value_of
from term_values import signed as signed_of

from verify.check import terms
from verify.check.terms import (
    BOOL,
    FALSE,
    NARROW,
    TRUE,
    Term,
    concat,
    const,
    extend,
    extract,
    ite,
    make,
    negate,
    part,
    signed,
    text,
    unshifted,
    var,
)

FULL, HALF = 0xFFFF_FFFF, 1 << 31
EDGES = (0, 1, 2, 5, 31, 32, 33, 255, 256, 0x7FFF, 0x8000, 0xFFFF, HALF - 1, HALF, HALF + 1, FULL - 1, FULL)
WIDTH = {"bvult": 0, "bvslt": 0, "=": 0, "prod": 64}
OPERATIONS = [op for op in SMT if op not in ("not", "zero", "sign")]
X, Y, Z, C = var("terms.x"), var("terms.y"), var("terms.z"), var("terms.c", BOOL)


def as_signed(a: int, width: int = 32) -> int:
    return signed_of(a, width)


def value(a: Term, env: dict[Term, int]) -> int:
    return value_of(a, {variable.value: n for variable, n in env.items()}, {})


def test_shifts_by_constants_are_one_shift_where_that_is_the_same() -> None:
    for first, second in [(3, 4), (16, 15), (16, 16), (31, 31), (FULL, 1), (1, FULL)]:
        twice = make("bvshl", make("bvshl", X, const(first)), const(second))
        for x in EDGES:
            wanted = (x << first + second) % 2**32 if first + second < 32 else 0
            assert value(twice, {X: x}) == wanted, (first, second)
    unknown = make("bvshl", make("bvshl", X, Y), const(3))
    assert value(unknown, {X: 5, Y: 2}) == 5 << 5


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation_means_what_smt_lib_says_folded_or_not(op: str) -> None:
    for a, b in itertools.product(EDGES, EDGES):
        wanted = int(SMT[op](32, a, b)) % (1 << (WIDTH.get(op, 32) or 1))
        env = {X: a, Y: b}
        for left, right in itertools.product((const(a), X), (const(b), Y)):
            made = make(op, left, right)
            assert made.width == WIDTH.get(op, 32)
            assert value(made, env) == wanted, (op, a, b, left.op, right.op)
    if op not in WIDTH:
        for a, b in itertools.product(EDGES, (0, 1, 63, 64, 65, 1 << 63)):
            assert make(op, const(a << 32 | 5, 64), const(b, 64)).value == int(SMT[op](64, a << 32 | 5, b)) % (1 << 64)


def test_a_question_is_negated_once() -> None:
    question = make("bvult", X, Y)
    assert negate(question).op == "not"
    assert negate(negate(question)) is question
    assert (negate(TRUE), negate(FALSE)) == (FALSE, TRUE)
    assert (TRUE.width, TRUE.value, FALSE.value) == (BOOL, 1, 0)


def same() -> dict[str, tuple[Term, Term]]:
    """Made when a test asks, as everything here is: so that a mutant of ``make`` makes it too."""
    return {
        "the same twice is one": (make("bvadd", X, Y), make("bvadd", X, Y)),
        "the order of a sum": (make("bvadd", X, Y), make("bvadd", Y, X)),
        "the order of a product": (make("prod", X, Y), make("prod", Y, X)),
        "the order of a low product": (make("bvmul", X, Y), make("bvmul", Y, X)),
        "the order of and": (make("bvand", X, Y), make("bvand", Y, X)),
        "the order of or": (make("bvor", X, Y), make("bvor", Y, X)),
        "the order of xor": (make("bvxor", X, Y), make("bvxor", Y, X)),
        "the order of an equality": (make("=", X, Y), make("=", Y, X)),
        "a constant goes last": (make("bvadd", const(3), X), make("bvadd", X, const(3))),
        "x - x": (make("bvsub", X, X), const(0)),
        "x - 3": (make("bvsub", X, const(3)), make("bvadd", X, const(FULL - 2))),
        "x = x": (make("=", X, X), TRUE),
        "x < x": (make("bvult", X, X), FALSE),
        "x < x by sign": (make("bvslt", X, X), FALSE),
        "x < 0": (make("bvult", X, const(0)), FALSE),
        "x + 0": (make("bvadd", X, const(0)), X),
        "x | 0": (make("bvor", X, const(0)), X),
        "x ^ 0": (make("bvxor", X, const(0)), X),
        "x << 0": (make("bvshl", X, const(0)), X),
        "x >> 0": (make("bvlshr", X, const(0)), X),
        "x >> 0 by sign": (make("bvashr", X, const(0)), X),
        "x & 0": (make("bvand", X, const(0)), const(0)),
        "x * 0": (make("bvmul", X, const(0)), const(0)),
        "all of x * 0": (make("prod", X, const(0)), const(0, 64)),
        "x & all": (make("bvand", X, const(FULL)), X),
        "x & 0xff": (make("bvand", X, const(255)), extend(extract(X, 7, 0), 32, False)),
        "x & 1": (make("bvand", X, const(1)), extend(extract(X, 0, 0), 32, False)),
        "the lowest bit cleared": (
            make("bvand", X, const(FULL - 1)),
            make("bvshl", make("bvlshr", X, const(1)), const(1)),
        ),
        "all but the highest bit cleared": (
            make("bvand", X, const(HALF)),
            make("bvshl", make("bvlshr", X, const(31)), const(31)),
        ),
        "bits cleared that a shift to the left has cleared": (
            make("bvand", make("bvshl", X, const(3)), const(FULL - 7)),
            make("bvshl", X, const(3)),
        ),
        "the lowest bit cleared in 64": (
            make("bvand", concat(X, Y), const(-2, 64)),
            make("bvshl", make("bvlshr", concat(X, Y), const(1, 64)), const(1, 64)),
        ),
        "(x + 3) + 4": (make("bvadd", make("bvadd", X, const(3)), const(4)), make("bvadd", X, const(7))),
        "(x + 3) - 3": (make("bvsub", make("bvadd", X, const(3)), const(3)), X),
        "x < x + c, no wrap": (make("bvult", X, make("bvadd", X, const(3))), make("bvult", X, const(FULL - 2))),
        "x + c < x, a wrap": (make("bvult", make("bvadd", X, const(3)), X), negate(make("bvult", X, const(FULL - 2)))),
        "bits by a sign": (
            make("bvand", make("bvashr", X, const(31)), const(11)),
            ite(make("bvslt", X, const(0)), const(11), const(0)),
        ),
        "the lowest bit by a sign": (
            make("bvand", const(1), make("bvashr", X, const(31))),
            ite(make("bvslt", X, const(0)), const(1), const(0)),
        ),
        "bits by a sign in 64": (
            make("bvand", make("bvashr", concat(X, Y), const(63, 64)), const(6, 64)),
            ite(make("bvslt", concat(X, Y), const(0, 64)), const(6, 64), const(0, 64)),
        ),
        "a sum with a choice of constants": (
            make("bvadd", ite(C, const(3), const(FULL)), const(4)),
            ite(C, const(7), const(3)),
        ),
        "a choice of constants shifted": (
            make("bvshl", ite(C, const(3), const(4)), const(1)),
            ite(C, const(6), const(8)),
        ),
        "of a choice of constants": (make("=", ite(C, const(3), const(4)), const(3)), C),
        "of the other choice": (make("=", ite(C, const(3), const(4)), const(4)), negate(C)),
        "of neither": (make("=", ite(C, const(3), const(4)), const(5)), FALSE),
        "a choice that is made": (ite(TRUE, X, Y), X),
        "the other one": (ite(FALSE, X, Y), Y),
        "no choice": (ite(C, X, X), X),
        "a condition as its value": (ite(C, TRUE, FALSE), C),
        "its opposite": (ite(C, FALSE, TRUE), negate(C)),
        "all bits": (extract(X, 31, 0), X),
        "bits of bits": (extract(extract(X, 23, 8), 11, 4), extract(X, 19, 12)),
        "bits of a constant": (extract(const(0xABCD1234), 15, 8), const(0x12, 8)),
        "low bits of an extension": (extract(extend(extract(X, 15, 0), 32, True), 7, 0), extract(X, 7, 0)),
        "just the bits that were extended": (extract(extend(extract(X, 15, 0), 32, False), 15, 0), extract(X, 15, 0)),
        "high bits of an extension": (extract(extend(X, 64, False), 63, 32), const(0)),
        "bits of a shift to the left": (extract(make("bvshl", X, const(8)), 31, 8), extract(X, 23, 0)),
        "bits of a shift to the right": (extract(make("bvlshr", X, const(8)), 23, 0), extract(X, 31, 8)),
        "upper of two words": (extract(concat(X, Y), 63, 32), X),
        "lower of two words": (extract(concat(X, Y), 31, 0), Y),
        "some of the upper": (extract(concat(X, Y), 47, 40), extract(X, 15, 8)),
        "some of the lower": (extract(concat(X, Y), 15, 8), extract(Y, 15, 8)),
        "bits put together": (concat(extract(X, 15, 8), extract(X, 7, 0)), extract(X, 15, 0)),
        "constants put together": (concat(const(0xAB, 8), const(0xCD, 8)), const(0xABCD, 16)),
        "less what is less than nothing": (make("bvsub", X, make("bvsub", const(0), Y)), make("bvadd", X, Y)),
        "twice": (make("bvadd", Y, Y), make("bvshl", Y, const(1))),
        "twice, and twice again": (make("bvshl", make("bvshl", Y, const(1)), const(1)), make("bvshl", Y, const(2))),
        "no extension": (extend(X, 32, True), X),
        "a constant by its sign": (extend(const(0x80, 8), 32, True), const(0xFFFF_FF80)),
        "a constant without": (extend(const(0x80, 8), 32, False), const(0x80)),
        "what the left shift drops": (
            make("bvshl", extend(extract(X, 15, 0), 32, True), const(16)),
            make("bvshl", X, const(16)),
        ),
        "and that is not signed": (
            make("bvshl", extend(extract(X, 15, 0), 32, False), const(24)),
            make("bvshl", X, const(24)),
        ),
        "two halves side by side": (
            make("bvor", make("bvshl", X, const(12)), make("bvlshr", Y, const(20))),
            extract(concat(X, Y), 51, 20),
        ),
        "and the other way round": (
            make("bvor", make("bvlshr", Y, const(20)), make("bvshl", X, const(12))),
            extract(concat(X, Y), 51, 20),
        ),
        "side by side, one bit and the others": (
            make("bvor", make("bvshl", X, const(1)), make("bvlshr", Y, const(31))),
            extract(concat(X, Y), 62, 31),
        ),
        "one to the left and back": (
            make("bvlshr", make("bvshl", X, const(1)), const(1)),
            extend(extract(X, 30, 0), 32, False),
        ),
        "narrow to the left and back": (
            make("bvlshr", make("bvshl", X, const(16)), const(16)),
            extend(extract(X, 15, 0), 32, False),
        ),
        "narrow to the left and back by sign": (
            make("bvashr", make("bvshl", X, const(24)), const(24)),
            extend(extract(X, 7, 0), 32, True),
        ),
    }


def test_one_meaning_is_one_term() -> None:
    for what, (found, wanted) in same().items():
        assert found is wanted, what


def test_operands_stand_in_the_order_they_were_made_constants_last() -> None:
    older, newer = const(0x7654_3210), var("terms.later")
    assert make("bvadd", older, newer).args == (newer, older)
    assert make("bvadd", newer, older).args == (newer, older)
    assert make("bvadd", Y, X).args == make("bvadd", X, Y).args == (X, Y)
    right = make("bvlshr", X, const(24))
    left = make("bvshl", newer, const(8))  # which no other test makes, so that it is the younger one
    assert make("bvor", left, right) is make("bvor", right, left) is extract(concat(newer, X), 55, 24)


def test_an_equality_with_a_choice_is_taken_apart_only_where_both_are_constants() -> None:
    for choice in (ite(C, X, const(3)), ite(C, const(3), X)):
        assert make("=", choice, const(3)).op == "="


def test_a_mask_is_a_choice_only_of_a_sign_that_is_spread_over_the_word() -> None:
    for mask in (make("bvashr", X, const(30)), make("bvlshr", X, const(31)), make("bvashr", X, Y)):
        assert make("bvand", mask, const(11)).op == "bvand"


def test_only_sums_comparisons_and_shifts_to_the_left_go_into_a_choice() -> None:
    choice = ite(C, const(3), const(4))
    assert [make(op, choice, const(1)).op for op in ("bvlshr", "bvxor", "bvor")] == ["bvlshr", "bvxor", "bvor"]
    assert (make("bvult", choice, X).op, make("bvslt", X, choice).op) == ("bvult", "bvslt")


def test_a_bit_compared_with_a_number_is_its_condition() -> None:
    bit = ite(C, const(1), const(0))
    assert make("bvult", const(0), bit) is make("=", bit, const(1)) is C
    assert make("bvult", bit, const(1)) is negate(C)
    assert make("bvslt", bit, const(0)) is make("bvult", const(1), bit) is FALSE
    assert make("bvslt", const(-1), bit) is make("bvult", bit, const(2)) is TRUE


def different() -> dict[str, tuple[Term, Term]]:
    a = extract(X, 15, 0)
    return {
        "the order of a difference": (make("bvsub", X, Y), make("bvsub", Y, X)),
        "the order of a comparison": (make("bvult", X, Y), make("bvult", Y, X)),
        "the order of a signed one": (make("bvslt", X, Y), make("bvslt", Y, X)),
        "the order of a shift": (make("bvshl", X, Y), make("bvshl", Y, X)),
        "a name and its width": (var("terms.w", 8), var("terms.w", 16)),
        "a constant and its width": (const(1, 8), const(1, 16)),
        "zeros and copies of the sign": (extend(a, 32, True), extend(a, 32, False)),
    }


def test_two_meanings_are_two_terms() -> None:
    for what, (first, second) in different().items():
        assert first is not second, what


def composed() -> list[Term]:
    """Terms in which one simplification meets another, with constants on each of its borders."""
    s = make("bvadd", X, const(3))
    shifts = [make(op, w, const(k)) for op in ("bvshl", "bvlshr", "bvashr") for w in (X, s) for k in (0, 1, 15, 16, 31)]
    narrow = [extract(X, 15, 0), extract(X, 15, 8), extract(X, 31, 16), extract(Y, 7, 0), extract(X, 7, 0)]
    wide = [extend(n, 32, s) for n in narrow for s in (True, False)]
    found = [*shifts, *wide]
    found += [
        make(op, a, const(k))
        for op in ("bvshl", "bvlshr", "bvashr")
        for a in (*wide, *shifts)
        for k in (1, 15, 16, 17, 31)
    ]
    found += [
        make("bvor", make("bvshl", X, const(j)), make("bvlshr", Y, const(k))) for j in (0, 8, 31) for k in (1, 24, 8, 0)
    ]
    found += [make("bvor", make("bvlshr", X, const(j)), make("bvlshr", Y, const(k))) for j in (8, 24) for k in (24, 8)]
    found += [
        extract(a, *at)
        for a in found
        if a.width == 32
        for at in ((31, 0), (15, 0), (31, 16), (15, 8), (16, 0), (31, 31))
    ]
    found += [part(a, *at) for a in shifts for at in ((7, 0), (31, 24), (31, 0), (15, 0))]
    found += [
        extract(concat(X, a), *at)
        for a in (Y, extract(Y, 15, 0))
        for at in ((31, 0), (40, 8), (20, 15), (16, 15), (47, 16), (15, 0))
    ]
    found += [
        extract(extend(a, 64, s), *at)
        for a in (X, Y)
        for s in (True, False)
        for at in ((63, 32), (32, 31), (31, 0), (40, 33))
    ]
    found += [concat(a, b) for a in narrow for b in narrow]
    for op in ("bvult", "bvslt", "="):
        found += [make(op, X, make("bvadd", a, const(k))) for a in (X, Y) for k in (1, 3, HALF, FULL)]
        found += [make(op, make("bvadd", a, const(k)), X) for a in (X, Y) for k in (1, 3, HALF, FULL)]
        found += [make(op, ite(make("bvult", X, Y), const(3), k), const(c)) for k in (const(4), Y) for c in (3, 4)]
        found += [make(op, X, make("bvadd", X, Y)), make(op, make("bvadd", X, Y), X), make(op, s, const(5))]
    both = concat(extract(X, 7, 0), extract(Y, 7, 0))
    found += [make("bvshl", extend(n, 32, True), const(16)) for n in (extract(make("prod", X, Y), 15, 0), both)]
    found += [make(op, make("bvshl", X, const(k)), const(k)) for op in ("bvlshr", "bvashr") for k in (32, 33)]
    found += [make("bvor", make("bvshl", X, Y), make("bvlshr", w, k)) for w, k in ((s, Y), (Y, const(8)))]
    found += [make("bvor", make("bvshl", X, const(8)), make("bvlshr", s, Y))]
    left, right = make("bvshl", X, const(8)), make("bvlshr", Y, const(24))
    found += [make(op, left, right) for op in ("bvadd", "bvand", "bvxor", "bvsub", "bvult", "=")]
    found += [extract(make(op, X, Y), 7, 0) for op in ("bvshl", "bvlshr")]
    found += [extend(both, 32, sign) for sign in (True, False)]
    found += [concat(X, const(5)), concat(const(5), X), concat(extend(X, 64, False), extract(X, 15, 0))]
    found += [
        make("bvand", X, const(k)) for k in (1, 2, 3, 6, 255, 256, HALF - 1, HALF, HALF + 1, FULL - 2, FULL - 1, FULL)
    ]
    found += [
        make("bvand", Y, X),
        make("bvadd", s, s),
        make("bvadd", make("bvadd", X, Y), const(3)),
        make("bvsub", s, X),
        *(make("bvsub", a, make("bvsub", const(k), b)) for a in (X, Y) for b in (X, Y) for k in (0, 1)),
        make("bvadd", extend(X, 64, False), extend(X, 64, False)),
    ]
    return found


def test_no_simplification_changes_a_value() -> None:
    """Each term against the same built without any: the operations' own meanings on the parts' values."""
    terms_ = composed()
    for a, b in itertools.product((0, 1, 3, 0x80FF, 0xFF80, HALF - 1, HALF, 0xABCD_8765, FULL), repeat=2):
        values, done = {X.value: a, Y.value: b}, dict[Term, int]()
        s = (a + 3) % 2**32
        wanted: list[int] = []

        def shift(op: str, w: int, k: int) -> int:
            return int(SMT[op](32, w, k)) % 2**32

        def bits(w: int, high: int, low: int) -> int:
            return w >> low & (1 << high - low + 1) - 1

        shifts = [shift(op, w, k) for op in ("bvshl", "bvlshr", "bvashr") for w in (a, s) for k in (0, 1, 15, 16, 31)]
        narrow = [
            (bits(w, h, lo), h - lo + 1) for w, h, lo in ((a, 15, 0), (a, 15, 8), (a, 31, 16), (b, 7, 0), (a, 7, 0))
        ]
        wide = [as_signed(n, w) % 2**32 if sign else n for n, w in narrow for sign in (True, False)]
        wanted += [*shifts, *wide]
        wanted += [
            shift(op, w, k)
            for op in ("bvshl", "bvlshr", "bvashr")
            for w in (*wide, *shifts)
            for k in (1, 15, 16, 17, 31)
        ]
        wanted += [shift("bvshl", a, j) | b >> k for j in (0, 8, 31) for k in (1, 24, 8, 0)]
        wanted += [a >> j | b >> k for j in (8, 24) for k in (24, 8)]
        wanted += [
            bits(w, *at) for w in list(wanted) for at in ((31, 0), (15, 0), (31, 16), (15, 8), (16, 0), (31, 31))
        ]
        wanted += [bits(w, *at) for w in shifts for at in ((7, 0), (31, 24), (31, 0), (15, 0))]
        wanted += [
            bits(w, *at)
            for w in (a << 32 | b, a << 16 | b & 0xFFFF)
            for at in ((31, 0), (40, 8), (20, 15), (16, 15), (47, 16), (15, 0))
        ]
        wanted += [
            bits(as_signed(w) % 2**64 if sign else w, *at)
            for w in (a, b)
            for sign in (True, False)
            for at in ((63, 32), (32, 31), (31, 0), (40, 33))
        ]
        wanted += [m << w | n for m, _ in narrow for n, w in narrow]
        for compare in (operator.lt, lambda x, y: as_signed(x) < as_signed(y), operator.eq):
            wanted += [compare(a, (w + k) % 2**32) for w in (a, b) for k in (1, 3, HALF, FULL)]
            wanted += [compare((w + k) % 2**32, a) for w in (a, b) for k in (1, 3, HALF, FULL)]
            wanted += [compare(3 if a < b else k, c) for k in (4, b) for c in (3, 4)]
            wanted += [compare(a, (a + b) % 2**32), compare((a + b) % 2**32, a), compare(s, 5)]
        low = (a & 255) << 8 | b & 255
        wanted += [(a * b & 0xFFFF) << 16, low << 16]
        wanted += [0, 0, *[as_signed(0)] * 2]
        wanted += [shift("bvshl", a, b) | shift("bvlshr", s, b), shift("bvshl", a, b) | b >> 8]
        wanted += [a << 8 & FULL | shift("bvlshr", s, b)]
        x, y = a << 8 & FULL, b >> 24
        wanted += [(x + y) & FULL, x & y, x ^ y, (x - y) & FULL, x < y, x == y]
        wanted += [shift(op, a, b) & 255 for op in ("bvshl", "bvlshr")]
        wanted += [as_signed(low, 16) % 2**32, low]
        wanted += [a << 32 | 5, 5 << 32 | a, a << 16 | a & 0xFFFF]
        wanted += [a & k for k in (1, 2, 3, 6, 255, 256, HALF - 1, HALF, HALF + 1, FULL - 2, FULL - 1, FULL)]
        wanted += [a & b, (s + s) % 2**32, (a + b + 3) % 2**32, 3]
        wanted += [(w - k + z) % 2**32 for w in (a, b) for z in (a, b) for k in (0, 1)] + [2 * a]
        for n, (term, right) in enumerate(zip(terms_, wanted, strict=True)):
            assert value_of(term, values, done) == right, (n, text(term), a, b)
            assert right < 1 << (term.width or 1)


def test_a_term_knows_its_variables_and_products() -> None:
    product = make("prod", X, make("bvadd", Y, const(1)))
    both = make("bvadd", extract(product, 31, 0), Z)
    assert both.leaves == {X, Y, Z}
    assert both.products == {product}
    assert make("prod", both, both).products == {product, make("prod", both, both)}
    assert const(3).leaves == const(3).products == X.products == frozenset()
    assert X.serial < make("bvadd", X, var("terms.new")).serial


def test_a_shift_to_the_left_is_taken_off() -> None:
    cases = [
        (X, (X, 0)),
        (make("bvshl", X, const(5)), (X, 5)),
        (make("bvshl", X, const(31)), (X, 31)),
        (make("bvshl", X, const(32)), (make("bvshl", X, const(32)), 0)),
        (make("bvshl", X, Y), (make("bvshl", X, Y), 0)),
        (make("bvlshr", X, const(5)), (make("bvlshr", X, const(5)), 0)),
        (const(0), (const(0), 0)),
        (const(1), (const(1), 0)),
        (const(12), (const(3), 2)),
        (const(HALF), (const(1), 31)),
        (make("bvadd", make("bvshl", X, const(14)), const(1 << 30)), (make("bvadd", X, const(1 << 16)), 14)),
        (make("bvadd", make("bvshl", X, const(4)), const(-16)), (make("bvadd", X, const((1 << 28) - 1)), 4)),
        (make("bvadd", X, const(4)), (make("bvadd", X, const(4)), 0)),
        (make("bvadd", make("bvshl", X, const(4)), Y), (make("bvadd", make("bvshl", X, const(4)), Y), 0)),
    ]
    odd = make("bvadd", make("bvshl", X, const(4)), const(8))
    long = make("bvadd", make("bvshl", extend(X, 64, False), const(4, 64)), const(16, 64))
    shifted = make("bvshl", X, const(4))
    mixed = make("bvadd", shifted, Y), make("bvadd", shifted, var("terms.late"))  # the earlier word stands first
    assert [word.args.index(shifted) for word in mixed] == [1, 0]
    for word, wanted in (*cases, (odd, (odd, 0)), (long, (long, 0)), *((word, (word, 0)) for word in mixed)):
        assert unshifted(word) == wanted
    for word, (inner, by) in cases:
        for x, y in itertools.product(EDGES, EDGES):
            values = {"terms.x": x, "terms.y": y}
            assert value_of(word, values, {}) == value_of(inner, values, {}) << by & FULL


def test_what_is_taken_from_nothing_and_added_is_taken_away() -> None:
    minus = make("bvsub", const(0), Y)
    assert make("bvadd", X, minus) is make("bvadd", minus, X) is make("bvsub", X, Y)
    assert make("bvadd", make("bvsub", const(1), Y), X) is not make("bvsub", X, Y)
    assert make("bvadd", minus, minus).op == "bvsub"


def test_bits_in_memory_stay_bits_of_the_shifted_word() -> None:
    shifted = make("bvshl", X, const(8))
    assert part(shifted, 15, 8).args == (shifted,)
    assert part(make("bvlshr", X, const(8)), 7, 0).args == (make("bvlshr", X, const(8)),)
    assert part(shifted, 30, 0).args == (shifted,)
    by_one = make("bvshl", X, const(1))
    assert part(by_one, 31, 1).args == (by_one,)
    assert [part(shifted, *at).width for at in ((15, 8), (7, 0), (30, 0), (23, 8))] == [8, 8, 31, 16]
    assert part(shifted, 31, 0) is shifted
    assert part(make("bvashr", X, const(8)), 7, 0) is extract(make("bvashr", X, const(8)), 7, 0)
    assert part(extend(extract(X, 15, 0), 32, False), 7, 0) is extract(X, 7, 0)
    together = part(shifted, 7, 0)
    for k in (1, 2, 3):
        together = concat(part(shifted, 8 * k + 7, 8 * k), together)
    assert together is shifted


@pytest.mark.parametrize(
    ("bits", "sign", "width", "by_sign", "idle"),
    [
        (16, True, 16, True, True),
        (16, True, 16, False, False),
        (16, False, 16, True, False),
        (16, False, 16, False, True),
        (8, True, 16, True, True),
        (17, True, 16, True, False),
    ],
)
def test_the_extension_of_a_narrow_word_is_itself(bits: int, sign: bool, width: int, by_sign: bool, idle: bool) -> None:
    narrow = var("terms.narrow")
    NARROW[narrow] = bits, sign
    try:
        assert (extend(extract(narrow, width - 1, 0), 32, by_sign) is narrow) is idle
        assert extend(extract(narrow, width, 1), 32, by_sign) is not narrow
        assert extend(extract(narrow, width - 1, 0), 64, by_sign).width == 64
        assert extend(extract(X, width - 1, 0), 32, by_sign) is not X
    finally:
        del NARROW[narrow]


def test_a_term_is_printed_as_smt_lib() -> None:
    cases = [
        (TRUE, "true"),
        (FALSE, "false"),
        (const(7), "(_ bv7 32)"),
        (const(-1, 8), "(_ bv255 8)"),
        (extract(X, 9, 4), "((_ extract 9 4) {})"),
        (extend(extract(X, 15, 0), 32, True), "((_ sign_extend 16) {})"),
        (extend(extract(X, 23, 16), 32, False), "((_ zero_extend 24) {})"),
        (make("bvadd", X, Y), "(bvadd {} {})"),
        (negate(C), "(not {})"),
        (ite(C, X, Y), "(ite {} {} {})"),
        (concat(X, Y), "(concat {} {})"),
    ]
    for term, wanted in cases:
        assert text(term) == wanted


def test_a_sign_is_the_highest_bit() -> None:
    assert [signed(v, 8) for v in (0, 1, 127, 128, 255)] == [0, 1, 127, -128, -1]
    assert terms.WORD == X.width == 32
    assert const(5, BOOL) is TRUE
    assert const(1 << 32) is const(0)
