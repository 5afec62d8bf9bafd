"""A firmware folder as the emulator and the host runner need it: verified, its layouts, its vectors, its C."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME, Manifest, Opened, of_kind
from decision.ir.program import Program
from decision.ir.program_json import program_from_json
from emulator.layout import Layout, read_layouts
from emulator.memory_map import Block
from emulator.sources import Sources, read_sources
from emulator.vectors import Vectors, computed, read_vectors

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


@dataclass(frozen=True)
class Firmware:
    """A verified firmware folder."""

    manifest: Opened
    program: Program
    """What the C has to compute."""
    layouts: dict[str, Layout]
    vectors: Vectors
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


def read_firmware(firmware: Path | Opened) -> Firmware:
    """Read a firmware folder, or what was opened of it; a file changed after emission, C that reaches out of the
    folder, or vectors that contradict the program, are errors."""
    manifest = of_kind(firmware, "firmware")
    folder = manifest.folder
    sources = read_sources(manifest, under(prefix_of(manifest), SOURCE))
    program = program_from_json(manifest.json(PROGRAM))
    layouts = read_layouts(manifest.details, program, str(folder / NAME))
    vectors = read_vectors(manifest.content(VECTORS), layouts, program, str(folder / VECTORS))
    check_against_program(vectors, program, folder)
    return Firmware(manifest, program, layouts, vectors, sources)


def check_against_program(vectors: Vectors, program: Program, folder: Path) -> None:
    """The vectors' expectations must be what the integer program computes: the program is the specification."""
    for name, right in computed(program, vectors.records).items():
        expected = vectors.expected[name]
        wrong = np.flatnonzero(expected != right)
        if wrong.size:
            line = int(wrong[0])
            raise InputError(
                f"{folder / VECTORS}, line {line + 2}: expect.{name} = {expected[line]} "
                f"but {PROGRAM} gives {right[line]}; emit the firmware again"
            )
