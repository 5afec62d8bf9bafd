"""Terms of a netlist's cells: the meaning of Yosys' word operators."""

from collections.abc import Sequence
from typing import Protocol

from bitwuzla import Kind, Term

from verify.rtl.netlist import CONSTANT, Bit, Netlist, NetlistCell, Refuted
from verify.terms.bits import BitTerms

ARITHMETIC = {"$add": Kind.BV_ADD, "$sub": Kind.BV_SUB, "$mul": Kind.BV_MUL}
BITWISE = {"$and": Kind.BV_AND, "$or": Kind.BV_OR, "$xor": Kind.BV_XOR}
COMPARED = {"$gt": Kind.BV_UGT, "$ge": Kind.BV_UGE, "$lt": Kind.BV_ULT, "$le": Kind.BV_ULE}
COMPARED_SIGNED = {"$gt": Kind.BV_SGT, "$ge": Kind.BV_SGE, "$lt": Kind.BV_SLT, "$le": Kind.BV_SLE}
"""Yosys' word operators -> those of the solver."""


class KnownWord(Protocol):
    """A word whose term is given, such as an input or a register."""

    @property
    def word(self) -> Term: ...


class CellTerms:
    """Terms over the words that a subclass knows; each cell becomes one term."""

    def __init__(self, bits: BitTerms, netlist: Netlist) -> None:
        self.bits, self.netlist = bits, netlist
        self._terms: dict[str, Term] = {}

    def known(self, bit: Bit) -> tuple[KnownWord, int] | None:
        """Returns the word that a net is a bit of and the bit's number; None for a constant or a cell's output."""
        raise NotImplementedError

    def origin(self, bit: Bit) -> Bit:
        """Returns the net that a net is a copy of."""
        return bit

    def use(self, word: KnownWord) -> None:
        """Records that a term contains a word."""

    def replaced(self, cell: NetlistCell) -> Term | None:
        """Returns the term of a cell that is not to have its own; None for any other."""
        return None

    def end(self, bit: Bit) -> tuple[KnownWord | NetlistCell | int, int]:
        """Returns the word, cell or constant that a net is a bit of, and the bit's number."""
        bit = self.origin(bit)
        if (found := self.known(bit)) is not None:
            return found
        if bit in CONSTANT:
            return int(bit), 0
        if bit not in self.netlist.drivers:
            raise Refuted(f"net {bit} is no input of the program")
        return self.netlist.drivers[bit]

    def word(self, bits: Sequence[Bit]) -> Term:
        """Returns the value of nets, which are listed from the lowest bit."""
        parts: list[Term] = []
        place = 0
        while place < len(bits):
            term, at = self._source(bits[place])
            run = 1
            while place + run < len(bits) and self._follows(bits[place], bits[place + run], run):
                run += 1
            parts.append(self.bits.term(Kind.BV_EXTRACT, [term], [at + run - 1, at]))
            place += run
        whole = parts[0]
        for part in parts[1:]:
            whole = self.bits.term(Kind.BV_CONCAT, [part, whole])
        return whole

    def _follows(self, first: Bit, other: Bit, distance: int) -> bool:
        (a, at), (b, there) = self.end(first), self.end(other)
        return a is b and not isinstance(a, int) and there == at + distance

    def _source(self, bit: Bit) -> tuple[Term, int]:
        end, place = self.end(bit)
        if isinstance(end, int):
            return self.bits.number(end, 1), 0
        if not isinstance(end, NetlistCell):
            self.use(end)
            return end.word, place
        if end.name not in self._terms:
            self._terms[end.name] = self._cell(end)
        return self._terms[end.name], place

    def _operand(self, cell: NetlistCell, pin: str, width: int, signed: bool) -> Term:
        return self.bits.resized(self.word(cell.pins[pin]), width, signed)

    def _cell(self, cell: NetlistCell) -> Term:
        bits, out, signed = self.bits, len(cell.pins["Y"]), cell.signed
        if (replaced := self.replaced(cell)) is not None:
            return replaced
        if kind := (ARITHMETIC | BITWISE).get(cell.type):
            return bits.term(kind, [self._operand(cell, pin, out, signed) for pin in "AB"])
        if cell.type in (*COMPARED, "$eq", "$ne"):
            width = max(len(cell.pins["A"]), len(cell.pins["B"]))
            kinds = (COMPARED_SIGNED if signed else COMPARED) | {"$eq": Kind.EQUAL, "$ne": Kind.DISTINCT}
            return bits.flag(
                bits.term(kinds[cell.type], [self._operand(cell, pin, width, signed) for pin in "AB"]), out
            )
        match cell.type:
            case "$not":
                return bits.term(Kind.BV_NOT, [self._operand(cell, "A", out, signed)])
            case "$logic_not":
                return bits.flag(bits.term(Kind.NOT, [self._any(cell, "A")]), out)
            case "$reduce_or" | "$reduce_bool":
                return bits.flag(self._any(cell, "A"), out)
            case "$logic_and" | "$logic_or":
                kind = Kind.AND if cell.type == "$logic_and" else Kind.OR
                return bits.flag(bits.term(kind, [self._any(cell, "A"), self._any(cell, "B")]), out)
            case "$mux":
                return bits.choice(self._any(cell, "S"), self.word(cell.pins["B"]), self.word(cell.pins["A"]))
            case "$pmux":
                chosen = self.word(cell.pins["A"])
                choices, wide = cell.pins["S"], len(cell.pins["A"])
                for place in reversed(range(len(choices))):
                    side = self.word(cell.pins["B"][place * wide : (place + 1) * wide])
                    chosen = bits.choice(bits.true(self.word([choices[place]])), side, chosen)
                return chosen
        raise Refuted(f"the netlist has a cell {cell.type}, which no proof here knows")

    def _any(self, cell: NetlistCell, pin: str) -> Term:
        return self.bits.true(self.word(cell.pins[pin]))
