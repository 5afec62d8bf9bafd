"""From the program to wires: wide products become those of a multiplier's width, chains of constants one clamp, sums
are added in the order in which their terms arrive. Each rewriting keeps every value; verify/rtl proves the outcome.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.rtl.delays import MULTIPLIER_BITS
from codegen.rtl.trees import is_joint, joint, summed
from codegen.rtl.wires import Wires
from decision.artefact.errors import InputError
from decision.ir.program import Node, Op, Program

WORD = 32
MAX_SHIFTS = 3
"""Terms of shifts and sums that a product with a constant may cost before a multiplier is taken."""


@dataclass(frozen=True)
class Expanded:
    """``outputs``: port -> wire; knobs first, then the context."""

    wires: Wires
    outputs: dict[str, int]


@dataclass(frozen=True)
class Clamp:
    """``min(max(base + offset, low), high)`` of a node of the program."""

    base: int
    offset: int
    low: int
    high: int

    def plus(self, value: int) -> "Clamp":
        return Clamp(self.base, self.offset + value, self.low + value, self.high + value)

    def within(self, low: int, high: int) -> "Clamp":
        return Clamp(self.base, self.offset, *(min(max(end, low), high) for end in (self.low, self.high)))

    def of(self, value: int) -> int:
        return min(max(value + self.offset, self.low), self.high)


def expand(program: Program) -> Expanded:
    """Returns the wires of a program. InputError for an operator that logic lacks."""
    if any(node.op is Op.NETWORK for node in program.nodes):
        raise InputError("the target rtl has no operator for an int8 network; emit it for --target bare, as C")
    expansion = _Expansion(program)
    knobs = zip(program.interface.knob_names, program.results, strict=True)
    outputs = {f"action.{name}": expansion.wire(node) for name, node in knobs}
    outputs |= {f"next.{field.name}": expansion.wire(field.node) for field in program.state}
    return Expanded(expansion.wires, outputs)


class _Expansion:
    """Makes the wires that somebody asks for."""

    def __init__(self, program: Program) -> None:
        self.program, self.wires = program, Wires()
        self.uses = Counter(a for node in program.nodes for a in node.args)
        self.uses.update(program.outputs)
        self.clamps = _clamps(program)
        self._wire: dict[int, int] = {}

    def wire(self, n: int) -> int:
        """Returns the wire of a node. Its operands' wires are made first, in the program's order."""
        needed, todo = set(), [n]
        while todo:
            node = todo.pop()
            if node not in self._wire and node not in needed:
                needed.add(node)
                todo += self._operands(node)
        for node in sorted(needed):
            name = self.program.nodes[node].name
            self._wire[node] = self.wires.label(self._made(node), f"n{node}_{name}" if name else f"n{node}")
        return self._wire[n]

    def _operands(self, n: int) -> list[int]:
        """The nodes whose wires a node's wire is made of."""
        node = self.program.nodes[n]
        if n in self.clamps:
            base = self.clamps[n].base
            trees = self.program.nodes[base]
            return list(trees.args) if self._is_joint(trees) else [base]
        if node.op is Op.WRAP_SUB and (shifted := self._shifted(n)) is not None:
            return [shifted[0]]
        if node.op is Op.ADD:
            return self._terms(n)
        if (limited := self._limited(n)) is not None:
            return list(limited)
        return list(node.args)

    def _is_joint(self, node: Node) -> bool:
        return node.op is Op.TREES and is_joint(self.program.forest)

    def _made(self, n: int) -> int:
        node, wires = self.program.nodes[n], self.wires
        if n in self.clamps:
            return self._clamp(n, self.clamps[n])
        if node.op in (Op.CONST, Op.EVENT, Op.PARAM, Op.STATE):
            key = self.program.key(node)
            return wires.const(node.imm) if key is None else wires.port(key, (node.low, node.high))
        if node.op is Op.WRAP_SUB:
            return self._wrapped(n)
        if node.op is Op.ADD:
            return self.sum([self.wire(term) for term in self._terms(n)])
        if node.op is Op.TREES:
            operands = [self.wire(a) for a in node.args]
            if self._is_joint(node):
                return joint(wires, self.program.forest, node.imm, operands)
            return summed(wires, self.program.forest, n, node.imm, operands)
        if node.op in (Op.MIN, Op.MAX):
            return self._extreme(n)
        a = [self.wire(argument) for argument in node.args]
        match node.op:
            case Op.SUB:
                return wires.sub(*a)
            case Op.MUL:
                return self.product(*a)
            case Op.MUL_SHR:
                return wires.slice(self.product(*a), node.imm)
            case Op.SHL:
                return wires.shl(a[0], node.imm)
            case Op.SHR:
                return wires.slice(a[0], node.imm)
            case Op.MASK:
                return wires.slice(a[0], 0, node.imm)
            case Op.GT:
                return wires.gt(*a)
            case Op.EQ:
                return wires.eq(*a)
            case Op.SELECT:
                return wires.select(a[0], a[1], a[2])
            case Op.TABLE:
                return wires.rom(a, self.program.tables[node.imm])
        raise InputError(f"the target rtl has no operator {node.op.name.lower()}; emit the program for --target bare")

    def sum(self, terms: Sequence[int]) -> int:
        """Returns the sum of wires. The earliest wires are added first."""
        constant = sum(value for t in terms if (value := self.wires.constant(t)) is not None)
        moving = [t for t in terms if self.wires.constant(t) is None]
        return self.wires.total(moving if moving and not constant else [*moving, self.wires.const(constant)])

    def _terms(self, n: int) -> list[int]:
        """The nodes that a sum of sums adds, where nobody else asks for the sums within it."""
        terms, todo = [], list(self.program.nodes[n].args)
        while todo:
            a = todo.pop()
            if self.program.nodes[a].op is Op.ADD and self.uses[a] == 1 and a not in self.clamps:
                todo += self.program.nodes[a].args
            else:
                terms.append(a)
        return sorted(terms)

    def _wrapped(self, n: int) -> int:
        """A difference modulo 2^32; multiples of one value by a power of two are shifts."""
        if (shifted := self._shifted(n)) is not None:
            return self.wires.slice(self.wires.shl(self.wire(shifted[0]), shifted[1]), 0, WORD)
        return self.wires.slice(self.wires.sub(*(self.wire(a) for a in self.program.nodes[n].args)), 0, WORD)

    def _shifted(self, n: int) -> tuple[int, int] | None:
        """(node, bits) by which it is shifted, modulo 2^32, to give the node; None where it is no such shift."""
        base, factor = self._multiple(n)
        factor %= 1 << WORD
        if base is None or base == n or not factor or factor & (factor - 1):
            return None
        return base, factor.bit_length() - 1

    def _multiple(self, n: int) -> tuple[int | None, int]:
        """(node, factor) whose product is the node modulo 2^32; of zero no node."""
        node = self.program.nodes[n]
        if node.op is Op.CONST and node.imm == 0:
            return None, 0
        if node.op is Op.WRAP_SUB:
            (a, x), (b, y) = (self._multiple(argument) for argument in node.args)
            if a is None or b is None or a == b:
                return a if a is not None else b, x - y
        return n, 1

    def product(self, a: int, b: int) -> int:
        """Returns the product of wires of any width, from digits of a multiplier's width."""
        wires = self.wires
        for factor, other in ((a, b), (b, a)):
            value = wires.constant(factor)
            if value is not None:
                signs = _signed_digits(value)
                if len(signs) <= MAX_SHIFTS or wires[other].gate.value == "const":
                    return self._shifted_sum(other, signs)
        digit = MULTIPLIER_BITS - (1 if wires[a].signed or wires[b].signed else 0)
        left, right = self._digits(a, digit), self._digits(b, digit)
        if len(left) == len(right) == 2:
            low, high = wires.mul(left[0], right[0]), wires.mul(left[1], right[1])
            cross = wires.mul(left[0], right[1]), wires.mul(left[1], right[0])
            ends = wires.join(high, wires.slice(low, digit), digit) if not wires[low].signed else None
            if ends is not None:
                return wires.join(wires.add3(ends, *cross), wires.slice(low, 0, digit), digit)
        columns: dict[int, list[int]] = {}
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                columns.setdefault(i + j, []).append(wires.mul(x, y))
        total, carry, below = None, None, 0
        for column in range(len(columns)):
            here = self.sum([*columns[column], *([] if carry is None else [carry])])
            if column == len(columns) - 1:
                return here if total is None else wires.join(here, total, below)
            kept = wires.slice(here, 0, digit)
            total = kept if total is None else wires.join(kept, total, below)
            carry, below = wires.slice(here, digit), below + digit
        raise AssertionError("a product has a column")

    def _shifted_sum(self, a: int, signs: Sequence[tuple[int, int]]) -> int:
        """``a`` times the sum of ``sign << shift``."""
        wires = self.wires
        total = None
        for shift, sign in sorted(signs, key=lambda one: (-one[1], one[0])):
            term = wires.shl(a, shift)
            if total is None:
                total = term if sign > 0 else wires.sub(wires.const(0), term)
            else:
                total = wires.add(total, term) if sign > 0 else wires.sub(total, term)
        return wires.const(0) if total is None else total

    def _digits(self, a: int, digit: int) -> list[int]:
        """The digits of a wire, the lowest first; the highest has the sign."""
        digits = []
        while (wire := self.wires[a]).width > digit + (1 if wire.signed else 0):
            digits.append(self.wires.slice(a, 0, digit))
            a = self.wires.slice(a, digit)
        return [*digits, a]

    def _clamp(self, n: int, clamp: Clamp) -> int:
        """A clamped sum with a constant: both ends are compared before the sum is there."""
        wires, base, node = self.wires, self.program.nodes[clamp.base], self.program.nodes[n]
        if self._is_joint(base):
            return joint(wires, self.program.forest, base.imm, [self.wire(a) for a in base.args], clamp.of)
        x = self.wire(clamp.base)
        moved = wires.add(x, wires.const(clamp.offset))
        result = moved
        low, high = clamp.low, clamp.high
        if low - clamp.offset > wires[x].low:
            raised = wires.gt(x, wires.const(low - clamp.offset))
            result = wires.select(raised, moved, wires.const(low), (low, max(wires[moved].high, low)))
        if high - clamp.offset < wires[x].high:
            above = wires.gt(x, wires.const(high - clamp.offset))
            result = wires.select(above, wires.const(high), result, (node.low, node.high))
        return result

    def _limited(self, n: int) -> tuple[int, int, int] | None:
        """(x, a, b) of min(max(x, a), b) whose max nobody else asks for; None of any other node."""
        node = self.program.nodes[n]
        for inner, limit in (node.args, node.args[::-1]) if node.op is Op.MIN else ():
            within = self.program.nodes[inner]
            if within.op is Op.MAX and self.uses[inner] == 1 and inner not in self.clamps:
                return within.args[0], within.args[1], limit
        return None

    def _extreme(self, n: int) -> int:
        """The lesser or the greater of two; of min(max(x, a), b) all comparisons are made at once."""
        node, wires = self.program.nodes[n], self.wires
        bounds = node.low, node.high
        if (limited := self._limited(n)) is not None:
            x, y, high = (self.wire(argument) for argument in limited)
            if wires.arrival[x] < wires.arrival[y]:
                x, y = y, x
            least = wires.select(wires.gt(y, high), high, y)
            return wires.select(wires.gt(x, high), high, wires.select(wires.gt(y, x), least, x), bounds)
        x, y = (self.wire(argument) for argument in node.args)
        greater, other = (x, y) if node.op is Op.MAX else (y, x)
        return wires.select(wires.gt(x, y), greater, other, bounds)


