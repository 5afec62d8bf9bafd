"""Facts about two registers that follow from the outcome of their comparison."""

from collections.abc import Callable
from dataclasses import dataclass

from verify.ranges.values import Address, Value
from verify.ranges.words import MODULUS, SIGN, WORD, Words, less, signed, sub, within
from verify.trusted.machine import BRANCHES, Instruction


@dataclass(frozen=True)
class RangeQuestion:
    """A comparison of ``rs1`` with ``rs2``, or where it is told with ``right``, by a branch's name."""

    name: str
    right: Words | None = None


def question(i: Instruction) -> RangeQuestion | None:
    """Returns an instruction's question about its registers whose answers are best followed apart: a branch; a
    comparison into a register, or a sign that is spread over one, from which masks are made."""
    if i.name in BRANCHES:
        return RangeQuestion(i.name)
    if i.name == "srai" and i.imm >= 15:  # 15 spreads the sign of an int16
        return RangeQuestion("blt", Words(0))
    if i.name in ("slt", "sltu"):
        return RangeQuestion("blt" + i.name[3:])
    return RangeQuestion("blt" + i.name[4:], Words(i.imm % MODULUS)) if i.name in ("slti", "sltiu") else None


@dataclass(frozen=True)
class Compared:
    """The registers' values where the answer is this."""

    left: Value
    right: Value


def outcome(name: str, a: Value, b: Value, taken: bool, inside: Callable[[Address], bool]) -> Compared | None:
    """None where the branch cannot go this way; where it may, at least the values for which it does. ``inside``: that
    an address is nowhere but in its region, or just behind it."""
    if name in ("beq", "bne"):
        return _equal(a, b) if (name == "beq") == taken else _unequal(a, b)
    if not isinstance(a, Words) or not isinstance(b, Words):
        return _ordered(name, a, b, taken, inside)
    is_signed, is_less = not name.endswith("u"), name.startswith("blt") == taken
    return _less(a, b, is_signed) if is_less else _not_less(a, b, is_signed)


def _equal(a: Value, b: Value) -> Compared | None:
    if isinstance(a, Words) and isinstance(b, Words):
        left = within(a, b.low, b.low + b.span, _nearest(a, b))
        right = within(b, a.low, a.low + a.span, _nearest(b, a))
        return Compared(left, right) if left is not None and right is not None else None
    away = _away(a, b)
    return None if away is not None and 0 not in away else Compared(a, b)


def _nearest(a: Words, b: Words) -> int:
    """``a.low`` as an integer in the turn in which ``b`` begins."""
    return b.low + (a.low - b.low) % MODULUS


def _unequal(a: Value, b: Value) -> Compared | None:
    away = _away(a, b)
    if away is not None and away.exact and away.low == 0:
        return None
    return Compared(_without(a, b), _without(b, a))


def _without(a: Value, b: Value) -> Value:
    """``a`` less its first or last member, where ``b`` is that."""
    if isinstance(a, Words) and isinstance(b, Words) and b.exact and not a.exact and b.low in a:
        at = (b.low - a.low) % MODULUS
        if at == 0:
            return within(a, a.low + a.step, a.low + a.span, a.low)
        if at == a.span:
            return within(a, a.low, a.low + a.span - a.step, a.low)
    return a


def _away(a: Value, b: Value) -> Words | None:
    """How far from each other they are; None where that is not known."""
    if isinstance(a, Words) and isinstance(b, Words):
        return sub(a, b)
    if isinstance(a, Address) and isinstance(b, Address) and a.region == b.region:
        return sub(a.offset, b.offset)
    return None


def _ordered(name: str, a: Value, b: Value, taken: bool, inside: Callable[[Address], bool]) -> Compared | None:
    """Addresses in one region are ordered as their offsets; farther away the memory may end between them. Nothing is
    known of all else."""
    if isinstance(a, Address) and isinstance(b, Address) and a.region == b.region and name.endswith("u"):
        verdict = less(a.offset.signed, b.offset.signed)
        if inside(a) and inside(b) and verdict.exact and bool(verdict.low) != (name.startswith("blt") == taken):
            return None
    return Compared(a, b)


def _less(a: Words, b: Words, is_signed: bool) -> Compared | None:
    low, high = _ends(is_signed)
    left = within(a, low, _reading(b, is_signed)[1] - 1, _first(a, is_signed))
    right = within(b, _reading(a, is_signed)[0] + 1, high, _first(b, is_signed))
    return Compared(left, right) if left is not None and right is not None else None


def _not_less(a: Words, b: Words, is_signed: bool) -> Compared | None:
    low, high = _ends(is_signed)
    left = within(a, _reading(b, is_signed)[0], high, _first(a, is_signed))
    right = within(b, low, _reading(a, is_signed)[1], _first(b, is_signed))
    return Compared(left, right) if left is not None and right is not None else None


def _ends(is_signed: bool) -> tuple[int, int]:
    return (-SIGN, SIGN - 1) if is_signed else (0, WORD)


def _reading(words: Words, is_signed: bool) -> tuple[int, int]:
    return words.signed if is_signed else words.unsigned


def _first(words: Words, is_signed: bool) -> int:
    return signed(words.low) if is_signed else words.low
