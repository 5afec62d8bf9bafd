"""A firmware folder as it is read: its structures, its program beside its vectors, what the trees see."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.layout import manifest_layouts
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.program_json import program_to_json
from emulator.firmware import argument_blocks
from emulator.firmware_folder import read_firmware
from emulator.memory_map import Block
from emulator.tree_inputs import tree_inputs
from emulator.vectors import vectors_of

Maker = Callable[..., Path]


ASKS = Forest(("x", "y"), (oblivious(((0, 5),), (1, 2)),), (0,), 16)


def program(trees: bool = True, forest: Forest = ASKS) -> Program:
    """Writes the CNPs back and returns them and 3 more."""
    b = ProgramBuilder(forest, FLOW_RATE)
    count = b.event("cnp_count")
    b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", count)
    if trees:
        b.add(Op.TREES, (count, b.add(Op.SUB, (b.const(0), count)))[: len(forest.features)])
    return b.finish(b.add(Op.MIN, (b.add(Op.ADD, (count, b.const(3))), b.const(2**32 - 1))))


def written(place: Path, program: Program, change: Callable[[dict[str, list[int]]], None] = lambda _: None) -> Path:
    """A folder of a program with four vectors; ``change`` edits their columns."""
    cnps = np.arange(5, 9)
    columns = {f"event.{name}": cnps.tolist() for name in FLOW_RATE.event_names}
    columns |= {f"params.{name}": [0] * 4 for name in FLOW_RATE.param_names} | {"context.rate_q30": [0] * 4}
    columns |= {"expect.rate_q20": (cnps + 3).tolist(), "expect.context.rate_q30": cnps.tolist()}
    change(columns)
    rows = zip(["by hand"] * 4, *columns.values(), strict=True)
    with writing(place, "firmware", details={"layout": manifest_layouts(program)}) as work:
        (work / "program.json").write_text(dump_json(program_to_json(program)))
        (work / "rlcc_policy.c").write_text("")
        (work / "vectors.csv").write_text("\n".join(",".join(map(str, row)) for row in [["kind", *columns], *rows]))
    return place


def test_the_function_is_called_with_its_structures_and_writes_the_context(firmware_folder: Maker) -> None:
    read = read_firmware(firmware_folder())
    assert read.context_bytes == 8
    assert read.loops is False
    assert read.hash == opened(read.folder, "firmware").hash
    without = {name: layout for name, layout in read.layouts.items() if name != "context"}
    assert replace(read, layouts=without).context_bytes == 0
    blocks = argument_blocks(read.layouts)
    assert blocks == [Block("context", 8, True), Block("event", 8, False), Block("params", 4, False)]
    several = argument_blocks({**read.layouts, "action": read.layouts["params"]})
    assert several == [*blocks, Block("action", 4, True)]


def test_a_manifest_that_was_opened_before_is_the_one_that_counts(firmware_folder: Maker) -> None:
    """Else a folder could change between two looks at it."""
    folder = firmware_folder()
    manifest = opened(folder, "firmware")
    assert read_firmware(manifest).manifest is manifest


def test_vectors_that_the_program_computes_are_right(tmp_path: Path) -> None:
    read = read_firmware(written(tmp_path / "firmware", program()))
    assert read.program == program()
    assert vectors_of(read).expected["rate_q20"].tolist() == [8, 9, 10, 11]


@pytest.mark.parametrize("line", range(4))
@pytest.mark.parametrize("column", ["expect.rate_q20", "expect.context.rate_q30"])
def test_an_expectation_that_is_not_the_programs_is_named(tmp_path: Path, line: int, column: str) -> None:
    right = {"expect.rate_q20": 8, "expect.context.rate_q30": 5}[column] + line

    def wrong(columns: dict[str, list[int]]) -> None:
        columns[column][line] += 7
        columns[column][line + 1 :] = [value + 1 for value in columns[column][line + 1 :]]  # the first is named

    with pytest.raises(InputError) as caught:
        read_firmware(written(tmp_path / "firmware", program(), wrong))
    assert f"vectors.csv, line {line + 2}: {column} = {right + 7} but program.json gives {right}" in str(caught.value)


def test_a_folder_without_its_program_is_refused(firmware_folder: Maker, tmp_path: Path) -> None:
    whole = firmware_folder()
    with writing(tmp_path / "bare", "firmware", details=opened(whole, "firmware").details) as work:
        for path in whole.iterdir():
            if path.name not in ("manifest.json", "program.json"):
                (work / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match=r"program\.json"):
        read_firmware(tmp_path / "bare")


def test_what_the_trees_see_is_a_row_a_vector(tmp_path: Path) -> None:
    rows = tree_inputs(read_firmware(written(tmp_path / "trees", program())))
    assert rows.dtype == np.int64
    assert rows.tolist() == [[5, -5], [6, -6], [7, -7], [8, -8]]
    with pytest.raises(InputError, match=r"program.json has no trees"):
        tree_inputs(read_firmware(written(tmp_path / "none", program(trees=False))))


def test_trees_that_ask_for_nothing_see_rows_without_columns(tmp_path: Path) -> None:
    constant = program(forest=Forest((), (), (7,), 16))
    assert tree_inputs(read_firmware(written(tmp_path / "constant", constant))).shape == (4, 0)
