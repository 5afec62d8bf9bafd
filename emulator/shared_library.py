"""The emitted C as a shared library for the simulator: the same source, compiled for the host by the pinned clang."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decision.artefact import temporary
from decision.ir.interface import GROUPS
from emulator.compile import NO_ASSEMBLY, run_tool, zig_command
from emulator.firmware import ENTRY, HEADER, PREFIX, WRITTEN, Firmware

EMITTED = f"{ENTRY}_emitted"
"""What the emitted function is called where it does not take every structure."""


def exports(firmware: Firmware) -> str:
    """C beside the policy: how large an agent's context is, the parameters as they were trained and, where the function
    has another name or does not take context, event and params, one of its name that does, as the simulator calls it.
    """
    program = firmware.program
    agent, structures = program.interface.agent, program.structures
    size = f"(uint32_t)sizeof({firmware.prefix}_{agent})" if "context" in structures else "0"
    lines = [f'#include "{firmware.named(HEADER)}"', f"extern const uint32_t rlcc_{agent}_bytes;"]
    lines.append(f"const uint32_t rlcc_{agent}_bytes = {size};")
    if "params" in structures:
        default = f"{firmware.prefix.upper()}_PARAMS_DEFAULT"
        kind = f"const {firmware.prefix}_params"
        lines += [f"#ifdef {default}", f"extern {kind} rlcc_params_default;"]
        lines += [f"{kind} rlcc_params_default = {default};", "#endif"]
    if not direct(firmware):
        returns = "void" if "action" in structures else "uint32_t"
        taken = [name for name in GROUPS if name != "action" or name in structures]
        heads = [f"{'' if name in WRITTEN else 'const '}void *{name}" for name in taken]
        unused = " ".join(f"(void){name};" for name in taken)
        handed = ", ".join(structures)
        emitted = EMITTED if firmware.prefix == PREFIX else firmware.named(ENTRY)
        called = f"{emitted}({handed});" if returns == "void" else f"return (uint32_t){emitted}({handed});"
        head = f"{returns} {ENTRY}({', '.join(heads)})"
        lines += [f"#undef {ENTRY}", f"{head};", f"{head} {{ {unused} {called} }}"]
    return "\n".join(lines) + "\n"


def direct(firmware: Firmware) -> bool:
    """Whether the simulator can call the function as it is: it has the name, and takes what every agent has."""
    return firmware.prefix == PREFIX and {"context", "event", "params"} <= firmware.program.structures.keys()


@contextmanager
def shared_library(firmware: Firmware) -> Iterator[Path]:
    """A shared library of a verified firmware folder, with rlcc_decide, rlcc_<agent>_bytes and
    rlcc_params_default, while the context lasts."""
    with temporary.folder() as folder:
        beside, library = folder / "exports.c", folder / "policy.so"
        beside.write_text(exports(firmware))
        flags = ["-std=c99", "-O2", "-g0", "-fPIC", "-shared", "-fno-sanitize=all", NO_ASSEMBLY]
        flags += [] if direct(firmware) else [f"-D{ENTRY}={EMITTED}"]
        with firmware.sources.copied(folder / "sources") as source:
            command = [zig_command(), "cc", *flags, "-iquote", str(source.parent), str(source), str(beside)]
            run_tool([*command, "-o", str(library)], f"{firmware.source} does not compile")
        yield library
