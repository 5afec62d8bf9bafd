"""Comparisons as sums: the same question however it is written, and never another."""

from random import Random

from verify.check.linear import Question, ascending, linear, question
from verify.check.path_facts import ALL, Known, bounded
from verify.check.terms import TRUE, Term, const, extract, make, negate, var

X, Y, Z = var("event.x"), var("event.y"), var("event.z")
WORD = (1 << 32) - 1


def times(word: Term, factor: int) -> Term:
    return extract(make("prod", word, const(factor)), 31, 0)


def shifted(word: Term, by: int) -> Term:
    return make("bvshl", word, const(by))


def value(word: Term, of: dict[Term, int]) -> int:
    constant, parts = linear(word)
    return (constant + sum(factor * of[part] for part, factor in parts)) & WORD


def test_what_a_compiler_makes_of_a_product_is_the_product() -> None:
    assert linear(times(X, 9)) == linear(make("bvadd", shifted(X, 3), X)) == (0, ((X, 9),))
    assert linear(times(X, 126)) == linear(make("bvsub", shifted(X, 7), shifted(X, 1)))
    assert linear(extract(make("bvshl", make("prod", X, const(43)), const(2, 64)), 31, 0)) == (0, ((X, 172),))
    assert linear(make("bvsub", X, X)) == (0, ())
    assert linear(make("bvadd", make("bvsub", X, Y), const(7))) == (7, ((X, 1), (Y, WORD)))
    assert linear(times(X, 9)) != linear(times(X, 10)) != linear(make("bvadd", times(X, 10), const(1)))


def test_only_the_low_word_of_a_product_is_a_sum() -> None:
    product = make("prod", X, const(9))
    for word in (extract(product, 32, 1), extract(product, 63, 32), times(X, 9)):
        assert (linear(word) == (0, ((word, 1),))) == (word is not times(X, 9))


def test_what_cancels_out_is_not_there() -> None:
    nothing = make("bvsub", times(X, 9), make("bvadd", shifted(X, 3), X))
    assert linear(nothing) == (0, ())
    assert linear(make("bvadd", nothing, Y)) == (0, ((Y, 1),))


def test_other_shifts_and_words_of_other_things_are_words_of_their_own() -> None:
    """By what is no constant, by 32 and more, of what is no product with one: they are not multiples of anything."""
    product, high = make("prod", X, Y), make("prod", X, const(9))
    others = [
        make("bvshl", X, Y),
        make("bvshl", make("bvadd", X, Y), make("bvlshr", Y, const(27))),
        extract(product, 31, 0),
        extract(make("bvlshr", product, const(4, 64)), 31, 0),
        extract(make("bvlshr", high, const(4, 64)), 31, 0),
        extract(make("bvshl", product, const(4, 64)), 31, 0),
        extract(make("bvshl", high, make("prod", Y, Z)), 31, 0),
        extract(make("bvadd", product, const(4, 64)), 31, 0),
    ]
    for word in others:
        assert linear(word) == (0, ((word, 1),)), word
    assert linear(shifted(X, 31)) == (0, ((X, 1 << 31),))
    assert linear(extract(make("bvshl", high, const(31, 64)), 31, 0)) == (0, ((X, (9 << 31) & WORD),))
    for by in (32, 33, 5000):
        gone = make("bvshl", X, const(by))
        assert linear(gone) == (0, ((gone, 1),))
        gone = extract(make("bvshl", high, const(by, 64)), 31, 0)
        assert linear(gone) == (0, ((gone, 1),))


def test_drawn_sums_have_the_value_of_the_words() -> None:
    rng = Random(5)
    for _ in range(300):
        of = {X: rng.randrange(1 << 32), Y: rng.randrange(1 << 32)}
        word, expected = X, of[X]
        for _ in range(rng.randrange(1, 6)):
            other, number = rng.choice([(X, of[X]), (Y, of[Y]), (const(c := rng.randrange(1 << 32)), c)])
            match rng.randrange(4):
                case 0:
                    word, expected = make("bvadd", word, other), expected + number
                case 1:
                    word, expected = make("bvsub", word, other), expected - number
                case 2:
                    by = rng.randrange(32)
                    word, expected = shifted(word, by), expected << by
                case _:
                    factor = rng.randrange(1 << 32)
                    word, expected = times(word, factor), expected * factor
            expected &= WORD
        assert value(word, of) == expected


def test_less_than_one_more_is_not_less_only_where_nothing_wraps() -> None:
    low = shifted(make("bvlshr", X, const(8)), 8)
    asked = make("bvult", times(Y, 3), make("bvadd", low, const(1)))
    other = make("bvult", low, make("bvadd", shifted(Y, 1), Y))
    span = Known({}).span
    assert question(asked, span) == (question(other, span)[0], False)  # type: ignore[index]
    assert question(negate(asked), span) == question(other, span)
    wraps = make("bvult", times(Y, 3), make("bvadd", X, const(1)))
    assert question(wraps, span) == ((linear(times(Y, 3)), (1, ((X, 1),))), True)
    bytes_ = make("bvult", extract(X, 7, 0), extract(Y, 7, 0))
    for condition in (make("=", X, Y), make("bvslt", X, Y), bytes_):
        assert question(condition, span) is question(negate(condition), span) is None


class Nobody:
    """In place of a solver."""

    def impossible(self, *_: object, **__: object) -> bool:
        return False


