"""Logic and program give the same for all inputs, by Bitwuzla: node for node, from the inputs to the outputs.

The module's names are hints: a wire n12_x is said to be node 12 of the program, t24_0_3 the leaves of trees 0 and 3 of
node 24 together. Each is proved in terms of those proved before, which stand there as unknowns within their ranges (a
cut); what is proved for all of these holds for those that occur. A wire with a wrong name is refuted; without names
there are fewer cuts, and a question may find no end.

A product of two cuts is the sum of the products of their digits, if the netlist has a multiplier for every pair:
(sum of a_i 2^i) (sum of b_j 2^j) = sum of a_i b_j 2^(i + j). Each a_i b_j is then one unknown, the same on both sides.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bitwuzla import Kind, Term

from decision.ir.forest import leaves
from decision.ir.program import Op, Program
from verify.rtl.cells import CellTerms, KnownWord
from verify.rtl.netlist import CONSTANT, Bit, Netlist, NetlistCell, Refuted
from verify.rtl.pipeline import Pipeline
from verify.terms.bits import SECONDS, BitTerms
from verify.terms.operators import INPUTS, OperatorTerms, UnknownOperator, signed_width

WIRE = re.compile(r"n(?P<node>\d+)(?:_\w+)?")
TREES = re.compile(r"t(?P<node>\d+)(?P<trees>(?:_\d+)+)")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Equality:
    """A finished proof: the numbers of pipeline stages, of proved cuts, of outputs, and of questions to the solver."""

    stages: int
    cuts: int
    outputs: int
    questions: int


@dataclass(frozen=True)
class StageCut:
    """A wire whose value is known: of node ``node``, or of some of its ``trees``. ``value``: with its sign."""

    name: str
    node: int
    trees: frozenset[int]
    word: Term
    value: Term
    low: int
    high: int
    bits: tuple[Bit, ...]
    under: tuple["StageCut", ...] = ()
    """The cuts before it that it is made of by wires alone: then it is no unknown of its own."""


def prove(netlist: Netlist, program: Program, progress: Progress | None = None, seconds: float = SECONDS) -> Equality:
    """Proves that logic and program are equal for all inputs.

    Raises Refuted if they differ for some input, LogicUndecided if the solver takes over ``seconds`` for a question.
    """
    pipeline = Pipeline(netlist)
    proof = _LogicProof(netlist, program, pipeline, seconds)
    proof.inputs()
    hints = sorted(_hints(netlist), key=lambda hint: (hint[0], not hint[1], len(hint[1]), hint[2]))
    for node, trees, name in hints:
        if progress:
            progress(name)
        proof.cut(name, node, frozenset(trees))
    knobs = zip(program.interface.knobs, program.results, strict=True)
    outputs = [(f"action_{knob.name}", node, knob.storage) for knob, node in knobs]
    outputs += [(f"next_{field.name}", field.node, field.storage) for field in program.state]
    for name, node, storage in outputs:
        if progress:
            progress(name)
        proof.output(name, node, storage)
    return Equality(pipeline.stages, len(proof.cuts), len(outputs), proof.bits.questions)


def _hints(netlist: Netlist) -> Iterator[tuple[int, tuple[int, ...], str]]:
    for name in netlist.nets:
        if found := WIRE.fullmatch(name):
            yield int(found["node"]), (), name
        elif found := TREES.fullmatch(name):
            yield int(found["node"]), tuple(map(int, found["trees"][1:].split("_"))), name


class _LogicProof:
    """The cuts so far, and the solver's terms."""

    def __init__(self, netlist: Netlist, program: Program, pipeline: Pipeline, seconds: float) -> None:
        self.netlist, self.program, self.pipeline = netlist, program, pipeline
        self.bits = BitTerms(seconds)
        self.cuts: list[StageCut] = []
        self._of_bit: dict[Bit, tuple[StageCut, int]] = {}
        self._of_node: dict[int, StageCut] = {}

    def inputs(self) -> None:
        """Takes the ports of the program's inputs as the first cuts. Raises Refuted if a port is missing."""
        for number, node in enumerate(self.program.nodes):
            if node.op in INPUTS:
                key = self.program.key(node)
                assert key is not None
                name = key.replace(".", "_")
                if name not in self.netlist.ports:
                    raise Refuted(f"the module has no port {name}")
                bits = self.netlist.ports[name][1]
                if len(bits) != max(node.high - node.low, 1).bit_length():
                    raise Refuted(f"port {name} has {len(bits)} bits")
                self._known(name, number, frozenset(), bits, node.low, node.high)

    def cut(self, name: str, number: int, trees: frozenset[int]) -> None:
        """Proves a hint. Later proofs use it as a cut."""
        if number >= len(self.program.nodes):
            raise Refuted(f"{name} is of a node that the program lacks")
        node = self.program.nodes[number]
        bits = self.netlist.nets[name]
        if not trees:
            low, high = node.low, node.high
        else:
            if node.op is not Op.TREES or max(trees) >= len(self.program.forest.trees):
                raise Refuted(f"{name} is of trees that the program lacks")
            low, high = self._range(number, trees)
        self._prove(name, bits, low < 0, number, trees)
        self._known(name, number, trees, bits, low, high)

    def output(self, name: str, number: int, storage: str) -> None:
        """Proves that an output port carries the value of a node."""
        if name not in self.netlist.ports or len(self.netlist.ports[name][1]) != int(storage.lstrip("uint")):
            raise Refuted(f"the module has no port {name} of {storage}")
        self._prove(name, self.netlist.ports[name][1], not storage.startswith("u"), number, None)

    def _range(self, number: int, trees: frozenset[int]) -> tuple[int, int]:
        output = self.program.nodes[number].imm
        ends = [[leaf.value[output] for leaf in leaves(self.program.forest.trees[k])] for k in trees]
        return sum(map(min, ends)), sum(map(max, ends))

    def _known(self, name: str, node: int, trees: frozenset[int], nets: Sequence[Bit], low: int, high: int) -> None:
        """Take a wire as known from here on."""
        bits = tuple(map(self.pipeline.through, nets))
        under: tuple[StageCut, ...] = ()
        if any(bit in self._of_bit or bit in CONSTANT for bit in bits):
            logic = _NetlistLogic(self, abstract=False)
            word, under = logic.word(bits), tuple(logic.met.values())
        else:
            word = self.bits.unknown(name, len(bits))
        value = self.bits.resized(word, max(signed_width(low, high), len(bits) + 1), low < 0)
        cut = StageCut(name, node, trees, word, value, low, high, bits, under)
        self.cuts.append(cut)
        if not under:
            self._of_bit |= {bit: (cut, place) for place, bit in enumerate(bits)}
        if not trees:
            self._of_node.setdefault(node, cut)

    def _prove(self, name: str, bits: Sequence[Bit], signed: bool, number: int, trees: frozenset[int] | None) -> None:
        """``trees``: of a wire of these trees' leaves, none of a node's own; None: a port that carries a node."""
        for abstract, own in ((True, True), (True, False), (False, True)):
            logic = _NetlistLogic(self, abstract)
            word = logic.word(bits)
            meaning = _NodeTerms(self, logic, own)
            if trees is None:
                said = meaning.value(number)
            else:
                said = meaning.trees(number, trees) if trees else meaning.defined(number)
            if abstract and logic.products and not meaning.by_digits:
                continue
            width = max(word.sort().bv_size(), said.sort().bv_size()) + 1
            differ = self.bits.term(
                Kind.DISTINCT, [self.bits.resized(word, width, signed), self.bits.resized(said, width, True)]
            )
            about = f"whether {name} is what the program says"
            if not self.bits.satisfiable([differ, *logic.bounds, *meaning.bounds], about):
                return
        raise Refuted(f"{name} is not what the program says")

    def _within(self, cut: StageCut) -> list[Term]:
        """The range of a cut's value."""
        width = cut.value.sort().bv_size()
        low, high = self.bits.number(cut.low, width), self.bits.number(cut.high, width)
        own = [self.bits.term(Kind.BV_SLE, [low, cut.value]), self.bits.term(Kind.BV_SLE, [cut.value, high])]
        return own + [bound for one in cut.under for bound in self._within(one)]


