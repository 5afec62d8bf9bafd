"""What CI systems read: SARIF by the rules of its standard, GitHub's commands, JUnit and Markdown with odd text."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from rlcc.gate.names import named
from rlcc.gate.verdict import Check, CostlyLine, Verdict, WorstPath
from rlcc.reports import github, sarif
from rlcc.reports.junit import junit
from rlcc.reports.legend import COLUMNS
from rlcc.reports.markdown import markdown

PATH = WorstPath(
    input="the slowest vector, 3",
    cycles=135,
    lines=[
        CostlyLine(function="rlcc_decide", line=280, text="int32_t decided_q16 = leaves[place];", cycles=11),
        CostlyLine(function="_start", line=0, text="", cycles=8),
        CostlyLine(function="place_a", line=72, text="if (a > 5U) {", cycles=6),
    ],
)


def made(*failed: Check, path: WorstPath | None = PATH) -> Verdict:
    fine = named("equality.core", profile="p", compiler="c")(value="0 of 9 differ", limit="0 differ", passed=True)
    texts = dict.fromkeys(("policy", "profile"), "p") | dict.fromkeys(("firmware", "student", "teacher"), "f" * 64)
    return Verdict(checks=[fine, *failed], worst_path=path, measured={}, **texts)


def failed(**changes: Any) -> Check:
    parts: dict[str, Any] = {
        "id": "budget.wcet",
        "group": "budget",
        "name": "decision time",
        "value": "9 us",
        "limit": "1 us",
    }
    return Check(**parts | {"passed": False, "file": "rlcc_policy.c", "line": 280} | changes)


def conforms(document: dict[str, Any]) -> None:
    """What sections 3.13, 3.14, 3.19, 3.27, 3.28 and 3.30 of the standard ask of the parts that are used."""
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    assert set(document) == {"$schema", "version", "runs"}
    for run in document["runs"]:
        assert set(run) <= {"tool", "columnKind", "results"}
        driver = run["tool"]["driver"]
        rules = [rule["id"] for rule in driver["rules"]]
        assert driver["name"]
        assert len(set(rules)) == len(rules)
        for result in run["results"]:
            assert result["ruleId"] in rules
            assert result["message"]["text"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert result.get("kind", "fail") == "fail" or result["level"] == "none"  # 3.27.10
            assert len(result["locations"]) == 1
            ids = [place["id"] for place in result.get("relatedLocations", [])]
            assert len(set(ids)) == len(ids)
            for place in [*result["locations"], *result.get("relatedLocations", [])]:
                physical = place["physicalLocation"]
                uri = physical["artifactLocation"]["uri"]
                assert re.fullmatch(r"[A-Za-z0-9._~/%+-]+", uri), uri
                assert not uri.startswith("/")
                assert physical["region"]["startLine"] >= 1


def test_sarif_points_at_the_costliest_line_and_at_each_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my firmware").mkdir()
    monkeypatch.chdir(tmp_path)
    other = failed(id="teacher.rmse", group="teacher", name="action error", file="student.json", line=0)
    document = sarif.sarif(made(failed(), other), tmp_path / "my firmware")
    conforms(document)
    over, teacher, worst = document["runs"][0]["results"]
    place = over["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "my%20firmware/rlcc_policy.c"},
        "region": {"startLine": 280},
    }
    lines = [p["physicalLocation"]["region"]["startLine"] for p in over["relatedLocations"]]
    assert lines == [280, 72]  # code without a line is no place
    assert teacher["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20firmware/student.json"
    assert "relatedLocations" not in teacher
    ids = [one["partialFingerprints"]["check/v2"] for one in (over, teacher)]
    assert ids == ["budget.wcet", "teacher.rmse"]  # a reworded name is the same alert
    assert (worst["kind"], worst["locations"][0]["physicalLocation"]["region"]["startLine"]) == ("informational", 280)


def test_sarif_of_a_pass_names_the_worst_path_only() -> None:
    document = sarif.sarif(made(), Path("firmware"))
    conforms(document)
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["rlcc/worst-path"]
    nothing = sarif.sarif(made(path=None), Path("firmware"))
    conforms(nothing)
    assert nothing["runs"][0]["results"] == []


def test_every_group_of_checks_has_a_rule() -> None:
    groups = Check.model_json_schema()["properties"]["group"]["enum"]
    assert set(groups) | {sarif.WORST} == set(sarif.MEANING)


def test_a_folder_outside_the_job_is_told_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job").mkdir()
    monkeypatch.chdir(tmp_path / "job")
    assert sarif.where(tmp_path / "firmware") == "firmware"
    assert sarif.where(tmp_path / "job/a/b") == "a/b"


def test_only_an_own_sarif_file_is_replaced(tmp_path: Path) -> None:
    own, thesis, inside = tmp_path / "own.sarif", tmp_path / "thesis.json", tmp_path / "firmware/x.sarif"
    own.write_text(json.dumps(sarif.sarif(made(), Path("firmware"))))
    thesis.write_text('{"runs": []}')
    sarif.discard(own, tmp_path / "firmware")
    sarif.discard(own, tmp_path / "firmware")
    assert not own.exists()
    with pytest.raises(InputError, match="not a SARIF file"):
        sarif.discard(thesis, tmp_path / "firmware")
    with pytest.raises(InputError, match="of the firmware"):
        sarif.discard(inside, tmp_path / "firmware")
    assert thesis.exists()


TEXT = st.text(max_size=40) | st.sampled_from(
    ["\n::error::x", "%0A::add-mask::y", "a|b", "<script>", "]]>", "`x`", "\x1b[2J"]
)


@given(name=TEXT, value=TEXT, detail=TEXT, text=TEXT)
def test_no_text_of_a_check_breaks_out_of_a_report(name: str, value: str, detail: str, text: str) -> None:
    path = WorstPath(input=value, cycles=1, lines=[CostlyLine(function=name, line=1, text=text, cycles=1)])
    verdict = made(failed(name=name, value=value, detail=detail, file="a,b:c"), path=path)
    conforms(json.loads(json.dumps(sarif.sarif(verdict, Path("firmware")))))
    (line,) = github.failures(verdict, Path("firmware"))
    assert line.startswith("::error file=firmware/a%2Cb%3Ac,line=280,title=rlcc gate%3A budget::")
    assert "\n" not in line
    assert "\r" not in line
    suite = ElementTree.fromstring(junit(verdict))
    assert len(suite.findall("testcase/failure")) == 1
    rows = markdown(verdict).split("\n")
    first = rows.index("| " + " | ".join(COLUMNS) + " |") + 2
    assert [not row for row in rows].index(True, first) == first + 2
    for row in rows[first : first + 2]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 6
    assert "<script>" not in markdown(made(failed(name=name, value=value, detail=detail), path=None)).replace("\\<", "")


def test_the_summary_is_appended_where_there_is_one(tmp_path: Path) -> None:
    github.summarise(made(), {})
    (tmp_path / "summary").write_text("before\n")
    github.summarise(made(), {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")})
    assert (tmp_path / "summary").read_text().splitlines()[:2] == ["before", "# PASS: p on p"]
    assert github.running_there({"GITHUB_ACTIONS": "true"})
    assert not github.running_there({"GITHUB_ACTIONS": "false"})


def test_a_refusal_is_one_command() -> None:
    assert re.fullmatch(r"::error title=[^:\n]+::100 %25%0Ax", github.refusal("100 %\nx"))
