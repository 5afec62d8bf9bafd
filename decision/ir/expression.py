"""Features, each written once: an expression with a float meaning (a teacher sees it) and an integer one (firmware
computes it).

    Elapsed("response_ns", "request_sent_ns")                       float: ns            integer: wrap_sub
    OverKnown(AtMost(..), "base_rtt_ns", "base_rtt_recip_q42")      float: x / base RTT  integer: x recip >> 32
    TimesRoot(excess, InForce(30), 20)                              float: x * sqrt(y)   integer: x^2 * y, order-equal

The integer need only keep the float's ORDER, or turn all of it round: a tree compares it with thresholds and does
nothing else. A product with a root thus becomes a square, and a root or a sign around everything costs nothing.

``bits``: fraction bits of the integer. Names and notes are those of the nodes, for the reader of the C.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import inf
from typing import Any

from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Op, ProgramBuilder
from decision.ir.quotients import Division, divided
from decision.ir.tape import FloatOp, TapeBuilder

COUNTED = "decisions_made"
"""The field of a context that counts."""


@dataclass(frozen=True)
class Nodes:
    """Nodes of the integers that are built: ``in_force`` the node of the knob that the context keeps (``in_force_q32``
    as Q0.32, if any), ``decided`` those of what has been decided now, by name, ``past`` gives the node of an
    expression's value so many decisions ago, ``count`` that of the decisions before this one, at most so many;
    ``carry`` is told the node of what an expression carries on (decision.ir.context_expressions)."""

    b: ProgramBuilder
    in_force: int = -1
    in_force_q32: int = -1
    decided: Mapping[str, int] = field(default_factory=dict)
    past: Callable[["Past"], int] | None = None
    count: Callable[["Count"], int] | None = None
    carry: Callable[[Any, int], None] | None = None


@dataclass(frozen=True)
class Expression:
    """Base of all operators."""

    @property
    def bits(self) -> int:
        return 0

    @property
    def highest(self) -> int:
        """No integer of it is greater; signals and parameters are taken to be uint32."""
        return 2**32 - 1

    def floats(self, t: TapeBuilder) -> int:
        """Append the float meaning; its register."""
        raise NotImplementedError

    def integers(self, n: Nodes) -> int:
        """Append the integer meaning; its node."""
        raise NotImplementedError


# --- what is read -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signal(Expression):
    """A signal of the event."""

    name: str

    def floats(self, t: TapeBuilder) -> int:
        return t.signal(self.name)

    def integers(self, n: Nodes) -> int:
        return n.b.event(self.name)


@dataclass(frozen=True)
class Elapsed(Expression):
    """From one timestamp of the event to another; both wrap. ``slack``: a parameter by which it is longer."""

    later: str
    earlier: str
    name: str
    slack: str = ""

    def floats(self, t: TapeBuilder) -> int:
        elapsed = t.elapsed(self.later, self.earlier)
        return t.step(FloatOp.ADD, elapsed, t.known(self.slack)) if self.slack else elapsed

    def integers(self, n: Nodes) -> int:
        later, earlier = n.b.event(self.later), n.b.event(self.earlier)
        if self.slack:
            earlier = n.b.add(Op.WRAP_SUB, (earlier, n.b.param(self.slack)), 0, "", "sooner by the slack")
        return n.b.add(Op.WRAP_SUB, (later, earlier), 0, self.name, "wraps with both")


@dataclass(frozen=True)
class Parameter(Expression):
    """An operator's, that a teacher is told as a number known of the agent's place."""

    name: str

    def floats(self, t: TapeBuilder) -> int:
        return t.known(self.name)

    def integers(self, n: Nodes) -> int:
        return n.b.param(self.name)


@dataclass(frozen=True)
class InForce(Expression):
    """The knob that the context keeps, with so many fraction bits."""

    fraction_bits: int

    @property
    def bits(self) -> int:
        return self.fraction_bits

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.MUL, t.step(FloatOp.IN_FORCE), t.const(2.0**-self.fraction_bits))

    def integers(self, n: Nodes) -> int:
        return n.in_force


@dataclass(frozen=True)
class Decided(Expression):
    """A value of the decision before: a knob, or a scale's ``action``, its multiplier - 1. The integer is that of the
    decision that has just been made: it is kept for the next one."""

    name: str
    fraction_bits: int = 0
    origin: float = 0.0

    @property
    def bits(self) -> int:
        return self.fraction_bits

    def floats(self, t: TapeBuilder) -> int:
        value = t.decided(self.name)
        if self.fraction_bits:
            value = t.step(FloatOp.MUL, value, t.const(2.0**-self.fraction_bits))
        return t.step(FloatOp.ADD, t.const(self.origin), value) if self.origin else value

    def integers(self, n: Nodes) -> int:
        return n.decided[self.name]


@dataclass(frozen=True)
class Past(Expression):
    """The value of an expression over signals so many decisions ago; 0 before there were so many."""

    x: "Coded"
    back: int

    @property
    def bits(self) -> int:
        return self.x.bits

    @property
    def highest(self) -> int:
        return self.x.highest

    def floats(self, t: TapeBuilder) -> int:
        return t.past(self.x.floats(t), self.back, self.x.origin)

    def integers(self, n: Nodes) -> int:
        assert n.past is not None
        return n.past(self)


@dataclass(frozen=True)
class Count(Expression):
    """Decisions that the agent has made before this one, at most ``most``. The float is its share of ``most``."""

    most: int
    name: str
    note: str

    @property
    def highest(self) -> int:
        return self.most

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.DIV, t.counted(self.most), t.const(float(self.most)))

    def integers(self, n: Nodes) -> int:
        assert n.count is not None
        return n.count(self)

    def held(self, b: ProgramBuilder) -> int:
        """Returns the node of the stored count, at most ``most``, whatever the context holds."""
        stored = b.state_in(COUNTED, "uint16", "decisions made")
        return b.add(Op.MIN, (stored, b.const(self.most)), 0, self.name, self.note)


def pasts(x: Expression) -> list[Past]:
    """All that it keeps of earlier decisions."""
    inner = [past for y in within(x) for past in pasts(y)]
    return [x, *inner] if isinstance(x, Past) else inner


def signals(x: Expression) -> set[str]:
    """All that it reads of the event."""
    own = {x.name} if isinstance(x, Signal) else {x.later, x.earlier} if isinstance(x, Elapsed) else set()
    return own.union(*map(signals, within(x)))


def within(x: Expression) -> list[Expression]:
    """The expressions that it is made of."""
    fields = [y if isinstance(y, tuple) else (y,) for y in vars(x).values()]
    return [y for each in fields for y in each if isinstance(y, Expression)]


# --- operators --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SameScale(Expression):
    """An operator on ``x`` that keeps its fraction bits."""

    x: Expression

    @property
    def bits(self) -> int:
        return self.x.bits


@dataclass(frozen=True)
class AtMost(SameScale):
    most: float
    name: str
    note: str = ""

    @property
    def highest(self) -> int:
        return min(self.x.highest, int(self.most * 2**self.bits + 0.5))

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.MIN, self.x.floats(t), t.const(self.most))

    def integers(self, n: Nodes) -> int:
        x = self.x.integers(n)
        return n.b.add(Op.MIN, (x, n.b.const(round(self.most * 2**self.bits))), 0, self.name, self.note)


@dataclass(frozen=True)
class AtLeastIf(SameScale):
    """max(x, least) where ``told`` is 0 or one of ``counts`` is not; x elsewhere."""

    least: float
    told: Signal
    counts: tuple[Signal, ...]
    name: str
    note: str = ""

    @property
    def highest(self) -> int:
        return max(self.x.highest, self._least)

    @property
    def _least(self) -> int:
        return int(self.least * 2**self.bits + 0.5)

    def floats(self, t: TapeBuilder) -> int:
        one, none, least = t.const(0.5), t.const(0.0), t.const(self._least / 2**self.bits)
        bound = t.step(FloatOp.SELECT, t.step(FloatOp.BELOW, self.told.floats(t), one), least, none)
        for count in self.counts:
            bound = t.step(FloatOp.SELECT, t.step(FloatOp.BELOW, count.floats(t), one), bound, least)
        return t.step(FloatOp.MAX, self.x.floats(t), bound)

    def integers(self, n: Nodes) -> int:
        x, zero = self.x.integers(n), n.b.const(0)
        flags = [n.b.add(Op.EQ, (self.told.integers(n), zero))]
        flags += [n.b.add(Op.GT, (count.integers(n), zero)) for count in self.counts]
        any_of = reduce(lambda a, b: n.b.add(Op.MAX, (a, b)), flags)
        # Compilers test the counts one by one in this form. As one word, or-ed, proofs could not tell them apart.
        bound = n.b.add(Op.SELECT, (any_of, n.b.const(self._least), zero))
        return n.b.add(Op.MAX, (x, bound), 0, self.name, self.note)


@dataclass(frozen=True)
class Above(SameScale):
    """max(x - tolerance, 0); nothing to do in integers without a tolerance, where x is not negative."""

    tolerance: float
    name: str

    def floats(self, t: TapeBuilder) -> int:
        less = t.step(FloatOp.SUB, self.x.floats(t), t.const(self.tolerance))
        return t.step(FloatOp.MAX, less, t.const(0.0))

    def integers(self, n: Nodes) -> int:
        x, tolerance = self.x.integers(n), n.b.const(round(self.tolerance * 2**self.bits))
        if self.tolerance == 0:
            return x
        raised = n.b.add(Op.MAX, (x, tolerance), 0, f"{self.name}_raised_q{self.bits}")
        return n.b.add(Op.SUB, (raised, tolerance), 0, f"{self.name}_excess_q{self.bits}")


@dataclass(frozen=True)
class PlusOne(SameScale):
    name: str

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.ADD, t.const(1.0), self.x.floats(t))

    def integers(self, n: Nodes) -> int:
        return n.b.add(Op.ADD, (self.x.integers(n), n.b.const(1 << self.bits)), 0, self.name)


@dataclass(frozen=True)
class Proportion(Expression):
    """x * numerator / denominator, a constant with 16 fraction bits."""

    x: Expression
    numerator: float
    denominator: float
    name: str
    note: str = ""

    def floats(self, t: TapeBuilder) -> int:
        product = t.step(FloatOp.MUL, self.x.floats(t), t.const(self.numerator))
        return t.step(FloatOp.DIV, product, t.const(self.denominator))

    def integers(self, n: Nodes) -> int:
        factor_q16 = n.b.const(round(self.numerator / self.denominator * 2**16))
        return n.b.add(Op.MUL_SHR, (self.x.integers(n), factor_q16), 16, self.name, self.note)


@dataclass(frozen=True)
class OverKnown(Expression):
    """x / a number known of the agent's place, of which firmware has the reciprocal as a parameter: with as many
    fraction bits and 32 more, so that the quotient is a product's high word."""

    x: Expression
    known: str
    reciprocal: str
    fraction_bits: int
    name: str

    @property
    def bits(self) -> int:
        return self.fraction_bits

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.DIV, self.x.floats(t), t.known(self.known))

    def integers(self, n: Nodes) -> int:
        return n.b.add(Op.MUL_SHR, (self.x.integers(n), n.b.param(self.reciprocal)), 32, self.name)


