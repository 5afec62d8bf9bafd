"""Bits of a circuit: 0 or 1 where that is known, else a bit of one of the solver's terms.

Known bits fold at once, so that a circuit in a known state of its control leaves small terms.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from bitwuzla import Kind, Term

from verify.terms.bits import BitTerms

LogicBit: TypeAlias = int | tuple[Term, int]
"""0 or 1, or a term and the number of its bit."""
LogicWord: TypeAlias = list[LogicBit]
"""Bits, the lowest first."""


class LogicBits:
    """Operators on bits. ``terms``: where their terms and questions are made."""

    def __init__(self, terms: BitTerms) -> None:
        self.terms = terms

    def unknown(self, name: str, width: int) -> LogicWord:
        return self.split(self.terms.unknown(name, width))

    def split(self, term: Term) -> LogicWord:
        """Returns the bits of a term."""
        width = term.sort().bv_size()
        if term.is_value():
            return numbered(int(term.value(2), 2), width)
        return [(term, place) for place in range(width)]

    def joined(self, word: Sequence[LogicBit]) -> Term:
        """Returns bits as one term; neighbours of one term stay together."""
        parts: list[Term] = []
        place = 0
        while place < len(word):
            run = 1
            while place + run < len(word) and _adjacent(word[place], word[place + run], run):
                run += 1
            parts.append(self._part(word[place : place + run]))
            place += run
        whole = parts[0]
        for part in parts[1:]:
            whole = self.terms.term(Kind.BV_CONCAT, [part, whole])
        return whole

    def _part(self, run: Sequence[LogicBit]) -> Term:
        first = run[0]
        if isinstance(first, int):
            return self.terms.number(value([bit for bit in run if isinstance(bit, int)]), len(run))
        term, low = first
        if len(run) == term.sort().bv_size():
            return term
        return self.terms.term(Kind.BV_EXTRACT, [term], [low + len(run) - 1, low])

    def holds(self, bit: LogicBit) -> Term:
        """Returns, as a condition, that a bit is 1."""
        return self.terms.term(Kind.EQUAL, [self.joined([bit]), self.terms.number(1, 1)])

    def flag(self, condition: Term) -> LogicBit:
        return self.split(self.terms.flag(condition, 1))[0]

    def inverse(self, bit: LogicBit) -> LogicBit:
        return 1 - bit if isinstance(bit, int) else (self.terms.term(Kind.BV_NOT, [self.joined([bit])]), 0)

    def both(self, a: LogicBit, b: LogicBit) -> LogicBit:
        if isinstance(a, int):
            return b if a else 0
        if isinstance(b, int):
            return a if b else 0
        return a if same(a, b) else self._pair(Kind.BV_AND, a, b)

    def either(self, a: LogicBit, b: LogicBit) -> LogicBit:
        if isinstance(a, int):
            return 1 if a else b
        if isinstance(b, int):
            return 1 if b else a
        return a if same(a, b) else self._pair(Kind.BV_OR, a, b)

    def unlike(self, a: LogicBit, b: LogicBit) -> LogicBit:
        """Returns whether two bits differ."""
        if isinstance(a, int):
            return self.inverse(b) if a else b
        if isinstance(b, int):
            return self.inverse(a) if b else a
        return 0 if same(a, b) else self._pair(Kind.BV_XOR, a, b)

    def _pair(self, kind: Kind, a: LogicBit, b: LogicBit) -> LogicBit:
        return self.terms.term(kind, [self.joined([a]), self.joined([b])]), 0

    def any_of(self, bits: Iterable[LogicBit]) -> LogicBit:
        """Returns whether a bit is 1; the first known 1 ends the search."""
        found: LogicBit = 0
        for bit in bits:
            found = self.either(found, bit)
            if found == 1:
                break
        return found

    def all_of(self, bits: Iterable[LogicBit]) -> LogicBit:
        """Returns whether all bits are 1; the first known 0 ends the search."""
        found: LogicBit = 1
        for bit in bits:
            found = self.both(found, bit)
            if found == 0:
                break
        return found

    def equal(self, pairs: Iterable[tuple[LogicBit, LogicBit]]) -> LogicBit:
        """Returns whether the two bits of each pair are alike; the first known difference ends the search."""
        left: list[tuple[LogicBit, LogicBit]] = []
        for a, b in pairs:
            if isinstance(a, int) and isinstance(b, int):
                if a != b:
                    return 0
            elif not same(a, b):
                left.append((a, b))
        if not left:
            return 1
        words = [self.joined([pair[side] for pair in left]) for side in (0, 1)]
        return self.flag(self.terms.term(Kind.EQUAL, words))

    def choice(self, condition: LogicBit, a: LogicWord, b: LogicWord) -> LogicWord:
        """Returns ``a`` where the condition is 1, else ``b``."""
        if isinstance(condition, int):
            return a if condition else b
        chosen, open_places = list(a), [place for place in range(len(a)) if not same(a[place], b[place])]
        if open_places:
            sides = [self.joined([word[place] for place in open_places]) for word in (a, b)]
            bits = self.split(self.terms.choice(self.holds(condition), sides[0], sides[1]))
            for place, bit in zip(open_places, bits, strict=True):
                chosen[place] = bit
        return chosen


def value(word: Sequence[int]) -> int:
    """Returns the number that known bits are."""
    return sum(bit << place for place, bit in enumerate(word))


def numbered(number: int, width: int) -> LogicWord:
    """Returns the bits of a number."""
    return [number >> place & 1 for place in range(width)]


def known(word: Sequence[LogicBit]) -> list[int] | None:
    """Returns the bits if all are known."""
    bits = [bit for bit in word if isinstance(bit, int)]
    return bits if len(bits) == len(word) else None


def same(a: LogicBit, b: LogicBit) -> bool:
    """Returns whether two bits are seen to be one; False says nothing."""
    if isinstance(a, int) or isinstance(b, int):
        return a == b
    return a[0] is b[0] and a[1] == b[1]


def _adjacent(first: LogicBit, other: LogicBit, distance: int) -> bool:
    if isinstance(first, int) or isinstance(other, int):
        return isinstance(first, int) and isinstance(other, int)
    return first[0] is other[0] and other[1] == first[1] + distance
