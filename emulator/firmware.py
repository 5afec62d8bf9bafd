"""A firmware folder as the emulator and the host runner need it: verified, its layouts, its vectors, its C."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.documents import load_json
from decision.errors import InputError
from decision.interpret import evaluate, trace
from decision.manifest import NAME, opened
from decision.program import Op, Program
from emulator.memory_map import Block
from emulator.sources import Sources, read_sources
from emulator.vectors import Layout, Vectors, check_layouts, read_layouts, read_vectors

ENTRY = "rlcc_decide"
SOURCE = "rlcc_policy.c"
HEADER = "rlcc_policy.h"
TREES_ONLY = "trees_only.c"
VECTORS = "vectors.csv"
PROGRAM = "program.json"


@dataclass(frozen=True)
class Firmware:
    """A verified firmware folder."""

    folder: Path
    hash: str
    layouts: dict[str, Layout]
    vectors: Vectors
    sources: Sources
    """The emitted C with its header, checked: what a compiler gets."""
    loops: bool
    """The C of a network has loops, of constant length."""

    @property
    def source(self) -> Path:
        """The emitted C, to name it; a compiler gets ``sources``."""
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
    sources = read_sources(folder, SOURCE, manifest.files)
    layouts = read_layouts(manifest.details, str(folder / NAME))
    vectors = read_vectors(folder / VECTORS, layouts)
    network = False
    if (folder / PROGRAM).is_file():
        program = Program.from_json(load_json(folder / PROGRAM))
        check_layouts(layouts, program, str(folder / NAME))
        check_against_program(vectors, program, folder)
        network = program.network is not None
    return Firmware(folder, manifest.hash, layouts, vectors, sources, network)


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
