"""The page of what the recipes come to, from verdicts written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench import recipes
from decision.artefact import output
from decision.ir.forest import Forest, oblivious
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc.gate.names import named
from rlcc.gate.verdict import Verdict
from rlcc.reports.pages import rows_of
from teachers.load import load

ROOT = Path(__file__).resolve().parents[2]


def verdict(passed: bool = True, proved: int | None = 93, bound: int | None = None) -> Verdict:
    measured: dict[str, Any] = {
        "emulation": {"cycles": {"mean": 87.6, "max": 92}, "clock_mhz": 330.0}
        | {"code_bytes": 1116, "table_bytes": 1700, "context_bytes": 8},
        "worst_case_cycles": proved,
        "bound_cycles": bound,
        "fidelity": [
            {"metric": "latency_mean_us", "difference": 0.01},
            {"metric": "latency_mean_us", "difference": -0.0125},
            {"metric": "loss", "difference": 0.0},
        ],
    }
    checks = [
        named("size.code")(value="1116 B", limit="16384 B", passed=True),
        named("network.no_scenario", of="loss")(value="0.5", limit="+0.0001", passed=passed),
    ]
    return Verdict(
        policy="p", firmware="f", student="s", teacher="t", profile="ibex-small", checks=checks, measured=measured
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    teacher = load(ROOT / "fixtures/teachers/rl-cc-mlp")
    policy = teacher.policy
    names = feature_names(policy.observation)
    forest = Forest(names, (oblivious(((0, 9), (1, 9)), (0, 1, 2, 3)),) * 3, (0,), policy.action.leaf_bits)
    made = Student(policy.name, policy.header, forest, teacher.hash)
    with output.writing(tmp_path / "rl-cc/student", "student", parents={"teacher": teacher.hash}) as work:
        made.save(work)
    (tmp_path / "rl-cc/verdict").mkdir()
    (tmp_path / "rl-cc" / recipes.SOURCE).write_text("commit 1")
    return tmp_path


def written(runs: Path, given: Verdict) -> str:
    data = {"verdict": "PASS" if given.passed else "FAIL"} | given.model_dump()
    (runs / "rl-cc/verdict/verdict.json").write_text(json.dumps(data))
    assert recipes.main(["rl-cc", "--runs", str(runs), "--out", str(runs / "page.md")]) == 0
    return (runs / "page.md").read_text()


def row(page: str) -> list[str]:
    return next([c.strip() for c in line.split("|")] for line in page.splitlines() if line.startswith("| [rl-cc]"))


def test_a_row_says_what_the_student_costs_and_whether_it_is_proved(runs: Path) -> None:
    page = written(runs, verdict())
    costs = ["PASS", "2 of 2", "3", "2", "88", "93", "yes", "0.282", "1116", "1700", "8", "0.9"]
    assert row(page)[2:-1] == [*costs, "commit 1"]
    assert "| rl-cc  |       - |       -1.25% |" in page
    assert '\nPASS  policy "p"' in page
    assert "page: acc-groups, acc, " in page


def test_what_is_not_proved_and_what_fails_is_said(runs: Path) -> None:
    page = written(runs, verdict(passed=False, proved=None))
    assert row(page)[2:9] == ["FAIL", "1 of 2", "3", "2", "88", "92", "no"]
    (failed,) = [line for line in page.splitlines() if line.startswith("- rl-cc fails: ")]
    name = verdict(passed=False).checks[1].name
    assert [text in failed for text in (name, "0.5", "+0.0001")] == [True] * 3
    assert row(written(runs, verdict(proved=None, bound=95)))[7:9] == ["95", "bounded"]


def test_a_verdict_of_another_form_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "rl-cc/verdict/verdict.json").write_text("{}")
    assert recipes.main(["rl-cc", "--runs", str(runs), "--out", str(runs / "page.md")]) == 2
    assert "verdict.json" in capsys.readouterr().err
    assert not (runs / "page.md").exists()


def test_rows_of_recipes_that_are_not_named_stay(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = written(runs, verdict(passed=False))
    (runs / "rl-cc").rename(runs / "acc")
    page = runs / "page.md"
    assert recipes.main(["acc", "--runs", str(runs), "--out", str(page)]) == 0
    after = page.read_text()
    assert row(after) == row(before)
    for heading in (recipes.HEADING, recipes.OFF_HEADING):
        assert [cells[0].strip("[").partition("]")[0] for cells in rows_of(after, heading)] == ["acc", "rl-cc"]
    assert [line.split()[1] for line in after.splitlines() if " fails: " in line] == ["rl-cc", "acc"]
    assert after.partition("```text")[2] == before.partition("```text")[2]
    page.unlink()
    assert recipes.main(["acc", "--runs", str(runs), "--out", str(page)]) == 2
    assert "name rl-cc too" in capsys.readouterr().err