@dataclass(frozen=True)
class _SplitProduct:
    """The operands of a multiplier, as nets from the lowest bit, and its result."""

    left: tuple[Bit, ...]
    right: tuple[Bit, ...]
    word: Term


class _NetlistLogic(CellTerms):
    """Terms of the netlist over the cuts. ``products``: those of digits, as unknowns, where ``abstract``."""

    def __init__(self, proof: _LogicProof, abstract: bool) -> None:
        super().__init__(proof.bits, proof.netlist)
        self.proof, self.abstract = proof, abstract
        self.products: list[_SplitProduct] = []
        self.bounds: list[Term] = []
        self.met: dict[str, StageCut] = {}

    def origin(self, bit: Bit) -> Bit:
        return self.proof.pipeline.through(bit)

    def known(self, bit: Bit) -> tuple[StageCut, int] | None:
        return self.proof._of_bit.get(bit)

    def use(self, word: KnownWord) -> None:
        if isinstance(word, StageCut) and word.name not in self.met:
            self.met[word.name] = word
            self.bounds += self.proof._within(word)

    def replaced(self, cell: NetlistCell) -> Term | None:
        return self._product(cell) if cell.type == "$mul" and self.abstract else None

    def _product(self, cell: NetlistCell) -> Term | None:
        """The product of two digits as an unknown, within the product of their bounds; None of one with a sign, and of
        one that the cell's output cannot hold."""
        if cell.number("A_SIGNED") or cell.number("B_SIGNED"):
            return None
        left, right = (tuple(map(self.proof.pipeline.through, cell.pins[pin])) for pin in "AB")
        out, highest = len(cell.pins["Y"]), self._highest(left) * self._highest(right)
        if highest >= 1 << out:
            return None
        known = next((p for p in self.products if (p.left, p.right) in ((left, right), (right, left))), None)
        if known is None:
            word = self.bits.unknown(f"product {len(self.products)}", out)
            known = _SplitProduct(left, right, word)
            self.products.append(known)
            self.bounds.append(self.bits.term(Kind.BV_ULE, [word, self.bits.number(highest, out)]))
        return self.bits.resized(known.word, out, False)

    def _highest(self, bits: Sequence[Bit]) -> int:
        """Returns an upper bound of a digit, from its bits, or from the cut whose highest bits it is."""
        most = sum(1 << place for place, bit in enumerate(bits) if bit != "0")
        cut, first = self.end(bits[0])
        in_order = all(self.end(bit) == (cut, first + k) or bit == "0" for k, bit in enumerate(bits))
        return min(most, cut.high >> first) if in_order and isinstance(cut, StageCut) and cut.low >= 0 else most


