"""Memory map of the emulated engine: code at 0, data at 0x1000_0000, each in its own memory.

instruction memory           data memory
0x0000_0000 trap handler     0x1000_0000 words for a0, a1, ...; +32 result; +36 mcause; +40 mepc
0x0000_0080 runner           0x1000_0040 constants of the policy, then its writable data (there must be none)
            policy code      ...         argument structures, an unmapped gap before and after each
                             top         stack, growing down
"""

from collections.abc import Sequence
from dataclasses import dataclass

from decision.artefact.errors import InputError

INSTRUCTION_BASE = 0x0000_0000
DATA_BASE = 0x1000_0000
MAILBOX = DATA_BASE + 32
TRAP = DATA_BASE + 36
CONSTANTS_BASE = DATA_BASE + 64
SHARED_BASE = 0x2000_0000  # where the runner of a core with caches of its own meets the bench, past them
GAP = 64
ALIGNMENT = 16


@dataclass(frozen=True)
class Block:
    """An argument structure of the function: ``size`` bytes, read-only when the function gets it as ``const``."""

    name: str
    size: int
    writable: bool


def stack_top(data_memory_bytes: int) -> int:
    """The stack pointer at the call (16-byte aligned, as the RISC-V calling convention asks)."""
    return (DATA_BASE + data_memory_bytes) // ALIGNMENT * ALIGNMENT


def place_blocks(blocks: Sequence[Block], constants_end: int, stack_low: int) -> list[int]:
    """Addresses of the blocks between constants and stack; InputError when the data memory is too small."""
    addresses = []
    free = constants_end
    for block in blocks:
        free = (free + GAP + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        addresses.append(free)
        free += block.size
    if free + GAP > stack_low:
        raise InputError(
            f"the policy's constants and argument structures end at {free - DATA_BASE} bytes and do not fit below "
            "the stack in the profile's data memory; enlarge [data_memory] bytes or shrink the policy"
        )
    return addresses
