"""Expressions of which signals hold which values, and how many do: 0 or 1 each, and their sum.

    Equal(Signal("active_3_path"), Constant(2))     is flow 3 on path 2?
    All((.., ..))                                   and does it share the sender with the flow in question?
    Number((.., .., ..), ..)                        how many of the flows are so

Exact in both meanings: signals are whole, and floats hold them.
"""

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from decision.ir.expression import Expression, Nodes
from decision.ir.program import Op
from decision.ir.tape import FloatOp, TapeBuilder


@dataclass(frozen=True)
class Constant(Expression):
    """A whole number, not below 0."""

    value: int

    @property
    def highest(self) -> int:
        return self.value

    def floats(self, t: TapeBuilder) -> int:
        return t.const(float(self.value))

    def integers(self, n: Nodes) -> int:
        return n.b.const(self.value)


@dataclass(frozen=True)
class Equal(Expression):
    """1 where x is y, else 0; both whole."""

    x: Expression
    y: Expression

    @property
    def highest(self) -> int:
        return 1

    def floats(self, t: TapeBuilder) -> int:
        x, y = self.x.floats(t), self.y.floats(t)
        apart = t.step(FloatOp.ADD, t.step(FloatOp.BELOW, x, y), t.step(FloatOp.BELOW, y, x))
        return t.step(FloatOp.SUB, t.const(1.0), apart)

    def integers(self, n: Nodes) -> int:
        return n.b.add(Op.EQ, (self.x.integers(n), self.y.integers(n)))


@dataclass(frozen=True)
class Within(Expression):
    """1 where a whole x is ``low`` to ``most``, else 0."""

    x: Expression
    low: int
    most: int

    @property
    def highest(self) -> int:
        return 1

    def floats(self, t: TapeBuilder) -> int:
        x = self.x.floats(t)
        above = t.step(FloatOp.BELOW, t.const(self.low - 1.0), x)
        return t.step(FloatOp.MIN, above, t.step(FloatOp.BELOW, x, t.const(self.most + 1.0)))

    def integers(self, n: Nodes) -> int:
        x = self.x.integers(n)
        below = n.b.add(Op.GT, (n.b.const(self.most + 1), x))
        return n.b.add(Op.MIN, (n.b.add(Op.GT, (x, n.b.const(self.low - 1))), below)) if self.low else below


@dataclass(frozen=True)
class _Folded(Expression):
    """0 or 1, of ``parts`` that are: one operator from the first to the last, as floats and as integers."""

    parts: tuple[Expression, ...]
    by: ClassVar[tuple[FloatOp, Op]]

    @property
    def highest(self) -> int:
        return 1

    def floats(self, t: TapeBuilder) -> int:
        return reduce(lambda a, b: t.step(self.by[0], a, b), [part.floats(t) for part in self.parts])

    def integers(self, n: Nodes) -> int:
        return reduce(lambda a, b: n.b.add(self.by[1], (a, b)), [part.integers(n) for part in self.parts])


class Either(_Folded):
    """1 where one of ``parts`` is 1, else 0; at most one of them is."""

    by = FloatOp.MAX, Op.MAX


class All(_Folded):
    """1 where all ``parts`` are 1, else 0."""

    by = FloatOp.MIN, Op.MIN


@dataclass(frozen=True)
class Number(Expression):
    """How many of ``parts``, two or more, are 1. The float is their share."""

    parts: tuple[Expression, ...]
    name: str
    note: str

    @property
    def highest(self) -> int:
        return len(self.parts)

    def floats(self, t: TapeBuilder) -> int:
        total = reduce(lambda a, b: t.step(FloatOp.ADD, a, b), [part.floats(t) for part in self.parts])
        return t.step(FloatOp.DIV, total, t.const(float(len(self.parts))))

    def integers(self, n: Nodes) -> int:
        first, *others, last = [part.integers(n) for part in self.parts]
        before = reduce(lambda a, b: n.b.add(Op.ADD, (a, b)), others, first)
        return n.b.add(Op.ADD, (before, last), 0, self.name, self.note)
