"""Inputs of an adapter as unknowns, and the numbers of 32 and 64 bits in which its specification is written."""

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from bitwuzla import Kind

from verify.rv64.values import MachineWord, MachineWords
from verify.rv64.words import XLEN, Numbers
from verify.terms.bits import BitTerms, LogicUndecided

SAMPLES, SEED = 256, 7


class AdapterWords(MachineWords):
    """Words of a function that compares pointers with NULL and divides by constants. No structure and no place in the
    stack has the address NULL."""

    def equal(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self.number(0) if _is_pointer_and_null(a, b) or _is_pointer_and_null(b, a) else super().equal(a, b)

    def less(self, a: MachineWord, b: MachineWord, signed: bool) -> MachineWord:
        return self.number(1) if _is_pointer_and_null(b, a) and not signed else super().less(a, b, signed)

    def high_product(self, a: MachineWord, b: MachineWord, signed: tuple[bool, bool]) -> MachineWord:
        """Returns the high word of a product. If it is a quotient by a constant, it is written as one, as solvers are
        slow to find that: compilers divide by d as they multiply by c, about 2^64 / d.

        Let c d = 2^64 + e, e >= 0 and a e < 2^64. Then floor(a c / 2^64) = floor(a / d), because a c / 2^64 exceeds
        a / d by a e / (d 2^64). That is less than 1 / d.
        """
        number, factor = (a, b) if b.constant else (b, a)
        is_number = factor.constant and not number.constant and not factor.base and not number.base
        if is_number and not any(signed) and factor.samples[0] > 1:
            c = int(factor.samples[0])
            d = -(-(1 << XLEN) // c)
            e = c * d - (1 << XLEN)
            if self._at_most(number, ((1 << XLEN) - 1) // max(e, 1)):
                return self.quotient(number, self.number(d))
        return super().high_product(a, b, signed)

    def _at_most(self, word: MachineWord, limit: int) -> bool:
        """Whether a word is shown to be at most this; no answer in time is no."""
        if (word.samples > np.uint64(limit)).any():
            return False
        bits = self.terms.bits
        above = bits.term(Kind.BV_ULT, [bits.number(limit, XLEN), word.term])
        with suppress(LogicUndecided):
            return not bits.satisfiable([above], "the range of a dividend")
        return False


def _is_pointer_and_null(a: MachineWord, b: MachineWord) -> bool:
    return bool(a.base) and a.constant and a.signed == 0 and not b.base and b.constant and b.signed == 0


@dataclass(frozen=True, eq=False)
class Unsigned:
    """A number of 32 or 64 bits that depends on the inputs; a flag is 0 or 1. ``word``: extended by zeros.

    Results have as many bits as the first operand, modulo 2^bits. A second one of more bits is an AssertionError."""

    words: MachineWords
    word: MachineWord
    bits: int = 32

    def __add__(self, other: "Unsigned | int") -> "Unsigned":
        return self._low(self.words.add(self.word, self._of(other)))

    def __sub__(self, other: "Unsigned | int") -> "Unsigned":
        return self._low(self.words.sub(self.word, self._of(other)))

    def __mul__(self, other: "Unsigned | int") -> "Unsigned":
        return self._low(self.words.product(self.word, self._of(other)))

    def __floordiv__(self, other: "Unsigned | int") -> "Unsigned":
        """Returns the quotient; by 0, all bits are set."""
        return self._low(self.words.quotient(self.word, self._of(other)))

    def __rshift__(self, count: int) -> "Unsigned":
        return replace(self, word=self.words.right(self.word, self.words.number(count), False))

    def __lshift__(self, count: int) -> "Unsigned":
        return self._low(self.words.left(self.word, self.words.number(count)))

    def __and__(self, other: "Unsigned | int") -> "Unsigned":
        return replace(self, word=self.words.both(self.word, self._of(other)))

    def __or__(self, other: "Unsigned | int") -> "Unsigned":
        return replace(self, word=self.words.either(self.word, self._of(other)))

    def __invert__(self) -> "Unsigned":
        """Returns the flag that is set where this one is not."""
        return self.equals(0)

    def equals(self, other: "Unsigned | int") -> "Unsigned":
        return replace(self, word=self.words.equal(self.word, self._of(other)))

    def above(self, other: "Unsigned | int") -> "Unsigned":
        return replace(self, word=self.words.less(self._of(other), self.word, False))

    def at_most(self, limit: "Unsigned | int") -> "Unsigned":
        """Returns the lesser of this number and a limit."""
        return replace(self, word=self._of(limit)).where(self.above(limit), self)

    def at_least(self, limit: "Unsigned | int") -> "Unsigned":
        """Returns the greater of this number and a limit."""
        return self.where(self.above(limit), limit)

    def where(self, flag: "Unsigned", otherwise: "Unsigned | int" = 0) -> "Unsigned":
        """Returns this number where a flag is set, otherwise the other."""
        return replace(self, word=self.words.choice(flag.word, self.word, self._of(otherwise)))

    def of_bits(self, bits: int) -> "Unsigned":
        """Returns the number in 64 bits, or its low 32."""
        return replace(self, bits=bits)._low(self.word)

    def _of(self, other: "Unsigned | int") -> MachineWord:
        if isinstance(other, int):
            return self.words.number(other)
        assert other.bits <= self.bits, f"{other.bits} bits in a number of {self.bits}"
        return other.word

    def _low(self, word: MachineWord) -> "Unsigned":
        return replace(self, word=self.words.low(word, self.bits, False))


@dataclass
class Unknowns:
    """Inputs by their names: each an unknown of the solver, and numbers that are tried first."""

    bits: BitTerms = field(default_factory=BitTerms)
    found: dict[str, MachineWord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = AdapterWords(self.bits)
        self.random = np.random.default_rng(SEED)

    def number(self, value: int, bits: int = 32) -> Unsigned:
        return Unsigned(self.words, self.words.number(value), bits)

    def u32(self, name: str) -> Unsigned:
        return Unsigned(self.words, self._made(name, 32))

    def u64(self, name: str) -> Unsigned:
        return Unsigned(self.words, self._made(name, 64), 64)

    def returned(self, name: str) -> MachineWord:
        """Returns a uint32_t or int32_t as the calling convention returns it: extended by its sign."""
        return self.words.low(self.u32(name).word, 32, True)

    def structure(self, name: str) -> MachineWord:
        """Returns a structure of four bytes in a register, whose upper bits hold anything."""
        above = self.words.left(self._made(f"above {name} {len(self.found)}", 32), self.words.number(32))
        return self.words.either(above, self.u32(name).word)

    def _made(self, name: str, bits: int) -> MachineWord:
        if name not in self.found:
            drawn = self._drawn()
            if bits > 32:
                drawn = drawn | self._drawn() << np.uint64(32)
            term = self.bits.resized(self.bits.unknown(name, bits), XLEN, False)
            self.found[name] = MachineWord(term, drawn, frozenset({len(self.found)}))
        return self.found[name]

    def _drawn(self) -> Numbers:
        """Numbers of 32 bits, of which many are small."""
        drawn = self.random.integers(0, 1 << 32, SAMPLES, dtype=np.uint64)
        small = drawn & np.uint64(0x0707_0707)
        return np.choose(self.random.integers(0, 4, SAMPLES), [drawn, small, small & np.uint64(7), drawn * 0])
