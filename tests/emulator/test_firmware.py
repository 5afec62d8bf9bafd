"""A firmware folder as it is read: its structures, its program beside its vectors, what the trees see."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.documents import dump_json
from decision.errors import InputError
from decision.forest import Forest, oblivious
from decision.program import Op, Program, ProgramBuilder
from decision.signals import EVENT_NAMES, PARAM_NAMES
from emulator import firmware
from emulator.firmware import argument_blocks, check_against_program, read_firmware, tree_inputs
from emulator.memory_map import Block

Maker = Callable[..., Path]


class Columns:
    """Vectors of a program: given and expected."""

    def __init__(self, program: Program, count: int = 4) -> None:
        self.program, self.count = program, count
        self.expected_return = np.array([8, 9, 10, 11])
        self.expected_flow = {"rate_q30": np.array([5, 6, 7, 8])}

    def columns(self) -> Any:
        event = dict.fromkeys(EVENT_NAMES, np.array([5, 6, 7, 8]))
        return event, dict.fromkeys(PARAM_NAMES, np.zeros(4, np.int64)), {"rate_q30": np.zeros(4, np.int64)}


def program(trees: bool = True) -> Program:
    """Writes the CNPs back and returns them and 3 more."""
    b = ProgramBuilder(Forest(("x", "y"), (oblivious(((0, 5),), (1, 2)),), (0,), 16))
    count = b.event("cnp_count")
    b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", count)
    if trees:
        b.add(Op.TREES, (count, b.add(Op.SUB, (b.const(0), count))))
    return b.finish(b.add(Op.MIN, (b.add(Op.ADD, (count, b.const(3))), b.const(2**32 - 1))))


def test_the_function_is_called_with_flow_event_and_params_and_writes_the_flow(firmware_folder: Maker) -> None:
    read = read_firmware(firmware_folder())
    assert read.context_bytes == 8
    found = argument_blocks(read.layouts)
    assert found == [Block("flow", 8, True), Block("event", 8, False), Block("params", 4, False)]


def test_vectors_that_the_program_computes_are_right(tmp_path: Path) -> None:
    check_against_program(Columns(program()), program(), tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", range(4))
@pytest.mark.parametrize("column", ["return", "rate_q30"])
def test_an_expectation_that_is_not_the_programs_is_named(tmp_path: Path, line: int, column: str) -> None:
    vectors = Columns(program())
    wrong = vectors.expected_return if column == "return" else vectors.expected_flow[column]
    right = int(wrong[line])
    wrong[line] += 7
    wrong[line + 1 :] += 1  # the first is named
    with pytest.raises(InputError) as caught:
        check_against_program(vectors, program(), tmp_path)  # type: ignore[arg-type]
    says = f"vectors.csv, line {line + 2}: expect.{column} = {right + 7} but program.json gives {right}"
    assert says in str(caught.value)


def test_vectors_that_do_not_fit_the_program_are_refused(tmp_path: Path) -> None:
    vectors = Columns(program())
    vectors.columns = lambda: ({}, {}, {})  # type: ignore[method-assign]
    with pytest.raises(InputError, match=r"vectors.csv does not fit program.json"):
        check_against_program(vectors, program(), tmp_path)  # type: ignore[arg-type]


def test_a_folder_with_a_program_is_held_to_it(firmware_folder: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(firmware, "check_layouts", lambda *given: asked.append(given))
    monkeypatch.setattr(firmware, "check_against_program", lambda *given: asked.append(given))
    folder = firmware_folder()
    assert not read_firmware(folder).loops
    assert asked == []
    stored = program()
    monkeypatch.setattr(firmware, "opened", _also_the_program(firmware.opened, folder, stored))
    for network in (None, object()):
        asked.clear()
        read = replace(stored, network=network)  # type: ignore[arg-type]
        monkeypatch.setattr(firmware.Program, "from_json", staticmethod(lambda _, read=read: read))
        found = read_firmware(folder)
        assert found.loops is (network is not None)
        layouts, against = asked
        assert (layouts[0], layouts[1], layouts[2]) == (found.layouts, read, str(folder / "manifest.json"))
        assert against == (found.vectors, read, folder)


def _also_the_program(opened: Any, folder: Path, stored: Program) -> Any:
    def read(place: Path, kind: str) -> Any:
        manifest = opened(place, kind)
        (folder / "program.json").write_text(dump_json(stored.to_json()))
        return manifest

    def again(place: Path, kind: str) -> Any:
        (folder / "program.json").unlink(missing_ok=True)  # which the manifest does not name
        return read(place, kind)

    return again


def test_what_the_trees_see_is_a_row_a_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Read:
        vectors = Columns(program())

    monkeypatch.setattr(firmware, "read_firmware", lambda _: Read)
    (tmp_path / "program.json").write_text(dump_json(program().to_json()))
    rows = tree_inputs(tmp_path)
    assert rows.dtype == np.int64
    assert rows.tolist() == [[5, -5], [6, -6], [7, -7], [8, -8]]
    (tmp_path / "program.json").write_text(dump_json(program(trees=False).to_json()))
    with pytest.raises(InputError, match=r"program.json has no trees"):
        tree_inputs(tmp_path)
