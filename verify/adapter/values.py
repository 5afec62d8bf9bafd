"""Inputs of an adapter as unknowns, and the 32-bit numbers in which its specification is written."""

from dataclasses import dataclass, field, replace

import numpy as np

from verify.rv64.values import MachineWord, MachineWords
from verify.rv64.words import XLEN
from verify.terms.bits import BitTerms

SAMPLES, SEED = 256, 7
BITS = 32


class AdapterWords(MachineWords):
    """Words of a function that compares pointers with NULL: the address of a structure or of the stack is never 0."""

    def equal(self, a: MachineWord, b: MachineWord) -> MachineWord:
        return self.number(0) if _is_pointer_and_null(a, b) or _is_pointer_and_null(b, a) else super().equal(a, b)

    def less(self, a: MachineWord, b: MachineWord, signed: bool) -> MachineWord:
        return self.number(1) if _is_pointer_and_null(b, a) and not signed else super().less(a, b, signed)


def _is_pointer_and_null(a: MachineWord, b: MachineWord) -> bool:
    return bool(a.base) and a.constant and a.signed == 0 and not b.base and b.constant and b.signed == 0


@dataclass(frozen=True, eq=False)
class U32:
    """A 32-bit number that depends on the inputs; a flag is 0 or 1. ``word``: extended by zeros."""

    words: MachineWords
    word: MachineWord

    def __add__(self, other: "U32 | int") -> "U32":
        return self._low(self.words.add(self.word, self._of(other)))

    def __mul__(self, other: "U32 | int") -> "U32":
        return self._low(self.words.product(self.word, self._of(other)))

    def __rshift__(self, count: int) -> "U32":
        return replace(self, word=self.words.right(self.word, self.words.number(count), False))

    def __lshift__(self, count: int) -> "U32":
        return self._low(self.words.left(self.word, self.words.number(count)))

    def __and__(self, other: "U32 | int") -> "U32":
        return replace(self, word=self.words.both(self.word, self._of(other)))

    def __or__(self, other: "U32 | int") -> "U32":
        return replace(self, word=self.words.either(self.word, self._of(other)))

    def __invert__(self) -> "U32":
        """Returns the flag that is set where this one is not."""
        return self.equals(0)

    def equals(self, other: "U32 | int") -> "U32":
        return replace(self, word=self.words.equal(self.word, self._of(other)))

    def above(self, other: "U32 | int") -> "U32":
        return replace(self, word=self.words.less(self._of(other), self.word, False))

    def where(self, flag: "U32", otherwise: "U32 | int" = 0) -> "U32":
        """Returns this number where a flag is set, otherwise the other."""
        return replace(self, word=self.words.choice(flag.word, self.word, self._of(otherwise)))

    def _of(self, other: "U32 | int") -> MachineWord:
        return other.word if isinstance(other, U32) else self.words.number(other)

    def _low(self, word: MachineWord) -> "U32":
        return replace(self, word=self.words.low(word, BITS, False))


@dataclass
class Unknowns:
    """Inputs by their names: each an unknown of the solver, and numbers that are tried first."""

    bits: BitTerms = field(default_factory=BitTerms)
    found: dict[str, MachineWord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = AdapterWords(self.bits)
        self.random = np.random.default_rng(SEED)

    def number(self, value: int) -> U32:
        return U32(self.words, self.words.number(value))

    def u32(self, name: str) -> U32:
        return U32(self.words, self._made(name, BITS))

    def returned(self, name: str) -> MachineWord:
        """Returns a uint32_t or int32_t as the calling convention returns it: extended by its sign."""
        return self.words.low(self.u32(name).word, BITS, True)

    def structure(self, name: str) -> MachineWord:
        """Returns a structure of four bytes in a register, whose upper bits hold anything."""
        above = self.words.left(self._made(f"above {name} {len(self.found)}", BITS), self.words.number(BITS))
        return self.words.either(above, self.u32(name).word)

    def _made(self, name: str, bits: int) -> MachineWord:
        if name not in self.found:
            drawn = self.random.integers(0, 1 << 32, SAMPLES, dtype=np.uint64)
            small = drawn & np.uint64(0x0707_0707)
            samples = np.choose(self.random.integers(0, 4, SAMPLES), [drawn, small, small & np.uint64(7), drawn * 0])
            term = self.bits.resized(self.bits.unknown(name, bits), XLEN, False)
            self.found[name] = MachineWord(term, samples.astype(np.uint64), frozenset({len(self.found)}))
        return self.found[name]
