"""Sets of 32-bit words: ``low``, ``low + step``, .. up to ``low + span``, wrapping around.

A set that wraps serves both readings of a word: -2..2 is {0xfffffffe, .., 2} as it stands. ``step`` is a power of two;
a single word has no span. Every operation gives a set that holds whatever the operation gives for members of its
operands; it may hold more.
"""

from collections.abc import Callable
from dataclasses import dataclass

MODULUS = 1 << 32
WORD = MODULUS - 1
SIGN = 1 << 31


@dataclass(frozen=True)
class Words:
    low: int
    span: int = 0
    step: int = MODULUS

    @property
    def exact(self) -> bool:
        return self.span == 0

    @property
    def unsigned(self) -> tuple[int, int]:
        """Least and greatest."""
        return (
            (self.low, self.low + self.span) if self.low + self.span < MODULUS else (self.low % self.step, self._most)
        )

    @property
    def _most(self) -> int:
        return MODULUS - self.step + self.low % self.step

    @property
    def signed(self) -> tuple[int, int]:
        low = signed(self.low)
        if low + self.span < SIGN:
            return low, low + self.span
        return -SIGN + self.low % self.step, SIGN - self.step + self.low % self.step

    def __contains__(self, word: int) -> bool:
        away = (word - self.low) % MODULUS
        return away <= self.span and away % self.step == 0

    def members(self) -> range:
        """As integers that may lie above the greatest word: to be taken modulo 2^32."""
        return range(self.low, self.low + self.span + 1, self.step)


def signed(word: int) -> int:
    return word - MODULUS if word >= SIGN else word


def between(low: int, high: int, step: int = 1) -> Words:
    """All words from an integer to another, which may be negative, by steps of a power of two."""
    if low == high:
        return Words(low % MODULUS)
    span = (high - low) // step * step
    if span + step >= MODULUS:
        return Words(low % step, MODULUS - step, step)
    return Words(low % MODULUS, span, step) if span else Words(low % MODULUS)


ANY = between(0, WORD)


def hull(a: Words, b: Words) -> Words:
    """The smaller of the sets that hold both and begin where one of them does."""
    away = (b.low - a.low) % MODULUS
    step = min(a.step, b.step, away & -away if away else MODULUS)
    spans = [
        (max(first.span, (second.low - first.low) % MODULUS + second.span), first.low)
        for first, second in ((a, b), (b, a))
    ]
    span, low = min(spans)
    return between(low, low + span, step)


def add(a: Words, b: Words) -> Words:
    low = a.low + b.low
    return between(low, low + a.span + b.span, min(a.step, b.step))


def sub(a: Words, b: Words) -> Words:
    low = a.low - b.low - b.span
    return between(low, low + a.span + b.span, min(a.step, b.step))


def mul(a: Words, b: Words) -> Words:
    if b.exact:
        a, b = b, a
    if a.exact:
        factor = signed(a.low)
        ends = sorted((b.low * factor, (b.low + b.span) * factor))
        return between(ends[0], ends[1], min(b.step * (factor & -factor), MODULUS))
    return between(*_corners(a.signed, b.signed))


def high_product(a: tuple[int, int], b: tuple[int, int]) -> Words:
    """The upper words of the products of two ranges of integers."""
    low, high = _corners(a, b)
    return between(low >> 32, high >> 32)


def _corners(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def both(a: Words, b: Words) -> Words:
    """And."""
    if a.exact:
        a, b = b, a
    if b.exact:
        mask = b.low
        if mask & (mask + 1) == 0:  # the lowest bits
            low, high = a.unsigned
            if low >> mask.bit_length() == high >> mask.bit_length():
                return between(low & mask, high & mask, a.step)
            return between(a.low % a.step, mask, a.step) if a.step <= mask else Words(a.low & mask)
        low_bit = mask & -mask
        if mask + low_bit == MODULUS:  # all but the lowest bits
            return between(a.low & mask, a.low + a.span, max(low_bit, a.step))
    for one, other in ((a, b), (b, a)):
        if one.signed == (-1, 0):  # a mask
            return hull(Words(0), other)
    step = b.low & -b.low if b.exact else 1
    return between(0, min(a.unsigned[1], b.unsigned[1]), step)


def either(a: Words, b: Words) -> Words:
    """Or."""
    if a.exact:
        a, b = b, a
    if b.exact and b.low < a.step and a.low % a.step == 0:  # bits that the other has not
        return add(a, b)
    return between(max(a.unsigned[0], b.unsigned[0]), _bits(a, b))


def exclusive(a: Words, b: Words) -> Words:
    """Exclusive or."""
    if a.exact:
        a, b = b, a
    if b.exact and b.low == SIGN:
        return add(a, b)
    if b.exact and b.low == WORD:
        return sub(b, a)
    return between(0, _bits(a, b))


def _bits(a: Words, b: Words) -> int:
    """The most that the bits of two words can make: no more than the words' sum, and no bit that neither has."""
    high, other = a.unsigned[1], b.unsigned[1]
    return min(high + other, (1 << max(high, other).bit_length()) - 1)


def left(a: Words, b: Words) -> Words:
    return mul(a, Words(1 << (b.low & 31))) if b.exact else ANY


def right(a: tuple[int, int], step: int, b: Words) -> Words:
    """Shifted right, as a range of integers."""
    low, high = a
    if b.exact:
        by = b.low & 31
        return between(low >> by, high >> by, max(1, step >> by))
    return between(min(low, low >> 31), max(high, high >> 31))


def less(a: tuple[int, int], b: tuple[int, int]) -> Words:
    """Whether a word is less than another: 0, 1, or either."""
    if a[1] < b[0]:
        return Words(1)
    return Words(0) if a[0] >= b[1] else between(0, 1)


def within(words: Words, low: int, high: int, first: int) -> Words | None:
    """The members from ``low`` to ``high``, integers of the reading in which ``words.low`` is ``first``; None where
    there are none."""
    pieces = []
    for turn in (0, MODULUS):  # the part before the reading's end, and what wrapped
        least = max(low, first - turn)
        most = min(high, first - turn + words.span)
        least += (first - least) % words.step
        most -= (most - first) % words.step
        if least <= most:
            pieces.append(between(least, most, words.step))
    if not pieces:
        return None
    return pieces[0] if len(pieces) == 1 else hull(*pieces)


COMPUTED: dict[str, Callable[[Words, Words], Words]] = {
    "add": add,
    "sub": sub,
    "and": both,
    "or": either,
    "xor": exclusive,
    "sll": left,
    "srl": lambda a, b: right(a.unsigned, a.step, b),
    "sra": lambda a, b: right(a.signed, a.step, b),
    "slt": lambda a, b: less(a.signed, b.signed),
    "sltu": lambda a, b: less(a.unsigned, b.unsigned),
    "mul": mul,
    "mulh": lambda a, b: high_product(a.signed, b.signed),
    "mulhsu": lambda a, b: high_product(a.signed, b.unsigned),
    "mulhu": lambda a, b: high_product(a.unsigned, b.unsigned),
}
"""Of two registers; with an immediate the same."""
