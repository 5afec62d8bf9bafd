"""The parents that a firmware names: as the artefacts beside it, or said to be unchecked."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from decision.artefact.manifest import opened
from decision.artefact.output import writing
from rlcc.gate.provenance import RECORD, provenance
from teachers.load import load
from teachers.teacher import Teacher


@pytest.fixture(scope="module")
def teacher(good: Path) -> Teacher:
    return load(good / "teacher")


@pytest.fixture
def copy(good: Path, tmp_path: Path) -> Path:
    for name in ("firmware", "student"):
        shutil.copytree(good / name, tmp_path / name)
    return tmp_path


def test_the_student_beside_the_firmware_is_the_one_it_names(copy: Path, teacher: Teacher) -> None:
    check = provenance(opened(copy / "firmware", "firmware"), teacher)
    assert check.passed
    assert check.value.startswith("teacher, student as")


def test_where_no_parent_is_there_the_row_says_so(copy: Path, teacher: Teacher) -> None:
    shutil.rmtree(copy / "student")
    check = provenance(opened(copy / "firmware", "firmware"), teacher)
    assert check.passed
    assert check.value.endswith("; student not checked")
    assert "student" in check.note


def test_a_teacher_that_was_not_opened_is_known_by_the_rollouts(copy: Path) -> None:
    known = opened(copy / "firmware", "firmware")
    teacher = {"teacher": known.parents["teacher"]}
    options: dict[str, Any] = {"seed": known.seed, "details": dict(known.details)}
    with writing(copy / "made/rollouts", "rollouts", parents=teacher) as work:
        (work / "a").write_text("a")
    rollouts = {"rollouts": opened(copy / "made/rollouts", "rollouts").hash}
    with writing(copy / "made/student", "student", parents={**teacher, **rollouts}) as work:
        shutil.copy(copy / "student/student.json", work)
    parents = {**teacher, "student": opened(copy / "made/student", "student").hash}
    with writing(copy / "made/firmware", "firmware", parents=parents, **options) as work:
        for name in known.files:
            shutil.copy(copy / "firmware" / name, work / name)
    check = provenance(opened(copy / "made/firmware", "firmware"), None)
    assert check.passed
    assert check.value.startswith(f"{RECORD}, student, rollouts ")


def renamed(copy: Path, resealed: Any, edit: Any, **parents: str) -> Path:
    known = opened(copy / "firmware", "firmware")
    options: dict[str, Any] = {"seed": known.seed, "details": dict(known.details)}
    with writing(copy / "forged/firmware", "firmware", parents={**known.parents, **parents}, **options) as work:
        for name in known.files:
            shutil.copy(copy / "firmware" / name, work / name)
        edit(work)
    shutil.copytree(copy / "student", copy / "forged/student")
    return copy / "forged/firmware"


def another_report(folder: Path) -> None:
    content = json.loads((folder / "student.json").read_text())
    (folder / "student.json").write_text(json.dumps(content | {"report": {"rmse": 0.0}}))


def nothing(folder: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("edit", "parents"),
    [(nothing, {"student": "ab" * 32}), (another_report, {})],
    ids=["another student's hash", "another report"],
)
def test_a_forged_parent_fails(copy: Path, resealed: Any, teacher: Teacher, edit: Any, parents: dict[str, str]) -> None:
    check = provenance(opened(renamed(copy, resealed, edit, **parents), "firmware"), teacher)
    assert not check.passed


@pytest.mark.parametrize("what", ["link", "damaged", "another teacher's", "rollouts"])
def test_what_lies_beside_it_and_is_not_its_parent_fails(copy: Path, teacher: Teacher, what: str) -> None:
    if what == "link":
        (copy / "student").rename(copy / "elsewhere")
        (copy / "student").symlink_to(copy / "elsewhere")
    elif what == "damaged":
        (copy / "student/student.json").write_text("{}")
    else:
        parents = {"teacher": "ab" * 32} if what != "rollouts" else {"teacher": teacher.hash, "rollouts": "cd" * 32}
        with writing(copy / "made", "student", parents=parents) as work:
            shutil.copy(copy / "student/student.json", work)
        shutil.rmtree(copy / "student")
        (copy / "made").rename(copy / "student")
        with writing(copy / "rollouts", "rollouts") as work:
            (work / "a").write_text("a")
    assert not provenance(opened(copy / "firmware", "firmware"), teacher).passed
