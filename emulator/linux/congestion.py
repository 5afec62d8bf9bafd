"""A firmware folder of the target linux-bpf as the kernel takes it: a BPF object, and the content of its map."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from decision import temporary
from decision.deciders import load_pupil
from decision.errors import InputError
from decision.manifest import Manifest, opened
from decision.tuning import chosen, packed, words_of
from emulator.compile import tool_environment, zig_command
from emulator.linux.cell import Bottleneck, Control

SOURCE = "rlcc_bpf.c"
TARGET = "linux-bpf"
FLAGS = (
    "-target",
    "bpfel-freestanding",
    "-std=c11",
    "-g",
    "-O2",
    "-fno-sanitize=all",
    "-fno-asynchronous-unwind-tables",
)
LICENCE = '-DRLCC_BPF_LICENCE="GPL"'
"""For the guest only: the kernel loads a congestion control under no other."""
NAME = "rlcc"
"""Which the adapter gives itself."""


def firmware_of(folder: Path) -> Manifest:
    """Its manifest; InputError where it is of another target."""
    manifest = opened(folder, "firmware")
    if not (folder / SOURCE).is_file():
        raise InputError(
            f"{folder} is firmware for {manifest.details.get('target')}, and a kernel takes {TARGET}'s; write it by "
            f"`rlcc emit STUDENT --target {TARGET}`"
        )
    return manifest


def compiled(folder: Path) -> bytes:
    """The BPF object of a checked firmware folder."""
    firmware_of(folder)
    with temporary.folder() as work:
        target = work / "rlcc_bpf.o"
        command = [
            zig_command(),
            "cc",
            *FLAGS,
            LICENCE,
            "-I",
            str(folder),
            "-c",
            str(folder / SOURCE),
            "-o",
            str(target),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=tool_environment())
        if done.returncode:
            raise InputError(f"{folder / SOURCE} does not compile: {done.stderr.strip()[-300:]}")
        return target.read_bytes()


def control(folder: Path, path: Bottleneck, others: Mapping[str, str] = MappingProxyType({})) -> Control:
    """The firmware as an operator sets it for a path: its base RTT, a unit of time that suits it, its line rate, and
    with a cap of what is in flight the bytes at that rate; ``others``: words as `rlcc tune` takes them."""
    program = compiled(folder)
    words = words_of(folder, TARGET)
    asked = {"base_rtt": f"{path.delay_ps // 1000} ns", "line_rate": f"{path.rate_bps} b/s"}
    cap = load_pupil(folder).in_flight
    if cap is not None:
        asked |= {name: str(value) for name, value in cap.params(path.delay_ps // 1000, path.rate_bps).items()}
    return Control(NAME, program, packed(words, chosen(words, {}, asked | dict(others))))
