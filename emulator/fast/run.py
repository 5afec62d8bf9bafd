"""One run of the instruction-set simulator: a function called once a record, as emulator.rtl_run does on the RTL."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.processors import usable_cores
from emulator import _fast, memory_map
from emulator.elf import Image
from emulator.fast.machine import machine
from emulator.fast.timing import Timing, timing
from emulator.job import CYCLE_LIMIT, PORTION, State
from emulator.memory_map import Block
from emulator.profile import Profile
from emulator.rtl_run import RtlFault, RtlRun


def run(
    image: Image,
    entry: str,
    profile: Profile,
    blocks: Sequence[tuple[Block, NDArray[np.void]]],
    *,
    state: State = "hot",
    threads: int | None = None,
    figures: Timing | None = None,
) -> RtlRun:
    """Call ``entry`` once for each record; the structures' addresses are its arguments, in the order given.

    ``state``: what caches hold at the entry. ``threads``: None for as many as there are processors; the result does
    not depend on it. ``figures``: other cycles than the profile's. A profile that cannot be timed exactly, or code with
    an instruction that is not modelled, raises InputError; what the function may not do is in the result's ``fault``.
    """
    figures = figures or timing(profile)
    program = program_of(image, entry, profile, [block for block, _ in blocks], figures)
    engine = machine(image, profile, figures, state)
    arrays = [np.array(data, order="C") for _, data in blocks]  # copies: writable ones are changed in place
    count = len(arrays[0])
    cycles, returned = np.empty(count, np.uint64), np.empty(count, np.uint32)
    records = [a.view(np.uint8).reshape(count, b.size) for a, (b, _) in zip(arrays, blocks, strict=True)]
    threads = threads or usable_cores()
    done, stack_low, _, fault = program.run(records, cycles, returned, threads, engine, PORTION)
    return RtlRun(
        cycles=cycles[:done],
        returned=returned[:done],
        stack_bytes=memory_map.stack_top(profile.data_memory.bytes) - stack_low,
        written={block.name: a[:done] for a, (block, _) in zip(arrays, blocks, strict=True) if block.writable},
        fault=RtlFault(done, fault) if fault else None,
    )


def program_of(image: Image, entry: str, profile: Profile, blocks: Sequence[Block], figures: Timing) -> _fast.Program:
    """A linked program made ready to run, laid out in memory as on the emulated core."""
    base, size = memory_map.DATA_BASE, profile.data_memory.bytes
    top = memory_map.stack_top(size)
    stack_low = top - profile.limits.stack_bytes
    addresses = memory_map.place_blocks(blocks, max(image.data_end, memory_map.CONSTANTS_BASE), stack_low)
    low, high = image.text
    if high - memory_map.INSTRUCTION_BASE > profile.instruction_memory.bytes:
        raise InputError(
            f"the code ends at {high} bytes and profile {profile.name} has {profile.instruction_memory.bytes} "
            "bytes of instruction memory; shrink the policy or enlarge [instruction_memory] bytes"
        )
    try:
        return _fast.Program(
            timing=figures.native(),
            products=profile.core.has_multiplier,
            bits="zbb" in profile.core.isa,
            text=low,
            code=next((s.data for s in image.sections if s.address == low and low < high), b""),
            entry=image.symbols[entry],
            back=image.symbols["rlcc_back"],
            data=(base, base + size),
            constants=image.constants if image.constants[1] > image.constants[0] else (base, base),
            stack=(stack_low, top),
            blocks=[(a, a + b.size, b.writable) for a, b in zip(addresses, blocks, strict=True)],
            sections=[(s.address, s.data) for s in image.sections if base <= s.address < base + size],
            symbols=sorted((a, n) for n, a in image.symbols.items() if n and not n.startswith((".", "$"))),
            cycle_limit=CYCLE_LIMIT,
        )
    except ValueError as error:
        raise InputError(f"the fast path does not know {error}; run it on the RTL of {profile.name}") from None
