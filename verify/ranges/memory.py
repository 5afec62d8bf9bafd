"""Memory layout: the constants, the arguments, the own frame. An access that might lie outside is refused."""

from dataclasses import dataclass, field

from verify.code.arguments import Structure
from verify.code.failures import Refused
from verify.ranges.values import Address, Value, joined
from verify.ranges.words import Words, between, signed
from verify.trusted.machine import LOADS, STORES, Instruction

Place = tuple[str, int, int]
"""Region, offset, bytes."""
MAX_MEMBERS = 1 << 16
"""Of an address that is not one: so many places are looked at."""


@dataclass(frozen=True)
class Layout:
    """Part of the memory that does not change while the code runs."""

    structures: tuple[Structure, ...]
    constants: tuple[int, bytes]
    stack_limit: int

    def ends(self, region: str) -> tuple[int, int]:
        """The offsets of a region's first byte and of the one behind its last."""
        if region == "frame":
            return -self.stack_limit, 0
        return 0, next(s.size for s in self.structures if s.name == region)

    def inside(self, address: Address) -> bool:
        """Whether an address is nowhere but in its region, or just behind it."""
        (first, end), (low, high) = self.ends(address.region), address.offset.signed
        return first <= low and high <= end


@dataclass
class Memory:
    """``held``: what was written, and the fields that are inputs; no two places overlap. A place of fewer bytes than a
    word has the lowest bits."""

    layout: Layout
    held: dict[Place, Value] = field(default_factory=dict)
    stack_bytes: int = 0

    @staticmethod
    def at_call(layout: Layout) -> "Memory":
        """The structures' fields hold anything that they can."""
        fields = ((structure, each) for structure in layout.structures for each in structure.fields)
        inputs = {(s.name, f.offset, f.size): between(f.low, f.high) for s, f in fields if s.name != "action"}
        return Memory(layout, dict[Place, Value](inputs))

    def copy(self) -> "Memory":
        return Memory(self.layout, dict(self.held), self.stack_bytes)

    def joined(self, other: "Memory") -> "Memory":
        held = {place: joined(value, other.held[place]) for place, value in self.held.items() if place in other.held}
        for region, offset, size in self.held.keys() - other.held.keys():  # as other places there, if at all
            for byte in range(offset, offset + size):
                if self._read(region, byte, 1, False) is not None and other._read(region, byte, 1, False) is not None:
                    held[region, byte, 1] = between(0, 255)
        return Memory(self.layout, held, max(self.stack_bytes, other.stack_bytes))

    def load(self, i: Instruction, address: Value) -> Value:
        size, where = LOADS[i.name], f"the load at {i.address:#x}"
        if isinstance(address, Words):
            return self._constant(i, address, where)
        if not isinstance(address, Address):
            raise Refused("load-address", i.address, f"{where} is from an address that is not known")
        result: Value = None
        for n, offset in enumerate(_offsets(i, address, size, where)):
            if not self._inside(address.region, offset, size):
                raise Refused("load-outside", i.address, f"{where} is from offset {offset} of {address.region}")
            value = self._read(address.region, offset, size, i.name in ("lb", "lh"))
            if value is None:
                raise Refused("load-unwritten", i.address, f"{where} is from offset {offset} of {address.region}")
            result = value if n == 0 else joined(result, value)
        return result

    def store(self, i: Instruction, address: Value, value: Value) -> None:
        size, where = STORES[i.name], f"the store at {i.address:#x}"
        if not isinstance(address, Address) or not address.offset.exact:
            raise Refused("store-outside", i.address, f"{where} goes to an address that is not one")
        (offset,) = _offsets(i, address, size, where)
        writable = address.region == "frame" or any(
            s.written and s.name == address.region for s in self.layout.structures
        )
        if not writable or not self._inside(address.region, offset, size):
            raise Refused("store-outside", i.address, f"{where} goes to offset {offset} of {address.region}")
        for place in [p for p in self.held if p[0] == address.region and p[1] < offset + size and offset < p[1] + p[2]]:
            del self.held[place]
            for byte in range(place[1], place[1] + place[2]):  # what is left of it
                if not offset <= byte < offset + size:
                    self.held[place[0], byte, 1] = between(0, 255)
        narrow = size < 4 and not isinstance(value, Words)
        self.held[address.region, offset, size] = between(0, (1 << 8 * size) - 1) if narrow else value
        if address.region == "frame":
            self.stack_bytes = max(self.stack_bytes, -offset)

    def _constant(self, i: Instruction, address: Words, where: str) -> Words:
        (first, data), size, sign = self.layout.constants, LOADS[i.name], i.name in ("lb", "lh")
        low, high = address.unsigned
        if not (first <= low and high + size <= first + len(data)):
            raise Refused("load-outside", i.address, f"{where} is from {low:#x} to {high:#x}, outside the constants")
        if low % size or (not address.exact and address.step % size):
            raise Refused("misaligned", i.address, f"{where} of {size} bytes is from {low:#x} on by {address.step}")
        found = [
            int.from_bytes(data[at - first : at - first + size], "little", signed=sign)
            for at in range(low, high + 1, address.step)
        ]
        return between(min(found), max(found))

    def _inside(self, region: str, offset: int, size: int) -> bool:
        first, end = self.layout.ends(region)
        return first <= offset <= end - size

    def _read(self, region: str, offset: int, size: int, sign: bool) -> Value:
        """None where a byte of it was never written."""
        value = self.held.get((region, offset, size))
        if value is not None:
            return _extended(value, 8 * size, sign) if isinstance(value, Words) and size < 4 else value
        places = [p for p in self.held if p[0] == region and p[1] < offset + size and offset < p[1] + p[2]]
        covered = sum(min(p[1] + p[2], offset + size) - max(p[1], offset) for p in places)
        if covered < size or any(not isinstance(self.held[p], Words) for p in places):
            return None
        return between(-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if sign else between(0, (1 << 8 * size) - 1)


def _offsets(i: Instruction, address: Address, size: int, where: str) -> list[int]:
    """All that an address may be; refused where one is no multiple of its bytes."""
    if address.offset.span // address.offset.step > MAX_MEMBERS:
        raise Refused("load-address", i.address, f"{where} is from anywhere in {address.region}")
    offsets = [signed(offset % (1 << 32)) for offset in address.offset.members()]
    if any(offset % size for offset in offsets):
        raise Refused("misaligned", i.address, f"{where} of {size} bytes is at offset {offsets[0]} of {address.region}")
    return offsets


def _extended(value: Words, bits: int, sign: bool) -> Words:
    """The lowest bits of words, as a narrower type's word."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)
    least, most = value.signed if sign else value.unsigned
    if low <= least and most <= high:
        return value
    if value.exact:
        word = value.low & (1 << bits) - 1
        return Words((word - (1 << bits) if sign and word >> bits - 1 else word) % (1 << 32))
    # One turn of the narrower type further or back, where all of it is.
    turn = (least - low) >> bits
    if (most - low) >> bits == turn:
        return between(least - (turn << bits), most - (turn << bits), value.step)
    return between(low, high)
