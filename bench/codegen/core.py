"""A contender's code on the Verilated core: compiled, linked with soft float, called once a row.

The emulator's own path links nothing, so that a call of a library is refused; here libraries are what is compared. GCC
brings libgcc; the clang of the ziglang wheel brings the sources of Zig's compiler_rt, built here for speed.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray

from bench.codegen.contender import ENTRY, STORED, ExportSource
from decision.artefact.build_cache import built_once
from decision.artefact.errors import InputError
from decision.artefact.extras import package_folder
from decision.artefact.manifest import sha256
from emulator import memory_map
from emulator.compile import C_FLAGS, CLANG_ISA, RUNNER_FOLDER, Compiler, find_compiler, run_tool, zig_command
from emulator.core_run import run_on_core
from emulator.elf import read_image
from emulator.memory_map import Block
from emulator.profile import Profile

HERE = Path(__file__).parent
SHIM, TRAMPOLINE = HERE / "shim", HERE / "runner" / "trampoline.S"
TRAMPOLINE_SYMBOL = "bench_call"
OPTIMISATION = "-O2"
CXX_FLAGS = ("-std=c++17", "-nostdinc++", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")


@dataclass(frozen=True)
class Built:
    """A linked program. Bytes: all code that runs, the part of it that is soft float, all constants."""

    elf: Path
    code_bytes: int
    library_bytes: int
    table_bytes: int


@dataclass(frozen=True)
class Calls:
    """Cycles [N], and results [N] or [N, outputs]."""

    cycles: NDArray[np.uint64]
    values: NDArray[np.generic]


def build(source: ExportSource, compiler: Compiler, profile: Profile, folder: Path) -> Built:
    """Compile and link into ``folder``; InputError with the compiler's first error where it cannot be."""
    main = folder / ("model.c" if source.language == "c" else "bench.cc")
    for name, text in source.files.items():
        (folder / name).write_text(text)
    main.write_text(source.text)
    compiled = []
    for path in (main, *(folder / name for name in source.units)):
        compiled.append(str(path.with_suffix(".o")))
        try:
            run_tool(
                [*_command(compiler, source), "-c", str(path), "-o", compiled[-1]], f"{path.name} does not compile"
            )
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from None  # no path of a machine on the page
    around = [_assembled(compiler, profile, path, folder) for path in (RUNNER_FOLDER / "runner.S", TRAMPOLINE)]
    elf = folder / "program.elf"
    script = ["-T", str(RUNNER_FOLDER / "link.ld"), "-Wl,--gc-sections" if compiler.name == "gcc" else "--gc-sections"]
    library = "-lgcc" if compiler.name == "gcc" else str(compiler_rt(compiler, profile.core.isa))
    run_tool([*compiler.link, *script, *around, *compiled, library, "-o", str(elf)], f"{main.name} does not link")
    functions, tables = _functions(elf), _constants(elf)
    own = set().union(*(_functions(Path(path)) for path in compiled))
    code = sum(size for name, size in functions.items() if name != TRAMPOLINE_SYMBOL)
    library_code = sum(size for name, size in functions.items() if name not in {*own, TRAMPOLINE_SYMBOL})
    return Built(elf, code, library_code, tables)


def run(built: Built, source: ExportSource, rows: NDArray[np.int64], profile: Profile) -> Calls:
    """Call it once a row of ``rows`` [N, features]; InputError where a call fails."""
    stored = rows.astype(STORED[source.takes])
    if np.any(stored.astype(np.float64) != rows):
        raise InputError(f"a row holds a value that {source.takes} does not")
    count, features = rows.shape
    row = Block("row", features * stored.dtype.itemsize, writable=source.scribbles)
    records = np.ascontiguousarray(stored).view([("row", stored.dtype, (features,))]).reshape(-1)
    kind = STORED[source.gives]
    # The returned value comes first, then the written ones: the trampoline gives the function the address behind its
    # own two words.
    blocks = np.dtype([("returned", "<u4", (2,)), ("written", kind, (source.outputs,))])
    result = Block("result", blocks.itemsize, writable=True)
    nothing = np.zeros(count, dtype=blocks)
    image = read_image(built.elf)
    image = replace(image, symbols=image.symbols | {"rlcc_back": image.symbols["bench_back"]})
    done = run_on_core(image, ENTRY, profile, [(row, records), (result, nothing)])
    if done.fault is not None:
        raise InputError(f"row {done.fault.index}: {done.fault.text}")
    if source.outputs > 1:
        return Calls(done.cycles, done.written["result"]["written"])
    words = np.ascontiguousarray(done.written["result"]["returned"])
    return Calls(done.cycles, words.view(kind)[:, 0] if kind.itemsize == 4 else words.view(kind).reshape(-1))


