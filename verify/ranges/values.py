"""Values that a register or a place in memory may hold: words, an address in a region, or what a register held at the
call."""

from dataclasses import dataclass

from verify.ranges.words import Words, add, hull, sub


@dataclass(frozen=True)
class Address:
    """``offset`` from the beginning of a structure, or from the stack pointer at the call ("frame"). Regions neither
    overlap nor wrap around the end of the memory."""

    region: str
    offset: Words


@dataclass(frozen=True)
class AtCall:
    """Value of a register at the call; nothing is known of it, and code may only keep it."""

    register: int


Value = Words | Address | AtCall | None
"""None: anything, or nothing that was ever written."""


def joined(a: Value, b: Value) -> Value:
    if a == b:
        return a
    if isinstance(a, Words) and isinstance(b, Words):
        return hull(a, b)
    if isinstance(a, Address) and isinstance(b, Address) and a.region == b.region:
        return Address(a.region, hull(a.offset, b.offset))
    return None


def moved(a: Value, b: Value) -> Value:
    """a + b where one of them is an address."""
    if isinstance(b, Address):
        a, b = b, a
    return Address(a.region, add(a.offset, b)) if isinstance(a, Address) and isinstance(b, Words) else None


def apart(a: Value, b: Value) -> Value:
    """a - b where a is an address: an address, or how far it is from another of its region."""
    if isinstance(a, Address) and isinstance(b, Words):
        return Address(a.region, sub(a.offset, b))
    if isinstance(a, Address) and isinstance(b, Address) and a.region == b.region:
        return sub(a.offset, b.offset)
    return None
