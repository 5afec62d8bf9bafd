"""A shared firmware is the one that the emission writes, and of another decider or option it is another."""

from dataclasses import replace
from pathlib import Path

import pytest
import shared_emissions
from target_students import STUDENTS

from codegen.emit import emit
from decision.artefact.output import writing
from decision.policy.student import Student


def emitted(student: Student, folder: Path, **choices: object) -> dict[str, bytes]:
    with writing(folder / "student", "student") as work:
        student.save(work)
    emit(folder / "student", folder / "firmware", **choices)  # type: ignore[arg-type]
    files = (path for path in (folder / "firmware").rglob("*") if path.is_file())
    return {str(path.relative_to(folder / "firmware")): path.read_bytes() for path in files}


@pytest.mark.parametrize("target", ["generic", "doca-pcc"])
def test_the_second_is_the_first_and_what_emission_writes(tmp_path: Path, target: str) -> None:
    assert shared_emissions.shared
    first = emitted(STUDENTS["table"], tmp_path / "first", target=target)
    second = emitted(STUDENTS["table"], tmp_path / "second", target=target)
    shared_emissions.shared = False  # until the next test begins
    assert emitted(STUDENTS["table"], tmp_path / "alone", target=target) == second == first


def test_another_leaf_or_seed_is_another_firmware(tmp_path: Path) -> None:
    student = STUDENTS["table"]
    other = replace(student, forest=replace(student.forest, bias=tuple(b + 1 for b in student.forest.bias)))
    made = [emitted(s, tmp_path / name, target="generic", seed=seed) for name, s, seed in (
        ("first", student, 0), ("leaf", other, 0), ("seed", student, 1),
    )]  # fmt: skip
    assert made[0]["rlcc_policy.c"] != made[1]["rlcc_policy.c"]
    assert made[0]["vectors.csv"] != made[2]["vectors.csv"]


def test_a_test_that_may_replace_a_part_shares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shared_emissions.shared
