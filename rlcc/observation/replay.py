"""The header of a firmware for hosts, compiled for this machine and called as a log says."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.identity import prefixed
from codegen.targets import HOST
from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from decision.ir.arrays import Integers
from emulator.compile import run_tool, zig_command
from emulator.firmware import HEADER, prefix_of, under
from rlcc.observation.calls import COMPLETION, FLOW, HostCalls

SOURCE = Path(__file__).with_name("replay.c")
HOST_HEADER = "rlcc_host.h"
WORDS = (FLOW, "now_ns", "sent_bytes", *COMPLETION)
"""Columns of a record, a word each; the clock wraps."""
REPLAY_SECONDS = 600


@dataclass(frozen=True)
class Replay:
    """After each call [rows]: the decided window and what was in flight, in bytes; whether enforcing would have held
    the send back. ``counters``: the header's counters, summed over all flows."""

    windows: Integers
    in_flight: Integers
    held_back: Integers
    counters: Mapping[str, int]


def replay(firmware: Opened, calls: HostCalls, params: Mapping[str, int] | None = None) -> Replay:
    """Returns what the firmware's header decides and counts in mode observe, with those of its parameters set otherwise
    than it was emitted for. InputError where the firmware is not of the target host, or does not compile."""
    prefix = prefix_of(firmware)
    headers = [under(prefix, name) for name in (HEADER, HOST_HEADER)]
    if headers[1] not in firmware.contents:
        raise InputError(f"{firmware.folder} has no {headers[1]}; emit it with --target {HOST.name}")
    with temporary.folder() as folder:
        for name in headers:
            (folder / name).write_bytes(firmware.content(name))
        source, binary = folder / "replay.c", folder / "replay"
        source.write_text(prefixed(SOURCE.read_text(), prefix))
        sets = " ".join(f"params.{name} = {value}U;" for name, value in (params or {}).items())
        flags = ["-std=c99", "-O2", "-g0", "-fno-sanitize=all", f"-DSET_PARAMS={sets}", "-iquote", str(folder)]
        command = [zig_command(), "cc", *flags, str(source), "-o", str(binary)]
        run_tool(command, f"{firmware.folder / headers[1]} does not compile")
        records = np.stack([calls.columns[name] for name in WORDS], axis=1).astype("<u4", casting="unsafe")
        try:
            done = subprocess.run(
                [str(binary), str(calls.flows)], input=records.tobytes(), capture_output=True, timeout=REPLAY_SECONDS,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"the replay is not done after {REPLAY_SECONDS} s; give a part of the log") from None
    size = 12 * len(records)
    if done.returncode != 0 or len(done.stdout) < size:
        raise InputError(f"the replay of {firmware.folder} ended early, with exit code {done.returncode}")
    after = np.frombuffer(done.stdout[:size], dtype="<u4").reshape(-1, 3).astype(np.int64)
    totals = (line.split() for line in done.stdout[size:].decode().splitlines())
    return Replay(after[:, 0], after[:, 1], after[:, 2], {name: int(value) for name, value in totals})
