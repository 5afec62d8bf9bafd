"""Reads and writes of any widths, on numbers, against bytes; and memories that are joined."""

import numpy as np
import pytest

from verify.code.failures import Refused
from verify.rv64.memory import STACK, Slots, joined_places, read, written
from verify.rv64.values import MachineWords, PointerUse
from verify.terms.bits import BitTerms

BYTES = 24


@pytest.fixture
def words() -> MachineWords:
    return MachineWords(BitTerms())


def stored(words: MachineWords, rng: np.random.Generator, count: int) -> tuple[Slots, dict[int, int]]:
    """The memory after stores at random, and its bytes."""
    slots, due = Slots(), dict[int, int]()
    for _ in range(count):
        size = int(rng.choice([1, 2, 4, 8]))
        offset = size * int(rng.integers(BYTES // size))
        value = int(rng.integers(0, 1 << 64, dtype=np.uint64))
        slots = written(words, slots, (STACK, offset, size), words.number(value))
        due |= {offset + k: value >> 8 * k & 255 for k in range(size)}
    return slots, due


@pytest.mark.parametrize("seed", range(20))
def test_a_load_gives_the_bytes_that_stores_left(seed, words):
    rng = np.random.default_rng(seed)
    slots, due = stored(words, rng, 12)
    for size in (1, 2, 4, 8):
        for offset in range(0, BYTES, size):
            if all(offset + k in due for k in range(size)):
                for signed in (False, True):
                    expected = int.from_bytes(bytes(due[offset + k] for k in range(size)), "little", signed=signed)
                    assert read(words, slots, 0, STACK, offset, size, signed).signed == words.number(expected).signed
            else:
                with pytest.raises(Refused):
                    read(words, slots, 0, STACK, offset, size, False)


@pytest.mark.parametrize("seed", range(20))
def test_joined_memories_hold_the_bytes_that_both_hold(seed, words):
    rng = np.random.default_rng(seed)
    sides = [stored(words, rng, 8) for _ in range(2)]
    joined = joined_places(words, [slots for slots, _ in sides], 0)
    assert joined[0].keys() == joined[1].keys()
    held = {offset + k for _, offset, size in joined[0] for k in range(size)}
    assert held == sides[0][1].keys() & sides[1][1].keys()
    for slots, (_, due) in zip(joined, sides, strict=True):
        for offset in held:
            assert read(words, slots, 0, STACK, offset, 1, False).signed == due[offset]


def test_a_pointer_that_a_store_covers_in_part_is_lost(words):
    slots = written(words, {}, (STACK, 0, 8), words.pointer("context"))
    assert read(words, slots, 0, STACK, 0, 8, True).base == "context"
    with pytest.raises(PointerUse):
        read(words, slots, 0, STACK, 0, 4, False)
    slots = written(words, slots, (STACK, 4, 4), words.number(1))
    with pytest.raises(Refused):
        read(words, slots, 0, STACK, 0, 4, False)
