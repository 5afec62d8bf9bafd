"""One solver for many questions answers each as a solver of its own does."""

import pytest
from drawn_conditions import anything, conditions
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from verify.check import shared_solver, solver
from verify.check.assignments import Assignment
from verify.check.path_facts import Known, Oracle
from verify.check.shared_solver import SharedSolver
from verify.check.solver import Undecided, impossible
from verify.check.terms import Term, const, make, negate, var

X, Y = var("shared.x"), var("shared.y")
BELOW = make("bvult", X, Y)
QUESTIONS = st.lists(conditions(), min_size=1, max_size=3)


def narrow(_: Term) -> tuple[int, int]:
    return 0, 1 << 12


@settings(max_examples=examples(100))
@given(st.lists(QUESTIONS, min_size=2, max_size=6), st.integers(1, 4), st.booleans())
def test_answers_are_those_of_solvers_of_their_own(questions, most, bounded):
    """Each question is asked twice, with the others between; what satisfies it is an assignment of it."""
    bounds = narrow if bounded else anything
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_solver, "MAX_QUESTIONS", most)
        asked = SharedSolver()
        for question in (*questions, *questions):
            found = list[Assignment]()
            alone = impossible(question, bounds, "bitwuzla", multiply=False)
            assert (asked.core(question, bounds, found.append) is not None) == alone
            assert len(found) == (not alone)
            assert all(one.satisfies(question, bounds) for one in found)


def test_a_question_binds_no_later_one():
    asked, found = SharedSolver(), list[Assignment]()
    assert asked.core([BELOW, make("bvult", Y, X)], anything, found.append) is not None
    assert asked.core([BELOW, make("=", Y, const(0))], anything, found.append) is not None
    assert asked.core([make("bvult", Y, X)], anything, found.append) is None
    assert len(found) == 1


def test_bounds_of_a_question_bind_no_later_one():
    """The solver takes products for numbers, within their factors' bounds."""
    large = make("bvult", const(1 << 40, 64), make("prod", X, Y))
    asked, found = SharedSolver(), list[Assignment]()
    assert asked.core([large], narrow, found.append) is not None
    assert asked.core([large], anything, found.append) is None
    assert asked.core([large], narrow, found.append) is not None


def test_a_solver_without_an_answer_is_left(monkeypatch):
    asked = SharedSolver()
    assert asked.core([BELOW], anything, lambda _: None) is None
    first = asked._solver
    with monkeypatch.context() as patch:
        patch.setattr(shared_solver, "answer_of", lambda _: solver.answer_of("unknown"))
        with pytest.raises(Undecided):
            asked.core([negate(BELOW)], anything, lambda _: None)
    assert asked.core([BELOW], anything, lambda _: None) is None
    assert asked._solver is not first


@pytest.mark.parametrize(
    ("oracle", "together", "one"),
    [
        (lambda: Oracle(), True, True),
        (lambda: Oracle(), False, False),
        (lambda: Oracle("cvc5"), True, False),
        (lambda: Oracle(prove=lambda _: None), True, False),
    ],
    ids=["easy", "hard", "cvc5", "proved"],
)
def test_only_easy_questions_without_a_proof_are_asked_of_one_solver(oracle, together, one, monkeypatch):
    asked = list[object]()
    monkeypatch.setattr(SharedSolver, "core", lambda _, conditions, *__: asked.append(conditions))
    oracle().impossible([BELOW], Known({}), multiply=False, together=together)
    assert bool(asked) is one


def test_products_that_are_multiplied_are_asked_alone(monkeypatch):
    monkeypatch.setattr(SharedSolver, "core", lambda *_: pytest.fail("asked of the shared one"))
    seven = make("=", make("prod", X, Y), const(7, 64))
    assert not Oracle().impossible([seven], Known({}), multiply=True, together=True)


def test_a_question_that_is_interrupted_leaves_no_half_of_it(monkeypatch):
    asked = SharedSolver()
    assert asked.core([BELOW], anything, lambda _: None) is None
    with monkeypatch.context() as patch:
        patch.setattr(asked, "_read", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            asked.core([make("bvult", Y, X)], anything, lambda _: None)
    assert asked.core([make("bvult", Y, X)], anything, lambda _: None) is None
