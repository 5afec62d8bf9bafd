"""The linked RV64 code against the decision program, for all inputs.

proof = prove(build)
proof.proved            # equal to the program for every input, and safe

The code runs on the firmware's vectors first. Then it is executed once with terms in its registers. A term that is the
value of one of the program's nodes on all vectors is a question: where the solver shows that it is that node, the node
stands there from then on (a cut). Questions thus stay as small as the step from one node to the next. No cycles are
proved.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from bitwuzla import Kind, Term
from numpy.typing import NDArray

from decision.ir.program import Node, Op, Program
from emulator.build import Build
from emulator.layout import Layout, packed
from emulator.vectors import Vectors
from verify.code.failures import Failure, Refused
from verify.rv64.execution import Output, OutsideConstants, Rv64Execution, simulated
from verify.rv64.paths import Paths
from verify.rv64.questions import QuestionLimits, Questions, QuestionUndecided, Values
from verify.rv64.values import MachineWord, ShiftedNode
from verify.rv64.walk import WalkJudge
from verify.rv64.words import XLEN, Numbers
from verify.terms.operators import UnknownOperator

CUT_LIMITS = QuestionLimits(seconds=2.0, depth=4)
"""Limits of a question whether a term is a node: what is not shown within them stays a term."""
TREES_LIMITS = QuestionLimits(seconds=60.0, depth=4)
"""The same where the trees lie between."""
TOTAL_SECONDS = 60.0
"""Limit of all questions of a proof together, CPU seconds."""
DUE_LIMITS = QuestionLimits(TOTAL_SECONDS)
"""Limits of a question that has to be answered."""
MAX_CANDIDATES = 3
"""Nodes that a term is compared with, at most."""
MIN_VALUES = 4
"""Different values of a term on the vectors, for it to be compared with nodes."""


@dataclass(frozen=True)
class Rv64Proof:
    """Result of a proof. ``failure`` is None if and only if equality and safety hold for all inputs.

    ``cuts``: terms that were shown to be nodes; ``outputs``: those that were shown to be the program's; ``questions``:
    to the solver."""

    failure: Failure | None
    instructions: int
    cuts: int
    outputs: int
    questions: int
    stack_bytes: int

    @property
    def proved(self) -> bool:
        return self.failure is None


def prove(build: Build, vectors: Vectors) -> Rv64Proof:
    """Proves that the machine code of a build for an RV64 engine and its decision program are equal for all inputs.
    ``vectors``: inputs that are tried first."""
    failure = None
    try:
        proof = _Rv64Equality(build, vectors)
    except Refused as error:
        return Rv64Proof(error.failure, 0, 0, 0, 0, 0)
    try:
        proof.run()
    except Refused as error:
        failure = error.failure
    except UnknownOperator as error:
        failure = Failure("not-proved", proof.execution.entry, str(error))
    execution = proof.execution
    return Rv64Proof(
        failure, len(execution.code), proof.cuts, proof.outputs, proof.questions.asked, execution.stack_bytes
    )


class _Rv64Equality:
    """One proof from beginning to end."""

    def __init__(self, build: Build, vectors: Vectors) -> None:
        self.program: Program = build.program
        self.layouts: Mapping[str, Layout] = build.firmware.layouts
        self.vectors = vectors
        self.parts = build.image, self.program, self.layouts
        self.stack_limit = build.engine.limits.stack_bytes
        self.execution = Rv64Execution(*self.parts, self.vectors.records, self.stack_limit)
        self.bits, self.nodes, self.branches = self.execution.bits, self.execution.nodes, self.execution.branches
        self.words, self.samples = self.execution.words, self.execution.samples
        self.questions = Questions(self.nodes, TOTAL_SECONDS)
        self.cuts = self.outputs = 0

    def run(self) -> None:
        """Raises Refused for what is not shown."""
        try:
            outputs = simulated(*self.parts, self.vectors.records, self.stack_limit)
        except OutsideConstants as error:
            raise _with_example(error.failure, self.vectors.inputs(error.index), "") from None
        if found := _difference(outputs):
            raise _with_example(found[0], self.vectors.inputs(found[1]), found[2])
        for output in self.execution.run(WalkJudge(self._named, self._factor, self._shown)):
            self._equal(output)

    def _named(self, word: MachineWord, paths: Paths) -> MachineWord:
        """The word as a node of the program, shifted or as a signed word of it, where it is one on these paths."""
        return self._among(range(len(self.nodes.program.nodes)), word, paths)

    def _factor(self, word: MachineWord, paths: Paths) -> MachineWord:
        """The same of a factor: as a node that the program multiplies."""
        products = (node for node in self.nodes.program.nodes if node.op in (Op.MUL, Op.MUL_SHR))
        return self._among(sorted({n for node in products for n in node.args}), word, paths)

    def _among(self, nodes: Sequence[int], word: MachineWord, paths: Paths) -> MachineWord:
        candidates = islice(self._candidates(nodes, word, self.branches.mask(paths)), MAX_CANDIDATES)
        about = word.nodes | self.branches.nodes(paths)
        for candidate in candidates:
            limits = TREES_LIMITS if self.nodes.above_trees(candidate.nodes - about, about) else CUT_LIMITS
            due = self._multiple(candidate, paths) or candidate
            if self._same(word, due, paths, limits):
                self.cuts += 1
                return candidate
        return word

    def _same(self, word: MachineWord, other: MachineWord, paths: Paths, limits: QuestionLimits) -> bool:
        """Whether two words were shown to be one on these paths."""
        about = word.nodes | self.branches.nodes(paths)
        differ = self.bits.term(Kind.DISTINCT, [word.term, other.term])
        assertions = [*self.branches.condition(paths), differ]
        with suppress(QuestionUndecided):
            return self.questions.refuted(assertions, about, other.nodes - about, limits) is None
        return False

    def _multiple(self, candidate: MachineWord, paths: Paths) -> MachineWord | None:
        """A product as a multiple of one factor, where the other is shown to be one number on these paths. Compilers
        make shifts of such a product, and solvers are slow to find that they are the product."""
        (n,) = candidate.nodes
        node = self.nodes.program.nodes[n]
        if node.op is not Op.MUL or candidate.factor is None or candidate.factor.count:
            return None
        mask = self.branches.mask(paths)
        for factor, other in (node.args, node.args[::-1]):
            values = self.samples[factor][mask]
            if self.nodes.defined(factor) and len(values) and (values == values[0]).all():
                plain = MachineWord(self.nodes.word(factor), self.samples[factor], frozenset({factor}))
                number = int(values[0])
                if self._same(self.words.number(number), plain, paths, CUT_LIMITS):
                    term = self.nodes.times(self.nodes.word(other), number)
                    return MachineWord(term, candidate.samples, frozenset({other}))
        return None

    def _candidates(self, nodes: Sequence[int], word: MachineWord, mask: NDArray[np.bool_]) -> Iterator[MachineWord]:
        """Nodes that the word is on the sampled inputs that come here."""
        ours = np.broadcast_to(word.samples, mask.shape)[mask]
        if len(np.unique(ours)) < (1 if word.constant else MIN_VALUES):
            return
        zeros, low = _trailing_zeros(ours), self.words.numbers.low
        for n in nodes:
            node = self.nodes.program.nodes[n]
            if node.op is Op.CONST or node.high - node.low < 2:
                continue
            every, theirs = self.samples[n], self.samples[n][mask]
            plain = MachineWord(self.nodes.word(n), every, frozenset({n}))
            if (theirs == ours).all():
                yield self._shifted(plain, 0, node.high) if node.low >= 0 else plain
            elif node.low >= 0 and node.high < 1 << 32 and (low(theirs, 32, True) == ours).all():
                yield self.words.low(plain, 32, True)
            elif (count := _shift(node, zeros - _trailing_zeros(theirs))) and (
                theirs << np.uint64(count) == ours
            ).all():
                yield self._shifted(plain, count, node.high)

    def _shifted(self, plain: MachineWord, count: int, highest: int) -> MachineWord:
        word = self.words.left(plain, self.words.number(count)) if count else plain
        return replace(word, factor=ShiftedNode(plain, count, highest))

    def _shown(self, flag: MachineWord, paths: Paths, address: int) -> None:
        """Raises Refused where a condition may be 0 on these paths."""
        wrong = self.bits.term(Kind.NOT, [self.bits.true(flag.term)])
        about = flag.nodes | self.branches.nodes(paths)
        found = self._answer([*self.branches.condition(paths), wrong], about, set(), address, "a load's address")
        if found is not None:
            raise self._refuted(OutsideConstants(address, 0).failure, found)

    def _equal(self, output: Output) -> None:
        """Raises Refused where an output is not the program's."""
        differ = self.bits.term(Kind.DISTINCT, [output.word.term, output.due])
        due = {output.node} - output.word.nodes
        found = self._answer([differ], output.word.nodes, due, self.execution.entry, output.name)
        if found is not None:
            text = f"the {output.name} is not the program's"
            raise self._refuted(Failure(output.kind, self.execution.entry, text), found)
        self.outputs += 1

    def _answer(
        self, assertions: list[Term], about: frozenset[int], due: set[int], address: int, what: str
    ) -> Values | None:
        try:
            return self.questions.refuted(assertions, about, due, DUE_LIMITS)
        except QuestionUndecided:
            text = (
                f"{what} was not decided in {TOTAL_SECONDS:g} s of CPU for all questions; try another compiler or -O1"
            )
            raise Refused("not-proved", address, text) from None

    def _refuted(self, failure: Failure, found: Values) -> Refused:
        """The failure with the solver's values as an input, which the code is run on."""
        example = {
            f"{name}.{field.name}": max(field.low, min(0, field.high))
            for name, structure in self.execution.structures.items()
            if name != "action"
            for field in structure.fields
        }
        nodes = self.program.nodes
        example |= {key: value for n, value in found.items() if (key := self.program.key(nodes[n])) is not None}
        columns = {key: np.array([value], dtype=np.int64) for key, value in example.items()}
        shown = ""
        try:
            outputs = simulated(*self.parts, packed(self.layouts, columns, 1), self.stack_limit)
            if (difference := _difference(outputs)) is None:
                failure = replace(
                    failure, kind="not-proved", text=f"{failure.text}, but no input was found that shows it"
                )
                return _with_example(failure, {}, "")
            failure, _, shown = difference
        except OutsideConstants:
            pass
        return _with_example(failure, example, shown)


def _difference(outputs: list[Output]) -> tuple[Failure, int, str] | None:
    """The first output that differs on a sample: the failure, the sample's number, and what was seen there."""
    for output in outputs:
        if len(differing := output.differing()):
            index = int(differing[0])
            ours, due = (
                int(np.broadcast_to(samples, output.due_samples.shape).view(np.int64)[index])
                for samples in (output.word.samples, output.due_samples)
            )
            failure = Failure(output.kind, output.address, f"the {output.name} is not the program's")
            return failure, index, f"{output.name}: code {ours}, program {due}"
    return None


def _with_example(failure: Failure, example: dict[str, int], shown: str) -> Refused:
    refused = Refused(failure.kind, failure.address, failure.text)
    refused.failure = replace(failure, example=example, shown=shown)
    return refused


def _shift(node: Node, count: int) -> int:
    """Returns a count of bits that a node can be shifted by without a loss; 0 where it is none."""
    return count if count > 0 and node.low >= 0 and node.high < 1 << (XLEN - count) else 0


def _trailing_zeros(words: Numbers) -> int:
    """Returns how many low bits are 0 in all words."""
    found = int(np.bitwise_or.reduce(words))
    return (found & -found).bit_length() - 1 if found else XLEN
