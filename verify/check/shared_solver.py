"""One bitwuzla for many questions that have most conditions in common: it keeps what it has learned of them.

Each term is defined once, and the conditions of a question are assumptions, which bind no other question. An answer
takes a fifth of the time of a solver of its own where a path asks thousands of easy questions. Products stay abstract.
A hard question is better asked alone: a solver that may get others later leaves out much of its preprocessing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bitwuzla
from bitwuzla import Term as SolverTerm

from verify.check.assignments import Assignment, Bounds
from verify.check.solver import MILLISECONDS, Script, answer_of
from verify.check.terms import Term

MAX_QUESTIONS = 100
"""Questions of one bitwuzla. It computes a value for all that it was ever asked, so it slows down."""


@dataclass
class SharedSolver:
    """Solvers one after the other, each for ``MAX_QUESTIONS``. ``left``: questions that the last one may get yet."""

    left: int = 0

    def impossible(self, conditions: Sequence[Term], bounds: Bounds, found: Callable[[Assignment], None]) -> bool:
        """Whether no values satisfy all conditions: True is as good, False may be wrong of products. ``found`` gets the
        assignment that satisfies them. Raises Undecided after the time of a question."""
        if not self.left:
            self._begin()
        self.left -= 1
        try:
            claims = self._script.claims(conditions, bounds)
            self._read()
            answer = answer_of(str(self._solver.check_sat(*map(self._term, claims))))
        except BaseException:
            self.left = 0  # what a question leaves that was given up is nobody's
            raise
        if answer == "unsat":
            return True
        found(self._script.assignment(conditions, self._value))
        return False

    def _begin(self) -> None:
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.TIME_LIMIT_PER, MILLISECONDS)
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        self._manager = bitwuzla.TermManager()  # no term may outlive it
        self._parser = bitwuzla.Parser(self._manager, options)
        self._script = Script(exact=False)
        self._read()
        self._solver = self._parser.bitwuzla()
        self._terms: dict[str, SolverTerm] = {}
        self.left = MAX_QUESTIONS

    def _read(self) -> None:
        """Gives the parser what the script has defined."""
        if lines := self._script.taken():
            self._parser.parse("\n".join(lines), True, False)

    def _term(self, text: str) -> SolverTerm:
        if text not in self._terms:
            self._terms[text] = self._parser.parse_term(text)
        return self._terms[text]

    def _value(self, name: str) -> int:
        return int(self._solver.get_value(self._term(name)).value(10))
