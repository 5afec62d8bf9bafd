"""Comparisons as sums: the same question however it is written, and never another."""

from random import Random

from verify.check.known import ALL, Known
from verify.check.linear import linear, question
from verify.check.terms import TRUE, Term, const, extract, make, negate, var

X, Y = var("event.x"), var("event.y")
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
    assert question(make("=", X, Y), span) is question(make("bvslt", X, Y), span) is None


class Nobody:
    """In place of a solver."""

    def impossible(self, *_: object, **__: object) -> bool:
        return False


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
