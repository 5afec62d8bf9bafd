"""Bits that fold are what the solver's terms are, on all small words."""

from itertools import product

import pytest
from bitwuzla import Kind

from verify.core_timing.logic_bits import LogicBits, known, numbered, same, value
from verify.terms.bits import BitTerms

OPERATORS = {
    "both": lambda a, b: a & b,
    "either": lambda a, b: a | b,
    "unlike": lambda a, b: a ^ b,
}


@pytest.fixture
def logic():
    return LogicBits(BitTerms())


def always(logic, condition):
    return not logic.terms.satisfiable([logic.terms.term(Kind.NOT, [condition])], "a test")


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_right_with_either_side_known_or_not(logic, name):
    operator = getattr(logic, name)
    for a, b in product((0, 1), repeat=2):
        assert operator(a, b) == OPERATORS[name](a, b)
        (x,), (y,) = logic.unknown("x", 1), logic.unknown("y", 1)
        for left, right in ((x, b), (a, y), (x, y)):
            given = [logic.holds(bit if due else logic.inverse(bit)) for bit, due in ((x, a), (y, b))]
            found = operator(left, right)
            due = OPERATORS[name](a, b)
            assert not logic.terms.satisfiable([*given, logic.holds(logic.inverse(found) if due else found)], "a test")


def test_a_choice_takes_its_side_and_keeps_what_is_common(logic):
    word, (condition,) = logic.unknown("w", 4), logic.unknown("c", 1)
    chosen = logic.choice(condition, [1, 0, *word[2:]], [0, 0, *word[2:]])
    assert chosen[1] == 0
    assert same(chosen[2], word[2])
    assert same(chosen[3], word[3])
    assert always(logic, logic.terms.term(Kind.EQUAL, [logic.holds(chosen[0]), logic.holds(condition)]))
    assert logic.choice(1, [1], [0]) == [1]
    assert logic.choice(0, [1], [0]) == [0]


def test_equality_ends_at_a_known_difference_and_asks_for_the_rest(logic):
    word = logic.unknown("w", 3)
    assert logic.equal(zip([*word, 1], [*word, 0], strict=True)) == 0
    assert logic.equal(zip(word, word, strict=True)) == 1
    alike = logic.equal(zip(word, numbered(5, 3), strict=True))
    due = logic.terms.term(Kind.EQUAL, [logic.joined(word), logic.terms.number(5, 3)])
    assert always(logic, logic.terms.term(Kind.EQUAL, [logic.holds(alike), due]))


def test_words_are_joined_in_their_order(logic):
    low, high = logic.unknown("l", 3), logic.unknown("h", 3)
    assert logic.joined(low) is low[0][0]
    mixed = logic.joined([1, *low[1:], 0, *high[:2]])
    assert mixed.sort().bv_size() == 6
    given = [
        logic.terms.term(Kind.EQUAL, [logic.joined(word), logic.terms.number(number, 3)])
        for word, number in ((low, 0b110), (high, 0b101))
    ]
    assert logic.terms.value(given, mixed, "a test") == 0b010111
    assert (value(numbered(11, 4)), known([0, low[0]])) == (11, None)
