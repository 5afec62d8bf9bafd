"""The contents of a register or a place in memory: a term, its values on sampled inputs, and a pointer's base.

A word is a number, or an offset from the start of a structure, of the stack pointer at the call or of a register at the
call. A pointer may be moved and compared with nothing, so that the proof holds wherever the structures lie.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bitwuzla import Term

from verify.rv64.words import XLEN, Numbers, WordNumbers, WordTerms
from verify.terms.bits import BitTerms

NOWHERE: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class ShiftedNode:
    """A word that is ``plain << count``, and at most ``highest`` without the shift; no bit is lost."""

    plain: "MachineWord"
    count: int
    highest: int


@dataclass(frozen=True, eq=False)
class MachineWord:
    """A word. ``samples``: its value on each sampled input, or one element if it is the same on all. ``nodes``: the
    program's nodes that the term contains."""

    term: Term
    samples: Numbers
    nodes: frozenset[int] = NOWHERE
    base: str = ""
    constant: bool = False
    factor: "ShiftedNode | None" = None
    """The node that the word is, shifted."""

    @property
    def signed(self) -> int:
        """Returns a constant with its sign."""
        assert self.constant
        return int(self.samples.view(np.int64)[0])


class PointerUse(Exception):
    """A pointer that is used as a number."""


class MachineWords:
    """``WordArithmetic`` of machine words: terms and samples side by side, constants computed at once."""

    def __init__(self, bits: BitTerms) -> None:
        self.terms, self.numbers = WordTerms(bits), WordNumbers()

    def number(self, value: int) -> MachineWord:
        return MachineWord(self.terms.number(value), self.numbers.number(value), constant=True)

    def pointer(self, base: str, offset: int = 0) -> MachineWord:
        return replace(self.number(offset), base=base)

    def add(self, a: MachineWord, b: MachineWord) -> MachineWord:
        for one, other in ((a, b), (b, a)):
            if one.constant and not one.base and one.signed == 0:
                return other
        if a.base and b.base:
            raise PointerUse
        return replace(self._of("add", replace(a, base=""), replace(b, base="")), base=a.base or b.base)

    def sub(self, a: MachineWord, b: MachineWord) -> MachineWord:
        if b.base and a.base != b.base:
            raise PointerUse
        base = "" if b.base else a.base
        return replace(self._of("sub", replace(a, base=""), replace(b, base="")), base=base)

    def both(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self._of("both", a, b)

    def either(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self._of("either", a, b)

    def differing(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self._of("differing", a, b)

    def left(self, a: MachineWord, count: MachineWord) -> MachineWord:
        return self._of("left", a, count)

    def right(self, a: MachineWord, count: MachineWord, signed: bool) -> MachineWord:
        return self._of("right", a, count, extra=(signed,))

    def low(self, a: MachineWord, bits: int, signed: bool) -> MachineWord:
        return a if bits == XLEN else self._of("low", a, extra=(bits, signed))

    def product(self, a: MachineWord, b: MachineWord) -> MachineWord:
        """Returns the low word of a product: of shifted nodes, that of the nodes, shifted."""
        if a.factor is None or b.factor is None or a.factor.count + b.factor.count == 0:
            return self._of("product", a, b)
        plain = self._of("product", a.factor.plain, b.factor.plain)
        return self._moved(plain, a.factor.count + b.factor.count)

    def high_product(self, a: MachineWord, b: MachineWord, signed: tuple[bool, bool]) -> MachineWord:
        """Returns the high word of a product: of shifted nodes whose product is one word, that word, shifted."""
        if any(signed) or a.factor is None or b.factor is None or a.factor.highest * b.factor.highest >= 1 << XLEN:
            return self._of("high_product", a, b, extra=(signed,))
        return self._moved(self._of("product", a.factor.plain, b.factor.plain), a.factor.count + b.factor.count - XLEN)

    def _moved(self, word: MachineWord, count: int) -> MachineWord:
        """A word shifted to the left, or to the right."""
        if abs(count) >= XLEN:
            return self.number(0)
        by = self.number(abs(count))
        return self.left(word, by) if count >= 0 else self.right(word, by, False)

    def quotient(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self._of("quotient", a, b)

    def remainder(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self._of("remainder", a, b)

    def less(self, a: MachineWord, b: MachineWord, signed: bool) -> MachineWord:
        return self._of("less", a, b, extra=(signed,))

    def equal(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self._of("equal", a, b)

    def choice(self, condition: MachineWord, a: MachineWord, b: MachineWord) -> MachineWord:
        if condition.constant and not condition.base:
            return a if condition.signed else b
        if a is b:
            return a
        if a.base != b.base:
            raise PointerUse
        return replace(self._of("choice", condition, replace(a, base=""), replace(b, base="")), base=a.base)

    def _of(self, operation: str, *operands: MachineWord, extra: tuple[Any, ...] = ()) -> MachineWord:
        if any(one.base for one in operands):
            raise PointerUse
        numbers: Callable[..., Numbers] = getattr(self.numbers, operation)
        samples = numbers(*(one.samples for one in operands), *extra)
        if all(one.constant for one in operands):
            return self.number(int(samples[0]))
        term = getattr(self.terms, operation)(*(one.term for one in operands), *extra)
        return MachineWord(term, samples, NOWHERE.union(*(one.nodes for one in operands)))
