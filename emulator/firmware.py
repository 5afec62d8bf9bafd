"""Firmware of a folder: verified, with its program, its layouts and its C. Its vectors are in emulator.vectors."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME, Manifest, Opened, of_kind
from decision.ir.program import NetworkForm, Program
from decision.ir.program_reader import read_program
from emulator.layout import Layout, read_layouts
from emulator.memory_map import Block
from emulator.sources import Sources, read_sources

PREFIX = "rlcc"
"""First word of the names below, in firmware that was emitted under no other."""
FORM = re.compile(r"[a-z][a-z0-9_]{0,22}")
ENTRY = "rlcc_decide"
SOURCE = "rlcc_policy.c"
HEADER = "rlcc_policy.h"
TREES_ONLY = "trees_only.c"
VECTORS = "vectors.csv"
PROGRAM = "program.json"
WRITTEN = ("context", "action")
"""Structures that a decision writes; the others it gets as const."""


@dataclass(frozen=True, eq=False)
class Firmware:
    """A verified firmware folder. Two of them are equal if they are one object."""

    manifest: Opened
    program: Program
    """What the C has to compute."""
    layouts: dict[str, Layout]
    sources: Sources
    """The emitted C with its header, checked: what a compiler gets."""

    @property
    def folder(self) -> Path:
        """Returns the folder that was read, to name it; its files are in ``manifest``."""
        return self.manifest.folder

    @property
    def hash(self) -> str:
        return self.manifest.hash

    @property
    def prefix(self) -> str:
        """Returns the first word of its names."""
        return prefix_of(self.manifest)

    def named(self, name: str) -> str:
        """A file's or a function's name as it is here: "rlcc_policy.c" under its prefix."""
        return under(self.prefix, name)

    @property
    def source(self) -> Path:
        """The emitted C, to name it; a compiler gets ``sources``."""
        return self.folder / self.sources.main

    @property
    def loops(self) -> bool:
        """The C of a network has loops, of constant length."""
        return self.program.network is not None

    @property
    def context_bytes(self) -> int:
        """Size of an agent's context."""
        return self.layouts["context"].dtype.itemsize if "context" in self.layouts else 0


def prefix_of(manifest: Manifest) -> str:
    """The prefix of a firmware's names. InputError where its manifest says one that none can have."""
    prefix = manifest.details.get("prefix", PREFIX)
    if not isinstance(prefix, str) or not FORM.fullmatch(prefix):
        raise InputError("the firmware's manifest has a prefix that begins no name of C; emit it again")
    return prefix


def under(prefix: str, name: str) -> str:
    """A name of emitted firmware under another prefix; one that does not begin with ours stays."""
    return prefix + name.removeprefix(PREFIX) if name.startswith(f"{PREFIX}_") else name


def argument_blocks(layouts: Mapping[str, Layout]) -> list[Block]:
    """The structures that rlcc_decide is called with; ``layouts`` are in their order."""
    return [Block(group, layout.dtype.itemsize, writable=group in WRITTEN) for group, layout in layouts.items()]


def firmware_of(firmware: Path | Opened, read_network: Callable[[Any], NetworkForm]) -> Firmware:
    """Returns the firmware of a folder, or of what was opened of it; ``read_network`` as in decision.ir.program_reader.
    Raises InputError if a file was changed after emission, or if C reaches out of the folder. Vectors are not read."""
    manifest = of_kind(firmware, "firmware")
    sources = read_sources(manifest, under(prefix_of(manifest), SOURCE))
    program = read_program(manifest.json(PROGRAM), read_network)
    return Firmware(manifest, program, read_layouts(manifest.details, program, str(manifest.folder / NAME)), sources)
