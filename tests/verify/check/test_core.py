"""A solver names some of the conditions that are impossible together. Those are impossible by themselves."""

import pytest
from drawn_conditions import anything, conditions
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from verify.check import shared_solver
from verify.check.assignments import Assignment
from verify.check.effort import Spent
from verify.check.path_facts import Known, Oracle, bounded
from verify.check.shared_solver import SharedSolver
from verify.check.solver import Undecided, impossible
from verify.check.terms import const, make, negate, var

X, Y, Z = (var(f"core.{name}") for name in "xyz")
BELOW, ABOVE, APART = make("bvult", X, Y), make("bvult", Y, X), negate(make("=", Z, const(7)))
NOTHING = Known({})


def core(conditions, multiply, assignments=None):
    """Asked with abstract products, then, if ``multiply``, with multiplied ones."""
    found = SharedSolver().core(conditions, anything, [].append if assignments is None else assignments.append)
    return SharedSolver(exact=True).core(conditions, anything, None) if found is None and multiply else found


@settings(max_examples=examples(100))
@given(st.lists(conditions(), min_size=1, max_size=6), st.booleans())
def test_it_is_named_where_all_are_impossible_and_is_impossible(drawn, multiply):
    assignments = list[Assignment]()
    found = core(drawn, multiply, assignments)
    alone = impossible(drawn, anything, "bitwuzla", multiply=False)
    assert len(assignments) == (not alone)
    assert all(one.satisfies(drawn, anything) for one in assignments)
    assert (found is not None) == impossible(drawn, anything, "bitwuzla", multiply)
    if found is not None:
        assert set(found) <= set(drawn)
        assert impossible(found, anything, "cvc5", multiply)


def test_what_has_no_part_in_it_is_not_named():
    assert set(core([APART, BELOW, ABOVE], True)) == {BELOW, ABOVE}
    assert core([APART, BELOW], True) is None


def test_only_multiplying_shows_that_a_square_is_not_two():
    square = make("=", make("prod", X, X), const(2, 64))
    assert core([APART, square], False) is None
    assert core([APART, square], True) == [square]


@pytest.mark.parametrize("name", ["bitwuzla", "cvc5"])
def test_the_solver_that_is_relied_on_is_asked_about_it(name, monkeypatch):
    """A core that may be satisfied, whoever names it, is none."""
    oracle, proved = Oracle(name, prove=lambda script: proved.append(script)), list[str]()
    assert set(oracle.core([APART, BELOW, ABOVE], NOTHING, True)) == {BELOW, ABOVE}
    assert len(proved) == 1
    monkeypatch.setattr(SharedSolver, "core", lambda *_: [APART, BELOW])
    assert oracle.core([APART, BELOW, ABOVE], NOTHING, True) is None


def test_what_is_known_of_a_core_counts():
    high = make("bvult", const(9), X)
    known = Known({X: bounded(0, 9)})
    assert Oracle().core([APART, high, *known.about(high)], known, True) is not None
    assert Oracle().core([APART, high], NOTHING, True) is None


def test_what_satisfied_one_question_answers_others_that_ask_little(monkeypatch):
    oracle, asked, answers = Oracle(), list[object](), SharedSolver.core
    monkeypatch.setattr(SharedSolver, "core", lambda *of: asked.append(of) or answers(*of))
    assert oracle.core([BELOW], NOTHING, False) is None
    assert oracle.core([BELOW], NOTHING, False) is None
    assert len(asked) == 1
    assert oracle.core([BELOW], NOTHING, True) is None
    assert len(asked) == 2


def test_no_answer_is_no_core(monkeypatch):
    monkeypatch.setattr(shared_solver, "answer_of", lambda _: (_ for _ in ()).throw(Undecided("no")))
    with pytest.raises(Undecided):
        Oracle().core([BELOW, ABOVE], NOTHING, True)


def test_only_what_is_relied_on_counts_as_a_question():
    oracle = Oracle(most=1)
    assert oracle.core([BELOW], NOTHING, True) is None
    assert oracle.core([BELOW, ABOVE], NOTHING, True) is not None
    assert (oracle.asked, oracle.solved) == (1, 1)
    with pytest.raises(Spent):
        oracle.core([APART, make("=", Z, const(7))], NOTHING, True)
