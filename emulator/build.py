"""A firmware compiled and linked for an engine: built once, and handed on to whoever runs, times or proves it.

build = built(Path("firmware"), profile="ibex-small")
report, proof = run_vectors(build), certify(build)
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from decision.ir.program import Program
from emulator.compile import PolicyObject, Toolchain, compile_sources, link_program, missing_calls, toolchain
from emulator.firmware import ENTRY, Firmware, argument_blocks, read_firmware
from emulator.lines import SourceLines
from emulator.memory_map import Block
from emulator.objects import CodeFacts, Image, check_code, read_image, undefined_and_static
from emulator.profile import Profile
from emulator.vectors import packed


@dataclass(frozen=True)
class Build:
    """Objects that the compiler made of a firmware. ``linked`` and ``facts`` are None where it calls what nothing
    defines: ``calls``; ``provided``: calls of what is linked with it; ``static``: writable static data that it has."""

    firmware: Firmware
    toolchain: Toolchain
    calls: tuple[str, ...]
    provided: tuple[str, ...]
    static: tuple[str, ...]
    linked: Image | None = field(repr=False)
    facts: CodeFacts | None = field(repr=False)

    @property
    def image(self) -> Image:
        """Returns the image that is loaded and run; raises InputError if it is missing."""
        if self.linked is None:
            raise InputError(f"{self.firmware.source} needs what the engine has not: {', '.join(self.calls)}")
        return self.linked

    @property
    def engine(self) -> Profile:
        return self.toolchain.profile

    @property
    def program(self) -> Program:
        """Returns the program that the machine code is compared with."""
        return self.firmware.program

    @property
    def blocks(self) -> list[Block]:
        """The arguments of the decision in their order."""
        return argument_blocks(self.firmware.layouts)

    def inputs(self, example: dict[str, int]) -> list[bytes]:
        """The blocks' bytes of one input, given as "event.response_ns": 5 and so on. KeyError and OverflowError where
        it is none."""
        columns = {name: np.array([value], dtype=np.int64) for name, value in example.items()}
        return [record.tobytes() for record in packed(self.firmware.layouts, columns, 1).values()]

    def runnable(self) -> "Build":
        """Itself; InputError where the engine would not run it: a call of a library, a float."""
        wrong = [*self.calls, *(self.facts.forbidden if self.facts else ())]
        if wrong:
            raise InputError(f"{self.firmware.source} cannot run on {self.engine.name}: {wrong[0]}; see `rlcc emulate`")
        return self


def build(firmware: Firmware, tools: Toolchain) -> Build:
    """Compile and link. Faults of the object code are in the result; C that does not compile raises
    InputError."""
    with temporary.folder() as folder:
        return build_in(folder, firmware, tools)[0]


def build_in(folder: Path, firmware: Firmware, tools: Toolchain) -> tuple[Build, PolicyObject]:
    """Builds in a folder that the caller keeps. Returns the object there too, for another link."""
    policy = compile_sources(firmware.sources, tools, folder=folder)
    calls, (every, static) = missing_calls(policy), undefined_and_static(policy.path)
    provided = tuple(call for call in every if call not in calls)
    if calls:
        return Build(firmware, tools, tuple(calls), provided, tuple(static), None, None), policy
    entry = firmware.named(ENTRY)
    elf = link_program(policy, entry, tools.profile, folder)
    facts = check_code(elf, entry, loops_allowed=firmware.loops)
    return Build(firmware, tools, (), provided, tuple(static), linked_image(elf, entry), facts), policy


def linked_image(elf: Path, entry: str) -> Image:
    """Returns the linked program, with its entry as ``ENTRY``, whatever the firmware's prefix."""
    image = read_image(elf)
    return image if entry == ENTRY else replace(image, symbols={**image.symbols, ENTRY: image.symbols[entry]})


def built(
    folder: Path | str | Opened, *, profile: str | Path | Profile, compiler: str = "clang", opt: str = "-O2"
) -> Build:
    """A firmware folder, read and built for the engine that is named."""
    tools = toolchain(profile, compiler, opt)
    return build(read_firmware(Path(folder) if isinstance(folder, str) else folder), tools)


def source_lines(made: Build) -> SourceLines:
    """Which line of the C an instruction of the build is of. InputError where the compiler makes other code when it
    tells lines."""
    with temporary.folder() as folder:
        policy = compile_sources(made.firmware.sources, made.toolchain, folder=folder, lines=True)
        elf = link_program(policy, made.firmware.named(ENTRY), made.engine, folder)
        if read_image(elf).sections != made.image.sections:
            compiler = made.toolchain.compiler.name
            raise InputError(f"{compiler} makes other code with line information, so no line can be told")
        return SourceLines(elf, made.firmware.sources.main)
