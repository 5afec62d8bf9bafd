"""A firmware folder of the target linux-bpf as the kernel takes it: a BPF object, and the content of its map."""

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

from decision import temporary
from decision.errors import InputError
from decision.interfaces.flow_rate import base_rtt_recip_q42
from decision.manifest import Manifest, opened
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


def tuning(manifest: Manifest, values: Mapping[str, int]) -> bytes:
    """The map's content, rlcc_tuning of the adapter: the parameters, then the line rate in bytes a second. What
    ``values`` do not say is as the firmware has it."""
    params = {**manifest.details["params_default"], **values}
    words = [params[field["name"]] for field in manifest.details["layout"]["params"]["fields"]]
    packed = struct.pack(f"<{len(words)}I", *words)
    return packed + bytes(-len(packed) % 8) + struct.pack("<Q", values["line_rate_bytes"])


def control(folder: Path, path: Bottleneck) -> Control:
    """The firmware as an operator sets it for a path: its base RTT, its line rate."""
    values = {
        "base_rtt_recip_q42": base_rtt_recip_q42(path.base_rtt_ps // 1000),
        "line_rate_bytes": path.rate_bps // 8,
    }
    return Control(NAME, compiled(folder), tuning(firmware_of(folder), values))
