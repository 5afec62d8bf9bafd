"""Cycles of a firmware folder's decision on an engine that need not be a file: some of its vectors, on the RTL."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from emulator.compile import compile_sources, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.elf import Image, read_image
from emulator.firmware import ENTRY, Firmware
from emulator.firmware_folder import read_firmware
from emulator.profile import Profile
from emulator.run import blocks
from emulator.vectors import vectors_of

COMPILER, OPTIMISATION = "clang", "-O2"


def mean_cycles(folder: Path, profile: Profile, count: int) -> float:
    """Mean over ``count`` of the folder's random vectors, caches warm; InputError where the code leaves its bounds."""
    firmware = _firmware(folder)
    chosen = _chosen(folder, count)
    image = _image(folder, profile)
    run = run_on_core(image, ENTRY, profile, [(block, records[chosen]) for block, records in blocks(firmware)])
    if run.fault is not None:
        raise InputError(f"{folder} does not run on {profile.name}: {run.fault.text}")
    return float(run.cycles.mean())


@cache
def _firmware(folder: Path) -> Firmware:
    return read_firmware(folder)


@cache
def _chosen(folder: Path, count: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Of the random vectors, evenly: edge vectors would count for what hardly ever happens."""
    random = [n for n, kind in enumerate(vectors_of(_firmware(folder)).kinds) if kind == "random"]
    return np.array(random[:: max(1, len(random) // count)][:count], dtype=np.int64)


_images: dict[tuple[Path, str, int, int], Image] = {}


def _image(folder: Path, profile: Profile) -> Image:
    """Compiled once for an instruction set: neither memories nor a slower multiplier change the code."""
    key = (folder, profile.core.isa, profile.data_memory.bytes, profile.limits.stack_bytes)
    if key not in _images:
        with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
            scratch = Path(name)
            sources = _firmware(folder).sources
            policy = compile_sources(sources, toolchain(profile, COMPILER, OPTIMISATION), folder=scratch)
            _images[key] = read_image(link_program(policy, ENTRY, profile, scratch))
    return _images[key]