@dataclass(frozen=True)
class TimesRoot(Expression):
    """x * sqrt(y), and in integers its square: x^2 * y."""

    x: Expression
    y: Expression
    square_bits: int
    names: tuple[str, str]
    note: str

    @property
    def bits(self) -> int:
        return self.square_bits

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.MUL, self.x.floats(t), t.step(FloatOp.SQRT, self.y.floats(t)))

    def integers(self, n: Nodes) -> int:
        x = self.x.integers(n)
        square = n.b.add(Op.MUL, (x, x), name=self.names[0])
        y, bits = self.y.integers(n), self.y.bits
        if isinstance(self.y, InForce) and n.in_force_q32 >= 0:
            y, bits = n.in_force_q32, 32
        return n.b.add(Op.MUL_SHR, (square, y), 2 * self.x.bits + bits - self.square_bits, self.names[1], self.note)


@dataclass(frozen=True)
class OverRatio(Expression):
    """x / a ratio that is known of the agent's place, where the integer is the square of x and firmware has the ratio's
    inverse square as a parameter with ``gain_bits``; of its integer, ``fraction_bits`` are left.

    One high word, exact but for its floor: where the product's shift is below 32, x is shifted up by what lacks, and
    what 32 bits do not hold then saturates first. A gain of 1 leaves what is below that as it is.
    """

    x: Expression
    known: str
    gain: str
    gain_bits: int
    fraction_bits: int
    names: tuple[str, str]
    note: str

    @property
    def bits(self) -> int:
        return self.fraction_bits

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.DIV, self.x.floats(t), t.known(self.known))

    def integers(self, n: Nodes) -> int:
        x, shift = self.x.integers(n), self.gain_bits + self.x.bits - self.fraction_bits
        if (up := 32 - shift) > 0:
            held = n.b.add(Op.MIN, (x, n.b.const((1 << shift) - 1)), 0, self.names[0], "beyond all thresholds")
            x, shift = n.b.add(Op.SHL, (held,), up, f"{self.names[0]}_shifted"), 32
        return n.b.add(Op.MUL_SHR, (x, n.b.param(self.gain)), shift, self.names[1], self.note)


