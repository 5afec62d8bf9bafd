"""Arithmetic on 64-bit words, twice: as terms for the solver, and on arrays of numbers.

The meaning of an instruction (``verify.rv64.meaning``) is written once, over ``WordArithmetic``. A condition is a
word of 0 or 1.
"""

from typing import Protocol, TypeVar

import numpy as np
from bitwuzla import Kind, Term
from numpy.typing import NDArray

from verify.terms.bits import BitTerms

XLEN = 64
Numbers = NDArray[np.uint64]
W = TypeVar("W")


class WordArithmetic(Protocol[W]):
    """The operations that instructions are made of. A shift's ``count`` is below 64. Divisions are of numbers without
    sign; by 0, all bits of the quotient are set, and the remainder is the dividend."""

    def number(self, value: int) -> W: ...
    def add(self, a: W, b: W) -> W: ...
    def sub(self, a: W, b: W) -> W: ...
    def both(self, a: W, b: W) -> W: ...
    def either(self, a: W, b: W) -> W: ...
    def differing(self, a: W, b: W) -> W: ...
    def left(self, a: W, count: W) -> W: ...
    def right(self, a: W, count: W, signed: bool) -> W: ...
    def low(self, a: W, bits: int, signed: bool) -> W: ...
    def product(self, a: W, b: W) -> W: ...
    def high_product(self, a: W, b: W, signed: tuple[bool, bool]) -> W: ...
    def quotient(self, a: W, b: W) -> W: ...
    def remainder(self, a: W, b: W) -> W: ...
    def less(self, a: W, b: W, signed: bool) -> W: ...
    def equal(self, a: W, b: W) -> W: ...
    def choice(self, condition: W, a: W, b: W) -> W: ...


class WordTerms:
    """``WordArithmetic`` as terms."""

    def __init__(self, bits: BitTerms) -> None:
        self.bits = bits

    def number(self, value: int) -> Term:
        return self.bits.number(value, XLEN)

    def add(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_ADD, [a, b])

    def sub(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_SUB, [a, b])

    def both(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_AND, [a, b])

    def either(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_OR, [a, b])

    def differing(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_XOR, [a, b])

    def left(self, a: Term, count: Term) -> Term:
        return self.bits.term(Kind.BV_SHL, [a, count])

    def right(self, a: Term, count: Term, signed: bool) -> Term:
        return self.bits.term(Kind.BV_ASHR if signed else Kind.BV_SHR, [a, count])

    def low(self, a: Term, bits: int, signed: bool) -> Term:
        return self.bits.resized(self.bits.resized(a, bits, False), XLEN, signed)

    def product(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_MUL, [a, b])

    def high_product(self, a: Term, b: Term, signed: tuple[bool, bool]) -> Term:
        factors = [self.bits.resized(one, 2 * XLEN, sign) for one, sign in zip((a, b), signed, strict=True)]
        return self.bits.term(Kind.BV_EXTRACT, [self.bits.term(Kind.BV_MUL, factors)], [2 * XLEN - 1, XLEN])

    def quotient(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_UDIV, [a, b])

    def remainder(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.BV_UREM, [a, b])

    def less(self, a: Term, b: Term, signed: bool) -> Term:
        return self.bits.flag(self.bits.term(Kind.BV_SLT if signed else Kind.BV_ULT, [a, b]), XLEN)

    def equal(self, a: Term, b: Term) -> Term:
        return self.bits.flag(self.bits.term(Kind.EQUAL, [a, b]), XLEN)

    def choice(self, condition: Term, a: Term, b: Term) -> Term:
        return self.bits.choice(self.bits.true(condition), a, b)


class WordNumbers:
    """``WordArithmetic`` as arrays, each element a word of its own."""

    def number(self, value: int) -> Numbers:
        return np.array([value % (1 << XLEN)], dtype=np.uint64)

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        return a + b

    def sub(self, a: Numbers, b: Numbers) -> Numbers:
        return a - b

    def both(self, a: Numbers, b: Numbers) -> Numbers:
        return a & b

    def either(self, a: Numbers, b: Numbers) -> Numbers:
        return a | b

    def differing(self, a: Numbers, b: Numbers) -> Numbers:
        return a ^ b

    def left(self, a: Numbers, count: Numbers) -> Numbers:
        return a << count

    def right(self, a: Numbers, count: Numbers, signed: bool) -> Numbers:
        return (a.view(np.int64) >> count.view(np.int64)).view(np.uint64) if signed else a >> count

    def low(self, a: Numbers, bits: int, signed: bool) -> Numbers:
        above = np.uint64(XLEN - bits)
        return self.right(a << above, np.full(1, above), signed)

    def product(self, a: Numbers, b: Numbers) -> Numbers:
        return a * b

    def high_product(self, a: Numbers, b: Numbers, signed: tuple[bool, bool]) -> Numbers:
        half, mask = np.uint64(32), np.uint64(0xFFFF_FFFF)
        a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
        middle = a1 * b0 + (a0 * b0 >> half)
        high: Numbers = a1 * b1 + (middle >> half) + ((a0 * b1 + (middle & mask)) >> half)
        for (factor, other), sign in zip(((a, b), (b, a)), signed, strict=True):
            if sign:  # a negative word is 2^64 less than its bits say
                subtracted: Numbers = np.where(factor >> np.uint64(XLEN - 1) != 0, other, np.uint64(0))
                high = high - subtracted
        return high

    def quotient(self, a: Numbers, b: Numbers) -> Numbers:
        found: Numbers = np.where(b == 0, np.uint64(2**XLEN - 1), a // np.maximum(b, np.uint64(1)))
        return found

    def remainder(self, a: Numbers, b: Numbers) -> Numbers:
        found: Numbers = np.where(b == 0, a, a % np.maximum(b, np.uint64(1)))
        return found

    def less(self, a: Numbers, b: Numbers, signed: bool) -> Numbers:
        return np.asarray(a.view(np.int64) < b.view(np.int64) if signed else a < b, dtype=np.uint64)

    def equal(self, a: Numbers, b: Numbers) -> Numbers:
        return np.asarray(a == b, dtype=np.uint64)

    def choice(self, condition: Numbers, a: Numbers, b: Numbers) -> Numbers:
        chosen: Numbers = np.where(condition != 0, a, b)
        return chosen
