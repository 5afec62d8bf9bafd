"""The printer for host software: the same values, in the form that a host's compiler makes short.

    const uint32_t growth = ((window_16 << 10U) > pending_now) ? pending_now / window_16 : 1024U;
    const uint32_t room_ns = (target_ns > delay_ns) ? target_ns - delay_ns : 0U;
    const uint32_t done = skipped | adapts;

A quotient that the program finds bit by bit is one division. The divisor is at least 1 and the shifted dividend fits
into 32 bits (decision/ir/quotients.py), for every input. A division whose result is not taken is not made
(codegen/guards.py). Conditions are joined without branches, which a core's proof could not follow.
"""

from collections.abc import Sequence

from codegen.ctypes99 import U32, literal, type_of
from codegen.guards import Guard, guards
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.saturation import excesses
from codegen.trees_c import Physical, Statement
from decision.ir.program import Node, Op
from decision.ir.quotients import Division, division_of


class HostPrinter(Printer):
    """Prints one lowered program for a machine with a divider and conditional moves."""

    def __init__(self, lowered: LoweredProgram, physical: Physical) -> None:
        self._divisions: dict[Node, Division] = {}
        for number, node in enumerate(lowered.program.nodes):
            if node.op is Op.SELECT and (division := division_of(lowered.program, number)) is not None:
                self._divisions[node] = division
        super().__init__(lowered, physical)
        chosen = () if self._fork is None else self._fork.selects  # printed arm by arm
        self._excesses = excesses(self.program, self._uses, [n for n in self._needed() if n not in chosen])
        self._within |= {n for excess in self._excesses.values() for n in excess.inner}

    def _operands(self, node: Node) -> list[int]:
        division = self._divisions.get(node)
        return super()._operands(node) if division is None else [division.count, division.over]

    def _expression(self, number: int) -> str:
        node = self.program.nodes[number]
        if (excess := self._excesses.get(number)) is not None:
            x, y = self._value(excess.x, U32), self._value(excess.y, U32)
            return f"{self._condition(node.args[0])} ? {x} - {y} : 0U"
        if node.op in (Op.MIN, Op.MAX) and self._decides(number):
            first, second = (self._value(argument, U32) for argument in node.args)
            return f"{first} {'&' if node.op is Op.MIN else '|'} {second}"
        division = self._divisions.get(node)
        if division is None:
            return super()._expression(number)
        count, over = self._value(division.count, U32), self._value(division.over, U32)
        end = f"({over} << {division.whole_bits}U)" if division.whole_bits else over
        shifted = f"({count} << {division.fraction_bits}U)" if division.fraction_bits else count
        return f"({end} > {count}) ? {shifted} / {over} : {1 << division.bits}U"

    def _statements(self, numbers: Sequence[int]) -> list[Statement]:
        costly = [n for n in numbers if self.program.nodes[n] in self._divisions]
        blocks = [] if self._fork else guards(self.program, numbers, self._operands, costly)
        guarded = {n for block in blocks for n in block.nodes}
        places = {block.place: block for block in blocks}
        lines: list[Statement] = []
        for number in numbers:
            if number not in guarded:
                lines += super()._statements([number])
            if number in places:
                lines += self._block(places[number])
        return lines

    def _block(self, block: Guard) -> list[Statement]:
        printed = [n for n in block.nodes if not self._silent(n)]
        types = {n: type_of(self.program.nodes[n]) for n in printed}
        results = [n for n in block.results if n in types]
        inner = [
            Statement(f"    {s.code}", s.note)
            for n in printed
            for s in self._assignment(n, "" if n in results else f"const {types[n]} ")
        ]
        head = [Statement(f"{types[n]} {self.names[n]} = {literal(0, types[n])};") for n in results]
        return [*head, Statement(f"if {self._condition(block.condition)} {{"), *inner, Statement("}")]