class _NodeTerms(OperatorTerms):
    """Terms of the program over the cuts. ``own``: over those cuts only that the logic is made of, so that both sides
    know the same."""

    def __init__(self, proof: _LogicProof, logic: _NetlistLogic, own: bool) -> None:
        super().__init__(proof.bits, proof.program)
        self.proof, self.logic, self.own = proof, logic, own
        self.bounds: list[Term] = []
        self.by_digits = False
        self._terms: dict[int, Term] = {}
        self._used: set[str] = set()

    def value(self, n: int) -> Term:
        """Returns the value of a node: its cut, or else the term of its operator."""
        cut = self._cut_of(n)
        return self._cut(cut) if cut is not None else self.defined(n)

    def _cut_of(self, n: int) -> StageCut | None:
        """The cut of a node, where it is one to be used."""
        cut = self.proof._of_node.get(n)
        if cut is None or not self.own or self.program.nodes[n].op in INPUTS:
            return cut
        met = self.logic.met
        return cut if all(one.name in met for one in cut.under or (cut,)) else None

    def _cut(self, cut: StageCut) -> Term:
        if cut.name not in self._used and cut.name not in self.logic.met:
            self._used.add(cut.name)
            self.bounds += self.proof._within(cut)
        return cut.value

    def defined(self, n: int) -> Term:
        """Returns the term of a node's operator, without the node's own cut."""
        if self.program.nodes[n].op in INPUTS:
            return self._cut(self.proof._of_node[n])
        if n not in self._terms:
            try:
                self._terms[n] = self.operator(n)
            except UnknownOperator as error:
                raise Refuted(str(error)) from None
        return self._terms[n]

    def multiple(self, n: int, wide: int) -> Term | None:
        """Returns a product as the sum of those of all pairs of digits, where the netlist has them all; else a multiple
        of a constant."""
        left, right = (self._factor(a) for a in self.program.nodes[n].args)
        product = None
        if left is not None and right is not None:
            product = self._digits(left, right, wide)
            self.by_digits = product is not None
        return super().multiple(n, wide) if product is None else product

    def _factor(self, n: int) -> StageCut | None:
        """A factor whose bits are known: a cut, or a constant."""
        node = self.program.nodes[n]
        if node.op is not Op.CONST or node.imm < 0:
            return self._cut_of(n)
        bits = tuple(str(node.imm >> place & 1) for place in range(max(node.imm.bit_length(), 1)))
        word = self.bits.number(node.imm, len(bits) + 1)
        return StageCut("", n, frozenset(), word, word, node.imm, node.imm, bits)

    def _digits(self, left: StageCut, right: StageCut, wide: int) -> Term | None:
        """The product as the sum of those of all pairs of digits; None where the netlist does not have them all."""
        bits = self.bits
        words = {pair: p.word for p in self.logic.products for pair in ((p.left, p.right), (p.right, p.left))}
        digits = {digit for pair in words for digit in pair}
        rows, columns = _split(left, digits), _split(right, digits)
        total = bits.number(0, wide)
        for at, a in rows:
            for there, b in columns:
                if (a, b) not in words:
                    return None
                term = bits.resized(words[a, b], wide, False)
                shifted = bits.term(Kind.BV_SHL, [term, bits.number(at + there, wide)])
                total = bits.term(Kind.BV_ADD, [total, shifted])
        return total if rows and columns else None

    def partial_sums(self, n: int) -> Sequence[tuple[frozenset[int], Term]]:
        """Returns the cuts of sums of trees that the netlist's side has used."""
        met = sorted(self.logic.met.values(), key=lambda c: (-len(c.trees), c.name))
        return [(cut.trees, cut.value) for cut in met if cut.node == n and cut.trees]


def _split(cut: StageCut, digits: set[tuple[Bit, ...]]) -> list[tuple[int, tuple[Bit, ...]]]:
    """(lowest bit, digit) of the digits that make up a cut, each bit once; nothing where they do not."""
    found, place = [], 0
    while cut.low >= 0 and place < len(cut.bits):
        fitting = [d for d in digits if d == cut.bits[place : place + len(d)]]
        if not fitting:
            return []
        found.append((place, max(fitting, key=len)))
        place += len(found[-1][1])
    return found
