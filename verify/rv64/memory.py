"""Memory as the walk sees it: what places hold by their base and offset, and the constants of the linked program."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from bitwuzla import Kind, Term

from decision.ir.arrays import Integers
from emulator.elf import Image
from verify.code.arguments import Structure
from verify.code.failures import Refused
from verify.rv64.values import MachineWord, MachineWords
from verify.rv64.words import XLEN
from verify.terms.bits import BitTerms

STACK = "stack"
"""Base of the addresses that are relative to the stack pointer at the call."""
STRUCTURE_ALIGNMENT, STACK_ALIGNMENT = 4, 16
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
        if offset % size or size > (STRUCTURE_ALIGNMENT if known is not None else STACK_ALIGNMENT):
            raise Refused("misaligned", at, f"a {what} of {size} bytes to {base}{offset:+d} at {at:#x}")


def read(words: MachineWords, slots: Slots, at: int, base: str, offset: int, size: int, signed: bool) -> MachineWord:
    """Returns what a place holds. Refused: one that no single store, or no field, has given its bytes."""
    for (other, start, length), word in slots.items():
        if other == base and start <= offset and offset + size <= start + length:
            if (start, length) == (offset, XLEN // 8) and size == length:
                return word
            moved = words.right(word, words.number(8 * (offset - start)), False)
            return words.low(moved, 8 * size, signed)
    raise Refused(
        "load-unwritten", at, f"a load of {size} bytes of {base}{offset:+d} at {at:#x}, which nothing has written"
    )


def written(slots: Slots, slot: Slot, word: MachineWord) -> Slots:
    """Returns the memory after a store. A place that it covers in part holds nothing any more."""
    base, offset, size = slot
    left = {s: w for s, w in slots.items() if s[0] != base or s[1] + s[2] <= offset or offset + size <= s[1]}
    return left | {slot: word}


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
