"""Expressions over all decisions that an agent has made: what its context carries from one to the next.

    carried, x now  ->  carried from now on, value          0 carried: a new agent, nothing was seen yet

    Average     carried, scaled by 2^shift, less its 2^shift-th part, plus x        an exponential average
    Least       min(x, carried + rise)                                              an RTT of an empty path
    Greatest    max(x, carried - fall)                                              the most that was delivered
    Streak      carried + 1 where x is above a level, else 0                        CNPs in a row
    Decayed     carried, less its 2^shift-th part, plus x                           a counter that forgets
    Since       now, less the timestamp that was carried, modulo 2^32               time between decisions

A context may hold anything: what is read of it is first brought into the range that the expression itself writes, so
that every range is proved and no sum leaves 32 bits. Both meanings carry their own value; they agree but for the floor
of ``x``, and that of the scaled average (docs/reference/policy-toml.md says by how much).
"""

from dataclasses import dataclass
from math import inf

from decision.ir.expression import Expression, Nodes, Signal, within
from decision.ir.formats import U32_MAX
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Op, ProgramBuilder
from decision.ir.tape import FloatOp, TapeBuilder

UNSIGNED = ("uint8", "uint16", "uint32")
WRAP = 2.0**32


@dataclass(frozen=True)
class Carried(Expression):
    """Base of them. ``name``: of the value, for the reader of the C; ``note``: what it is. Two of one name in a policy
    are equal, or refused."""

    name: str
    note: str

    @property
    def field(self) -> str:
        """The field of the context, which no value that trees look at is called."""
        return f"{self.name}_kept"

    @property
    def most_kept(self) -> int:
        """No integer that is written back is greater."""
        raise NotImplementedError

    @property
    def encoded(self) -> str:
        """How the field holds it, where it is not as it is."""
        return ""

    @property
    def storage(self) -> str:
        """The narrowest type of the context that holds it."""
        return next(kind for kind in UNSIGNED if self.most_kept <= STORAGE_RANGE[kind][1])

    def integers(self, n: Nodes) -> int:
        assert n.carry is not None
        kept = n.b.state_in(self.field, self.storage, f"{self.note}{self.encoded}")
        after, value = self.stepped(n, kept)
        n.carry(self, after)
        return value

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        """Nodes of what is carried from now on, and of the value; ``kept``: the field as it is read."""
        raise NotImplementedError

    def bounded(self, b: ProgramBuilder, kept: int, most: int) -> int:
        """Node of what was carried, in its range."""
        return b.add(Op.MIN, (kept, b.const(most)), 0, f"{self.name}_held", "whatever the context holds")


def carried_by(x: Expression) -> list[Carried]:
    """All that an expression carries."""
    inner = [each for y in within(x) for each in carried_by(y)]
    return [x, *inner] if isinstance(x, Carried) else inner


@dataclass(frozen=True)
class InRange(Carried):
    """A value with the fraction bits and the range of ``x``."""

    x: Expression

    @property
    def bits(self) -> int:
        return self.x.bits

    @property
    def highest(self) -> int:
        return self.x.highest


@dataclass(frozen=True)
class Average(InRange):
    """The exponential average of ``x``, the newest with a weight of 2^-shift; of a new agent ``x`` itself."""

    shift: int

    @property
    def most_kept(self) -> int:
        return (self.x.highest << self.shift) + 1

    @property
    def encoded(self) -> str:
        return f", x 2^{self.shift}, one higher; 0: none yet"

    def floats(self, t: TapeBuilder) -> int:
        x, place = self.x.floats(t), t.carried(-1.0)
        before = t.step(FloatOp.SELECT, t.step(FloatOp.BELOW, place.before, t.const(0.0)), x, place.before)
        part = t.step(FloatOp.MUL, t.step(FloatOp.SUB, x, before), t.const(2.0**-self.shift))
        return place.after(t.step(FloatOp.ADD, before, part))

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        b, x, most = n.b, self.x.integers(n), self.x.highest << self.shift
        before = self.bounded(b, one_less(b, kept), most)
        left = b.add(Op.SUB, (before, b.add(Op.SHR, (before,), self.shift)))
        # The choice stands behind the sum: in front of it compilers cancel x 2^shift >> shift, which the prover keeps.
        first, later = b.add(Op.SHL, (x,), self.shift), b.add(Op.ADD, (left, x), 0, f"{self.name}_later")
        after = b.add(Op.SELECT, (is_new(b, kept), first, later), 0, f"{self.name}_scaled", f"x 2^{self.shift}")
        value = b.add(Op.SHR, (after,), self.shift, self.name, self.note)
        return b.add(Op.ADD, (after, b.const(1))), value


@dataclass(frozen=True)
class Least(InRange):
    """The least ``x`` so far, raised by ``rise`` at each decision so that it is forgotten in time."""

    rise: int

    @property
    def most_kept(self) -> int:
        return self.x.highest + 1

    @property
    def encoded(self) -> str:
        return ", one higher; 0: none yet"

    def floats(self, t: TapeBuilder) -> int:
        x, place = self.x.floats(t), t.carried(inf)
        raised = t.step(FloatOp.ADD, place.before, t.const(self.rise * 2.0**-self.bits)) if self.rise else place.before
        return place.after(t.step(FloatOp.MIN, x, raised))

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        b, x = n.b, self.x.integers(n)
        before = one_less(b, kept)  # a new agent's is greater than any x, and so may a corrupted context's be
        if self.rise:
            held = b.add(Op.MIN, (before, b.const(self.x.highest)), 0, f"{self.name}_held", "x is no greater")
            before = b.add(Op.ADD, (held, b.const(self.rise)), 0, f"{self.name}_raised")
        value = b.add(Op.MIN, (x, before), 0, self.name, self.note)
        return b.add(Op.ADD, (value, b.const(1))), value


