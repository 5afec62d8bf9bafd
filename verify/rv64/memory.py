"""Memory as the walk sees it: what places hold by their base and offset, and the constants of the linked program."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from bitwuzla import Kind, Term

from decision.ir.arrays import Integers
from emulator.elf import Image
from verify.code.arguments import Structure
from verify.code.failures import Refused
from verify.rv64.values import MachineWord, MachineWords, PointerUse
from verify.rv64.words import XLEN
from verify.terms.bits import BitTerms

STACK = "stack"
"""Base of the addresses that are relative to the stack pointer at the call."""
STACK_ALIGNMENT = 16
Slot = tuple[str, int, int]
"""Base, offset from it, and bytes."""
Slots = dict[Slot, MachineWord]
"""Contents of places, in the low bytes of a word. A place that nothing has written is not in it."""


@dataclass(frozen=True)
class AllowedPlaces:
    """Places that the function may use: the structures by their names, and bytes of stack below its pointer."""

    structures: Mapping[str, Structure]
    stack_bytes: int

    def check(self, at: int, base: str, offset: int, size: int, store: bool) -> None:
        """Raises Refused for an access at address ``at`` that is misaligned or goes elsewhere."""
        what = "store" if store else "load"
        known = self.structures.get(base)
        if known is not None:
            inside = offset >= 0 and offset + size <= known.size and (known.written or not store)
        else:
            inside = base == STACK and offset + size <= 0
            if inside and offset < -self.stack_bytes:
                raise Refused("stack-size", at, f"more than {self.stack_bytes} bytes of stack at {at:#x}")
        if not inside:
            where = f"{base or 'address'}{offset:+d}"
            raise Refused(f"{what}-outside", at, f"a {what} of {size} bytes to {where} at {at:#x}")
        if offset % size or size > (known.alignment if known is not None else STACK_ALIGNMENT):
            raise Refused("misaligned", at, f"a {what} of {size} bytes to {base}{offset:+d} at {at:#x}")


def read(words: MachineWords, slots: Slots, at: int, base: str, offset: int, size: int, signed: bool) -> MachineWord:
    """Returns what a place holds, put together from the places that cover it. Refused: a byte that none covers."""
    found = None
    for (_, start, length), word in _touched(slots, base, offset, size):
        if (start, length) == (offset, XLEN // 8) and size == length:
            return word
        first, end = max(start, offset), min(start + length, offset + size)
        part = words.right(word, words.number(8 * (first - start)), False)
        if end - first == size:
            return words.low(part, 8 * size, signed)
        moved = words.left(words.low(part, 8 * (end - first), False), words.number(8 * (first - offset)))
        found = moved if found is None else words.either(found, moved)
    if found is None or not _covered(slots, base, offset, size):
        raise Refused(
            "load-unwritten", at, f"a load of {size} bytes of {base}{offset:+d} at {at:#x}, which nothing has written"
        )
    return words.low(found, 8 * size, signed)


def written(words: MachineWords, slots: Slots, slot: Slot, word: MachineWord) -> Slots:
    """Returns the memory after a store. A place that it covers in part keeps its other bytes, but a pointer is lost."""
    base, offset, size = slot
    left = dict(slots)
    for other, before in _touched(slots, base, offset, size):
        _, start, length = other
        del left[other]
        for first, end in ((start, offset), (offset + size, start + length)):
            if first < end and not before.base:
                left[base, first, end - first] = words.right(before, words.number(8 * (first - start)), False)
    return left | {slot: word}


def joined_places(words: MachineWords, memories: Sequence[Slots], at: int) -> list[Slots]:
    """Returns memories that hold the same places. If only one splits a place, its parts are read from each. A
    byte that one does not hold is in none."""
    common = set(memories[0]).intersection(*memories[1:])
    ends: dict[str, set[int]] = {}
    for base, offset, size in set().union(*memories) - common:
        ends.setdefault(base, set()).update((offset, offset + size))
    kept: list[Slots] = [{slot: slots[slot] for slot in memories[0] if slot in common} for slots in memories]
    rest: list[Slots] = [{slot: word for slot, word in slots.items() if slot not in common} for slots in memories]
    for base, edges in ends.items():
        for start, end in pairwise(sorted(edges)):
            with suppress(Refused, PointerUse):
                parts = [read(words, slots, at, base, start, end - start, False) for slots in rest]
                for slots, part in zip(kept, parts, strict=True):
                    slots[base, start, end - start] = part
    return kept


def _touched(slots: Slots, base: str, offset: int, size: int) -> list[tuple[Slot, MachineWord]]:
    """The places that an access touches, and what they hold."""
    return [(s, w) for s, w in slots.items() if s[0] == base and s[1] < offset + size and offset < s[1] + s[2]]


def _covered(slots: Slots, base: str, offset: int, size: int) -> bool:
    """Whether every byte of an access is held. Places do not overlap."""
    touched = _touched(slots, base, offset, size)
    return sum(min(s[1] + s[2], offset + size) - max(s[1], offset) for s, _ in touched) == size


class Constants:
    """The constants of the linked program, which loads with computed addresses read."""

    def __init__(self, image: Image, bits: BitTerms) -> None:
        self.low, self.high = image.constants
        section = next((s.data for s in image.sections if s.address == self.low and self.low < self.high), b"")
        self.data = section[: self.high - self.low]
        self.bits = bits

    def read(self, address: MachineWord, size: int, signed: bool) -> MachineWord:
        """Returns what an address within the constants holds, which is a multiple of ``size`` from their start on."""
        kind = np.dtype(f"<{'i' if signed else 'u'}{size}")
        table = np.frombuffer(self.data[: len(self.data) // size * size], kind).astype(np.int64)
        places = (address.samples - np.uint64(self.low)) // np.uint64(size)
        samples = table[np.minimum(places, np.uint64(len(table) - 1)).astype(np.int64)].view(np.uint64)
        offset = self.bits.term(Kind.BV_SUB, [address.term, self.bits.number(self.low, XLEN)])
        term = self._chosen(table, offset, size.bit_length() - 1)
        return MachineWord(term, samples, address.nodes, constant=address.constant)

    def _chosen(self, table: Integers, offset: Term, first: int) -> Term:
        """A table's value by the bits of an offset, from bit ``first`` on."""
        row = [self.bits.number(int(value), XLEN) for value in table]
        bit = first
        while len(row) > 1:
            here = self.bits.term(Kind.BV_EXTRACT, [offset], [bit, bit])
            odd = self.bits.true(here)
            row = [
                pair[0] if len(pair) == 1 or pair[0] is pair[1] else self.bits.choice(odd, pair[1], pair[0])
                for pair in (row[k : k + 2] for k in range(0, len(row), 2))
            ]
            bit += 1
        return row[0]
