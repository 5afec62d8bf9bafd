"""Questions to Bitwuzla about terms over the program's nodes. A definition is added only where an answer needs it.

A node is at first any number of its range. A claim about all of these is true of those that occur. An answer
"possible" comes with values; where they contradict the definition of a node, that definition is added and the question
asked again. Values that contradict none are those of a real input.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bitwuzla
from bitwuzla import Term

from verify.rv64.nodes import NodeUnknowns

Values = dict[int, int]
"""Nodes and their values."""


class QuestionUndecided(Exception):
    """The solver gave no answer in its time."""


@dataclass(frozen=True)
class QuestionLimits:
    """Limits of one question: seconds of CPU, and how many definitions of what the code's terms contain."""

    seconds: float
    depth: int = 1000


class Questions:
    """Asks, and counts: ``asked``. ``seconds``: limit of all questions together, CPU."""

    def __init__(self, nodes: NodeUnknowns, seconds: float) -> None:
        self.nodes = nodes
        self.end = time.process_time() + seconds
        self.asked = 0

    def refuted(
        self, assertions: Sequence[Term], about: Iterable[int], due: Iterable[int], limits: QuestionLimits
    ) -> Values | None:
        """Returns values of the program's inputs for which all assertions are true; None if there are none.

        ``about``: the nodes that the code's terms contain, ``due``: those that it should hold. The definitions of the
        second are added first, down to the first. Raises QuestionUndecided at a limit.
        """
        bits, nodes = self.nodes.bits, self.nodes
        end, deeper = min(self.end, time.process_time() + limits.seconds), 0
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        solver = bitwuzla.Bitwuzla(bits.manager, options)
        solver.configure_terminator(lambda: time.process_time() > end)
        for assertion in assertions:
            solver.assert_formula(assertion)
        frontier = set(about)
        known, ranged, met = set[int](), set[int](), frontier | set(due)
        while True:
            for n in sorted(met - ranged):
                ranged.add(n)
                for bound in nodes.within(n):
                    solver.assert_formula(bound)
            self.asked += 1
            result = solver.check_sat()
            if result == bitwuzla.Result.UNSAT:
                return None
            if result != bitwuzla.Result.SAT or time.process_time() > end:
                raise QuestionUndecided
            below = self._below(met)
            if new := self._contradicted(solver, met - frontier - known):
                pass
            elif new := self._contradicted(solver, below - known)[:1]:
                deeper += 1
                if deeper > limits.depth:
                    raise QuestionUndecided
            elif not (out := {n for n in below - ranged if not self._in_range(solver, n)}):
                return {n: self._value(solver, n) for n in below if not nodes.defined(n)}
            else:
                met |= out
            for n in new:
                solver.assert_formula(nodes.definition(n))
                known.add(n)
                met |= {n, *nodes.operands(n)}

    def _below(self, due: set[int]) -> set[int]:
        """The nodes, and all that they are computed from."""
        found, rest = set(due), list(due)
        while rest:
            for n in self.nodes.operands(rest.pop()):
                if n not in found:
                    found.add(n)
                    rest.append(n)
        return found

    def _contradicted(self, solver: bitwuzla.Bitwuzla, among: set[int]) -> list[int]:
        """The nodes whose values are not what their operators give, the last of the program first."""
        candidates = sorted((n for n in among if self.nodes.defined(n)), key=self.nodes.depth, reverse=True)
        return [n for n in candidates if not solver.get_value(self.nodes.definition(n)).value()]

    def _value(self, solver: bitwuzla.Bitwuzla, n: int) -> int:
        value = self.nodes.value(n)
        width = value.sort().bv_size()
        number = int(solver.get_value(value).value(10))
        return number - (1 << width) if number >> (width - 1) else number

    def _in_range(self, solver: bitwuzla.Bitwuzla, n: int) -> bool:
        return all(solver.get_value(bound).value() for bound in self.nodes.within(n))
