"""The fast path: decisions a second on one thread and on two, and that it is equal to the RTL on a million of them.

    python -m bench.fast_path [FIRMWARE]                    speed
    python -m bench.fast_path [FIRMWARE] --check 1000000    compared with the RTL: cycles, rates, contexts

FIRMWARE is a folder written by `rlcc emit`, runs/rl-cc/firmware if none is given. Inputs are drawn anew for every
decision (``draw``), so that the host cannot learn where branches go. The best of some runs counts, because other work
on the machine only takes away; wall time and CPU time are both given. To read with docs/explanation/fast-path.md.
"""

import argparse
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from emulator import fast
from emulator.compile import compile_sources, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.elf import Image, read_image
from emulator.fast.machine import machine
from emulator.fast.run import program_of
from emulator.firmware import ENTRY, WRITTEN, Firmware
from emulator.firmware_folder import read_firmware
from emulator.job import PORTION
from emulator.memory_map import Block
from emulator.profile import Profile, load_profile
from emulator.rtl_run import RtlRun
from emulator.vectors import vectors_of
from rlcc.origin import processor

DEFAULT = Path("runs/rl-cc/firmware")
PROFILES = ("ibex-small", "ibex-maxperf", "connectx6dx-proxy", "ibex-maxperf-l1")
DECISIONS, REPEATS = 2_000_000, 5
PART = 100_000  # decisions compared at a time

Records = list[tuple[Block, NDArray[np.void]]]


def draw(firmware: Firmware, count: int, seed: int) -> Records:
    """Inputs of decisions, by thirds: what a NIC could see; any bits; each field of some test vector, mixed anew."""
    rng = np.random.default_rng(seed)
    thirds = np.array_split(np.arange(count), 3)
    records = []
    for name, vectors in vectors_of(firmware).records.items():
        size = vectors.dtype.itemsize
        data = rng.integers(0, 256, size=(count, size), dtype=np.uint8).view(vectors.dtype).reshape(-1)
        for field in vectors.dtype.names or ():
            pool = vectors[field]
            data[field][thirds[2]] = pool[rng.integers(len(pool), size=len(thirds[2]))]
        data[thirds[0]] = plausible(vectors, len(thirds[0]), rng)
        records.append((Block(name, size, writable=name in WRITTEN), data))
    return records


def plausible(vectors: NDArray[np.void], count: int, rng: np.random.Generator) -> NDArray[np.void]:
    """Rows of the vectors, their numbers moved by up to a tenth, and RTTs of 1 us to 4 ms."""
    data = vectors[rng.integers(len(vectors), size=count)]
    for field in data.dtype.names or ():
        limits = np.iinfo(data.dtype[field])
        moved = data[field] * rng.uniform(0.9, 1.1, size=count)
        data[field] = np.clip(moved, limits.min, limits.max).astype(np.int64)
    if "response_ns" in (data.dtype.names or ()):
        rtt = np.exp(rng.uniform(np.log(1e3), np.log(4e6), size=count)).astype(np.uint32)
        data["response_ns"] = data["request_sent_ns"] + rtt
    return data


def compiled(firmware: Firmware, profile: Profile) -> Image:
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        policy = compile_sources(firmware.sources, toolchain(profile), folder=Path(name))
        return read_image(link_program(policy, ENTRY, profile, Path(name)))


# --- speed --------------------------------------------------------------------------------------------------------


def speed(firmware: Firmware, profiles: Sequence[str]) -> None:
    records = draw(firmware, DECISIONS, seed=0)
    print(
        f"{'profile':<20}{'threads':>8}{'M decisions/s':>15}{'a CPU second':>14}{'M instructions/s':>18}{'cycles':>8}"
    )
    for name in profiles:
        profile = load_profile(name)
        blocks = [block for block, _ in records]
        image, figures = compiled(firmware, profile), fast.timing(profile)
        program, engine = program_of(image, ENTRY, profile, blocks, figures), machine(image, profile, figures, "hot")
        cycles, returned = np.empty(DECISIONS, np.uint64), np.empty(DECISIONS, np.uint32)
        for threads in (1, 2):
            best, spent, instructions = np.inf, np.inf, 0
            for _ in range(REPEATS):
                parts = [data.copy().view(np.uint8).reshape(DECISIONS, block.size) for block, data in records]
                began, worked = time.perf_counter(), time.process_time()
                done, _, instructions, fault = program.run(parts, cycles, returned, threads, engine, PORTION)
                best, spent = min(best, time.perf_counter() - began), min(spent, time.process_time() - worked)
                assert (done, fault) == (DECISIONS, "")
            print(
                f"{name:<20}{threads:>8}{DECISIONS / best / 1e6:>15.2f}{DECISIONS / spent / 1e6:>14.2f}"
                f"{instructions / best / 1e6:>18.0f}{cycles.mean():>8.1f}",
                flush=True,
            )


# --- equality -----------------------------------------------------------------------------------------------------


def differing(a: RtlRun, b: RtlRun) -> int:
    """Decisions of which the cycles, the rate or the context are not the same."""
    if a.fault or b.fault:
        raise InputError(f"a decision left its bounds: {(a.fault or b.fault)}")
    return int(
        ((a.cycles != b.cycles) | (a.returned != b.returned) | (a.written["context"] != b.written["context"])).sum()
    )


def check(firmware: Firmware, profiles: Sequence[str], count: int) -> bool:
    equal = True
    for name in profiles:
        profile = load_profile(name)
        image = compiled(firmware, profile)
        wrong, rtl_s, fast_s, kinds = 0, 0.0, 0.0, set[int]()
        for first in range(0, count, PART):
            records = draw(firmware, min(PART, count - first), seed=1 + first // PART)
            began = time.perf_counter()
            rtl = run_on_core(image, ENTRY, profile, records)
            middle = time.perf_counter()
            ours = fast.run(image, ENTRY, profile, records)
            rtl_s, fast_s = rtl_s + middle - began, fast_s + time.perf_counter() - middle
            wrong += differing(rtl, ours) + (rtl.stack_bytes != ours.stack_bytes)
            kinds |= set(np.unique(rtl.cycles).tolist())
        print(
            f"{name:<20}{count:>10,} decisions, {wrong} differ; {min(kinds)} to {max(kinds)} cycles, {len(kinds)} "
            f"different; RTL {count / rtl_s:,.0f}/s, fast path {count / fast_s:,.0f}/s, copies included",
            flush=True,
        )
        equal &= wrong == 0
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fast_path", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("firmware", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--check", type=int, metavar="N", help="compare N decisions with the RTL instead")
    parser.add_argument("--profile", action="append", metavar="NAME", help=f"instead of {', '.join(PROFILES)}")
    arguments = parser.parse_args()
    profiles = arguments.profile or PROFILES
    try:
        firmware = read_firmware(arguments.firmware)
        print(f"{processor()}, Python {platform.python_version()}; {arguments.firmware}, clang -O2\n")
        if arguments.check:
            return 0 if check(firmware, profiles, arguments.check) else 1
        speed(firmware, profiles)
    except InputError as error:
        print(f"{error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
