"""The verdict's files: the schema in the docs is the code's, JUnit counts, and odd characters survive."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from rlcc.gate import verdict
from rlcc.gate.names import named
from rlcc.gate.verdict import Check, Verdict
from rlcc.reports import folder
from rlcc.reports.legend import COLUMNS

DOCUMENTED = Path(__file__).resolve().parents[3] / "docs" / "reference" / "verdict.schema.json"


@pytest.fixture
def failed() -> Verdict:
    checks = [
        Check(
            id="equality.core",
            group="equality",
            name="C on the core",
            value="0 of 9 differ",
            limit="0 differ",
            passed=True,
        ),
        Check(
            id="budget.wcet",
            group="budget",
            name="time <&> a|b",
            value="9 cycles",
            limit="1 us",
            passed=False,
            detail='vector 3 "x"',
        ),
        named("network.*", part="loss", of="many-to-one:8", metric="loss")(value="0.1", limit="+0.0001", passed=False),
    ]
    hashes = {"firmware": "f" * 64, "student": "5" * 64, "teacher": "7" * 64}
    return Verdict(policy="p", profile="ibex-small", checks=checks, measured={"x": float("nan")}, **hashes)


def test_the_schema_in_the_docs_is_the_codes() -> None:
    assert json.loads(DOCUMENTED.read_text()) == verdict.schema(), (
        "write docs/reference/verdict.schema.json anew: "
        "python -c 'import json; from rlcc.gate import verdict; print(json.dumps(verdict.schema(), indent=2))'"
    )


def test_the_schema_is_closed_and_names_the_outcome() -> None:
    schema = verdict.schema()
    assert schema["additionalProperties"] is False
    assert schema["properties"]["verdict"] == {"enum": ["PASS", "QUICK PASS", "FAIL"]}
    assert {"verdict", "checks", "measured"} <= set(schema["required"])


def test_the_files_say_fail_and_why(failed: Verdict, tmp_path: Path) -> None:
    folder.write(failed, "<!doctype html>", tmp_path / "verdict")
    manifest = opened(tmp_path / "verdict", folder.KIND)
    assert set(manifest.files) == {folder.JSON, folder.JUNIT, folder.MARKDOWN, folder.PAGE}

    content: dict[str, Any] = json.loads((tmp_path / "verdict" / folder.JSON).read_text())
    assert content["verdict"] == "FAIL"
    assert content["measured"] == {"x": None}

    suite = ElementTree.parse(tmp_path / "verdict" / folder.JUNIT).getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "3", "2")
    cases = suite.findall("testcase")
    assert [len(case.findall("failure")) for case in cases] == [0, 1, 1]
    assert cases[1].get("name") == "time <&> a|b"
    ids = [case.find("properties/property") for case in cases]
    assert [None if one is None else one.get("value") for one in ids] == [check.id for check in failed.checks]
    failure = cases[1].find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("9 cycles, limit 1 us", 'vector 3 "x"')

    lines = (tmp_path / "verdict" / folder.MARKDOWN).read_text().splitlines()
    assert lines[0] == "# FAIL: p on ibex-small"
    first = lines.index("| " + " | ".join(COLUMNS) + " |")
    rows = lines[first + 2 : first + 5]
    assert lines[first + 5] == ""
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
    assert sum("**FAIL**" in row for row in rows) == 2


def test_a_verdict_replaces_only_a_verdict(failed: Verdict, tmp_path: Path) -> None:
    folder.write(failed, "<!doctype html>", tmp_path / "verdict")
    folder.write(failed, "<!doctype html>", tmp_path / "verdict")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("the only copy")
    with pytest.raises(InputError, match="an empty folder"):
        folder.write(failed, "<!doctype html>", tmp_path / "mine")
