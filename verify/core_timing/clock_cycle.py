"""One clock cycle of a circuit: from registers and inputs to whatever is asked for, and to the registers after it.

A cell is looked at when one of its bits is asked for, and with it only what that bit depends on: the side of a choice
that is taken, the rest of an `and` only where its first operand is not 0. The meaning of the cells is Yosys' (its
manual, "Word-level cells"). The first condition of a `$pmux` that holds counts, as in Verilator.
"""

from collections.abc import Callable, Mapping, Sequence

from bitwuzla import Kind, Term

from verify.core_timing.logic_bits import LogicBit, LogicBits, LogicWord, known, numbered, value
from verify.rtl.cells import ARITHMETIC, BITWISE, COMPARED, COMPARED_SIGNED
from verify.rtl.netlist import CONSTANT, REGISTERS, Bit, Netlist, NetlistCell, Refuted

REDUCTIONS = ("$logic_not", "$reduce_or", "$reduce_bool", "$reduce_and", "$logic_and", "$logic_or")
COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "$add": int.__add__, "$sub": int.__sub__, "$mul": int.__mul__,
    "$gt": int.__gt__, "$ge": int.__ge__, "$lt": int.__lt__, "$le": int.__le__,
}  # fmt: skip
SHIFTS = {"$shl": Kind.BV_SHL, "$sshl": Kind.BV_SHL, "$shr": Kind.BV_SHR, "$sshr": Kind.BV_ASHR}


