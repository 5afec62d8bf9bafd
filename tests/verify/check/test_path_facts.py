"""What the checker knows of a word on a path: intervals that hold every word they must, and no more than they may."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.check.effort import Spent
from verify.check.path_facts import ALL, Bounds, Known, Oracle, _meet, bounded
from verify.check.solver import Undecided
from verify.check.terms import (
    BOOL,
    FALSE,
    MEANING,
    TRUE,
    Term,
    concat,
    const,
    extend,
    extract,
    ite,
    make,
    negate,
    signed,
    var,
)

FULL, HALF = 0xFFFF_FFFF, 1 << 31
X, Y, C = var("known.x"), var("known.y"), var("known.c", BOOL)
W, V = var("known.w"), var("known.v")
EDGES = (0, 1, 2, 7, 100, HALF - 2, HALF - 1, HALF, HALF + 1, HALF + 100, FULL - 1, FULL)


def by_sign(word: int) -> int:
    return (word ^ HALF) - HALF


def inside(word: int, b: Bounds) -> bool:
    return b[0] <= word <= b[1] and b[2] <= by_sign(word) <= b[3]


def words_near(*places: int) -> set[int]:
    return {(p + k) % 2**32 for p in (*EDGES, *places) for k in (-1, 0, 1)}


def tight(b: Bounds) -> bool:
    """Whether each end is a word that the four allow, and so both pairs say all of it where no sign is open."""
    return inside(b[0], b) and inside(b[1], b) and inside(b[2] % 2**32, b) and inside(b[3] % 2**32, b)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0, FULL, ALL),
        (0, HALF - 1, (0, HALF - 1, 0, HALF - 1)),
        (0, HALF, (0, HALF, -HALF, HALF - 1)),
        (3, 9, (3, 9, 3, 9)),
        (HALF, FULL, (HALF, FULL, -HALF, -1)),
        (HALF + 5, HALF + 9, (HALF + 5, HALF + 9, -HALF + 5, -HALF + 9)),
        (HALF - 1, HALF + 5, (HALF - 1, HALF + 5, -HALF, HALF - 1)),
        (-HALF, HALF - 1, ALL),
        (-HALF, -1, (HALF, FULL, -HALF, -1)),
        (-9, -3, (FULL - 8, FULL - 2, -9, -3)),
        (-1, 0, (0, FULL, -1, 0)),
        (-1, 5, (0, FULL, -1, 5)),
    ],
)
def test_a_range_becomes_bounds_with_and_without_sign(low: int, high: int, wanted: Bounds) -> None:
    assert bounded(low, high) == wanted


CONSTANTS = (0, 1, 5, HALF - 1, HALF, HALF + 1, FULL - 4, FULL)
BEFORE = {
    "anything": (0, FULL),
    "small": (0, 9),
    "positive": (1, HALF - 1),
    "high": (HALF, FULL),
    "small, either sign": (-6, 5),
    "across the sign": (HALF - 3, HALF + 3),
    "negative": (-9, -2),
}
MEANS = {
    "=": lambda a, b: a == b,
    "bvult": lambda a, b: a < b,
    "bvslt": lambda a, b: by_sign(a) < by_sign(b),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("op", MEANS)
def test_a_comparison_with_a_constant_narrows_to_what_satisfies_it(op: str, before: str) -> None:
    start = bounded(*BEFORE[before])
    for value, first, holds in itertools.product(CONSTANTS, (True, False), (True, False)):
        condition = make(op, X, const(value)) if first else make(op, const(value), X)
        if condition.op == "const" or (op == "=" and holds and not inside(value, start)):
            continue
        known = Known({X: start}).assume(condition if holds else negate(condition))
        found = known.bounds[X]
        left = [
            w
            for w in words_near(value)
            if inside(w, start) and MEANS[op](*((w, value) if first else (value, w))) is holds
        ]
        assert all(inside(w, found) for w in left), (value, first, holds)
        assert all(inside(w, start) for w in words_near(value) if inside(w, found))
        if left and not known.facts:  # the ends are words that satisfy it
            ends = found[2:] if op == "bvslt" else found[:2]
            mixed = start[0] == 0 and start[1] == FULL and start[2] < 0 <= start[3]
            if not (mixed and before == "small, either sign"):
                assert all(MEANS[op](*((e % 2**32, value) if first else (value, e % 2**32))) is holds for e in ends), (
                    value,
                    first,
                    holds,
                    found,
                )
        if known.facts:
            assert (op, holds, value in start[:2]) == ("=", False, False)
            assert (known.facts, found) == ({negate(condition)}, start)


def test_an_entry_of_a_table_tells_its_index() -> None:
    """base + 4 * (row + rank) = address: then the rank is known, where neither shift nor sum can have lost a bit."""
    index = make("bvadd", X, const(34))
    address = make("bvadd", make("bvshl", index, const(2)), const(0x10000))
    few = Known({X: bounded(0, 16)})
    known = few.assume(make("=", address, const(0x10000 + 4 * (34 + 7))))
    assert (known.span(X), known.span(index)) == ((7, 7), (41, 41))
    assert few.assume(make("=", address, const(0x10000 + 4 * 34 + 1))).span(X) == (0, 16)  # between two entries
    assert few.assume(make("bvult", address, const(0x10000 + 4 * 41))).span(X) == (0, 16)
    wide = Known({X: bounded(0, 1 << 30)}).assume(make("=", make("bvshl", X, const(2)), const(28)))
    assert wide.span(X) == (0, 1 << 30)  # 7, or 7 + 2^30
    last = Known({X: bounded(0, (1 << 30) - 1)}).assume(make("=", make("bvshl", X, const(2)), const(28)))
    assert last.span(X) == (7, 7)
    below = Known({}).assume(make("=", make("bvadd", X, const(9)), const(4)))
    assert below.span(X) == (FULL - 4, FULL - 4)


@given(st.integers(0, FULL), st.integers(0, FULL), st.integers(0, FULL), st.sampled_from(list(MEANS)), st.booleans())
def test_no_word_that_satisfies_what_is_known_is_lost(word: int, a: int, b: int, op: str, first: bool) -> None:
    known = Known({})
    for value in (a, b, word, (word + 1) % 2**32):
        condition = make(op, X, const(value)) if first else make(op, const(value), X)
        if condition.op != "const":
            holds = MEANS[op](*((word, value) if first else (value, word)))
            known = known.assume(condition if holds else negate(condition))
            assert inside(word, known.bounds.get(X, ALL))


def test_the_comparisons_of_both_signs_meet() -> None:
    small = Known({}).assume(make("bvult", X, const(HALF)))
    assert small.bounds[X] == (0, HALF - 1, 0, HALF - 1)
    assert Known({}).assume(negate(make("bvslt", X, const(0)))).bounds[X] == (0, HALF - 1, 0, HALF - 1)
    at_least = small.assume(negate(make("bvslt", X, const(10))))
    assert at_least.bounds[X] == (10, HALF - 1, 10, HALF - 1)
    below = Known({}).assume(make("bvslt", X, const(0))).assume(make("bvult", const(FULL - 9), X))
    assert below.bounds[X] == (FULL - 8, FULL, -9, -1)
    assert Known({}).assume(make("=", X, const(FULL))).bounds[X] == (FULL, FULL, -1, -1)
    assert Known({}).assume(make("bvult", const(HALF), X)).bounds[X] == (HALF + 1, FULL, -HALF + 1, -1)


CORNERS = [0, 1, 4067, 4650, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 4650, 2**32 - 4067, 2**32 - 2, 2**32 - 1]
PLAIN = [(a, b) for a, b in itertools.product(CORNERS, repeat=2) if a <= b]
SIGNED = sorted(signed(corner, 32) for corner in CORNERS)


def test_bounds_of_both_signs_are_as_tight_as_the_words_that_are_left() -> None:
    def inside(word: int, b: Bounds) -> bool:
        return b[0] <= word <= b[1] and b[2] <= signed(word, 32) <= b[3]

    for (ulow, uhigh), slow, shigh in itertools.product(PLAIN, SIGNED, SIGNED):
        bounds = (ulow, uhigh, slow, shigh)
        left = [word for word in CORNERS if inside(word, bounds)]  # an end of what is left is an end of the bounds
        ordered = sorted(signed(word, 32) for word in left)
        assert _meet(bounds) == ((left[0], left[-1], ordered[0], ordered[-1]) if left else bounds)


def test_a_word_at_most_by_its_sign_and_at_least_without_one_is_negative() -> None:
    # A compiler asks x > 4649 without a sign and x <= 4067 with one: of a word of 16 bits that is less than 0.
    known = Known({X: bounded(-32768, 32767)}).assume(make("bvult", const(4649), X))
    known = known.assume(negate(make("bvslt", const(4067), X)))
    assert known.bounds[X] == (2**32 - 32768, 2**32 - 1, -32768, -1)
    assert known.decide(make("bvslt", const(3246), X), Oracle("none")) is FALSE


def test_what_no_interval_says_is_a_fact() -> None:
    for condition in (make("bvult", X, Y), negate(make("=", X, const(5))), make("=", X, Y), C, negate(C)):
        known = Known({}).assume(condition)
        assert known.facts == {condition}
        assert known.bounds == {}
        assert known.decide(condition, NONE) is TRUE
        assert known.decide(negate(condition), NONE) is FALSE
    narrow = make("bvult", extract(X, 7, 0), const(5, 8))
    assert Known({}).assume(narrow).facts == {narrow}
    assert Known({X: ALL}).assume(narrow).bounds == {X: ALL}


@pytest.mark.parametrize(
    ("c", "x", "sum_below", "wanted"),
    [
        (3, (0, 100), 10, (0, 6)),  # x + 3 < 10
        (3, (2, 100), 10, (2, 6)),
        (-3 % 2**32, (5, 100), 10, (5, 12)),  # x - 3 < 10, which does not wrap
        (-3 % 2**32, (0, 100), 10, (3, 12)),  # which may
        (-3 % 2**32, (0, 1), FULL, (0, 1)),  # x is not 2
        (FULL, (1, 7), 3, (1, 3)),
        (10, (FULL - 9, FULL), 4, (FULL - 9, FULL - 6)),  # always wraps
        (10, (FULL - 10, FULL), 4, (FULL - 9, FULL - 6)),  # may wrap
        (10, (0, FULL - 10), 4, (0, 0)),
    ],
)
def test_bounds_of_a_sum_are_bounds_of_its_term(c: int, x: tuple[int, int], sum_below: int, wanted: Any) -> None:
    condition = make("bvult", make("bvadd", X, const(c)), const(sum_below))
    known = Known({X: bounded(*x)}).assume(condition)
    if wanted == (0, 0):  # no sum is that small: nothing is left, and nothing is lost
        assert known.bounds[X][0] > known.bounds[X][1]
    else:
        assert known.bounds[X][:2] == wanted


def test_a_lower_bound_of_a_sum_is_one_of_its_term() -> None:
    total = make("bvadd", X, const(3))
    known = Known({X: bounded(0, 100)}).assume(negate(make("bvult", total, const(20))))
    assert known.bounds[X] == (17, 100, 17, 100)
    assert known.bounds[total][:2] == (20, FULL)
    wrapped = Known({X: bounded(FULL - 9, FULL)}).assume(negate(make("bvult", make("bvadd", X, const(10)), const(4))))
    assert wrapped.bounds[X][:2] == (FULL - 5, FULL)
    signed = Known({X: bounded(0, 100)}).assume(make("bvslt", total, const(20)))
    assert signed.bounds[X][1] <= 100
    plain = Known({}).assume(make("bvult", make("bvadd", X, const(3)), const(20)))
    assert plain.bounds[X] == bounded(0, FULL)  # -3 to 16: two ends of the range
    beyond = Known({X: bounded(2, FULL)}).assume(make("bvult", make("bvadd", X, const(3)), const(5)))
    assert beyond.bounds[X][:2] == (FULL - 2, FULL)  # -3 to 1, and not 0 or 1
    for ends in ((1, FULL), (0, FULL - 2)):  # one value of the other end is left
        reaching = Known({X: bounded(*ends)}).assume(make("bvult", make("bvadd", X, const(3)), const(5)))
        assert reaching.bounds[X][:2] == ends
    before = Known({X: bounded(0, FULL - 3)}).assume(make("bvult", make("bvadd", X, const(3)), const(5)))
    assert before.bounds[X][:2] == (0, 1)
    pair = Known({X: bounded(0, 9), Y: bounded(0, 9)}).assume(make("bvult", make("bvadd", X, Y), const(5)))
    assert pair.bounds[X] == bounded(0, 9)


def times(k: int, word: Term = X) -> Term:
    return extract(make("prod", word, const(k)), 31, 0)


@pytest.mark.parametrize(
    ("k", "x", "below", "wanted"),
    [
        (121, (1, 1000), 1000, (1, 8)),  # 121 * 8 = 968
        (121, (1, 1000), 969, (1, 8)),
        (121, (1, 1000), 968, (1, 7)),
        (121, (0, FULL // 121), 1 << 30, (0, 8873899)),
        (121, (0, FULL // 121 + 1), 1 << 30, (0, FULL // 121 + 1)),  # the greatest wraps to a little
    ],
)
def test_bounds_of_a_multiple_are_bounds_of_its_factor(
    k: int, x: tuple[int, int], below: int, wanted: tuple[int, int]
) -> None:
    condition = make("bvult", times(k), const(below))
    assert Known({X: bounded(*x)}).assume(condition).span(X) == wanted
    above = Known({X: bounded(*x)}).assume(negate(condition)).span(X)
    assert above == ((wanted[1] + 1, x[1]) if wanted != x else x)


@given(k=st.integers(1, 300), low=st.integers(0, 2**32 - 1), width=st.integers(0, 2**25), data=st.data())
def test_no_factor_of_a_multiple_is_lost(k: int, low: int, width: int, data: Any) -> None:
    ends = low // k, min(low // k + width, FULL)
    x, than = data.draw(st.integers(*ends)), data.draw(st.integers(0, FULL))
    for word in (times(k), make("bvshl", X, const(k % 32))):
        value = k * x % 2**32 if word.op == "extract" else (x << k % 32) % 2**32
        condition = make("bvult", word, const(than))
        known = Known({X: bounded(*ends)}).assume(condition if value < than else negate(condition))
        assert inside(x, known.bounds[X])
        assert inside(value, known.bounds.get(word, ALL))


def test_one_multiple_that_is_compared_answers_for_others() -> None:
    """The thresholds of a ratio: count * 256 <= k * packets, with a count that is as high as it can be."""
    packets = make("bvlshr", X, const(10))
    known = Known({X: ALL}).assume(make("bvult", const(1 << 28), times(121, packets)))
    assert known.decide(make("bvult", const(1 << 28), times(130, packets)), NONE) is TRUE
    assert known.decide(make("bvult", const(1 << 27), times(61, packets)), NONE) is TRUE
    few = known.assume(make("bvult", times(191, packets), const(700_000_000)))
    assert few.decide(make("bvult", times(189, packets), const(700_000_000)), NONE) is TRUE


def test_a_word_that_is_compared_is_still_bounded_by_what_it_is_made_of() -> None:
    packets = make("bvlshr", X, const(10))
    for known in (Known({X: ALL}), Known({X: ALL}).assume(negate(make("bvult", packets, const(1))))):
        assert known.span(packets)[1] == FULL >> 10
    assert known.span(packets)[0] == 1


def spans() -> dict[str, tuple[Term, tuple[int, int]]]:
    """Made when a test asks: so that a mutant makes them too."""
    return {
        "a constant": (const(9), (9, 9)),
        "bounded": (X, (2, 6)),
        "open": (var("known.z"), (0, FULL)),
        "a choice": (ite(C, X, Y), (2, 20)),
        "the other choice": (ite(C, Y, X), (2, 20)),
        "a choice of constants": (ite(C, const(30), const(4)), (4, 30)),
        "low bits that are all": (extract(X, 7, 0), (2, 6)),
        "low bits that are not": (extract(Y, 3, 0), (0, 15)),
        "high bits": (extract(Y, 31, 2), (2, 5)),
        "zeros before": (extend(extract(X, 7, 0), 32, False), (2, 6)),
        "copies of the sign": (extend(extract(Y, 3, 0), 32, True), (0, FULL)),
        "and": (make("bvand", X, Y), (0, 6)),
        "and a constant": (make("bvand", Y, const(6)), (0, 6)),
        "or": (make("bvor", X, Y), (0, 31)),
        "xor": (make("bvxor", X, Y), (0, 31)),
        "right": (make("bvlshr", Y, const(1)), (5, 10)),
        "right by what is open": (make("bvlshr", Y, X), (0, FULL)),
        "left": (make("bvshl", Y, const(4)), (160, 320)),
        "left as far as it goes": (make("bvshl", Y, const(27)), (10 << 27, 20 << 27)),
        "left and out": (make("bvshl", Y, const(28)), (0, FULL)),
        "left by what is open": (make("bvshl", Y, X), (0, FULL)),
        "a sum": (make("bvadd", X, Y), (12, 26)),
        "a sum that wraps": (make("bvadd", Y, const(-5 % 2**32)), (5, 15)),
        "a sum that may wrap": (make("bvadd", Y, const(-15 % 2**32)), (0, FULL)),
        "a sum that just may": (make("bvadd", Y, const(-11 % 2**32)), (0, FULL)),
        "a sum that just does not": (make("bvadd", Y, const(FULL - 20)), (FULL - 10, FULL)),
        "a product": (make("prod", X, Y), (20, 120)),
        "a difference": (make("bvsub", Y, X), (0, FULL)),
        "a comparison": (make("bvult", X, var("known.z")), (0, 0)),
        "the upper half of twenty bits": (extract(W, 31, 16), (0, 16)),
        "twenty bits to the left and just out": (make("bvshl", W, const(12)), (0, FULL)),
        "twenty bits to the left": (make("bvshl", W, const(11)), (0, 1 << 31)),
        "a sum that wraps only above": (make("bvadd", X, V), (0, FULL)),
        "and in the other order": (make("bvadd", V, var("known.last")), (0, FULL)),
        "two words": (concat(const(0), X), (0, 2**64 - 1)),
    }


def test_the_span_of_a_term_follows_from_its_parts() -> None:
    known = Known(
        {
            X: bounded(2, 6),
            Y: bounded(10, 20),
            W: bounded(0, 1 << 20),
            V: bounded(FULL - 10, FULL),
            var("known.last"): bounded(2, 20),
        }
    )
    for what, (term, wanted) in spans().items():
        assert known.span(term) == wanted, what


@pytest.mark.parametrize(
    ("x", "y", "added", "wanted"),
    [
        ((-19661, 655), None, 65536, (45875, 66191)),
        ((-5, 9), None, 5, (0, 14)),
        ((-5, 9), None, 4, (0, FULL)),  # -1 is the greatest word
        ((-5, 9), None, -10, (0, FULL)),
        ((-5, 9), (-3, 1), 8, (0, 18)),
        ((-5, 9), (-3, 1), 7, (0, FULL)),
        ((-5, HALF - 1), None, HALF - 1, (HALF - 6, FULL - 1)),
        ((-HALF, HALF - 1), (-HALF, HALF - 1), 0, (0, FULL)),
    ],
)
def test_a_sum_that_is_not_negative_has_the_span_of_its_words_with_sign(
    x: tuple[int, int], y: tuple[int, int] | None, added: int, wanted: tuple[int, int]
) -> None:
    known = Known({X: bounded(*x), Y: bounded(*(y or (0, 0)))})
    total = make("bvadd", make("bvadd", X, Y), const(added)) if y else make("bvadd", X, const(added))
    span = known.span(total)
    for a, b in itertools.product((x[0], x[0] + 1, -1, 0, x[1] - 1, x[1]), y or (0,)):
        if x[0] <= a <= x[1]:
            assert span[0] <= (a + b + added) & FULL <= span[1]
    assert span == wanted


@given(st.data())
def test_drawn_sums_lie_within_their_spans(data: st.DataObject) -> None:
    edges = st.sampled_from([-HALF, -HALF + 1, -2, -1, 0, 1, 5, HALF - 2, HALF - 1])
    ends = [sorted(data.draw(st.tuples(edges, edges))) for _ in range(2)]
    known = Known({word: bounded(*of) for word, of in zip((X, Y), ends, strict=True)})
    a, b = (data.draw(st.integers(*of)) for of in ends)
    c = data.draw(edges)
    for term, value in ((make("bvadd", X, Y), a + b), (make("bvadd", make("bvadd", X, Y), const(c)), a + b + c)):
        low, high = known.span(term)
        assert low <= value & FULL <= high
        low, high = known._signed_span(term)
        assert low <= signed(value & FULL, 32) <= high


def test_the_sign_of_a_sum_follows_from_the_signs_of_its_words() -> None:
    known = Known({X: bounded(-5, 9), Y: bounded(-3, 1)})
    total = make("bvadd", X, Y)
    assert known._signed_span(total) == (-8, 10)
    assert known.decide(make("bvslt", total, const(11)), NONE) is TRUE
    assert known.decide(make("bvslt", total, const(-8)), NONE) is FALSE
    least = Known({X: bounded(-HALF, 0), Y: bounded(0, 0)})
    assert least._signed_span(total) == (-HALF, 0)
    below = Known({X: bounded(-HALF, 0), Y: bounded(-1, 0)})
    assert below._signed_span(total) == (-HALF, HALF - 1)
    assert Known({X: bounded(0, HALF - 1), Y: bounded(-1, 0)})._signed_span(total) == (-1, HALF - 1)
    assert Known({X: bounded(-1, HALF - 1), Y: bounded(-1, 1)})._signed_span(total) == (-HALF, HALF - 1)


def test_the_span_of_a_product_at_most() -> None:
    known = Known({X: bounded(0, FULL), Y: bounded(0, FULL)})
    assert known.span(make("prod", X, Y)) == (0, FULL * FULL)


class Answers(Oracle):
    """An oracle that says what it was told to, and keeps what it was asked."""

    def __init__(self, *impossible: Term, late: bool = False) -> None:
        super().__init__()
        self.told, self.late, self.questions = impossible, late, list[tuple[set[Term], bool]]()

    def impossible(self, conditions: list[Term], known: Known, multiply: bool = True, together: bool = False) -> bool:
        self.questions.append((set(conditions), multiply))
        if self.late:
            raise Undecided("no answer")
        return conditions[0] in self.told


class Never(Oracle):
    def impossible(self, conditions: list[Term], known: Known, multiply: bool = True, together: bool = False) -> bool:
        raise AssertionError("asked")


NONE = Never()


@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        ("=", (2, 6), (7, 9), False),
        ("=", (2, 6), (6, 9), None),
        ("=", (7, 9), (2, 6), False),
        ("=", (6, 9), (2, 6), None),
        ("bvult", (2, 6), (7, 9), True),
        ("bvult", (2, 7), (7, 9), None),
        ("bvult", (7, 9), (2, 7), False),
        ("bvult", (6, 9), (2, 7), None),
        ("bvslt", (-6, -2), (-1, 9), True),
        ("bvslt", (-6, -1), (-1, 9), None),
        ("bvslt", (-1, 9), (-6, -1), False),
        ("bvslt", (-2, 9), (-6, -1), None),
        ("bvult", (-6, -2), (0, 9), False),
        ("bvslt", (HALF, FULL), (0, 9), True),
        ("bvult", (HALF, FULL), (0, 9), False),
        ("bvult", (2, 6), (HALF, FULL), True),
        ("=", (2, 6), (HALF, FULL), False),
        ("=", (6, 6), (6, 6), True),
        ("=", (6, 6), (6, 7), None),
        ("=", (6, 7), (6, 7), None),
    ],
)
def test_spans_that_do_not_overlap_decide(op: str, a: Any, b: Any, wanted: bool | None) -> None:
    known = Known({X: bounded(*a), Y: bounded(*b)})
    question = make(op, X, Y)
    if question.args == (Y, X):
        pytest.fail("the drawn order is another")
    if wanted is None:
        asked = Answers()
        assert known.decide(question, asked) is question
        assert len(asked.questions) == 2
    else:
        assert known.decide(question, NONE) is (TRUE if wanted else FALSE)
        assert known.decide(negate(question), NONE) is (FALSE if wanted else TRUE)


def test_the_sign_of_a_narrow_span() -> None:
    byte = extract(X, 7, 0)
    assert Known({X: bounded(0, 127)}).decide(make("bvslt", byte, const(0, 8)), NONE) is FALSE
    assert Known({X: bounded(128, 255)}).decide(make("bvslt", byte, const(0, 8)), NONE) is TRUE
    asked = Answers()
    assert Known({}).decide(make("bvslt", const(127, 8), byte), NONE) is FALSE
    assert Known({}).decide(make("bvslt", byte, const(-128, 8)), NONE) is FALSE
    for question in (make("bvslt", byte, const(127, 8)), make("bvslt", const(-128, 8), byte)):
        assert Known({}).decide(question, asked) is question
    for low, high in ((0, 128), (127, 255)):
        question = make("bvslt", byte, const(0, 8))
        assert Known({X: bounded(low, high)}).decide(question, asked) is question


def test_a_question_of_a_plain_word_is_open_without_asking() -> None:
    question = make("bvult", X, const(5))
    assert Known({}).decide(question, NONE) is question
    assert Known({X: ALL, Y: ALL}).decide(make("bvult", const(5), X), NONE) is make("bvult", const(5), X)


def test_only_a_variable_of_which_nothing_else_is_known_is_plain() -> None:
    for known, question, times in (
        (Known({}), make("bvult", make("bvadd", X, Y), const(5)), 2),
        (Known({}, frozenset({make("=", X, Y)})), make("bvult", X, const(5)), 4),
        (Known({}), C, 2),
    ):
        asked = Answers()
        assert known.decide(question, asked) is question
        assert len(asked.questions) == times


def test_what_speaks_of_other_variables_too_is_asked_with_only_where_the_rest_says_nothing() -> None:
    own, other = make("bvult", make("bvadd", X, X), const(9)), make("=", X, Y)
    known, question = Known({}, frozenset({own, other})), make("bvult", X, const(5))
    asked = Answers(question)
    assert known.decide(question, asked) is FALSE
    assert asked.questions == [({question, own}, False)]
    asked = Answers()
    assert known.decide(question, asked) is question
    no = negate(question)
    assert asked.questions == [
        (c, False) for c in ({question, own}, {no, own}, {question, own, other}, {no, own, other})
    ]


def test_a_word_that_has_one_value_left_leaves_no_path_without_any() -> None:
    """Else its bounds would run from a greater to a lesser end on the side that no input takes."""
    known = Known({X: bounded(0, 2)}).assume(negate(make("=", X, const(0)))).assume(negate(make("=", X, const(2))))
    assert known.span(X) == (1, 1)
    assert known.decide(make("=", X, const(1)), NONE) is TRUE


@pytest.mark.parametrize("plain_word", [True, False])
def test_anything_else_is_asked_both_ways(plain_word: bool) -> None:
    known = {make("bvadd", X, Y): bounded(0, 99)} if plain_word else {}
    plain = make("bvult", X, const(5)) if known else make("bvult", X, Y)
    asked = Answers()
    assert Known(known).decide(plain, asked) is plain
    times = 2 if plain_word else 1  # alone, then with what is known of the sum
    assert [multiply for _, multiply in asked.questions] == [False, False] * times
    assert [next(iter(q & {plain, negate(plain)})) for q, _ in asked.questions] == [plain, negate(plain)] * times
    assert Known(known).decide(plain, Answers(plain)) is FALSE
    assert Known(known).decide(plain, Answers(negate(plain))) is TRUE
    assert Known(known).decide(plain, Answers(late=True)) is plain
    other = Known(known, frozenset({make("=", X, Y)}))
    asked = Answers()
    other.decide(plain, asked)
    assert make("=", X, Y) in asked.questions[-1][0]


def test_what_is_constant_is_decided() -> None:
    assert Known({}).decide(TRUE, NONE) is TRUE
    assert Known({}).decide(FALSE, NONE) is FALSE


def test_everything_about_a_word_is_said_as_conditions() -> None:
    fact, other = make("bvult", X, Y), make("=", var("known.z"), const(7))
    known = Known({X: bounded(2, 6), Y: ALL}, frozenset({fact, other}))
    wanted = {negate(make("bvult", X, const(2))), negate(make("bvult", const(6), X)), fact}
    assert set(known.about(make("=", X, const(3)))) == wanted
    assert set(known.everything()) == wanted | {other}
    assert set(known.about(Y)) == {fact}
    assert set(Known({X: bounded(2, 6)}, frozenset({other})).everything()) == wanted - {fact} | {other}
    signed = Known({X: bounded(-5, 9)})
    assert set(signed.about(X)) == {negate(make("bvslt", X, const(-5))), negate(make("bvslt", const(9), X))}
    assert Known({X: bounded(7, 7)}).about(X) == [make("=", X, const(7))]


def test_what_is_said_of_a_word_is_what_its_bounds_are() -> None:
    """No bound is left out that another does not imply, whether or not those with and without sign were met."""
    values = (0, 1, 5, HALF - 1, HALF, HALF + 1, FULL - 4, FULL)
    ends = (-HALF, -HALF + 1, -5, -1, 0, 4, HALF - 1)
    for low, high, least, most in itertools.product(values, values, ends, ends):
        conditions = Known({X: (low, high, least, most)}).about(X) if low <= high else []
        for value in values if low <= high else ():
            assert all(evaluated(c, value) for c in conditions) == inside(value, (low, high, least, most))


def evaluated(term: Term, x: int) -> int:
    """A condition on X where X is a value."""
    if not term.args:
        return x if term is X else term.value
    return MEANING[term.op](term.args[0].width, *(evaluated(a, x) for a in term.args))


def test_a_product_is_that_of_the_factors_before_they_were_shifted() -> None:
    known = Known({X: bounded(0, (1 << 20) - 1), Y: bounded(0, FULL)})
    left = make("bvshl", X, const(12))
    assert known.product(left, Y) is make("bvshl", make("prod", X, Y), const(12, 64))
    assert known.product(Y, left) is make("bvshl", make("prod", X, Y), const(12, 64))
    assert known.product(left, const(6)) is make("bvshl", make("prod", X, const(3)), const(13, 64))
    lost = make("bvshl", X, const(13))
    kept = extend(extract(X, 18, 0), 32, False)
    assert known.product(lost, Y) is make("bvshl", make("prod", kept, Y), const(13, 64))
    assert known.product(X, Y) is make("prod", X, Y)
    assert known.product(const(HALF), Y) is make("bvshl", make("prod", const(1), Y), const(31, 64))


def test_an_oracle_asks_its_solver_each_question_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def impossible(
        conditions: list[Term], bounds: object, solver: str, multiply: bool, proofs: object, found: object
    ) -> bool:
        asked.append((tuple(conditions), solver, multiply, proofs))
        return len(asked) % 2 == 1

    monkeypatch.setattr("verify.check.path_facts.impossible", impossible)
    oracle, a, b = Oracle("cvc5"), make("bvult", X, Y), make("=", X, Y)
    known = Known({X: bounded(0, 9), Y: bounded(0, 9)})
    assert oracle.impossible([a, b, a], known)
    assert oracle.impossible([b, a], known)
    assert oracle.asked == len(asked) == 1
    assert asked[0][1:] == ("cvc5", True, None)
    assert not oracle.impossible([a, b], known, multiply=False)
    assert asked[1][2] is False
    square = make("bvult", extract(make("prod", X, Y), 31, 0), X)
    assert oracle.impossible([square], known)
    assert oracle.impossible([square], known)
    assert oracle.asked == 3
    assert not oracle.impossible([square], Known({X: bounded(0, 9), Y: bounded(0, 10)}))
    assert oracle.asked == 4
    # The solver is told the bounds of a shifted factor and those of the word before the shift.
    left = make("bvshl", X, const(2))
    shifted = make("bvult", extract(make("prod", left, Y), 31, 0), X)
    tight = {left: bounded(0, 100), X: bounded(0, 9)}
    for n, bounds in enumerate((tight, tight | {left: bounded(0, 101)}, tight | {X: bounded(0, 10)})):
        oracle.impossible([shifted], Known(bounds))
        oracle.impossible([shifted], Known(bounds))
        assert oracle.asked == 5 + n


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.data())
def test_a_difference_that_does_not_wrap_lies_within_its_span(a: int, b: int, c: int, d: int, data: Any) -> None:
    """x - y, where y is at most x and both lie in intervals; and what was compared of it still counts."""
    (low, high), (least, most) = sorted((a, b)), sorted((c, d))
    known = Known({X: bounded(low, high), Y: bounded(least, most)}).assume(negate(make("bvult", X, Y)))
    difference = make("bvsub", X, Y)
    values = [x - y for x in range(low, high + 1) for y in range(least, most + 1) if x >= y]
    compared = data.draw(st.integers(0, 50))
    narrowed = known.assume(negate(make("bvult", const(compared), difference)))
    for value in values:
        assert known.span(difference)[0] <= value <= known.span(difference)[1]
        assert value > compared or narrowed.span(difference)[0] <= value <= narrowed.span(difference)[1]
    assert known.span(difference)[1] <= max(0, high - least)


def test_a_difference_that_may_wrap_and_one_of_64_bits_have_no_such_span() -> None:
    known = Known({X: bounded(0, 9), Y: bounded(0, 9)})
    assert known.span(make("bvsub", X, Y)) == (0, FULL)
    assert known.assume(negate(make("bvult", Y, X))).span(make("bvsub", X, Y)) == (0, FULL)
    wide = var("known.wide.x", 64), var("known.wide.y", 64)
    assert Known({}, frozenset({negate(make("bvult", *wide))})).span(make("bvsub", *wide)) == (0, 2**64 - 1)


def test_what_is_known_of_a_word_reaches_others_that_it_was_compared_with() -> None:
    """x >= y, y >= w, w >= 7: x > 3; of what nothing leads to nothing is said."""
    known = Known({W: bounded(7, FULL)})
    for more, less in ((X, Y), (Y, W)):
        known = known.assume(negate(make("bvult", more, less)))
    assert known.decide(make("bvult", const(3), X), Oracle()) is TRUE
    asked = make("bvult", const(8), X)
    assert known.decide(asked, Oracle()) is asked
    assert known.decide(make("bvult", const(3), V), Oracle()).op != "const"


def test_a_solver_is_asked_no_more_than_it_may() -> None:
    """Questions that an earlier answer or assignment answers are none."""
    x = var("effort.x")
    oracle, known = Oracle(most=1), Known({})
    never = [make("bvult", x, const(5)), make("bvult", const(7), x)]
    assert oracle.impossible(never, known)
    assert oracle.impossible(never, known)
    with pytest.raises(Spent):
        oracle.impossible([*never, make("=", x, const(6))], known)
    assert oracle.solved == 1
