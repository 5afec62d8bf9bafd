"""Conditions at the return: every knob and every field of the context are the program's, registers are kept.

A value that is the program's by its expression needs no solver. Any other becomes one question a lane: what the lane
knows, and that the values differ.
"""

from dataclasses import dataclass

import numpy as np

from decision.ir.program import Op, Program
from verify.code.failures import Failure
from verify.prover.expressions import FIRST, UNKNOWN
from verify.prover.lanes import Ints, Lanes, words
from verify.prover.memory import read
from verify.prover.questions import Question, Writer
from verify.prover.simulate import kept_registers
from verify.prover.solve import Solvers
from verify.prover.specialise import Cuts, View
from verify.prover.state import State

A0 = 10
ENOUGH = 4
"""Failures that a proof collects before it stops. Each is tried as an input that shows it."""
ADVICE = "try another compiler, -O1 or -Os, or emit with --form branches"


@dataclass(frozen=True)
class Difference:
    """A lane whose value was not proved to be the program's: the code's expression and the node it should be."""

    failure: Failure
    lane: Lanes
    word: int
    node: int
    bits: int


class Returns:
    """Checks lanes that have returned. ``failed`` lists what was not proved, for the search of an example, up to
    ``enough``."""

    def __init__(self, state: State, program: Program, cuts: Cuts, solvers: Solvers, enough: int = ENOUGH) -> None:
        self.state, self.program, self.cuts, self.solvers = state, program, cuts, solvers
        self.enough = enough
        self.failed: list[Difference] = []

    def check(self, address: int, lanes: Lanes, view: View) -> None:
        """Compare the lanes with the program; ``Refused`` where a register or the stack pointer is not restored."""
        kept_registers(self.state, address, lanes)
        nodes = {f"context.{s.name}": s.node for s in self.program.state}
        if len(self.program.results) == 1:
            self._compare(address, lanes, view, lanes.values[A0], self.program.results[0], 32, "the return value")
        else:
            names = (f"action.{name}" for name in self.program.interface.knob_names)
            nodes = dict(zip(names, self.program.results, strict=True)) | nodes
        everywhere = np.ones(len(lanes), dtype=bool)
        for structure in self.state.structures:
            for f in structure.fields if structure.written else ():
                what = f"{structure.name}.{f.name}"
                column = read(self.state, lanes, structure.name, f.offset, f.size, False, everywhere)
                column = np.full(len(lanes), UNKNOWN) if column is None else column
                self._compare(address, lanes, view, column, nodes[what], 8 * f.size, what)

    def _compare(self, address: int, lanes: Lanes, view: View, column: Ints, node: int, bits: int, what: str) -> None:
        expected = view.words(node)
        if bits < 32:
            expected = words(self.state.pool, "and", expected, np.full(len(lanes), (1 << bits) - 1))
        for row in np.flatnonzero(((column != expected) | (column == UNKNOWN)) & view.possible):
            if len(self.failed) >= self.enough:
                return
            word = int(column[row])
            lane = lanes.take(np.array([row]))
            if word >= FIRST and view.number(word, int(row)) == int(expected[row]):
                continue
            if word >= FIRST and bits == 32 and self._as_written(lane, word, node) == word:
                continue
            if word != UNKNOWN and self._proved(lane, word, node, bits, f"{what} at {address:#x}"):
                continue
            name = f"{self.program.nodes[node].name} (node {node})".strip()
            text = (
                f"{what} at the return at {address:#x}, {self.state.pool.text(word)[:200]}, was not shown to be {name}"
            )
            self.failed.append(Difference(Failure("not-proved", address, f"{text}; {ADVICE}"), lane, word, node, bits))

    def _as_written(self, lane: Lanes, word: int, node: int) -> int:
        """The node where products are as the code writes them, in what it holds and in what it has compared: what is
        known of them is known of these words."""
        pool, view = self.state.pool, View(self.state, self.cuts, lane, {})
        conditions = (condition for condition, _ in self.state.fact_sets[int(lane.facts[0])])
        written = {word, *(part for condition in conditions for part in pool.operands(condition))}
        for n, of in enumerate(self.program.nodes):
            if of.op is Op.MUL_SHR:
                plain = int(view.words(n)[0])
                other = next((w for w in sorted(written) if w != plain and pool.one_product(w, plain)), None)
                if other is not None:
                    view.learn(n, np.array([other]))
        return int(view.words(node)[0])

    def _proved(self, lane: Lanes, word: int, node: int, bits: int, about: str) -> bool:
        """Asks by what the lane knows; if that leaves both possible, by what the program makes of it too."""
        parts = self.state, self.cuts, lane, word, node, bits
        question = difference(*parts)
        if self.solvers.prove(question, about):
            return True
        return self.solvers.open(question) and self.solvers.prove(difference(*parts, definitions=True), about)


def difference(
    state: State, cuts: Cuts, lane: Lanes, word: int, node: int, bits: int, *, definitions: bool = False
) -> Question:
    """The question whether, in one lane, the low bits of a word and of a node can differ; with the ``definitions`` of
    the nodes in it, of which the lane may know the name alone."""
    program = cuts.program
    view = View(state, cuts, lane, {})
    known = {n: int(view.words(n)[0]) for n in range(len(program.nodes)) if program.nodes[n].op is not Op.CONST}
    known = {n: w for n, w in known.items() if w != UNKNOWN and cuts.narrow(n)}
    writer = Writer(state.pool, program, known)
    code, expected = writer.word(word), writer.node(node)
    lane_knows(state, lane, writer)
    differ = f"(not (= ((_ extract {bits - 1} 0) {code}) ((_ extract {bits - 1} 0) {expected})))"
    if definitions:
        writer.define({cuts.node(n): n for n in known})
    return writer.question(differ)


def lane_knows(state: State, lane: Lanes, writer: Writer) -> None:
    """Assert a lane's intervals (where narrower than the word's range) and facts."""
    for word, row in state.bases.items():
        if row < len(lane.low) and word >= FIRST:
            low, high = int(lane.low[row, 0]), int(lane.high[row, 0])
            if (low, high) != state.ranges[row]:
                writer.interval(word, low, high)
    for condition, holds in sorted(state.fact_sets[int(lane.facts[0])]):
        writer.fact(condition, holds)
