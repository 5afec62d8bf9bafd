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
    """Solvers one after the other, each for ``MAX_QUESTIONS``. ``exact``: products are multiplied; ``left``: questions
    that the last one may get yet."""

    exact: bool = False
    left: int = 0

    def core(
        self, conditions: Sequence[Term], bounds: Bounds, found: Callable[[Assignment], None]
    ) -> list[Term] | None:
        """Returns conditions that no values satisfy together, those that were needed to find it; None where values
        satisfy all, which may be wrong of abstract products. ``found`` gets the assignment then. Raises Undecided after
        the time of a question."""
        if not self.left:
            self._begin()
        self.left -= 1
        try:
            claims = self._script.claims(conditions, bounds)
            self._read()
            assumed = [self._term(claim) for claim in claims]
            answer = answer_of(str(self._solver.check_sat(*assumed)))
        except BaseException:
            self.left = 0  # what a question leaves that was given up is nobody's
            raise
        if answer == "unsat":
            needed, last = self._solver.get_unsat_assumptions(), assumed[len(claims) - len(conditions) :]
            return [a for a, term in zip(conditions, last, strict=True) if term in needed]
        if not self.exact:
            found(self._script.assignment(conditions, self._value))
        return None

    def _begin(self) -> None:
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.TIME_LIMIT_PER, MILLISECONDS)
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.PRODUCE_UNSAT_ASSUMPTIONS, True)
        self._manager = bitwuzla.TermManager()  # no term may outlive it
        self._parser = bitwuzla.Parser(self._manager, options)
        self._script = Script(self.exact)
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
