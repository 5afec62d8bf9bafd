"""Loads and stores: what an address is, and whether it may be used.

An address must be a constant inside the constants, or a pointer of the call plus a constant: then it is plain which
bytes are meant. Structures and the frame do not overlap (an assumption), so that a store to one is seen in no other.
"""

import numpy as np

from decision.ir.arrays import Bools
from verify.code.failures import Refused
from verify.prover.expressions import FIRST, UNKNOWN, WORD, signed
from verify.prover.lanes import Ints, Lanes, words
from verify.prover.state import State
from verify.trusted.machine import LOADS, STORES, Instruction

Address = tuple[str, int]
"""Region (a structure, "frame", "constants") and byte offset (for constants: the address)."""


def address_of(state: State, word: int) -> Address | None:
    """The region and offset that an expression points to; None where it depends on the inputs."""
    if word < FIRST:
        return "constants", word
    constant, terms = state.pool.linear(word)
    if len(terms) == 1 and terms[0][1] == 1 and terms[0][0] in state.pointers:
        return state.pointers[terms[0][0]], signed(constant)
    return None


def from_constants(address: Ints) -> Bools:
    """Which of the addresses of a load are of the constants."""
    return (address >= 0) & (address < FIRST)


def load(state: State, lanes: Lanes, i: Instruction, address: Ints) -> Ints:
    """The loaded words, one a lane. ``address`` holds expressions."""
    result = np.empty(len(lanes), dtype=np.int64)
    for word in np.unique(address):
        rows = address == word
        result[rows] = _load(state, lanes, i, int(word), rows)
    return result


def _load(state: State, lanes: Lanes, i: Instruction, word: int, rows: np.ndarray) -> Ints | int:
    size, sign = LOADS[i.name], i.name in ("lb", "lh")
    place = address_of(state, word)
    where = f"the load at {i.address:#x}"
    if place is None:
        raise Refused("load-address", i.address, f"{where} is from {state.pool.text(word)}")
    region, offset = place
    if offset % size:
        raise Refused("misaligned", i.address, f"{where} of {size} bytes is from offset {offset} of {region}")
    if region == "constants":
        low, data = state.constants
        if not low <= offset or offset + size > low + len(data):
            raise Refused("load-outside", i.address, f"{where} is from {offset:#x}, outside the constants")
        return int.from_bytes(data[offset - low : offset - low + size], "little", signed=sign) & WORD
    if region == "frame":
        if offset >= 0:
            raise Refused("load-outside", i.address, f"{where} is from {offset} bytes above the own frame")
        values = read(state, lanes, "frame", offset, size, sign, rows)
        if values is None:
            raise Refused("load-unwritten", i.address, f"{where} is from a stack slot that nothing has written")
        return values
    structure = next(s for s in state.structures if s.name == region)
    if not offset >= 0 or offset + size > structure.size:
        raise Refused("load-outside", i.address, f"{where} is from offset {offset} of {region} ({structure.size} B)")
    if structure.written:
        values = read(state, lanes, region, offset, size, sign, rows)
        if values is None:
            kind, why = ("load-outside", "no field") if region == "context" else ("load-unwritten", "nothing yet")
            raise Refused(kind, i.address, f"{where} is from offset {offset} of {region}, where {why} is")
        return values
    field = next((f for f in structure.fields if f.offset <= offset and offset + size <= f.offset + f.size), None)
    if field is None:
        raise Refused("load-outside", i.address, f"{where} is from offset {offset} of {region}, where no field is")
    atom = state.pool.atom(f"{region}.{field.name}", field.low, field.high)
    return _extract(state, atom, 8 * (offset - field.offset), 8 * size, sign)


def _extract(state: State, word: int, shift: int, bits: int, sign: bool) -> int:
    """Bits of a word, extended to a word."""
    pool = state.pool
    if bits == 32:
        return word
    if sign:
        return pool.make("sra", pool.make("sll", word, 32 - bits - shift), 32 - bits)
    return pool.make("and", pool.make("srl", word, shift), (1 << bits) - 1)


def read(state: State, lanes: Lanes, region: str, offset: int, size: int, sign: bool, rows: np.ndarray) -> Ints | None:
    """The value at a place as a word: its column, a part of a wider one, or put together from narrower ones."""
    for (kind, at, width), n in state.columns.items():
        if kind != region or not at <= offset or offset + size > at + width or n >= len(lanes.values):
            continue
        column = lanes.values[n, rows]
        if (column == UNKNOWN).all():
            continue
        if (column == UNKNOWN).any():
            return None
        shift = 8 * (offset - at)
        parts, back = np.unique(column, return_inverse=True)
        taken = [_extract(state, int(w), shift, 8 * size, sign) for w in parts]
        return np.array(taken, dtype=np.int64)[back]
    if size == 1:
        return None
    half = size // 2
    low = read(state, lanes, region, offset, half, False, rows)
    high = read(state, lanes, region, offset + half, half, sign, rows)
    if low is None or high is None:
        return None
    return words(state.pool, "add", low, words(state.pool, "sll", high, np.full(len(high), 8 * half)))


def store(state: State, lanes: Lanes, i: Instruction, address: Ints, values: Ints, stack_limit: int) -> int:
    """Write to the context, the action or the own frame; returns the bytes of stack that this takes."""
    size = STORES[i.name]
    where = f"the store at {i.address:#x}"
    if address.min() != address.max():
        raise Refused("store-outside", i.address, f"{where} goes to an address that differs between paths")
    place = address_of(state, int(address[0]))
    sizes = {s.name: s.size for s in state.structures if s.written}
    if place is None or place[0] not in (*sizes, "frame"):
        target = state.pool.text(int(address[0])) if place is None else f"{place[0]} + {place[1]:#x}"
        raise Refused("store-outside", i.address, f"{where} goes to {target}")
    region, offset = place
    if offset % size:
        raise Refused("misaligned", i.address, f"{where} of {size} bytes goes to offset {offset} of {region}")
    inside = -stack_limit <= offset < 0 if region == "frame" else 0 <= offset <= sizes[region] - size
    if not inside:
        raise Refused("store-outside", i.address, f"{where} goes to offset {offset} of {region}")
    for (kind, at, width), n in list(state.columns.items()):
        if kind != region or at >= offset + size or offset >= at + width or (at, width) == (offset, size):
            continue
        if n < len(lanes.values) and (lanes.values[n] != UNKNOWN).any():
            if at < offset or at + width > offset + size:
                raise Refused("not-proved", i.address, f"{where} overwrites a part of a wider field of {region}")
            lanes.values[n] = UNKNOWN
    n = state.column((region, offset, size))
    state.widen(lanes)
    lanes.values[n] = values
    return -offset if region == "frame" else 0
