"""The emitted C on the host, under the undefined-behaviour sanitizer: the second leg of NumPy = host = RTL.

This runs the folder's code on this machine: only for C that is trusted, or where it was asked for.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator.compare import compare
from emulator.compile import RUNNER_FOLDER, check_optimisation, run_tool, tool_environment, zig_command
from emulator.firmware import ENTRY, HEADER, WRITTEN, Firmware
from emulator.firmware_folder import read_firmware
from emulator.layout import outputs
from emulator.tool_versions import version_line
from emulator.vectors import vectors_of

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wno-unused-command-line-argument")
SANITIZE = ("-fsanitize=undefined", "-fno-sanitize-recover=undefined")
TIMEOUT_S = 60


@dataclass(frozen=True)
class HostReport:
    """All vectors on the host: how many differ, and what the sanitizer said if it stopped the program."""

    compiler: str
    compiler_version: str
    opt: str
    vectors: int
    mismatches: int
    first_mismatch: str | None
    fault: str | None

    @property
    def passed(self) -> bool:
        """Every vector ran, was equal, and no undefined behaviour was met."""
        return not (self.mismatches or self.fault)


def host_compilers() -> dict[str, list[str]]:
    """The compilers to run on: the pinned clang always, the system's gcc where there is one."""
    compilers = {"clang": [zig_command(), "cc"]}
    gcc = shutil.which("gcc")
    if gcc:
        compilers["gcc"] = [gcc]
    return compilers


def run_on_host(
    firmware: Path | Firmware, *, compiler: str = "clang", opt: str = "-O2", sanitize: bool = True
) -> HostReport:
    """Compile the firmware's C for the host, run all its vectors, compare bit for bit."""
    check_optimisation(opt)
    compilers = host_compilers()
    if compiler not in compilers:
        raise InputError(f"no host compiler {compiler!r}; found {', '.join(compilers)} (apt install gcc for GCC)")
    firmware = read_firmware(firmware) if isinstance(firmware, Path) else firmware
    vectors = vectors_of(firmware)
    with temporary.folder() as folder:
        program = folder / "host_runner"
        _compile(firmware, compilers[compiler], opt, sanitize, program)
        parts = [p.view(np.uint8).reshape(len(vectors), p.dtype.itemsize) for p in vectors.records.values()]
        stream = np.concatenate(parts, axis=1)
        done, fault = _run(program, stream.tobytes())
    written = [(name, vectors.records[name].dtype) for name in vectors.records if name in WRITTEN]
    record = np.dtype([("returned", "<u4"), *written])
    result = np.frombuffer(done.stdout[: len(done.stdout) // record.itemsize * record.itemsize], dtype=record)
    if done.returncode != 0 or len(result) != len(vectors):
        index = min(len(result), len(vectors) - 1)
        complaint = fault or _complaint(done.stderr.decode(errors="replace"), done.returncode)
        fault = f"vector {index} ({vectors.kinds[index]}): {complaint}"
    outcome = compare(vectors, outputs(firmware.program, result["returned"], {n: result[n] for n, _ in written}))
    version = version_line([*compilers[compiler], "--version"], tool_environment())
    return HostReport(compiler, version, opt, len(vectors), outcome.mismatches, outcome.first, fault)


def _run(program: Path, stream: bytes) -> tuple[subprocess.CompletedProcess[bytes], str | None]:
    """The runner's output, and what kept it from ending."""
    try:
        done = subprocess.run([str(program)], input=stream, capture_output=True, timeout=TIMEOUT_S, check=False)
        return done, None
    except subprocess.TimeoutExpired as error:
        done = subprocess.CompletedProcess(error.cmd, 1, error.stdout or b"", error.stderr or b"")
        return done, f"not done after {TIMEOUT_S} s"


def _complaint(stderr: str, returncode: int) -> str:
    """Returns the sanitizer's message (GCC: "runtime error: ...", Zig: "panic: ..."), or how the program ended."""
    said = re.search(r"(?:runtime error|panic): (.*)", stderr)
    if said:
        return said[1].strip()
    return f"ended by signal {-returncode}" if returncode < 0 else f"ended with exit code {returncode}"


def _compile(firmware: Firmware, command: list[str], opt: str, sanitize: bool, program: Path) -> None:
    agent = firmware.program.interface.agent
    names = {group: agent if group == "context" else group for group in firmware.layouts}
    types = [f"-DRLCC_{group.upper()}={firmware.prefix}_{name}" for group, name in names.items()]
    types.append(f'-DRLCC_HEADER="{firmware.named(HEADER)}"')
    types += [f"-DRLCC_{group.upper()}_BYTES={layout.dtype.itemsize}" for group, layout in firmware.layouts.items()]
    types.append(f"-DRLCC_DECIDE()={firmware.named(ENTRY)}({', '.join(f'&{group}' for group in firmware.layouts)})")
    policy, runner = program.with_suffix(".policy.o"), program.with_suffix(".runner.o")
    with firmware.sources.copied(program.with_name("sources")) as source:
        flags = [*(SANITIZE if sanitize else ("-fno-sanitize=all",)), opt, "-g0", "-iquote", str(source.parent)]
        run_tool(
            [*command, *WARNINGS, *flags, "-c", str(source), "-o", str(policy)],
            f"{firmware.source} does not compile",
        )
        main = RUNNER_FOLDER / "host_runner.c"
        run_tool(
            [*command, "-std=c11", *flags, *types, "-c", str(main), "-o", str(runner)],
            "the host runner does not compile",
        )
        run_tool([*command, *flags, str(runner), str(policy), "-o", str(program)], "the host runner does not link")
