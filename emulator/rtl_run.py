"""One streamed run of the Verilated core: a function called once a record, its cycles and results."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emulator import memory_map
from emulator.core import Progress, built_core
from emulator.memory_map import Block
from emulator.objects import Image
from emulator.profile import Profile
from spec.errors import InputError

CYCLE_LIMIT = 1_000_000
CAUSES = {  # mcause, RISC-V privileged specification
    0: "a misaligned instruction address",
    1: "an instruction fetch outside the memory",
    2: "an illegal instruction",
    3: "a breakpoint",
    5: "a load that the bus refused",
    7: "a store that the bus refused",
    11: "an environment call",
}


@dataclass(frozen=True)
class RtlFault:
    """The call that left its bounds; no later call was made."""

    index: int
    text: str


@dataclass(frozen=True)
class RtlRun:
    """What the core did. The arrays are as long as the number of calls that returned."""

    cycles: NDArray[np.uint64]
    returned: NDArray[np.uint32]
    stack_bytes: int
    written: dict[str, NDArray[np.void]]  # the writable structures after each call
    fault: RtlFault | None


def run_on_core(
    image: Image,
    entry: str,
    profile: Profile,
    blocks: Sequence[tuple[Block, NDArray[np.void]]],
    progress: Progress | None = None,
) -> RtlRun:
    """Call ``entry`` once for each record; the structures' addresses are its arguments, in the order given."""
    bench = built_core(profile.core, progress)
    records = [np.ascontiguousarray(data) for _, data in blocks]
    count = len(records[0])
    stride = [block.size for block, _ in blocks]
    stream = np.concatenate([r.view(np.uint8).reshape(count, n) for r, n in zip(records, stride, strict=True)], axis=1)
    written = [(block, data.dtype) for block, data in blocks if block.writable]
    output_type = np.dtype(
        [("cycles", "<u8"), ("returned", "<u4"), ("stack_low", "<u4"), *((b.name, dtype) for b, dtype in written)]
    )
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        folder = Path(name)
        job = _job(image, entry, profile, [block for block, _ in blocks], count, folder)
        (folder / "job").write_text(job)
        stream.tofile(folder / "input")
        command = [str(bench), str(folder / "job"), str(folder / "input"), str(folder / "output")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            raise InputError(f"the emulated core stopped: {done.stderr.strip() or f'exit code {done.returncode}'}")
        result = np.fromfile(folder / "output", dtype=output_type)
    fault = _fault(done.stdout, image) if done.returncode == 3 else None
    top = memory_map.stack_top(profile.data_memory.bytes)
    return RtlRun(
        cycles=result["cycles"],
        returned=result["returned"],
        stack_bytes=int(top - result["stack_low"].min()) if len(result) else 0,
        written={block.name: result[block.name] for block, _ in written},
        fault=fault,
    )


def _job(image: Image, entry: str, profile: Profile, blocks: Sequence[Block], count: int, folder: Path) -> str:
    """The job file of emulator/bench/job.hpp."""
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
        *(f"block {a} {a + b.size} {int(b.writable)}" for a, b in zip(addresses, blocks, strict=True)),
        f"arguments {memory_map.DATA_BASE}",
        f"mailbox {memory_map.MAILBOX}",
        f"trap {memory_map.TRAP}",
        f"entry {image.symbols[entry]}",
        f"back {image.symbols['rlcc_back']}",
        f"instruction_wait {profile.instruction_memory.wait_states}",
        f"data_wait {profile.data_memory.wait_states}",
        f"cycle_limit {CYCLE_LIMIT}",
        f"count {count}",
    ]
    for n, section in enumerate(image.sections):
        path = folder / f"section{n}"
        path.write_bytes(section.data)
        lines.append(f"image {section.address} {path}")
    return "\n".join(lines) + "\n"


def _check_code_fits(image: Image, profile: Profile) -> None:
    code_end = image.text[1] - memory_map.INSTRUCTION_BASE
    if code_end > profile.instruction_memory.bytes:
        raise InputError(
            f"the code ends at {code_end} bytes and profile {profile.name} has {profile.instruction_memory.bytes} "
            "bytes of instruction memory; shrink the policy or enlarge [instruction_memory] bytes"
        )


def _fault(line: str, image: Image) -> RtlFault:
    match = re.search(r"fault (\S+) (\d+) (\d+) (\d+) (\d+)", line)
    if match is None:
        raise InputError(f"the emulated core stopped with an unreadable message: {line.strip()!r}")
    kind, index, pc, address, cause = match[1], *(int(match[n]) for n in range(2, 6))
    where = _where(pc, image)
    text = {
        "trap": f"the core trapped at {where}: {CAUSES.get(cause, f'cause {cause}')}",
        "timeout": f"no return within {CYCLE_LIMIT} cycles, last at {where}",
        "store-const": f"store into a const structure, address {address:#x}, at {where}",
        "store": f"store out of bounds, address {address:#x}, at {where}",
        "load": f"load out of bounds, address {address:#x}, at {where}",
        "execute": f"jump out of the code to {address:#x}",
        "bus": f"access outside the memory, address {address:#x}, at {where}",
    }[kind]
    return RtlFault(index, text)


def _where(pc: int, image: Image) -> str:
    """An address as symbol+offset."""
    before = [(a, n) for n, a in image.symbols.items() if a <= pc and n and not n.startswith((".", "$"))]
    address, name = max(before, default=(0, ""))
    return f"{name}+{pc - address:#x}" if name else f"{pc:#x}"