def test_one_more_than_a_sum_with_a_constant_is_seen_as_such() -> None:
    """a < (x - 7) << 2 plus 1, where that does not wrap: not (x - 7) << 2 < a."""
    part = shifted(make("bvadd", X, const(-7)), 2)
    more = make("bvadd", part, const(1))
    known = Known({part: bounded(0, 1000)})
    asked = question(make("bvult", Y, more), known.span)
    opposite = question(make("bvult", part, Y), known.span)
    assert asked is not None
    assert opposite is not None
    assert (asked[0], asked[1]) == (opposite[0], not opposite[1])
    assert question(make("bvult", Y, more), Known({}).span) != asked


def test_a_path_knows_a_comparison_in_other_words() -> None:
    low = shifted(make("bvlshr", X, const(8)), 8)
    code = make("bvult", low, make("bvadd", shifted(Y, 1), Y))
    program = make("bvult", times(Y, 3), make("bvadd", low, const(1)))
    nobody = Nobody()
    for fact, holds in ((code, False), (negate(code), True)):
        known = Known({Y: ALL}).assume(fact)
        assert (known.decide(program, nobody) is TRUE) == holds  # type: ignore[arg-type]
        assert (known.decide(negate(program), nobody) is TRUE) != holds  # type: ignore[arg-type]
        other = make("bvult", times(Y, 5), make("bvadd", low, const(1)))
        assert known.decide(other, nobody) is other  # type: ignore[arg-type]
    assert Known({}).decide(make("=", times(Y, 9), make("bvadd", shifted(Y, 3), Y)), nobody) is TRUE  # type: ignore[arg-type]
    open_ = make("=", times(Y, 9), make("bvadd", shifted(Y, 2), Y))
    assert Known({}).decide(open_, nobody) is open_  # type: ignore[arg-type]


def test_multiples_of_a_word_ascend_as_far_as_they_do_not_wrap() -> None:
    below = {(linear(times(X, 14)), linear(Y)): True}
    beyond = {(linear(times(X, 14)), linear(Y)): False}
    above = {(linear(Y), linear(times(X, 14))): True}
    within = {(linear(Y), linear(times(X, 14))): False}

    def asked(less: int, known: dict[Question, bool], most: int, more: bool) -> bool | None:
        sides = linear(times(X, less)), linear(Y)
        return ascending(sides[::-1] if more else sides, known, lambda _: (0, most))

    for factor, says in ((13, True), (14, True), (15, None), (1, True)):
        assert asked(factor, below, 1000, False) is says
        assert asked(factor, within, 1000, True) is (says and False)
    for factor, says in ((13, None), (14, True), (15, True), (1, None)):
        assert asked(factor, above, 1000, True) is says
        assert asked(factor, beyond, 1000, False) is (says and False)
    assert asked(13, below, 1000, True) is asked(13, above, 1000, False) is None
    assert asked(15, above, WORD // 15, True) is True
    assert asked(15, above, WORD // 15 + 1, True) is None
    assert asked(13, below, WORD // 14, False) is True
    assert asked(13, below, WORD // 14 + 1, False) is None
    doubled = {(linear(times(X, 2)), linear(Y)): True}
    assert asked(1, doubled, (1 << 31) - 1, False) is True
    assert asked(1, doubled, 1 << 31, False) is None  # twice that is 0


def test_only_multiples_of_one_word_are_compared() -> None:
    span = lambda _: (0, 100)  # noqa: E731
    known = {(linear(times(X, 14)), linear(Y)): True}
    for less in (times(Z, 3), make("bvadd", times(X, 3), const(1)), make("bvadd", X, Z), const(3)):
        assert ascending((linear(less), linear(Y)), known, span) is None
    assert ascending((linear(X), linear(Z)), known, span) is None
    mixed = {(linear(make("bvadd", times(X, 14), Z)), linear(Y)): True}
    assert ascending((linear(X), linear(Y)), mixed, span) is None


def test_drawn_comparisons_of_multiples_are_answered_as_they_are() -> None:
    rng = Random(7)
    answered = 0
    for _ in range(3000):
        most = rng.choice([1, 7, 1000, WORD // 9, WORD])
        of = {X: rng.randrange(most + 1), Y: rng.choice([rng.randrange(40), rng.randrange(most + 1) * 4 & WORD])}

        sides = [
            (times(X, rng.choice([1, 2, 3, 8, 9, 10, 1 << 31, WORD])), Y)[:: rng.choice([1, -1])] for _ in range(4)
        ]
        less = [value(a, of) < value(b, of) for a, b in sides]
        asked, *others = [(linear(a), linear(b)) for a, b in sides]
        found = ascending(asked, dict(zip(others, less[1:], strict=True)), Known({X: bounded(0, most)}).span)
        assert found in (None, less[0])
        answered += found is not None
    assert answered > 500


def test_a_path_that_knows_a_multiple_knows_a_smaller_one() -> None:
    fact = negate(make("bvult", shifted(Y, 8), times(X, 161)))
    known = Known({X: bounded(1, 4194303), Y: bounded(0, 4194302)}).assume(fact)
    asked = make("bvult", times(X, 14), make("bvadd", shifted(Y, 8), const(1)))
    assert known.decide(asked, Nobody()) is TRUE  # type: ignore[arg-type]
    wide = Known({X: bounded(1, 1 << 30), Y: bounded(0, 4194302)}).assume(fact)
    assert wide.decide(asked, Nobody()) is asked  # type: ignore[arg-type]
