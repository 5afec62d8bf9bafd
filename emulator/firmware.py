"""A firmware folder as the emulator and the host runner need it: verified, its layouts, its vectors, its C."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emulator.memory_map import Block
from emulator.vectors import Layout, Vectors, check_layouts, read_layouts, read_vectors
from spec.documents import load_json, read_text
from spec.errors import InputError
from spec.interpret import evaluate, trace
from spec.manifest import NAME, opened
from spec.program import Op, Program

ENTRY = "rlcc_decide"
SOURCE = "rlcc_policy.c"
HEADER = "rlcc_policy.h"
VECTORS = "vectors.csv"
PROGRAM = "program.json"
DIRECTIVE = re.compile(
    r'\s*#\s*(include\s+("\w+\.(c|h|inc)"|<\w+\.h>)'
    r"|(define|undef|ifn?def|else|elif|endif|error|pragma GCC visibility)\b)[^#]*"
)
ODD = re.compile(r"\b(__)?asm(__)?\b|\b_Pragma\b|%:|\?\?|\bincbin\b|__has_")


@dataclass(frozen=True)
class Firmware:
    """A verified firmware folder."""

    folder: Path
    hash: str
    layouts: dict[str, Layout]
    vectors: Vectors
    loops: bool = False
    """The C of a network has loops, of constant length."""

    @property
    def source(self) -> Path:
        """The emitted C."""
        return self.folder / SOURCE

    @property
    def context_bytes(self) -> int:
        """Size of the per-flow context."""
        return self.layouts["flow"].dtype.itemsize


def argument_blocks(layouts: Mapping[str, Layout]) -> list[Block]:
    """The structures that rlcc_decide is called with, in their order."""
    return [Block(name, layouts[name].dtype.itemsize, writable=name == "flow") for name in ("flow", "event", "params")]


def read_firmware(folder: Path) -> Firmware:
    """Read a firmware folder; a file changed after emission, C that reaches out of the folder, or vectors that
    contradict the program, are errors."""
    manifest = opened(folder, "firmware")
    check_sources(folder, manifest.files)
    layouts = read_layouts(manifest.details, str(folder / NAME))
    vectors = read_vectors(folder / VECTORS, layouts)
    network = False
    if (folder / PROGRAM).is_file():
        program = Program.from_json(load_json(folder / PROGRAM))
        check_layouts(layouts, program, str(folder / NAME))
        check_against_program(vectors, program, folder)
        network = program.network is not None
    return Firmware(folder, manifest.hash, layouts, vectors, network)


def check_sources(folder: Path, names: Iterable[str]) -> None:
    """A compiler reads what C names: InputError where that may be a file outside the folder, or code that is not C.

    Emitted C includes files by their names, of the folder or of the standard or device library; what could spell
    another way to a file (assembly with .incbin, pasted tokens, digraphs, a name from a macro) it does not use.
    """
    for name in names:
        if not name.endswith((".c", ".h", ".inc")):
            continue
        text = re.sub(r"\\\s*?\n", "", read_text(folder / name))
        # Comments count as code: whoever tells them apart otherwise than the compiler could be deceived.
        strange = [line for line in text.splitlines() if "#" in line and not DIRECTIVE.fullmatch(line)]
        strange += [found[0] for found in ODD.finditer(text)]
        if strange:
            shown = strange[0].strip()[:80]
            raise InputError(f"{folder / name} has {shown!r}, which rlcc never emits; emit the firmware again")


def tree_inputs(folder: Path) -> NDArray[np.int64]:
    """The features [N, features] that the trees see in each vector, as the integer program computes them."""
    program = Program.from_json(load_json(folder / PROGRAM))
    trees = next((node for node in program.nodes if node.op is Op.TREES), None)
    if trees is None:
        raise InputError(f"{folder / PROGRAM} has no trees; emit the firmware again")
    values = trace(program, *read_firmware(folder).vectors.columns())
    return np.array([values[a] for a in trees.args], dtype=np.int64).reshape(len(trees.args), -1).T


def check_against_program(vectors: Vectors, program: Program, folder: Path) -> None:
    """The vectors' expectations must be what the integer program computes: the program is the specification."""
    try:
        returned, state = evaluate(program, *vectors.columns())
    except (KeyError, ValueError) as error:
        raise InputError(f"{folder / VECTORS} does not fit {PROGRAM} ({error}); emit the firmware again") from None
    columns = [("return", vectors.expected_return, returned)]
    columns += [(name, vectors.expected_flow[name], values) for name, values in state.items()]
    for name, expected, computed in columns:
        wrong = np.flatnonzero(expected.astype(np.int64) != computed)
        if wrong.size:
            line = int(wrong[0])
            raise InputError(
                f"{folder / VECTORS}, line {line + 2}: expect.{name} = {expected[line]} "
                f"but {PROGRAM} gives {computed[line]}; emit the firmware again"
            )