class ClockCycle:
    """``registers``: cell's name -> its word in this cycle, or one that is computed when it is asked for; ``inputs``:
    net -> its bit, of ports and of whatever else is not looked into."""

    def __init__(
        self,
        logic: LogicBits,
        netlist: Netlist,
        registers: Mapping[str, Sequence[LogicBit]],
        inputs: Mapping[Bit, LogicBit],
    ) -> None:
        self.logic, self.netlist, self.registers = logic, netlist, registers
        self._bits = dict(inputs)
        self._open: set[str] = set()

    def net(self, name: str) -> LogicWord:
        """Returns the word on a net."""
        return self.word(self.netlist.nets[name])

    def word(self, nets: Sequence[Bit]) -> LogicWord:
        return [self.bit(net) for net in nets]

    def bit(self, net: Bit) -> LogicBit:
        if net in CONSTANT:
            return int(net)
        if net == "x":
            return self.logic.unknown("undefined", 1)[0]
        if net not in self._bits:
            if net not in self.netlist.drivers:
                raise Refuted(f"net {net} of the core has no driver")
            cell, place = self.netlist.drivers[net]
            if cell.type in REGISTERS:
                self._bits[net] = self.registers[cell.name][place]
            else:
                self._cell(cell, place)
        return self._bits[net]

    def after(self) -> dict[str, "NextWord"]:
        """Returns the registers one cycle later. Refuted where one is being reset."""
        for cell in self.netlist.registers:
            if cell.type == "$aldff":
                load = self.bit(cell.pins["ALOAD"][0])
                if load != (0 if cell.number("ALOAD_POLARITY") else 1):
                    raise Refuted(f"the register {cell.name} can be reset while the core runs")
        return {cell.name: NextWord(self, cell.pins["D"]) for cell in self.netlist.registers}

    def _cell(self, cell: NetlistCell, place: int) -> None:
        pins, out = cell.pins, cell.pins["Y"]
        if cell.type == "$not" or cell.type in BITWISE:
            self._bits[out[place]] = self._bitwise(cell, place)
        elif cell.type in ("$mux", "$pmux"):
            self._chosen(cell, place)
        elif cell.type in REDUCTIONS:
            self._put(cell, [self._reduction(cell)])
        elif cell.type in ("$eq", "$ne"):
            width = max(len(pins["A"]), len(pins["B"]))
            pairs = zip(self._operand(cell, "A", width), self._operand(cell, "B", width), strict=True)
            alike = self.logic.equal((self.bit(a), self.bit(b)) for a, b in pairs)
            self._put(cell, [alike if cell.type == "$eq" else self.logic.inverse(alike)])
        elif cell.type in COMPARED:
            self._put(cell, [self._compared(cell)])
        elif cell.type in ARITHMETIC:
            self._put(cell, self._arithmetic(cell))
        elif cell.type in SHIFTS:
            self._put(cell, self._shifted(cell))
        elif cell.type == "$bmux":
            self._put(cell, self._selected(pins["A"], len(out), self.word(pins["S"])))
        elif cell.type == "$demux":
            self._put(cell, self._spread(self.word(pins["A"]), self.word(pins["S"])))
        else:
            raise Refuted(f"the core has a cell {cell.type}, which no proof here knows")

    def _put(self, cell: NetlistCell, word: LogicWord) -> None:
        out = cell.pins["Y"]
        self._bits.update(zip(out, [*word, *[0] * (len(out) - len(word))], strict=True))

    def _operand(self, cell: NetlistCell, pin: str, width: int) -> list[Bit]:
        nets = list(cell.pins[pin])[:width]
        return nets + [nets[-1] if cell.signed else "0"] * (width - len(nets))

    def _operands(self, cell: NetlistCell, width: int) -> tuple[LogicWord, LogicWord]:
        return self.word(self._operand(cell, "A", width)), self.word(self._operand(cell, "B", width))

    def _term(self, kind: Kind, words: Sequence[LogicWord]) -> Term:
        return self.logic.terms.term(kind, [self.logic.joined(word) for word in words])

    def _bitwise(self, cell: NetlistCell, place: int) -> LogicBit:
        width = len(cell.pins["Y"])
        a = self.bit(self._operand(cell, "A", width)[place])
        if cell.type == "$not":
            return self.logic.inverse(a)
        if (cell.type, a) in (("$and", 0), ("$or", 1)):
            return a
        b = self.bit(self._operand(cell, "B", width)[place])
        return {"$and": self.logic.both, "$or": self.logic.either, "$xor": self.logic.unlike}[cell.type](a, b)

    def _reduction(self, cell: NetlistCell) -> LogicBit:
        def some(pin: str) -> LogicBit:
            return self.logic.any_of(self.bit(net) for net in cell.pins[pin])

        match cell.type:
            case "$logic_not":
                return self.logic.inverse(some("A"))
            case "$reduce_and":
                return self.logic.all_of(self.bit(net) for net in cell.pins["A"])
            case "$logic_and":
                return self.logic.all_of(some(pin) for pin in "AB")
            case "$logic_or":
                return self.logic.any_of(some(pin) for pin in "AB")
        return some("A")

    def _chosen(self, cell: NetlistCell, place: int) -> None:
        """Puts one bit of a choice, or all of them; one where a bit of a side depends on another bit of the cell."""
        out, sides = cell.pins["Y"], self._sides(cell)
        alone = len(sides) == 1 or len(out) == 1 or cell.name in self._open
        places = [place] if alone else list(range(len(out)))
        if not alone:
            self._open.add(cell.name)
        word = self.word([sides[-1][1][at] for at in places])
        for condition, side in reversed(sides[:-1]):
            word = self.logic.choice(condition, self.word([side[at] for at in places]), word)
        if not alone:
            self._open.discard(cell.name)
        self._bits.update(zip([out[at] for at in places], word, strict=True))

    def _sides(self, cell: NetlistCell) -> list[tuple[LogicBit, Sequence[Bit]]]:
        """Returns condition and nets of each side that may be taken, the first that holds before the others."""
        width, sides = len(cell.pins["Y"]), []
        for number, net in enumerate(cell.pins["S"]):
            condition = self.bit(net)
            if condition != 0:
                sides.append((condition, cell.pins["B"][number * width : (number + 1) * width]))
            if condition == 1:
                return sides
        return [*sides, (1, cell.pins["A"])]

    def _compared(self, cell: NetlistCell) -> LogicBit:
        operands = self._operands(cell, max(len(cell.pins["A"]), len(cell.pins["B"])))
        if (found := self._computed(cell, operands)) is not None and not cell.signed:
            return int(found)
        kinds = COMPARED_SIGNED if cell.signed else COMPARED
        return self.logic.flag(self._term(kinds[cell.type], operands))

    def _arithmetic(self, cell: NetlistCell) -> LogicWord:
        width = len(cell.pins["Y"])
        operands = self._operands(cell, width)
        if (found := self._computed(cell, operands)) is not None:
            return numbered(found % (1 << width), width)
        return self.logic.split(self._term(ARITHMETIC[cell.type], operands))

    def _computed(self, cell: NetlistCell, operands: tuple[LogicWord, LogicWord]) -> int | None:
        """Returns the result of operands that are known, without a sign."""
        a, b = (known(word) for word in operands)
        return None if a is None or b is None else COMPUTED[cell.type](value(a), value(b))

    def _shifted(self, cell: NetlistCell) -> LogicWord:
        pins = cell.pins
        count, word = self.word(pins["B"]), self.word(pins["A"])
        signed = bool(cell.number("A_SIGNED"))
        word += [word[-1] if signed else 0] * (len(pins["Y"]) - len(word))
        arithmetic = signed and cell.type == "$sshr"
        width = max(len(word), len(count))
        word += [word[-1] if arithmetic else 0] * (width - len(word))
        kind = Kind.BV_SHR if cell.type == "$sshr" and not signed else SHIFTS[cell.type]
        moved = self._term(kind, (word, count + [0] * (width - len(count))))
        return self.logic.split(moved)[: len(pins["Y"])]

    def _selected(self, nets: Sequence[Bit], width: int, select: LogicWord) -> LogicWord:
        if not select:
            return self.word(nets[:width])
        half = width << (len(select) - 1)
        high, rest = select[-1], select[:-1]
        if isinstance(high, int):
            return self._selected(nets[half:] if high else nets[:half], width, rest)
        sides = (self._selected(part, width, rest) for part in (nets[half:], nets[:half]))
        return self.logic.choice(high, *sides)

    def _spread(self, word: LogicWord, select: LogicWord) -> LogicWord:
        spread: LogicWord = []
        for number in range(1 << len(select)):
            wanted = numbered(number, len(select))
            here = self.logic.equal(zip(select, wanted, strict=True))
            spread += [self.logic.both(here, bit) for bit in word]
        return spread


class NextWord(Sequence[LogicBit]):
    """A register's word in the next cycle; each bit is computed when it is asked for."""

    def __init__(self, cycle: ClockCycle, nets: Sequence[Bit]) -> None:
        self._cycle, self._nets = cycle, nets

    def __len__(self) -> int:
        return len(self._nets)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        nets = self._nets[place]
        return self._cycle.word(nets) if isinstance(place, slice) else self._cycle.bit(nets)
