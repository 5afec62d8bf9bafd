"""SARIF 2.1.0: a result for each failed check at its place in the firmware, and one for the C line of the worst path.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/: one run; ``rules`` are the groups of checks that were judged; a place
is a file relative to the folder in which the job runs, with ``/`` on every system.
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import rlcc
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from rlcc.commands.options import not_within
from rlcc.gate.verdict import Check, Verdict, WorstPath

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
NAME = "rlcc gate"
SOURCE = "rlcc_policy.c"
WORST = "worst-path"
MEANING = {
    "equality": "Firmware and program differ",
    "object code": "Forbidden constructs in the object code",
    "size": "The firmware exceeds a size limit",
    "proof": "No valid certificate for this firmware",
    "budget": "The decision time exceeds the budget",
    "regression": "Regression from the reference firmware",
    "behaviour": "The policy violates a property",
    "teacher": "Actions deviate from the teacher's",
    "network": "Network metrics are worse than the teacher's",
    WORST: "Most expensive C line on the worst path",
}


def sarif(verdict: Verdict, firmware: Path) -> dict[str, Any]:
    """The document. ``firmware``: the folder; outside the job's folder only its name is told."""
    base = where(firmware)
    results = [_failure(check, base, verdict.worst_path, _source(verdict)) for check in verdict.failures()]
    if verdict.worst_path is not None and verdict.worst_path.placed:
        results.append(_worst(verdict.worst_path, base, _source(verdict)))
    judged = {name: text for name, text in MEANING.items() if name not in verdict.not_judged}
    driver = {
        "name": NAME,
        "semanticVersion": rlcc.__version__,
        "rules": [{"id": _id(name), "shortDescription": {"text": text}} for name, text in judged.items()],
    }
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    if verdict.not_judged:
        category = "rlcc-gate-quick/" if verdict.quick else "rlcc-gate/"
        run |= {
            "automationDetails": {"id": category},
            "properties": {"notJudged": verdict.not_judged},
        }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def discard(file: Path, firmware: Path) -> None:
    """Remove what an earlier run wrote; InputError where ``file`` is something else, or belongs to the firmware."""
    not_within(firmware, file)
    if not file.exists():
        return
    try:
        made_by = load_json(file)["runs"][0]["tool"]["driver"]["name"]
    except (InputError, LookupError, TypeError):
        made_by = None
    if made_by != NAME:
        raise InputError(f"{file} is not a SARIF file of {NAME}; choose another place")
    file.unlink()


def where(firmware: Path) -> str:
    """The firmware folder as a relative URI."""
    folder, here = firmware.resolve(), Path.cwd().resolve()
    inside = folder.relative_to(here) if folder.is_relative_to(here) else Path(folder.name)
    return inside.as_posix()


def _source(verdict: Verdict) -> str:
    """The file of the decision, by the name that the checks call it."""
    return next((check.file for check in verdict.checks if check.file.endswith("_policy.c")), SOURCE)


def _failure(check: Check, base: str, path: WorstPath | None, source: str) -> dict[str, Any]:
    text = f"{check.name}: {check.value}, limit {check.limit}" + (f". {check.detail}" if check.detail else "")
    result = {
        "ruleId": _id(check.group),
        "level": "error",
        "message": {"text": text},
        "locations": [_location(base, check.file or "manifest.json", check.line)],
        "partialFingerprints": {"check/v2": check.id},
    }
    if check.group in ("budget", "regression") and path is not None:
        result["relatedLocations"] = _related(path, base, source)
    return result


def _worst(path: WorstPath, base: str, source: str) -> dict[str, Any]:
    first = path.placed[0]
    text = f"{first.cycles:g} of {path.cycles:g} cycles of the worst path ({path.input}) are spent on this line"
    return {
        "ruleId": _id(WORST),
        "kind": "informational",
        "level": "none",
        "message": {"text": text},
        "locations": [_location(base, source, first.line)],
        "relatedLocations": _related(path, base, source)[1:],
        "partialFingerprints": {"check/v2": WORST},
    }


def _related(path: WorstPath, base: str, source: str) -> list[dict[str, Any]]:
    return [
        {"id": n, "message": {"text": f"{cost.cycles:g} cycles"}, **_location(base, source, cost.line)}
        for n, cost in enumerate(path.placed, start=1)
    ]


def _location(base: str, file: str, line: int) -> dict[str, Any]:
    uri = f"{base}/{file}" if base != "." else file
    return {"physicalLocation": {"artifactLocation": {"uri": quote(uri)}, "region": {"startLine": max(line, 1)}}}


def _id(group: str) -> str:
    return "rlcc/" + group.replace(" ", "-")
