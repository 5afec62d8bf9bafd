"""What the checker asks a solver: what is impossible is found so, and nothing else is."""

from collections.abc import Callable

import pytest

from verify.check import solver
from verify.check.solver import SOLVERS, Undecided, impossible
from verify.check.terms import BOOL, FALSE, TRUE, Term, const, ite, make, negate, var

FULL = (1 << 32) - 1
X, Y, Z, W = (var(f"solver.{name}") for name in "xyzw")
BOTH = pytest.mark.parametrize("name", ["bitwuzla", "cvc5"])


def anything(_: Term) -> tuple[int, int]:
    return 0, FULL


def equal(a: Term, b: Term) -> Term:
    return make("=", a, b)


def differ(a: Term, b: Term) -> Term:
    return negate(equal(a, b))


def at_most(a: Term, value: int) -> Term:
    return negate(make("bvult", const(value, a.width), a))


def wide(value: int) -> Term:
    return const(value, 64)


def product(a: Term, b: Term) -> Term:
    return make("prod", a, b)


@BOTH
def test_conditions_are_impossible_only_together(name: str) -> None:
    one, other = make("bvult", X, Y), make("bvult", Y, X)
    assert impossible([one, other], anything, name, multiply=False)
    assert not impossible([one], anything, name, multiply=True)
    assert not impossible([other], anything, name, multiply=False)
    assert not impossible([], anything, name, multiply=True)


@BOTH
def test_a_variable_may_be_a_condition(name: str) -> None:
    c = var("solver.c", BOOL)
    assert impossible([c, equal(ite(c, X, Y), Z), differ(X, Z)], anything, name, multiply=False)
    assert not impossible([c, equal(ite(c, X, Y), Z), differ(Y, Z)], anything, name, multiply=False)
    assert impossible([FALSE], anything, name, multiply=False)
    assert not impossible([TRUE], anything, name, multiply=False)


@BOTH
def test_a_term_that_is_used_often_is_written_once(name: str) -> None:
    """Else a few dozen doublings would be a text without end."""
    total = X
    for _ in range(40):
        total = make("bvxor", make("bvadd", total, Y), make("bvand", total, Z))
    conditions = [equal(total, W), negate(equal(total, W))]
    assert impossible(conditions, anything, name, multiply=False)


@BOTH
def test_products_of_equal_factors_are_equal_in_either_order(name: str) -> None:
    one, other = product(X, Y), product(Z, W)
    for pairs in ([(X, Z), (Y, W)], [(X, W), (Y, Z)]):
        same = [equal(a, b) for a, b in pairs]
        assert impossible([*same, differ(one, other)], anything, name, multiply=False)
        for left in same:  # one pair alone says nothing
            assert not impossible([left, differ(one, other)], anything, name, multiply=False)
            assert not impossible([left, differ(one, other)], anything, name, multiply=True)
    for pairs in ([(X, Z), (X, W)], [(Y, Z), (Y, W)], [(X, Z), (Y, Z)], [(X, W), (Y, W)]):
        assert not impossible([*(equal(a, b) for a, b in pairs), differ(one, other)], anything, name, multiply=False), (
            pairs
        )


@BOTH
def test_of_three_products_each_two_are_compared(name: str) -> None:
    three = [product(X, Y), product(X, Z), product(X, W)]
    for (a, first), (b, second) in (((Y, 0), (Z, 1)), ((Y, 0), (W, 2)), ((Z, 1), (W, 2))):
        others = [make("bvult", p, wide(1 << 62)) for p in three]
        assert impossible([equal(a, b), differ(three[first], three[second]), *others], anything, name, multiply=False)


def any_word(a: Term) -> tuple[int, int]:
    return (a.value, a.value) if a.op == "const" else (0, FULL)


MULTIPLES = [(34341, 17395), (3, 1), (7, 5), (FULL, 3), (FULL, FULL - 2), (4097, 4095), (129, 3)]


@BOTH
@pytest.mark.parametrize(("greater", "less"), MULTIPLES)
def test_multiples_of_one_word_are_ordered_as_their_factors(name: str, greater: int, less: int) -> None:
    more, fewer = product(X, const(greater)), product(const(less), X)
    assert impossible([make("bvult", more, fewer)], any_word, name, multiply=False)
    assert not impossible([make("bvult", fewer, more)], any_word, name, multiply=False)
    assert not impossible([make("bvult", more, product(const(less), Y))], any_word, name, multiply=False)


