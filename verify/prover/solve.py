"""The solvers: z3 and Bitwuzla, which share no code. A proof counts only if both say unsat."""

import time
from dataclasses import dataclass, field
from typing import Literal

import bitwuzla
import z3

from verify.prover.questions import Question

Verdict = Literal["unsat", "sat", "unknown"]


@dataclass(frozen=True)
class Answer:
    """Answers of the solvers to one question, and how long each took."""

    about: str
    question: Question
    verdicts: dict[str, Verdict]
    seconds: dict[str, float]

    @property
    def proved(self) -> bool:
        return all(v == "unsat" for v in self.verdicts.values())


@dataclass
class Solvers:
    """Asks, remembers what was asked, and keeps the proved questions for the certificate."""

    seconds: float
    answers: list[Answer] = field(default_factory=list)
    _known: dict[str, Answer] = field(default_factory=dict)

    def prove(self, question: Question, about: str) -> bool:
        """Whether both solvers say unsat. The second is not asked where the first does not."""
        answer = self._known.get(question.hash)
        if answer is None:
            verdicts: dict[str, Verdict] = {}
            times: dict[str, float] = {}
            for name, ask in (("bitwuzla", _bitwuzla), ("z3", _z3)):
                start = time.monotonic()
                verdicts[name], _ = ask(question, self.seconds)
                times[name] = time.monotonic() - start
                if verdicts[name] != "unsat":
                    break
            answer = self._known[question.hash] = Answer(about, question, verdicts, times)
            if answer.proved:
                self.answers.append(answer)
        return answer.proved

    def open(self, question: Question) -> bool:
        """Whether the solver that was asked has found values that satisfy it, and no other says that there are none."""
        answer = self._known.get(question.hash)
        return answer is not None and {*answer.verdicts.values()} == {"sat"}

    def model(self, question: Question, seconds: float | None = None) -> tuple[Verdict, dict[int, int]]:
        """A value for each atom (32-bit words) that makes the assertions true, if there is one."""
        return _bitwuzla(question, seconds or self.seconds)


def _bitwuzla(question: Question, seconds: float) -> tuple[Verdict, dict[int, int]]:
    terms, options = bitwuzla.TermManager(), bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(1000 * seconds))
    parser = bitwuzla.Parser(terms, options)
    parser.parse(question.text, True, False)
    solver = parser.bitwuzla()
    verdict: Verdict = {"sat": "sat", "unsat": "unsat"}.get(str(solver.check_sat()), "unknown")  # type: ignore[assignment]
    if verdict != "sat":
        return verdict, {}
    named = {t.symbol().strip("|"): t for t in parser.get_declared_funs()}
    return verdict, {e: int(solver.get_value(named[name]).value(10)) for name, e in question.atoms}


def _z3(question: Question, seconds: float) -> tuple[Verdict, dict[int, int]]:
    solver = z3.SolverFor("QF_BV", ctx=z3.Context())
    solver.set("timeout", int(1000 * seconds))
    solver.from_string(question.text)
    verdict = str(solver.check())
    return ("unsat" if verdict == "unsat" else "sat" if verdict == "sat" else "unknown"), {}