@dataclass(frozen=True)
class Greatest(InRange):
    """The greatest ``x`` so far, lowered by ``fall`` at each decision so that it is forgotten in time."""

    fall: int

    @property
    def most_kept(self) -> int:
        return self.x.highest

    def floats(self, t: TapeBuilder) -> int:
        x, place = self.x.floats(t), t.carried(0.0)
        if not self.fall:
            return place.after(t.step(FloatOp.MAX, x, place.before))
        fallen = t.step(FloatOp.SUB, place.before, t.const(self.fall * 2.0**-self.bits))
        return place.after(t.step(FloatOp.MAX, x, fallen))

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        b, x = n.b, self.x.integers(n)
        before = self.bounded(b, kept, self.x.highest)
        if self.fall:
            fall = b.const(self.fall)
            before = b.add(Op.SUB, (b.add(Op.MAX, (before, fall)), fall), 0, f"{self.name}_lowered")
        value = b.add(Op.MAX, (x, before), 0, self.name, self.note)
        return value, value


@dataclass(frozen=True)
class Streak(Carried):
    """Decisions in a row up to this one in which a whole ``x`` is above ``above``, at most ``most``."""

    x: Expression
    above: int
    most: int

    @property
    def highest(self) -> int:
        return self.most

    @property
    def most_kept(self) -> int:
        return self.most

    def floats(self, t: TapeBuilder) -> int:
        x, place = self.x.floats(t), t.carried(0.0)
        more = t.step(FloatOp.MIN, t.step(FloatOp.ADD, place.before, t.const(1.0)), t.const(float(self.most)))
        goes_on = t.step(FloatOp.BELOW, t.const(float(self.above)), x)
        return place.after(t.step(FloatOp.SELECT, goes_on, more, t.const(0.0)))

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        b = n.b
        goes_on = b.add(Op.GT, (self.x.integers(n), b.const(self.above)), 0, f"{self.name}_goes_on")
        before = self.bounded(b, kept, self.most - 1)
        more = b.add(Op.ADD, (before, b.const(1)))
        value = b.add(Op.SELECT, (goes_on, more, b.const(0)), 0, self.name, self.note)
        return value, value


@dataclass(frozen=True)
class Decayed(Carried):
    """The sum of a whole ``x`` over all decisions, each 2^-shift smaller than the one after it, at most ``most``."""

    x: Expression
    shift: int
    most: int

    @property
    def highest(self) -> int:
        return self.most

    @property
    def most_kept(self) -> int:
        return self.most << self.shift

    @property
    def encoded(self) -> str:
        return f", x 2^{self.shift}"

    def floats(self, t: TapeBuilder) -> int:
        x, place = self.x.floats(t), t.carried(0.0)
        left = t.step(FloatOp.MUL, place.before, t.const(1.0 - 2.0**-self.shift))
        total = t.step(FloatOp.ADD, left, x)
        return place.after(t.step(FloatOp.MIN, total, t.const(float(self.most))))

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        b = n.b
        before = self.bounded(b, kept, self.most_kept)
        left = b.add(Op.SUB, (before, b.add(Op.SHR, (before,), self.shift)))
        new = b.add(Op.MIN, (self.x.integers(n), b.const(self.most)), 0, f"{self.name}_added")
        total = b.add(Op.ADD, (left, b.add(Op.SHL, (new,), self.shift)))
        after = b.add(Op.MIN, (total, b.const(self.most_kept)), 0, f"{self.name}_scaled", f"x 2^{self.shift}")
        return after, b.add(Op.SHR, (after,), self.shift, self.name, self.note)


@dataclass(frozen=True)
class Since(Carried):
    """From the timestamp of the decision before to this one's, which wrap; 0 of a new agent. A timestamp of 0 counts
    as 1, so that a 0 that is carried is a new agent's: next to one the time is off by 1."""

    x: Signal

    @property
    def most_kept(self) -> int:
        return U32_MAX

    def floats(self, t: TapeBuilder) -> int:
        now, place = t.step(FloatOp.MAX, self.x.floats(t), t.const(1.0)), t.carried(0.0)
        place.after(now)
        less = t.step(FloatOp.SUB, now, place.before)
        later = t.step(FloatOp.ADD, less, t.const(WRAP))
        elapsed = t.step(FloatOp.SELECT, t.step(FloatOp.BELOW, less, t.const(0.0)), later, less)
        new = t.step(FloatOp.BELOW, place.before, t.const(1.0))
        return t.step(FloatOp.SELECT, new, t.const(0.0), elapsed)

    def stepped(self, n: Nodes, kept: int) -> tuple[int, int]:
        b = n.b
        now = b.add(Op.MAX, (self.x.integers(n), b.const(1)), 0, f"{self.name}_now", "0 counts as 1")
        elapsed = b.add(Op.WRAP_SUB, (now, kept), 0, f"{self.name}_elapsed", "wraps with both")
        value = b.add(Op.SELECT, (is_new(b, kept), b.const(0), elapsed), 0, f"{self.name}_since")
        return now, value


def one_less(b: ProgramBuilder, kept: int) -> int:
    """Returns the carried value, which is stored one higher; a new agent's 0 becomes the greatest number there is."""
    return b.add(Op.WRAP_SUB, (kept, b.const(1)))


def is_new(b: ProgramBuilder, kept: int) -> int:
    """Whether nothing was carried yet."""
    return b.add(Op.EQ, (kept, b.const(0)))
