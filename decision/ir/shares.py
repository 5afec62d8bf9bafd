"""Expressions of a least value: what is less counts as it, and what is above it as a share of the whole."""

from dataclasses import dataclass

from decision.ir.expression import Expression, Nodes, SameScale
from decision.ir.program import Op
from decision.ir.quotients import Division, divided
from decision.ir.tape import FloatOp, TapeBuilder


@dataclass(frozen=True)
class AtLeast(SameScale):
    """x, or ``least`` steps of its integer where it is less."""

    least: int
    name: str

    @property
    def highest(self) -> int:
        return max(self.x.highest, self.least)

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.MAX, self.x.floats(t), t.const(self.least * 2.0**-self.bits))

    def integers(self, n: Nodes) -> int:
        return n.b.add(Op.MAX, (self.x.integers(n), n.b.const(self.least)), 0, self.name, f"at least {self.least}")


@dataclass(frozen=True)
class ExcessShare(Expression):
    """x / least in floats, at most 2^fraction_bits; in integers 1 - least / x with ``fraction_bits``, floored, which
    has the same order. ``least``: never more than x, which is at least one step; x with ``fraction_bits`` more fits 32
    bits."""

    x: Expression
    least: Expression
    fraction_bits: int
    name: str
    note: str

    @property
    def bits(self) -> int:
        return self.fraction_bits

    @property
    def highest(self) -> int:
        return 1 << self.fraction_bits

    def floats(self, t: TapeBuilder) -> int:
        ratio = t.step(FloatOp.DIV, self.x.floats(t), self.least.floats(t))
        return t.step(FloatOp.MIN, ratio, t.const(2.0**self.fraction_bits))

    def integers(self, n: Nodes) -> int:
        b, x, least = n.b, self.x.integers(n), self.least.integers(n)
        above = b.add(Op.MAX, (b.add(Op.SUB, (x, least)), b.const(0)), 0, f"{self.name}_excess")
        return divided(
            b, Division(above, x, self.x.highest, self.fraction_bits), f"{self.name}_held", self.name, self.note
        )
