"""Wires: the program once more, in operators that logic has. A wire is an exact integer with a range, from which its
width follows; it is negative where its range is, in two's complement.

    mul_shr(a, b, 32)   ->   4 products of at most 18 x 18 bits, one sum of three words, one slice
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from codegen.rtl.delays import TABLE_INPUTS, delay_ns

Range = tuple[int, int]


class Gate(Enum):
    """Operators of logic, and the meaning of a wire's ``imm``."""

    CONST = "const"  # imm: the value
    INPUT = "input"  # imm: the port's key, "event.x"
    ADD = "add"
    ADD3 = "add3"  # a + b + c in one row of adders
    SUB = "sub"
    MUL = "mul"  # both within a multiplier of the part
    SHL = "shl"  # imm: bits
    SLICE = "slice"  # imm: (lowest bit, bits): (a >> lowest) mod 2^bits
    JOIN = "join"  # imm: bits of b: (a << imm) + b
    GT = "gt"
    EQ = "eq"
    SELECT = "select"  # a ? b : c
    ROM = "rom"  # imm: the table; the index is its operands, the first one lowest


@dataclass(frozen=True)
class LogicWire:
    """``low <= value <= high`` for all inputs. ``args``: numbers of earlier wires."""

    gate: Gate
    args: tuple[int, ...]
    imm: object
    low: int
    high: int

    @property
    def signed(self) -> bool:
        return self.low < 0

    @property
    def width(self) -> int:
        """Bits of the wire, its sign included."""
        return width_of(self.low, self.high)


def width_of(low: int, high: int) -> int:
    """Returns the bits that hold the range, at least 1."""
    if low < 0:
        return 1 + max(high, -low - 1).bit_length()
    return max(high.bit_length(), 1)


