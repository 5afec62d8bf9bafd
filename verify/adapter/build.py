"""The adapter's C as it was emitted, compiled and linked with a stub for each function that it calls and does not have.

A stub is one instruction, ``ret``, at an address of its own. The walk puts the model of the function in its place, so
that calls stay calls whatever the compiler inlines.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from decision.artefact import temporary
from emulator.compile import ZIG_CACHE, Toolchain, compile_sources, link_program, run_tool
from emulator.elf import Image, read_image, undefined_and_static
from emulator.sources import Sources

STUB = ".globl {name}\n.type {name}, @function\n{name}: ret\n"


@dataclass(frozen=True)
class AdapterBuild:
    """A linked adapter. ``externals``: names of the functions that it calls, by the addresses of their stubs."""

    image: Image
    entry: int
    externals: Mapping[int, str]
    stack_bytes: int
    """Limit of the engine, bytes."""


def build_adapter(sources: Sources, entry: str, tools: Toolchain) -> AdapterBuild:
    """Returns an adapter's C, compiled and linked. Raises InputError if it does not compile."""
    with temporary.folder() as folder:
        made = compile_sources(sources, tools, folder=folder)
        called = [call.removeprefix("call of ") for call in undefined_and_static(made.path)[0]]
        stubs = _assembled(called, tools, folder)
        objects = {entry: made.path} | ({called[0]: stubs} if called else {})
        image = read_image(link_program(made, entry, tools.profile, folder, objects))
    externals = {image.symbols[name]: name for name in called}
    assert len(externals) == len(called)
    return AdapterBuild(image, image.symbols[entry], externals, tools.profile.limits.stack_bytes)


def _assembled(names: list[str], tools: Toolchain, folder: Path) -> Path:
    source, target = folder / "externals.S", folder / "externals.o"
    source.write_text('.section .text.externals,"ax",@progbits\n' + "".join(STUB.format(name=name) for name in names))
    command = [*tools.compiler.compile, "-c", str(source), "-o", str(target)]
    run_tool(command, "the stubs of the adapter's functions do not assemble", cache=folder / ZIG_CACHE)
    return target
