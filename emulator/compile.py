"""C to a RISC-V program for the emulated engine: the policy and the runner around it, linked as the memory map says.

Two compilers: ``clang`` is the pinned one inside the ziglang wheel (the same cycles on every machine); ``gcc`` is a
bare-metal RISC-V GCC where one is installed. No library is linked: a call of libgcc or libc stays undefined and is
reported. Only the multiplication that a core without a multiplier needs comes along (runner/multiply.S).
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from decision.artefact.cache import cache_folder
from decision.artefact.errors import InputError
from decision.artefact.extras import package_folder
from emulator import memory_map
from emulator.elf import undefined_and_static
from emulator.profile import Cva6Core, Profile, load_profile
from emulator.sources import Sources
from emulator.tool_errors import check_tool, ended
from emulator.tool_versions import version_line

RUNNER_FOLDER = Path(__file__).resolve().parent / "runner"
COMPILERS = ("clang", "gcc")
GCC_NAMES = ("riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc", "riscv-none-elf-gcc")

ZIG_CACHE = "zig-cache"
"""In the folder of one build: machine code that is judged comes from no earlier compilation."""
COMPILER_SECONDS = 300
"""More than any decision takes on a busy machine; a file that keeps a compiler longer is not of use."""

C_FLAGS = (
    *("-std=c99", "-g0", "-ffreestanding", "-fno-builtin", "-fno-pic", "-fno-jump-tables", "-fno-common"),
    *("-ffunction-sections", "-fdata-sections", "-fomit-frame-pointer", "-fno-stack-protector"),
    *("-fno-unwind-tables", "-fno-asynchronous-unwind-tables"),
)
NO_ASSEMBLY = "-fno-gnu-inline-asm"
"""Of clang: the second wall behind emulator.sources, which lets no word for it pass."""
CLANG_ISA = {
    "rv32i": "generic_rv32",
    "rv32im": "generic_rv32+m",
    "rv32imc": "generic_rv32+m+c",
    "rv32im_zba_zbb_zbs": "generic_rv32+m+zba+zbb+zbs",
    "rv64imac": "generic_rv64+m+a+c",
    "rv64imac_zbb_zbs": "generic_rv64+m+a+c+zbb+zbs",
}
ABI = {"rv32": ("-mabi=ilp32",), "rv64": ("-mabi=lp64", "-mcmodel=medany")}  # soft float; DOCA's samples say medany
MULTIPLICATION = ("__mulsi3", "__muldi3")  # what runner/multiply.S defines


@dataclass(frozen=True)
class Compiler:
    """A RISC-V compiler: how it is called and what it says it is."""

    name: str
    version: str
    compile: tuple[str, ...]
    link: tuple[str, ...]


@dataclass(frozen=True)
class Toolchain:
    """Tools that make machine code for an engine, looked up once: its profile, a compiler for its core, a level."""

    profile: Profile
    compiler: Compiler
    opt: str


@dataclass(frozen=True)
class PolicyObject:
    """A compiled C file, not linked yet. ``runtime``: assembly that is linked with it."""

    source: Path
    path: Path
    compiler: Compiler
    runtime: tuple[Path, ...] = ()


def zig_command() -> str:
    """The zig executable of the ziglang wheel."""
    path = package_folder("ziglang") / "zig"
    if not os.access(path, os.X_OK):
        raise InputError("the ziglang package has no runnable zig; reinstall it: pip install --force-reinstall ziglang")
    return str(path)


def tool_environment(cache: Path | None = None) -> dict[str, str]:
    """The environment of compilers: zig's cache is in the folder ``cache``, by default in ours; messages are not
    translated."""
    folder = str(cache or cache_folder() / "zig")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder, "LC_ALL": "C"}


def find_gcc() -> str | None:
    """An installed bare-metal RISC-V GCC."""
    return next((path for name in GCC_NAMES if (path := shutil.which(name))), None)


def find_compiler(name: str, isa: str) -> Compiler:
    """The compiler called ``name`` for an instruction set; one that is not there raises InputError."""
    if name == "clang":
        zig = zig_command()
        machine = f"riscv{isa[2:4]}-freestanding-none"
        # Without a target zig looks for the headers of this machine's C library first, and fails where there are none.
        version = version_line([zig, "cc", "-target", machine, "--version"], tool_environment())
        if not version:
            check_tool("", 1)
            raise InputError(
                "the clang of the ziglang package does not run; reinstall it: pip install --force-reinstall ziglang"
            )
        target = ("-target", machine, f"-mcpu={CLANG_ISA[isa]}", *ABI[isa[:4]], "-fno-sanitize=all")
        return Compiler(name, version, (zig, "cc", *target), (zig, "ld.lld"))
    if name == "gcc":
        gcc = find_gcc()
        if gcc is None:
            raise InputError(f"no RISC-V GCC found ({GCC_NAMES[0]}); install it: apt install gcc-riscv64-unknown-elf")
        arch = (f"-march={isa}", *ABI[isa[:4]])
        return Compiler(
            name, version_line([gcc, "--version"]), (gcc, *arch), (gcc, *arch, "-nostdlib", "-nostartfiles")
        )
    raise InputError(f"unknown compiler {name!r}; choose one of {', '.join(COMPILERS)}")


def check_optimisation(opt: str) -> None:
    """Only an optimisation level may be given, no other option."""
    if not re.fullmatch(r"-O[0123sz]", opt):
        raise InputError(f"{opt!r} is not an optimisation level; give -O0, -O1, -O2, -O3, -Os or -Oz")


def toolchain(profile: str | Path | Profile, compiler: str = "clang", opt: str = "-O2") -> Toolchain:
    """InputError for a profile, a compiler or a level that there is not."""
    check_optimisation(opt)
    engine = profile if isinstance(profile, Profile) else load_profile(profile)
    return Toolchain(engine, find_compiler(compiler, engine.core.isa), opt)


def compile_policy(
    source: Path, tools: Toolchain, *, folder: Path, lines: bool = False, assembly: bool = True
) -> PolicyObject:
    """Compile one C file into ``folder``; ``lines``: with line information (emulator.lines); without ``assembly`` clang
    takes none within the C (GCC cannot be told)."""
    if not source.is_file():
        raise InputError(f"there is no C file {source}; give a firmware folder written by `rlcc emit`")
    profile, tool = tools.profile, tools.compiler
    target = folder / "policy.o"
    flags = [*C_FLAGS, tools.opt, *(["-gdwarf-4"] if lines else [])]  # line information changes no instruction
    flags += [] if assembly or tool.name != "clang" else [NO_ASSEMBLY]
    command = [*tool.compile, *flags, "-c", str(source), "-o", str(target)]
    run_tool(command, f"{source} does not compile", cache=folder / ZIG_CACHE)
    return PolicyObject(source, target, tool, () if profile.core.has_multiplier else (RUNNER_FOLDER / "multiply.S",))


def compile_sources(sources: Sources, tools: Toolchain, *, folder: Path, lines: bool = False) -> PolicyObject:
    """``compile_policy`` for C that is not trusted: the compiler sees the checked copies and nothing else."""
    with sources.copied(folder / "sources") as source:
        made = compile_policy(source, tools, folder=folder, lines=lines, assembly=False)
    return replace(made, source=sources.folder / sources.main)


def missing_calls(policy: PolicyObject) -> list[str]:
    """Returns what the policy calls and nothing defines, as ``call of NAME``."""
    provided = {f"call of {name}" for name in MULTIPLICATION} if policy.runtime else set()
    calls, _ = undefined_and_static(policy.path)
    return [call for call in calls if call not in provided]


def link_program(
    policy: PolicyObject, symbol: str, profile: Profile, folder: Path, image: Mapping[str, Path] | None = None
) -> Path:
    """Links the policy and the runner that calls ``symbol``; returns the ELF file in ``folder``. ``image``: the objects
    of an image that holds several policies, this one's among them, in their order, by the function that each has."""
    if not re.fullmatch(r"[A-Za-z_]\w*", symbol):
        raise InputError(f"{symbol!r} is not the name of a C function")
    tool = policy.compiler
    runner, elf = folder / "runner.o", folder / "program.elf"
    definitions = {
        "RLCC_ENTRY": symbol,
        "RLCC_DATA": hex(memory_map.DATA_BASE),
        "RLCC_SHARED": hex(memory_map.SHARED_BASE),
        "RLCC_STACK_TOP": hex(memory_map.stack_top(profile.data_memory.bytes)),
    }
    defines = [f"-D{key}={value}" for key, value in definitions.items()]
    name = "cva6" if isinstance(profile.core, Cva6Core) else "runner"
    script = RUNNER_FOLDER / ("cva6.ld" if name == "cva6" else "link.ld")
    command = [*tool.compile, *defines, "-c", str(RUNNER_FOLDER / f"{name}.S"), "-o", str(runner)]
    run_tool(command, "the runner does not assemble", cache=folder / ZIG_CACHE)
    whole = image or {symbol: policy.path}
    options = ["--gc-sections", *(f"--undefined={name}" for name in whole)]
    collect = [f"-Wl,{option}" for option in options] if tool.name == "gcc" else options
    objects = [str(runner), *map(str, whole.values())]
    for source in policy.runtime:
        objects.append(str(folder / f"{source.stem}.o"))
        command = [*tool.compile, "-c", str(source), "-o", objects[-1]]
        run_tool(command, f"{source.name} does not assemble", cache=folder / ZIG_CACHE)
    command = [*tool.link, "-T", str(script), *collect, *objects, "-o", str(elf)]
    run_tool(command, f"{policy.source} does not link", cache=folder / ZIG_CACHE)
    return elf


def run_tool(command: list[str], what: str, *, cache: Path | None = None) -> None:
    """Run a compiler or linker; its first error becomes the sentence of an InputError, unless the system keeps it from
    writing, which that says."""
    try:
        done = subprocess.run(
            command, env=tool_environment(cache), capture_output=True, text=True, timeout=COMPILER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{what}: {Path(command[0]).name} is not done after {COMPILER_SECONDS} s") from None
    except OSError as error:
        raise InputError(f"{what}: {command[0]} does not start ({error.strerror})") from error
    if done.returncode != 0:
        check_tool(done.stderr, done.returncode)
        lines = done.stderr.strip().splitlines()
        wrong = next((line for line in lines if "error" in line or "undefined" in line), lines[-1] if lines else "")
        raise InputError(f"{what}: {wrong.strip() or ended(done.returncode)}")
