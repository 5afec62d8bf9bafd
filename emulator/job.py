"""A job of the test bench: what to load, which function to call, which accesses to allow, how the memories answer.

Written as the text file that emulator/bench/job.hpp reads.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from decision.artefact.errors import InputError
from emulator import memory_map
from emulator.elf import Image
from emulator.memory_map import Block
from emulator.profile import EngineMemory, Profile

CYCLE_LIMIT = 1_000_000  # of one call
PORTION = 2048  # records between restarts of the core: what one process takes at a time

State = Literal["hot", "cold", "other-flow", "back-to-back"]


def write_job(
    image: Image,
    entry: str,
    profile: Profile,
    blocks: Sequence[Block],
    folder: Path,
    *,
    state: State = "hot",
    by_address: bool = False,
) -> Path:
    """The job file, and beside it what it loads, in ``folder``; InputError where the program does not fit."""
    _check_code_fits(image, profile)
    top = memory_map.stack_top(profile.data_memory.bytes)
    stack_low = top - profile.limits.stack_bytes
    addresses = memory_map.place_blocks(blocks, max(image.data_end, memory_map.CONSTANTS_BASE), stack_low)
    lines = [
        f"instruction {memory_map.INSTRUCTION_BASE} {memory_map.INSTRUCTION_BASE + profile.instruction_memory.bytes}",
        f"data {memory_map.DATA_BASE} {memory_map.DATA_BASE + profile.data_memory.bytes}",
        f"text {image.text[0]} {image.text[1]}",
        f"constants {image.constants[0]} {image.constants[1]}",
        f"stack {stack_low} {top}",
        *(f"block {b.name} {a} {a + b.size} {int(b.writable)}" for a, b in zip(addresses, blocks, strict=True)),
        f"arguments {memory_map.DATA_BASE}",
        f"mailbox {memory_map.MAILBOX}",
        f"trap {memory_map.TRAP}",
        f"entry {image.symbols[entry]}",
        f"back {image.symbols['rlcc_back']}",
        *_timing("instruction", profile.instruction_memory),
        *_timing("data", profile.data_memory),
        f"table_wait {(profile.table_memory or profile.data_memory).wait_states}",
        f"state {state}",
        f"portion {PORTION}",
        f"cycle_limit {CYCLE_LIMIT}",
        f"by_address {int(by_address)}",
    ]
    for n, section in enumerate(image.sections):
        path = folder / f"section{n}"
        path.write_bytes(section.data)
        lines.append(f"image {section.address} {path}")
    job = folder / "job"
    job.write_text("\n".join(lines) + "\n")
    return job


def _timing(name: str, memory: EngineMemory) -> list[str]:
    lines = [f"{name}_wait {memory.wait_states}"]
    if memory.first_wait_states is not None:
        lines.append(f"{name}_first_wait {memory.first_wait_states}")
    if (cache := memory.cache) is not None:
        lines.append(f"{name}_cache {cache.bytes} {cache.line_bytes} {cache.ways} {cache.miss_cycles}")
    return lines


def _check_code_fits(image: Image, profile: Profile) -> None:
    code_end = image.text[1] - memory_map.INSTRUCTION_BASE
    if code_end > profile.instruction_memory.bytes:
        raise InputError(
            f"the code ends at {code_end} bytes and profile {profile.name} has {profile.instruction_memory.bytes} "
            "bytes of instruction memory; shrink the policy or enlarge [instruction_memory] bytes"
        )
