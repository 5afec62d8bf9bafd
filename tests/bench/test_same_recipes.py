"""The table of whole recipes on pretended processors, from verdicts written by hand."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench import same_recipes
from bench.same_bytes import ENVIRONMENTS
from decision.artefact.errors import InputError
from rlcc.gate.names import named
from rlcc.gate.verdict import Verdict


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
    for stage in ("student", "firmware", "verdict"):
        (out / stage).mkdir(parents=True)
        (out / stage / "manifest.json").write_text(json.dumps({"hash": student * 64}))
    (out / "verdict" / "verdict.json").write_text(json.dumps({"verdict": "PASS"} | verdict.model_dump(mode="json")))
    (out / same_recipes.SOURCE).write_text("commit 0")


@pytest.mark.parametrize(("differs", "code"), [(False, 0), (True, 1)])
def test_one_row_a_processor_and_the_exit_code_says_whether_they_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, differs: bool, code: int
) -> None:
    ran: list[tuple[str, int]] = []

    def run(recipe: str, out: Path, environment: Mapping[str, str], cores: int) -> None:
        ran.append((recipe, cores))
        finish(out, "b" if differs and environment else "a")

    monkeypatch.setattr(same_recipes, "run", run)
    arguments = ["demo", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "page.md")]
    assert same_recipes.main(arguments) == code
    assert ran == [("demo", cores) for _ in ENVIRONMENTS for cores in (len(os.sched_getaffinity(0)), 1)]
    rows = [line.split("|")[3:-1] for line in (tmp_path / "page.md").read_text().splitlines() if "| demo," in line]
    assert len(rows) == len(ran)
    assert [cell.strip() for cell in rows[0]] == ["PASS", "1 of 1", "a" * 12, "a" * 12, "c" * 12, "commit 0"]
    assert same_recipes.main(arguments) == code
    assert len(ran) == len(rows)


def test_the_ends_are_the_first_processor_on_all_cores_and_the_last_on_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[bool, int]] = []

    def run(recipe: str, out: Path, environment: Mapping[str, str], cores: int) -> None:
        ran.append((bool(environment), cores))
        finish(out, "a")

    monkeypatch.setattr(same_recipes, "run", run)
    page = tmp_path / "page.md"
    assert same_recipes.main(["demo", "--ends", "--runs", str(tmp_path / "runs"), "--out", str(page)]) == 0
    assert ran == [(False, len(os.sched_getaffinity(0))), (True, 1)]
    assert "bench.same_recipes demo --ends`" in page.read_text()
    assert same_recipes.main(["rl-cc", "--ends", "--runs", str(tmp_path / "runs"), "--out", str(page)]) == 0
    assert same_recipes.main(["demo", "--ends", "--runs", str(tmp_path / "runs"), "--out", str(page)]) == 0
    rows = [row[0].partition(",")[0] for row in same_recipes.rows_of_others(page, [])]
    assert rows == ["rl-cc", "rl-cc", "demo", "demo"]


def test_a_run_without_a_verdict_is_told_and_no_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(recipe: str, out: Path, environment: Mapping[str, str], cores: int) -> None:
        raise InputError("no verdict")

    monkeypatch.setattr(same_recipes, "run", run)
    page = tmp_path / "page.md"
    assert same_recipes.main(["demo", "--runs", str(tmp_path), "--out", str(page)]) == 2
    assert not page.exists()
