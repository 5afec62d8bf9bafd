"""A start with and without its row on clear paths: what differs between the two teachers, and the cells."""

from pathlib import Path

import pytest

from bench import clear_path
from bench.starts import StartCell
from decision.policy.policy import Observation
from netsim.places import InThisThread
from rlcc.evaluation import suite
from teachers.load import load


def test_the_two_teachers_differ_in_the_row_and_the_unit_of_delays_alone() -> None:
    plain, clear = (load(clear_path.ROOT / "fixtures" / "teachers" / name) for name in clear_path.TEACHERS)
    assert {name: array.tobytes() for name, array in plain.weights.items()} == {
        name: array.tobytes() for name, array in clear.weights.items()
    }
    assert plain.policy.start is not None
    assert clear.policy.start is not None
    assert plain.policy.start.clear_path is None
    assert clear.policy.start.clear_path is not None
    assert plain.policy.start == clear.policy.start.model_copy(update={"clear_path": None})
    observation = plain.policy.observation.model_dump(mode="json") | {"rtt_slack": True}
    observation["interface"] = clear.policy.observation.interface
    changed = {"start": clear.policy.start, "observation": Observation.model_validate(observation)}
    assert plain.policy.observation != clear.policy.observation
    assert plain.policy.header.model_copy(update=changed) == clear.policy.header


def test_nothing_was_chosen_by_a_held_out_cell() -> None:
    held_out = {cell.scenario for cell in suite.cells(suite.load("families")) if cell.held_out}
    assert not held_out & {cell.scenario for cell in clear_path.CHOSEN_BY}


def test_a_section_has_a_table_for_each_kind_of_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clear_path, "KEPT", tmp_path)
    cells = [StartCell("many-to-one:2", 2, 1), StartCell("incast:4", 4, 1), StartCell("ring-all-reduce:3x90KB", 2, 1)]
    lines = clear_path.section("Three", cells, [1, 2], InThisThread()).splitlines()
    heads = [line.split("|")[2].strip() + line.split("|")[3].strip() for line in lines if line.startswith("| cell")]
    assert heads == ["goodputp99", "goodputslowdown", "goodputround us"]
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| `")]
    assert rows == ["`many-to-one:2`", "`incast:4`", "`ring-all-reduce:3x90KB`"]
