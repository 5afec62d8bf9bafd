"""A streamed run of a Verilated core that is built: a function called once a record, its cycles and results.
emulator.core_run builds the core, too.

The records are shared out among processes in portions (emulator/bench/stream.cpp), each of which starts the core anew:
what comes out does not depend on how many processes there were.
"""

import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator import memory_map
from emulator.elf import Image
from emulator.job import CYCLE_LIMIT, PORTION, State, write_job
from emulator.memory_map import Block
from emulator.profile import Profile
from emulator.tool_errors import check_tool, ended

CAUSES = {  # mcause, RISC-V privileged specification
    0: "a misaligned instruction address",
    1: "an instruction fetch outside the memory",
    2: "an illegal instruction",
    3: "a breakpoint",
    4: "a misaligned load",
    5: "a load that the bus refused",
    6: "a misaligned store",
    7: "a store that the bus refused",
    11: "an environment call",
    0xFFFFFFFF: "an illegal instruction or a misaligned access",  # a core without exceptions says no more
}
CORE_SECONDS = 3600
"""Of one process: two orders of magnitude above what the largest set of vectors takes."""
CALLED = [  # the fields of Called in emulator/bench/called.hpp
    *(("cycles", "<u8"), ("returned", "<u4"), ("stack_low", "<u4")),
    *(("between", "<u4"), ("instruction_misses", "<u4"), ("data_misses", "<u4")),
    ("entering", "<u4"),
]


@dataclass(frozen=True)
class RtlFault:
    """The call that left its bounds; no later call was made."""

    index: int
    text: str


@dataclass(frozen=True)
class RtlRun:
    """Run of the core. The arrays are as long as the number of calls that returned.

    ``between``: the cycles before each call since the one before it returned: the runner's own. ``entering``: of these,
    from the call to the entry. ``instruction_misses``, ``data_misses``: in the profile's caches during the call.
    ``by_address``: cycles of all calls by the instruction's address, where asked for; they add up to the cycles.
    """

    cycles: NDArray[np.uint64]
    returned: NDArray[np.uint32]
    stack_bytes: int
    written: dict[str, NDArray[np.void]]  # the writable structures after each call
    fault: RtlFault | None
    between: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    instruction_misses: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    data_misses: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    entering: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    by_address: dict[int, int] | None = None


def run_executable(
    executable: Path,
    image: Image,
    entry: str,
    profile: Profile,
    blocks: Sequence[tuple[Block, NDArray[np.void]]],
    *,
    state: State = "hot",
    by_address: bool = False,
    processes: int = 1,
) -> RtlRun:
    """Calls ``entry`` once for each record; the structures' addresses are its arguments, in the order given.

    ``executable``: the profile's core with its test bench, as emulator.core builds it. ``state``: contents of the
    caches at the entry. ``processes``: their maximum number.
    """
    records = [np.ascontiguousarray(data) for _, data in blocks]
    count = len(records[0])
    stride = [block.size for block, _ in blocks]
    stream = np.concatenate([r.view(np.uint8).reshape(count, n) for r, n in zip(records, stride, strict=True)], axis=1)
    written = [(block, data.dtype) for block, data in blocks if block.writable]
    output_type = np.dtype([*CALLED, *((block.name, dtype) for block, dtype in written)])
    shares = _shares(count, processes)
    with temporary.folder() as folder:
        job = write_job(
            image, entry, profile, [block for block, _ in blocks], folder, state=state, by_address=by_address
        )
        stream.tofile(folder / "input")
        outputs = [folder / f"output{n}" for n in range(len(shares))]

        def run_share(n: int) -> subprocess.CompletedProcess[str]:
            command = [str(executable), str(job), str(folder / "input"), str(outputs[n]), *map(str, shares[n])]
            try:
                return subprocess.run(command, capture_output=True, text=True, timeout=CORE_SECONDS, check=False)
            except subprocess.TimeoutExpired:
                raise InputError(
                    f"the emulated core is not done with {shares[n][1]} calls after {CORE_SECONDS} s"
                ) from None

        with ThreadPoolExecutor(max_workers=len(shares)) as pool:
            shares_run = list(pool.map(run_share, range(len(shares))))
        for done in shares_run:
            if done.returncode not in (0, 3):
                check_tool(done.stderr, done.returncode)
                raise InputError(f"the emulated core stopped: {done.stderr.strip() or ended(done.returncode)}")
        first = next((n for n, done in enumerate(shares_run) if done.returncode == 3), None)
        ran = len(shares) if first is None else first + 1
        result = np.concatenate([_read(path, output_type) for path in outputs[:ran]])
        profiles = [np.fromfile(f"{path}.by_address", dtype="<u8") for path in outputs[:ran]] if by_address else []
    fault = None if first is None else _fault(shares_run[first].stdout, image)
    top = memory_map.stack_top(profile.data_memory.bytes)
    return RtlRun(
        cycles=result["cycles"],
        returned=result["returned"],
        stack_bytes=int(top - result["stack_low"].min()) if len(result) else 0,
        written={block.name: result[block.name] for block, _ in written},
        fault=fault,
        between=result["between"],
        instruction_misses=result["instruction_misses"],
        data_misses=result["data_misses"],
        entering=result["entering"],
        by_address=_by_address(profiles, image) if by_address else None,
    )


def _read(path: Path, dtype: np.dtype[Any]) -> NDArray[np.void]:
    """Whole records of an output; anything else was written by another build of the bench."""
    if path.stat().st_size % dtype.itemsize:
        raise InputError(f"the emulated core wrote {path.stat().st_size} bytes, not records of {dtype.itemsize}")
    return np.fromfile(path, dtype=dtype)


def _shares(count: int, processes: int) -> list[tuple[int, int]]:
    """First record and number of records of each process: whole portions, as even as they go."""
    portions = max(1, -(-count // PORTION))
    processes = min(processes, portions)
    edges = [min(count, portions * n // processes * PORTION) for n in range(processes + 1)]
    return [(low, high - low) for low, high in pairwise(edges)]


def _by_address(profiles: Sequence[NDArray[np.uint64]], image: Image) -> dict[int, int]:
    total = np.sum(profiles, axis=0)
    return {image.text[0] + 2 * int(n): int(total[n]) for n in np.flatnonzero(total)}


def _fault(line: str, image: Image) -> RtlFault:
    match = re.search(r"fault (\d+) (\S+) (\d+) (\d+) (\d+)", line)
    if match is None:
        raise InputError(f"the emulated core stopped with an unreadable message: {line.strip()!r}")
    kind, index, pc, address, cause = match[2], *(int(match[n]) for n in (1, 3, 4, 5))
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