@dataclass(frozen=True)
class Short(SameScale):
    """factor * (target - x); in integers x: the order is turned round, or not, for all values alike. ``end``: a network
    sees no x above it; trees have no threshold there."""

    target: float
    factor: float
    end: float = inf

    def floats(self, t: TapeBuilder) -> int:
        target, x = t.const(self.target), self.x.floats(t)
        if self.end < inf:
            x = t.step(FloatOp.MIN, x, t.const(self.end))
        short = t.step(FloatOp.SUB, target, x)
        return t.step(FloatOp.MUL, t.const(self.factor), short)

    def integers(self, n: Nodes) -> int:
        return self.x.integers(n)


@dataclass(frozen=True)
class Whole(Expression):
    """Whole multiples of 2^shift."""

    x: Expression
    shift: int

    @property
    def highest(self) -> int:
        return self.x.highest >> self.shift

    def floats(self, t: TapeBuilder) -> int:
        x = self.x.floats(t)
        return t.step(FloatOp.FLOOR, t.step(FloatOp.MUL, x, t.const(2.0**-self.shift))) if self.shift else x

    def integers(self, n: Nodes) -> int:
        x = self.x.integers(n)
        return n.b.add(Op.SHR, (x,), self.shift) if self.shift else x


@dataclass(frozen=True)
class Quotient(Expression):
    """x / max(y, 1), at most 2^whole_bits, floored to ``fraction_bits`` in integers: a step of restoring division a
    bit, exact and without a divider. ``y`` leaves as many of its 32 bits free as the quotient has."""

    x: Expression
    y: Expression
    fraction_bits: int
    names: tuple[str, str, str]
    note: str
    whole_bits: int = 0

    @property
    def bits(self) -> int:
        return self.fraction_bits

    @property
    def highest(self) -> int:
        return 1 << self.fraction_bits + self.whole_bits

    def floats(self, t: TapeBuilder) -> int:
        x = self.x.floats(t)
        quotient = t.step(FloatOp.DIV, x, t.step(FloatOp.MAX, self.y.floats(t), t.const(1.0)))
        return t.step(FloatOp.MIN, quotient, t.const(2.0**self.whole_bits))

    def integers(self, n: Nodes) -> int:
        b, most = n.b, self.y.highest
        assert most << self.fraction_bits + self.whole_bits < 2**32
        count, over = self.x.integers(n), self.y.integers(n)
        over = b.add(Op.MAX, (over, b.const(1)), name=self.names[0])
        division = Division(count, over, most, self.fraction_bits, self.whole_bits)
        return divided(b, division, self.names[1], self.names[2], self.note)


