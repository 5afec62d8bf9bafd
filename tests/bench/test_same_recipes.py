"""The table of recipes on pretended processors, from verdicts written by hand."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench import same_recipes
from bench.same_bytes import ENVIRONMENTS
from bench.same_recipes import RecipePlace
from decision.artefact.errors import InputError
from rlcc.gate.names import named
from rlcc.gate.verdict import Verdict

CORES = len(os.sched_getaffinity(0))
FIRST, *OTHERS = ENVIRONMENTS
Ran = list[tuple[str, RecipePlace, Sequence[str]]]


def finish(out: Path, student: str) -> None:
    """Writes what `outcome` reads of a finished run."""
    check = named("size.code")(value="1116 B", limit="16384 B", passed=True)
    verdict = Verdict(
        policy="p",
        firmware="f",
        student="s",
        teacher="t",
        profile="ibex-small",
        checks=[check],
        measured={"certificate": "c" * 64},
    )
    for stage in ("student", "firmware", "emulation", "verdict"):
        (out / stage).mkdir(parents=True, exist_ok=True)
        (out / stage / "manifest.json").write_text(json.dumps({"hash": student * 64}))
    (out / "verdict" / "verdict.json").write_text(json.dumps({"verdict": "PASS"} | verdict.model_dump(mode="json")))
    (out / same_recipes.SOURCE).write_text("commit 0")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """The runs that are asked for; each comes to student "a"."""
    return replace_run(monkeypatch, lambda place: "a")


def replace_run(monkeypatch: pytest.MonkeyPatch, student: Callable[[RecipePlace], str]) -> Ran:
    asked: Ran = []

    def run(recipe: str, out: Path, place: RecipePlace, flags: Sequence[str]) -> None:
        asked.append((recipe, place, flags))
        assert not (out / "emulation").exists(), "what another processor made is read"
        finish(out, student(place))

    monkeypatch.setattr(same_recipes, "run", run)
    return asked


@pytest.mark.parametrize(("differs", "code"), [(False, 0), (True, 1)])
def test_one_row_a_processor_and_the_exit_code_says_whether_they_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, differs: bool, code: int
) -> None:
    ran = replace_run(monkeypatch, lambda place: "b" if differs and place.name == FIRST else "a")
    page = tmp_path / "page.md"
    arguments = ["demo", "--runs", str(tmp_path / "runs"), "--out", str(page)]
    assert same_recipes.main(arguments) == code
    assert ran == [("demo", RecipePlace(name, cores), []) for name in ENVIRONMENTS for cores in (CORES, 1)]
    rows = same_recipes.kept_rows(page)
    assert len(rows) == len(ran)
    assert rows[-1][4:] == ["teacher", "PASS", "1 of 1", "a" * 12, "a" * 12, "c" * 12, "commit 0"]
    assert same_recipes.main(arguments) == code
    assert len(ran) == len(rows), "a finished run ran again"
    assert same_recipes.kept_rows(page) == rows


def test_the_ends_are_the_first_processor_on_all_cores_and_the_last_on_one(tmp_path: Path, ran: Ran) -> None:
    page = tmp_path / "page.md"
    for recipe in ("rl-cc", "demo", "rl-cc"):
        assert same_recipes.main([recipe, "--ends", "--runs", str(tmp_path / "runs"), "--out", str(page)]) == 0
    assert ran[:2] == [("rl-cc", RecipePlace(FIRST, CORES), []), ("rl-cc", RecipePlace(OTHERS[-1], 1), [])]
    assert "bench.same_recipes rl-cc --ends`" in page.read_text()
    assert [row[0] for row in same_recipes.kept_rows(page)] == ["demo", "demo", "rl-cc", "rl-cc"]


def test_gates_take_the_firmware_of_the_first_processor(tmp_path: Path, ran: Ran) -> None:
    page = tmp_path / "page.md"
    assert same_recipes.main(["demo", "--gates", "--runs", str(tmp_path / "runs"), "--out", str(page)]) == 0
    assert ran[0] == ("demo", RecipePlace(FIRST, CORES), [])
    assert ran[1:] == [("demo", RecipePlace(name, CORES, whole=False), ["--from", "emulate"]) for name in OTHERS]
    assert [row[4] for row in same_recipes.kept_rows(page)] == ["teacher"] + ["firmware"] * len(OTHERS)


@pytest.mark.parametrize(("students", "code"), [("aa", 0), ("ab", 1)])
def test_rows_of_another_machine_stay_and_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, students: str, code: int
) -> None:
    arguments = ["demo", "--ends", "--out", str(tmp_path / "page.md"), "--runs"]
    for student, machine, expected in zip(students, ("x", "y"), (0, code), strict=True):
        replace_run(monkeypatch, lambda place, student=student: student)  # type: ignore[misc]
        monkeypatch.setattr(same_recipes, "this_processor", lambda machine=machine: machine)
        assert same_recipes.main([*arguments, str(tmp_path / machine)]) == expected
    assert [row[1] for row in same_recipes.kept_rows(tmp_path / "page.md")] == ["x", "x", "y", "y"]


def test_here_runs_the_first_processor_alone(tmp_path: Path, ran: Ran) -> None:
    page = tmp_path / "page.md"
    assert same_recipes.main(["demo", "--here", "--runs", str(tmp_path / "runs"), "--out", str(page)]) == 0
    assert ran == [("demo", RecipePlace(FIRST, CORES), [])]


def row(commit: str, student: str, certificate: str) -> list[str]:
    return ["demo", "x", "-", "2", "teacher", "PASS", "1 of 1", student, student, certificate, commit]


@pytest.mark.parametrize(
    ("rows", "same"),
    [
        ([row("0", "a", "c"), row("0", "a", "c")], True),
        ([row("0", "a", "c"), row("1", "b", "c")], True),
        ([row("0", "a", "c"), row("0", "b", "c")], False),
        ([row("0", "a", "c"), row("1", "a", "d")], False),
    ],
    ids=["alike", "another commit", "another student", "another certificate"],
)
def test_certificates_are_compared_over_commits_and_students_within_one(rows: list[list[str]], same: bool) -> None:
    assert same_recipes.agree(rows) == same


def test_a_run_without_a_verdict_is_told_and_no_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(recipe: str, out: Path, place: RecipePlace, flags: Sequence[str]) -> None:
        raise InputError("no verdict")

    monkeypatch.setattr(same_recipes, "run", run)
    page = tmp_path / "page.md"
    assert same_recipes.main(["demo", "--runs", str(tmp_path), "--out", str(page)]) == 2
    assert not page.exists()