def _clamps(program: Program) -> dict[int, Clamp]:
    """The nodes that are clamped sums of an earlier one with a constant, from more than one operation."""
    found: dict[int, Clamp] = {}
    for n, node in enumerate(program.nodes):
        if node.op not in (Op.ADD, Op.SUB, Op.MIN, Op.MAX) or len(node.args) != 2:
            continue
        a, b = node.args
        if program.nodes[b].op is not Op.CONST and node.op is not Op.SUB:
            a, b = b, a
        if program.nodes[b].op is not Op.CONST or program.nodes[a].op is Op.CONST:
            continue
        inner, value = program.nodes[a], program.nodes[b].imm
        clamp = found.get(a, Clamp(a, 0, inner.low, inner.high))
        match node.op:
            case Op.ADD:
                clamp = clamp.plus(value)
            case Op.SUB:
                clamp = clamp.plus(-value)
            case Op.MIN:
                clamp = clamp.within(min(clamp.low, value), value)
            case Op.MAX:
                clamp = clamp.within(value, max(clamp.high, value))
        found[n] = clamp
    return found


def _signed_digits(value: int) -> list[tuple[int, int]]:
    """(shift, sign) whose sum is the value, no two next to each other."""
    digits, shift = [], 0
    while value:
        if value & 1:
            sign = 2 - (value & 3)
            digits.append((shift, sign))
            value -= sign
        value >>= 1
        shift += 1
    return digits