def compiler_rt(compiler: Compiler, isa: str) -> Path:
    """Zig's compiler_rt as a library, built once for a version and an instruction set."""

    def make(folder: Path) -> None:
        source = package_folder("ziglang") / "lib" / "compiler_rt.zig"
        target = ["-target", "riscv32-freestanding-none", "-mcpu", CLANG_ISA[isa]]
        flags = ["-O", "ReleaseFast", "-fstrip", "-fno-unwind-tables", "-ffunction-sections", "-fdata-sections"]
        command = [zig_command(), "build-lib", str(source), *target, *flags]
        run_tool([*command, f"-femit-bin={folder / 'libcompiler_rt.a'}"], "compiler_rt does not compile")

    key = sha256(f"1 {compiler.version} {isa}".encode())[:16]
    return built_once("soft-float", key, make) / "libcompiler_rt.a"


def _command(compiler: Compiler, source: ExportSource) -> list[str]:
    """The emulator's options for firmware, for every contender; C++ has its own standard."""
    flags = [*C_FLAGS, OPTIMISATION, "-w", "-isystem", str(SHIM)]
    if source.language == "c":
        return [*compiler.compile, *flags]
    command = ["c++" if part == "cc" else part for part in compiler.compile]
    return [*command, "-x", "c++", *(f for f in flags if not f.startswith("-std=")), *CXX_FLAGS]


def _assembled(compiler: Compiler, profile: Profile, source: Path, folder: Path) -> str:
    defines = {
        "RLCC_ENTRY": TRAMPOLINE_SYMBOL,
        "RLCC_DATA": hex(memory_map.DATA_BASE),
        "RLCC_STACK_TOP": hex(memory_map.stack_top(profile.data_memory.bytes)),
    }
    target = folder / f"{source.stem}.o"
    options = [f"-D{key}={value}" for key, value in defines.items()]
    run_tool([*compiler.compile, *options, "-c", str(source), "-o", str(target)], f"{source} does not assemble")
    return str(target)


def _functions(path: Path) -> dict[str, int]:
    """Bytes of each function that an object or a program holds."""
    with path.open("rb") as file:
        tables = [t for t in ELFFile(file).iter_sections() if isinstance(t, SymbolTableSection)]
        symbols = [s for t in tables for s in t.iter_symbols()]
        held = [s for s in symbols if s["st_info"]["type"] == "STT_FUNC" and s["st_shndx"] != "SHN_UNDEF"]
        by_address = {s["st_value"]: s for s in held} if ELFFile(file)["e_type"] == "ET_EXEC" else None
        return {s.name: int(s["st_size"]) for s in (by_address.values() if by_address else held)}


def _constants(path: Path) -> int:
    with path.open("rb") as file:
        parts = (".rodata", ".data", ".bss")
        return sum(int(s["sh_size"]) for s in ELFFile(file).iter_sections() if s.name in parts)


def found_compilers(profile: Profile) -> dict[str, Compiler]:
    """The pinned clang, and GCC where it is installed."""
    compilers = {"clang": find_compiler("clang", profile.core.isa)}
    with suppress(InputError):
        compilers["gcc"] = find_compiler("gcc", profile.core.isa)
    return compilers


def run_fresh(
    source: ExportSource, compiler: Compiler, profile: Profile, tables: list[NDArray[np.int64]]
) -> tuple[Built, list[Calls]]:
    """Build in a folder of its own, and call for each table of rows."""
    with TemporaryDirectory(prefix="rlcc-") as name:
        built = build(source, compiler, profile, Path(name))
        return built, [run(built, source, rows, profile) for rows in tables]
