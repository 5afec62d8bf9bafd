"""A firmware folder of the target linux-bpf as the kernel takes it: a BPF object, and the content of its map."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from codegen.tuning import chosen, packed, words_of
from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, of_kind
from decision.policy.deciders import load_pupil
from emulator.compile import ZIG_CACHE, tool_environment, zig_command
from emulator.firmware import prefix_of
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


def firmware_of(folder: Path | Opened) -> Opened:
    """The firmware in a folder; InputError where it is of another target."""
    manifest = of_kind(folder, "firmware")
    if (prefix := prefix_of(manifest)) != NAME:
        raise InputError(f"{manifest.folder} has the prefix {prefix}, which the guest does not take; emit it without")
    if SOURCE not in manifest.files:
        raise InputError(
            f"{manifest.folder} is firmware for {manifest.details.get('target')}, and a kernel takes {TARGET}'s; "
            f"write it by `rlcc emit STUDENT --target {TARGET}`"
        )
    return manifest


def compiled(firmware: Opened) -> bytes:
    """The BPF object of a checked firmware: of the bytes that were hashed."""
    with temporary.folder() as work:
        target, sources = work / "rlcc_bpf.o", work / "sources"
        sources.mkdir()
        for name, content in firmware.contents.items():
            if "/" not in name and name.endswith((".c", ".h")):
                (sources / name).write_bytes(content)
        command = [
            zig_command(),
            "cc",
            *FLAGS,
            LICENCE,
            "-I",
            str(sources),
            "-c",
            str(sources / SOURCE),
            "-o",
            str(target),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=tool_environment(work / ZIG_CACHE))
        if done.returncode:
            said = done.stderr.strip()[-300:].replace(str(sources), str(firmware.folder))
            raise InputError(f"{firmware.folder / SOURCE} does not compile: {said}")
        return target.read_bytes()


def control(folder: Path | Opened, path: Bottleneck, others: Mapping[str, str] = MappingProxyType({})) -> Control:
    """Returns the firmware as an operator sets it for a path: base RTT, a unit of time that suits it, line rate, the
    bytes in flight at that rate, and the delays of its start. ``others``: words as `rlcc tune` takes them."""
    firmware = firmware_of(folder)
    program = compiled(firmware)
    words = words_of(firmware, TARGET)
    asked = {"base_rtt": f"{path.delay_ps // 1000} ns", "line_rate": f"{path.rate_bps} b/s"}
    header, base_rtt_ns = load_pupil(firmware).header, path.delay_ps // 1000
    of_path = {} if header.in_flight is None else header.in_flight.params(base_rtt_ns, path.rate_bps)
    of_path |= {} if header.start is None else header.start.delays(base_rtt_ns)
    asked |= {name: str(value) for name, value in of_path.items()}
    return Control(NAME, program, packed(words, chosen(words, {}, asked | dict(others))))