@dataclass(frozen=True)
class Doublings(Expression):
    """How many of first, 2 first, 4 first, .. (``count`` of them) lie below x: a bucket on a logarithmic scale. The
    float is its share of all."""

    x: Expression
    first: int
    count: int
    name: str
    note: str

    @property
    def highest(self) -> int:
        return self.count

    def floats(self, t: TapeBuilder) -> int:
        x, total = self.x.floats(t), t.const(0.0)
        for k in range(self.count):
            total = t.step(FloatOp.ADD, total, t.step(FloatOp.BELOW, t.const(float(self.first << k)), x))
        return t.step(FloatOp.DIV, total, t.const(float(self.count)))

    def integers(self, n: Nodes) -> int:
        x = self.x.integers(n)
        if self.count == 1:
            return n.b.add(Op.GT, (x, n.b.const(self.first)), 0, self.name, self.note)
        above = [n.b.add(Op.GT, (x, n.b.const(self.first << k))) for k in range(self.count)]
        total = above[0]
        for place, one in enumerate(above[1:], 2):
            last = place == self.count
            total = n.b.add(Op.ADD, (total, one), 0, self.name if last else "", self.note if last else "")
        return total


@dataclass(frozen=True)
class Per(Expression):
    """x in units of ``unit``, floored to ``fraction_bits`` in integers; where the unit is no power of two, of large x
    perhaps one more."""

    x: Expression
    unit: int
    fraction_bits: int
    name: str

    @property
    def bits(self) -> int:
        return self.fraction_bits

    @property
    def highest(self) -> int:
        return (self.x.highest << self.fraction_bits) // self.unit + (not self._is_shift)

    @property
    def _is_shift(self) -> bool:
        """Whether the unit is a power of two: then the integer is a shift, which is exact."""
        return self.unit & (self.unit - 1) == 0

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.DIV, self.x.floats(t), t.const(float(self.unit)))

    def integers(self, n: Nodes) -> int:
        x = self.x.integers(n)
        if self._is_shift:
            shift = self.unit.bit_length() - 1 - self.fraction_bits
            if shift == 0:
                return x
            return n.b.add(Op.SHR if shift > 0 else Op.SHL, (x,), abs(shift))
        # A wide factor has 31 bits: the product of two uint32 is one high word.
        shift = 31 + self.unit.bit_length() - 1 - self.fraction_bits
        factor = n.b.const(-(-(1 << (shift + self.fraction_bits)) // self.unit))
        return n.b.add(Op.MUL_SHR, (x, factor), shift, self.name, f"1 / {self.unit}")


@dataclass(frozen=True)
class Difference(SameScale):
    """x - y, both with the same fraction bits."""

    y: Expression
    name: str
    note: str

    def floats(self, t: TapeBuilder) -> int:
        return t.step(FloatOp.SUB, self.x.floats(t), self.y.floats(t))

    def integers(self, n: Nodes) -> int:
        return n.b.add(Op.SUB, (self.x.integers(n), self.y.integers(n)), 0, self.name, self.note)


@dataclass(frozen=True)
class Coded(Expression):
    """As a feature is kept: with fewer fraction bits, below FEATURE_LIMIT, and less an origin, so that zero is a new
    agent's. In floats nothing is done."""

    x: Expression
    fraction_bits: int
    origin: float
    name: str
    note: str

    @property
    def bits(self) -> int:
        return self.fraction_bits

    @property
    def highest(self) -> int:
        highest = self.x.highest >> (self.x.bits - self.fraction_bits)
        return int(min(highest - round(self.origin * 2**self.bits), FEATURE_LIMIT - 1))

    @property
    def storage(self) -> str:
        """The narrowest type that holds it where its origin is 0."""
        return "uint16" if self.highest <= STORAGE_RANGE["uint16"][1] else "uint32"

    def floats(self, t: TapeBuilder) -> int:
        return self.x.floats(t)

    def integers(self, n: Nodes) -> int:
        x, origin = self.x.integers(n), round(self.origin * 2**self.bits)
        if self.x.bits > self.bits:
            x = n.b.add(Op.SHR, (x,), self.x.bits - self.bits)
        limit = (x, n.b.const(FEATURE_LIMIT - 1 + origin))
        if origin == 0:
            return n.b.add(Op.MIN, limit, 0, self.name, self.note)
        held = n.b.add(Op.MIN, limit)
        return n.b.add(Op.SUB, (held, n.b.const(origin)), 0, self.name, self.note)
