"""Terms of bit vectors, and questions about them to Bitwuzla."""

from collections.abc import Sequence

import bitwuzla
from bitwuzla import Kind, Term

SECONDS = 120.0
"""Time limit of one question, seconds."""
MANAGERS: list[bitwuzla.TermManager] = []
"""Bitwuzla's own makers of terms, kept to the end of the process: 1 KiB each. No term may outlive its maker, and the
collector frees what is in a circle in any order."""


class LogicUndecided(Exception):
    """The solver gave no answer in its time."""


class BitTerms:
    """Makes terms. ``questions``: number of questions so far; ``seconds``: time limit of each."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.manager = bitwuzla.TermManager()
        MANAGERS.append(self.manager)
        self.seconds = seconds
        self.questions = 0

    def term(self, kind: Kind, terms: list[Term], indices: Sequence[int] = ()) -> Term:
        return self.manager.mk_term(kind, terms, list(indices))

    def unknown(self, name: str, width: int) -> Term:
        return self.manager.mk_const(self.manager.mk_bv_sort(width), name)

    def number(self, value: int, width: int) -> Term:
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), value % (1 << width))

    def resized(self, term: Term, width: int, signed: bool) -> Term:
        """Returns a term's low bits, or the term with more of its sign, or of zeros."""
        size = term.sort().bv_size()
        if size > width:
            return self.term(Kind.BV_EXTRACT, [term], [width - 1, 0])
        if size == width:
            return term
        return self.term(Kind.BV_SIGN_EXTEND if signed else Kind.BV_ZERO_EXTEND, [term], [width - size])

    def choice(self, condition: Term, a: Term, b: Term) -> Term:
        return self.term(Kind.ITE, [condition, a, b])

    def true(self, term: Term) -> Term:
        """Returns whether a word is not 0."""
        return self.term(Kind.DISTINCT, [term, self.number(0, term.sort().bv_size())])

    def flag(self, condition: Term, width: int) -> Term:
        """Returns a condition as a word."""
        return self.choice(condition, self.number(1, width), self.number(0, width))

    def satisfiable(self, assertions: Sequence[Term], about: str, seconds: float | None = None) -> bool:
        """Returns whether all can be true together. LogicUndecided, with ``about``, if no answer came in time:
        ``seconds``, if another limit is meant for this question."""
        return self._asked(assertions, about, seconds=seconds)[0]

    def value(self, assertions: Sequence[Term], term: Term, about: str) -> int | None:
        """Returns a value that a term can have where all are true, None where they cannot be."""
        found = self.values(assertions, [term], about)
        return None if found is None else found[0]

    def values(self, assertions: Sequence[Term], terms: Sequence[Term], about: str) -> list[int] | None:
        """Returns values that terms can have together where all are true, None where they cannot be."""
        possible, solver = self._asked(assertions, about, models=True)
        return [int(solver.get_value(term).value(2), 2) for term in terms] if possible else None

    def _asked(
        self, assertions: Sequence[Term], about: str, models: bool = False, seconds: float | None = None
    ) -> tuple[bool, bitwuzla.Bitwuzla]:
        limit = self.seconds if seconds is None else seconds
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.TIME_LIMIT_PER, int(limit * 1000))
        options.set(bitwuzla.Option.PRODUCE_MODELS, models)
        solver = bitwuzla.Bitwuzla(self.manager, options)
        for assertion in assertions:
            solver.assert_formula(assertion)
        self.questions += 1
        result = solver.check_sat()
        if result == bitwuzla.Result.UNKNOWN:
            raise LogicUndecided(f"{about} was not decided in {limit:g} s")
        return bool(result == bitwuzla.Result.SAT), solver
