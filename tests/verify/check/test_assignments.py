"""Assignments of earlier questions: they satisfy what the solver finds satisfiable, and nothing that it does not."""

from collections.abc import Callable

import pytest
from drawn_conditions import CONSTANTS, FULL, WORDS, anything, conditions
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from verify.check import solver
from verify.check.assignments import MAX_ASSIGNMENTS, Assignment, Assignments
from verify.check.path_facts import Known, Oracle
from verify.check.solver import impossible
from verify.check.terms import Term, const, make, negate

X, Y, Z = WORDS


@settings(max_examples=examples(150))
@given(st.lists(conditions(), min_size=1, max_size=3))
def test_what_the_solver_finds_satisfies_the_question(asked: list[Term]) -> None:
    script, values = solver.Script(exact=False), dict[str, int]()
    if solver.SOLVERS["bitwuzla"](script.question(asked, anything), values) == "sat":
        assert script.assignment(asked, values.__getitem__).satisfies(asked, anything)


@settings(max_examples=examples(150))
@given(st.lists(conditions(), min_size=1, max_size=2), st.lists(CONSTANTS, min_size=3, max_size=3))
def test_a_question_that_an_assignment_satisfies_is_possible(asked: list[Term], values: list[int]) -> None:
    """Products are multiplied here, so a solver that multiplies agrees."""
    found = Assignment(dict(zip(WORDS, values, strict=True)), {}).satisfies(asked, anything)
    fixed = [make("=", word, const(value)) for word, value in zip(WORDS, values, strict=True)]
    assert found == (not impossible([*asked, *fixed], anything, "bitwuzla", multiply=True))


@pytest.mark.parametrize(
    ("products", "bounds", "satisfied"),
    [
        ({}, anything, False),
        ({(X, Y): 7, (X, Z): 7}, anything, True),
        ({(X, Y): 7, (X, Z): 8}, anything, False),
        ({(X, Y): 7, (X, Z): 7}, lambda _: (3, FULL), False),
        ({(X, Y): 7, (X, Z): 7}, lambda _: (0, 2), False),
    ],
)
def test_products_are_within_their_bounds_and_equal_for_equal_factors(
    products: dict[tuple[Term, Term], int], bounds: Callable[[Term], tuple[int, int]], satisfied: bool
) -> None:
    """7 is no product of 2 and 3; the solver may take it for one, of both pairs alike."""
    assignment = Assignment({X: 2, Y: 3, Z: 3}, products)
    sevens = [make("bvult", const(6, 64), make("prod", X, other)) for other in (Y, Z)]
    assert assignment.satisfies(sevens, bounds) == satisfied


def test_a_satisfied_question_asks_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = solver.SOLVERS["bitwuzla"]

    def counting(script: str, values: dict[str, int] | None) -> str:
        asked.append(script)
        return real(script, values)

    monkeypatch.setitem(solver.SOLVERS, "bitwuzla", counting)
    oracle, known = Oracle(), Known({})
    below = make("bvult", X, Y)
    assert not oracle.impossible([below, make("bvult", Y, Z)], known)
    assert not oracle.impossible([below], known)
    assert not oracle.impossible([negate(make("=", X, Z))], known)
    assert (len(asked), oracle.solved, oracle.asked) == (1, 1, 3)
    assert oracle.impossible([below, make("bvult", Y, X)], known)
    assert len(asked) == 2


def test_the_least_useful_is_dropped() -> None:
    kept = Assignments()
    for value in range(MAX_ASSIGNMENTS):
        kept.add(Assignment({X: value}, {}))
    assert kept.satisfy([make("=", X, const(0))], anything)
    kept.add(Assignment({X: FULL}, {}))
    assert kept.satisfy([make("=", X, const(0))], anything)
    assert not kept.satisfy([make("=", X, const(1))], anything)


def test_an_assignment_forgets_terms_and_stays_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.check.assignments.MAX_TERMS", 4)
    assignment = Assignment({X: 5}, {})
    for number in range(20):
        assert assignment.satisfies([make("=", make("bvadd", X, const(number)), const(5 + number))], anything)
        assert len(assignment._values) < 12