@BOTH
def test_multiples_of_one_word_are_ordered_after_a_shift_too(name: str) -> None:
    """x * 34341 >> 15 is no more than x * 17433 >> 14, and no less than x * 17107 >> 14."""

    def share(factor: int, bits: int) -> Term:
        return make("bvlshr", product(X, const(factor)), wide(bits))

    assert impossible([make("bvult", share(17433, 14), share(34341, 15))], any_word, name, multiply=False)
    assert impossible([make("bvult", share(34341, 15), share(17107, 15))], any_word, name, multiply=False)


@BOTH
@pytest.mark.parametrize(("greater", "less"), MULTIPLES)
@pytest.mark.parametrize("x", [0, 1, 1 << 31, FULL])
def test_no_order_of_multiples_rules_out_what_they_are(name: str, x: int, greater: int, less: int) -> None:
    multiples = [equal(product(X, const(k)), wide(x * k)) for k in (greater, less)]
    for bounds in (any_word, lambda a: (x, x) if a is X else (a.value, a.value)):
        assert not impossible([equal(X, const(x)), *multiples], bounds, name, multiply=False)


@BOTH
def test_one_product_under_two_names_is_in_order_with_itself(name: str) -> None:
    """Factors without their shifts stand in the order in which they were made, whole ones with the constant last."""
    five = const(5)
    once = make("bvshl", X, const(20))
    twice = make("bvshl", once, const(20))
    assert not impossible([make("bvult", product(twice, five), product(once, five))], any_word, name, multiply=True)


@BOTH
def test_a_sum_without_its_zeros_is_known_to_the_solver_part_by_part(name: str) -> None:
    """(x << 3) + 8 is (x + 1) << 3."""
    total = make("bvadd", make("bvshl", X, const(3)), const(8))
    assert not impossible([make("bvult", wide(40), product(total, const(5)))], any_word, name, multiply=True)
    assert impossible([equal(X, const(1)), differ(product(total, const(5)), wide(80))], any_word, name, multiply=True)


@BOTH
def test_a_product_is_within_that_of_its_factors_bounds(name: str) -> None:
    bounds = {X: (3, 1000), Y: (5, 2000)}.__getitem__
    found = product(X, Y)
    for value in (15, 2_000_000):
        assert not impossible([equal(found, wide(value))], bounds, name, multiply=False)
    for value in (14, 2_000_001):
        assert impossible([equal(found, wide(value))], bounds, name, multiply=False)


@BOTH
@pytest.mark.parametrize(
    ("known", "least", "most"),
    [((-1, 5), 0, 2**32 - 1), ((7, 3), 0, 2**32 - 1), ((0, 5), 0, 5), ((4, 4), 4, 4)],
)
def test_a_factor_below_zero_or_without_a_range_may_be_any_word(
    name: str, known: tuple[int, int], least: int, most: int
) -> None:
    bounds = {X: known, Y: (1, 1)}.__getitem__
    for value in (least, most):
        assert not impossible([equal(product(X, Y), wide(value))], bounds, name, multiply=False)
    for value in (least - 1, most + 1):
        assert impossible([equal(product(X, Y), wide(value % 2**64))], bounds, name, multiply=False)


@BOTH
def test_factors_are_multiplied_only_where_that_is_wanted(name: str) -> None:
    bounds = {X: (0, 5), Y: (0, 5)}.__getitem__
    conditions = [at_most(X, 5), at_most(Y, 5), equal(product(X, Y), wide(7))]
    assert not impossible(conditions, bounds, name, multiply=False)
    assert impossible(conditions, bounds, name, multiply=True)
    assert not impossible([*conditions[:2], equal(product(X, Y), wide(12))], bounds, name, multiply=True)


@BOTH
@pytest.mark.parametrize("multiply", [False, True])
def test_a_product_knows_that_of_factors_before_a_shift_that_lost_nothing(name: str, multiply: bool) -> None:
    by, four = make("bvshl", X, const(2)), make("bvshl", product(X, Y), wide(2))
    kept, lost = at_most(X, (1 << 30) - 1), at_most(X, 1 << 30)
    for factors in ((by, Y), (Y, by)):
        assert impossible([kept, differ(product(*factors), four)], anything, name, multiply)
        assert not impossible([lost, differ(product(*factors), four)], anything, name, multiply)
    assert impossible(
        [differ(product(X, const(12)), make("bvshl", product(X, const(3)), wide(2)))], anything, name, multiply
    )