class Wires:
    """The wires in order of evaluation; equal ones are shared.

    - ``labels``: the name of a wire that is a value of the program
    - ``delay``: estimated ns of a wire's own operator
    - ``arrival``: estimated ns from the inputs through logic alone
    - ``static``: whether a wire depends on parameters and constants alone
    """

    def __init__(self) -> None:
        self.wires: list[LogicWire] = []
        self.labels: dict[int, str] = {}
        self.delay: list[float] = []
        self.arrival: list[float] = []
        self.static: list[bool] = []
        self._known: dict[tuple[Gate, tuple[int, ...], object], int] = {}

    def __getitem__(self, number: int) -> LogicWire:
        return self.wires[number]

    def constant(self, number: int) -> int | None:
        """Returns the value of a constant wire, None for any other."""
        wire = self.wires[number]
        return wire.low if wire.gate is Gate.CONST else None

    def label(self, number: int, name: str) -> int:
        """Names a wire unless it has a name or needs no name. Returns the wire."""
        if self.wires[number].gate not in (Gate.CONST, Gate.INPUT):
            self.labels.setdefault(number, name)
        return number

    def const(self, value: int) -> int:
        return self._add(Gate.CONST, (), value, (value, value))

    def port(self, key: str, bounds: Range) -> int:
        return self._add(Gate.INPUT, (), key, bounds)

    def add(self, a: int, b: int) -> int:
        if self.constant(a) == 0 or self.constant(b) == 0:
            return b if self.constant(a) == 0 else a
        (al, ah), (bl, bh) = self._ranges(a, b)
        return self._add(Gate.ADD, (a, b), None, (al + bl, ah + bh))

    def total(self, terms: Sequence[int]) -> int:
        """Returns the sum of at least one wire. The earliest wires are added first."""
        heap = [(self.arrival[t], t) for t in terms]
        heapq.heapify(heap)
        while len(heap) > 1:
            made = self.add(heapq.heappop(heap)[1], heapq.heappop(heap)[1])
            heapq.heappush(heap, (self.arrival[made], made))
        return heap[0][1]

    def add3(self, a: int, b: int, c: int) -> int:
        lows, highs = zip(*self._ranges(a, b, c), strict=True)
        return self._add(Gate.ADD3, (a, b, c), None, (sum(lows), sum(highs)))

    def sub(self, a: int, b: int) -> int:
        (al, ah), (bl, bh) = self._ranges(a, b)
        return self._add(Gate.SUB, (a, b), None, (al - bh, ah - bl))

    def mul(self, a: int, b: int) -> int:
        (al, ah), (bl, bh) = self._ranges(a, b)
        ends = [x * y for x in (al, ah) for y in (bl, bh)]
        return self._add(Gate.MUL, (a, b), None, (min(ends), max(ends)))

    def shl(self, a: int, bits: int) -> int:
        if bits == 0:
            return a
        ((low, high),) = self._ranges(a)
        return self._add(Gate.SHL, (a,), bits, (low << bits, high << bits))

    def slice(self, a: int, lowest: int, bits: int | None = None) -> int:
        """Returns ``bits`` bits from ``lowest`` up. Without ``bits`` all upper bits and the sign remain."""
        wire = self.wires[a]
        if (value := self.constant(a)) is not None:
            return self.const(value >> lowest if bits is None else (value >> lowest) % (1 << bits))
        if bits is None or (wire.low >= 0 and (wire.high >> lowest) < (1 << bits)):
            if lowest == 0:
                return a
            width = max(wire.width - lowest, 1)
            return self._add(Gate.SLICE, (a,), (lowest, width), (wire.low >> lowest, wire.high >> lowest))
        return self._add(Gate.SLICE, (a,), (lowest, bits), (0, (1 << bits) - 1))

    def join(self, a: int, b: int, bits: int) -> int:
        """Returns ``(a << bits) + b`` with ``0 <= b < 2^bits``. It concatenates wires and needs no adder."""
        (al, ah), (bl, bh) = self._ranges(a, b)
        return self._add(Gate.JOIN, (a, b), bits, ((al << bits) + bl, (ah << bits) + bh))

    def gt(self, a: int, b: int) -> int:
        (al, ah), (bl, bh) = self._ranges(a, b)
        if al > bh or ah <= bl:
            return self.const(int(al > bh))
        if al >= 0 and bl == bh and ah.bit_length() > TABLE_INPUTS:
            return self._gt_by_digits(a, bl)
        return self._add(Gate.GT, (a, b), None, (0, 1))

    def _gt_by_digits(self, a: int, threshold: int) -> int:
        """Returns ``a > threshold`` as a tree over digits: the upper half decides unless it is equal.

        A digit has the inputs of one table. The tree takes fewer cells of an ECP5 than a carry chain."""
        digits = -(-self.wires[a].width // TABLE_INPUTS)
        half = TABLE_INPUTS * (digits // 2)
        upper, low = self.slice(a, half), self.slice(a, 0, half)
        above = self.const(threshold >> half)
        equal = self.gt(low, self.const(threshold % (1 << half)))
        return self.select(self.eq(upper, above), equal, self.gt(upper, above))

    def eq(self, a: int, b: int) -> int:
        (al, ah), (bl, bh) = self._ranges(a, b)
        if al > bh or bl > ah:
            return self.const(0)
        return self._add(Gate.EQ, (a, b), None, (0, 1))

    def select(self, condition: int, a: int, b: int, bounds: Range | None = None) -> int:
        """Returns ``a`` if the condition is 1, else ``b``. ``bounds``: a closer range, if the caller knows one."""
        known = self.constant(condition)
        if known is not None:
            return a if known else b
        if a == b:
            return a
        (al, ah), (bl, bh) = self._ranges(a, b)
        return self._add(Gate.SELECT, (condition, a, b), None, bounds or (min(al, bl), max(ah, bh)))

    def rom(self, index: Sequence[int], table: Sequence[int]) -> int:
        """Returns the entry of ``table`` at the index that the wires of ``index`` form, the first wire lowest.

        An index beyond the table gives its last entry."""
        if len(set(table)) == 1:
            return self.const(table[0])
        return self._add(Gate.ROM, tuple(index), tuple(table), (min(table), max(table)))

    def _ranges(self, *numbers: int) -> list[Range]:
        return [(self.wires[n].low, self.wires[n].high) for n in numbers]

    def _add(self, gate: Gate, args: tuple[int, ...], imm: object, bounds: Range) -> int:
        if gate is not Gate.INPUT and bounds[0] == bounds[1]:
            gate, args, imm = Gate.CONST, (), bounds[0]
        key = (gate, args, imm)
        if key not in self._known:
            wire = LogicWire(gate, args, imm, *bounds)
            operands = [self.wires[a] for a in args]
            constant = any(operand.gate is Gate.CONST for operand in operands)
            parameter = str(imm).startswith("params.")
            self.wires.append(wire)
            self.delay.append(delay_ns(gate.value, wire.width, [o.width for o in operands], constant))
            self.arrival.append(max((self.arrival[a] for a in args), default=0.0) + self.delay[-1])
            self.static.append(parameter if gate is Gate.INPUT else all(self.static[a] for a in args))
            self._known[key] = len(self.wires) - 1
        return self._known[key]
