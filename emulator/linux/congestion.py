"""A firmware folder of the target linux-bpf as the kernel takes it: a BPF object, and the content of its map."""

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

from decision import temporary
from decision.errors import InputError
from decision.interfaces.flow_rate import RTT_BITS, base_rtt_recip_q42
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
ADAPTER = {"rate_start_q30": 1 << 27, "time_shift": 0, "least_of_trip": 0}
"""The adapter's own words behind the line rate, with their defaults (firmware_templates/linux-bpf)."""
WITH_SLOW_START = {"rate_start_q30": 1 << 24}
"""Of a policy that has one."""
TIME_SHIFT_MOST = 10
RTT_SPAN = 40
"""Base RTTs that a policy is to tell apart."""


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
    """The map's content, rlcc_tuning of the adapter: the parameters, the line rate in bytes a second, then the words of
    ADAPTER. What ``values`` do not say is as the firmware or the adapter has it."""
    names = [field["name"] for field in manifest.details["layout"]["params"]["fields"]]
    adapter = ADAPTER | (WITH_SLOW_START if "slow_start_until_q10" in names else {})
    params = {**manifest.details["params_default"], **adapter, **values}
    words = [params[name] for name in names]
    packed = struct.pack(f"<{len(words)}I", *words)
    packed += bytes(-len(packed) % 8) + struct.pack("<Q", params["line_rate_bytes"])
    return packed + struct.pack("<4I", *(params[name] for name in ADAPTER), 0)


def time_shift(base_rtt_ns: int) -> int:
    """Of the unit of time, 2^shift ns, in which RTT_SPAN base RTTs are below what the policy sees."""
    shift = 0
    while shift < TIME_SHIFT_MOST and base_rtt_ns * RTT_SPAN >> shift >= 1 << RTT_BITS:
        shift += 1
    return shift


def control(folder: Path, path: Bottleneck) -> Control:
    """The firmware as an operator sets it for a path: its base RTT, a unit of time that suits it, its line rate."""
    base_rtt_ns = path.base_rtt_ps // 1000
    shift = time_shift(base_rtt_ns)
    values = {
        "base_rtt_recip_q42": base_rtt_recip_q42(max(base_rtt_ns >> shift, 1)),
        "line_rate_bytes": path.rate_bps // 8,
        "time_shift": shift,
    }
    return Control(NAME, compiled(folder), tuning(firmware_of(folder), values))