@BOTH
def test_both_factors_may_have_been_shifted(name: str) -> None:
    both = product(make("bvshl", X, const(2)), make("bvshl", Y, const(3)))
    whole = make("bvshl", product(X, Y), wide(5))
    x, y = at_most(X, (1 << 30) - 1), at_most(Y, (1 << 29) - 1)
    assert impossible([x, y, differ(both, whole)], anything, name, multiply=False)
    assert not impossible([x, at_most(Y, 1 << 29), differ(both, whole)], anything, name, multiply=False)
    assert not impossible([at_most(X, 1 << 30), y, differ(both, whole)], anything, name, multiply=False)
    assert not impossible([x, at_most(Y, 1 << 29), differ(both, whole)], anything, name, multiply=True)


@BOTH
def test_a_shifted_constant_beside_a_shifted_word_keeps_what_the_word_lost(name: str) -> None:
    found = product(make("bvshl", X, const(2)), const(12))
    whole = make("bvshl", product(X, const(3)), wide(4))
    assert impossible([at_most(X, (1 << 30) - 1), differ(found, whole)], anything, name, multiply=False)
    assert not impossible([differ(found, whole)], anything, name, multiply=True)


@BOTH
def test_a_solver_that_takes_too_long_has_not_decided(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two primes of 32 bits, to be found from their product."""
    monkeypatch.setattr(solver, "MILLISECONDS", 1)
    primes = [equal(product(X, Y), wide(4294967291 * 4294967279)), make("bvult", X, Y)]
    with pytest.raises(Undecided, match="answer within"):
        impossible(primes, anything, name, multiply=True)


def test_only_sat_and_unsat_are_answers() -> None:
    for word in ("sat", "unsat"):
        assert solver.answer_of(f"{word}\n") == word
    for word in ("unknown", "", "(error sat)", "satunsat"):
        with pytest.raises(Undecided):
            solver.answer_of(word)


@BOTH
@pytest.mark.parametrize("word", ["older", "younger"])
def test_a_constant_without_its_zeros_is_known_to_the_solver(name: str, word: str) -> None:
    """Nothing else in the question holds that constant; it may have been made before the word or after it."""
    odd = const(1_000_003 if word == "older" else 1_000_033)
    a = var(f"solver.{word}") if word == "younger" else X
    conditions = [equal(product(a, const(odd.value * 4)), wide(odd.value * 20))]
    assert (odd.serial < a.serial) is (word == "younger")
    assert not impossible([*conditions, equal(a, const(5))], anything, name, multiply=True)
    assert impossible([*conditions, equal(a, const(6))], anything, name, multiply=True)


def test_a_question_without_products_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(script: str, values: dict[str, int] | None) -> str:
        asked.append(script)
        return "sat"

    monkeypatch.setitem(SOLVERS, "counting", answer)
    assert not impossible([make("bvult", X, Y)], anything, "counting", multiply=True)
    assert len(asked) == 1
    assert not impossible([equal(product(X, Y), wide(6))], anything, "counting", multiply=True)
    assert len(asked) == 3
    assert not impossible([equal(product(X, Y), wide(6))], anything, "counting", multiply=False)
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("factors", "kept"),
    [
        (lambda: (X, Y), 0),
        (lambda: (X, const(12)), 0),
        (lambda: (make("bvshl", X, const(2)), Y), 1),
        (lambda: (make("bvshl", X, const(2)), const(12)), 1),
        (lambda: (make("bvshl", X, const(2)), make("bvshl", Y, const(3))), 2),
    ],
)
def test_a_script_asks_of_a_shift_only_where_one_may_have_lost_something(
    factors: Callable[[], tuple[Term, Term]], kept: int
) -> None:
    script = solver.Script(exact=True).question([equal(product(*factors()), wide(24))], anything)
    assert script.count("bvule") == kept
    assert ("ite" in script) is (kept > 0)


def test_products_that_are_multiplied_need_no_rule() -> None:
    two = [equal(product(X, Y), wide(6)), equal(product(X, Z), wide(8))]
    abstract, exact = (solver.Script(exact).question(two, anything).count("(assert") for exact in (False, True))
    assert (abstract, exact) == (2 + 2 + 1, 2)  # the questions, the bounds, that equal factors make equal products
