"""A firmware compiled and linked for an engine: built once, and handed on to whoever runs, times or proves it."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from decision.artefact import temporary
from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.ir.program import Program
from emulator.compile import PolicyObject, Toolchain, compile_sources, link_program, missing_calls
from emulator.elf import Image, read_image, undefined_and_static
from emulator.firmware import ENTRY, Firmware, argument_blocks
from emulator.layout import packed
from emulator.memory_map import Block
from emulator.profile import Profile


@dataclass(frozen=True)
class Build:
    """Objects that the compiler made of a firmware. ``linked`` and ``elf`` are None where it calls what nothing
    defines: ``calls``; ``provided``: calls of what is linked with it; ``static``: writable static data that it has.
    ``elf``: the linked program's file."""

    firmware: Firmware
    toolchain: Toolchain
    calls: tuple[str, ...]
    provided: tuple[str, ...]
    static: tuple[str, ...]
    linked: Image | None = field(repr=False)
    elf: bytes | None = field(repr=False)

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
    return Build(firmware, tools, (), provided, tuple(static), linked_image(elf, entry), read_bytes(elf)), policy


def linked_image(elf: Path, entry: str) -> Image:
    """Returns the linked program, with its entry as ``ENTRY``, whatever the firmware's prefix."""
    image = read_image(elf)
    return image if entry == ENTRY else replace(image, symbols={**image.symbols, ENTRY: image.symbols[entry]})
