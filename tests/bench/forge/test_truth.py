"""The forger can fail: of what a judge accepts that believes everything, the false is told from the true and shown."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.forge import __main__ as command
from bench.forge import results
from bench.forge.documents import DOCUMENTS, Forgery
from bench.forge.judges import Files, JudgeAnswer
from bench.forge.places import Path as Steps
from bench.forge.places import replaced
from bench.forge.results import ForgeryRow
from bench.forge.session import drawn, judged, prepared_copy
from bench.forge.subjects import ForgerySubject
from bench.forge.truth import TruthCase, differing, explained


def believed(subject: ForgerySubject, document: str, true: Any, forged: Any, judge: str = "check") -> str:
    case = TruthCase(subject, document, (), "", true, forged, subject.files, JudgeAnswer(judge, "accepted", ""))
    return explained(case).meaning


CERTIFICATES: dict[str, tuple[Steps, Any, str]] = {
    "a lower bound": (("claims", "worst_case", "bound"), 92, "FALSE"),
    "a higher bound": (("claims", "worst_case", "bound"), 94, "weaker"),
    "another exact worst case": (("claims", "worst_case", "exact"), 92, "FALSE"),
    "a bound alone": (("claims", "worst_case", "exact"), None, "weaker"),
    "other cycles on the RTL": (("claims", "worst_case", "rtl_cycles"), 92, "FALSE"),
    "other outputs": (("claims", "worst_case", "outputs", "rate_q20"), 8, "FALSE"),
    "a witness of no firmware": (("claims", "worst_case", "witness", "event.response_ns"), 6, "FALSE"),
    "less stack": (("claims", "stack_bytes"), 8, "FALSE"),
    "more stack": (("claims", "stack_bytes"), 24, "weaker"),
    "other cells": (("cells",), 1, "no claim"),
    "another version of a tool": (("tools", "rlcc"), "2", "no claim"),
    "fewer questions": (("queries",), [], "no claim"),
    "another cut": (("cuts", 0, "holds", "x10"), "node.7", "no claim"),
    "another engine": (("engine", "profile", "name"), "ibex-maxperf", "FALSE"),
    "a better calibration": (("engine", "calibration", "calls"), 9999, "FALSE"),
    "another compiler": (("subject", "compiler_version"), "clang 99", "FALSE"),
    "another image": (("subject", "image"), "0" * 64, "FALSE"),
    "fewer assumptions": (("assumptions",), [], "FALSE"),
    "a better value": (("behaviour", 0, "findings", 0, "value"), "1 to 1", "FALSE"),
    "another verdict": (("behaviour", 1, "findings", 0, "verdict"), "holds", "FALSE"),
    "an invented property": (("behaviour", 1, "asked", "kind"), "loses_nothing", "FALSE"),
    "another limit": (("behaviour", 1, "asked", "decisions"), 1, "FALSE"),
    "no findings": (("behaviour", 0, "findings"), [], "FALSE"),
    "no properties": (("behaviour",), [], "weaker"),
    "a smaller distance": (("teacher", "bound"), 0.1, "FALSE"),
    "a greater distance": (("teacher", "bound"), 0.3, "weaker"),
    "the same distance": (("teacher", "bound"), 0.185 - 2**-24, "equal"),
    "more is reached": (("teacher", "reached"), 0.185, "FALSE"),
    "less is reached": (("teacher", "reached"), 0.1, "weaker"),
    "another teacher": (("teacher", "teacher"), "0" * 64, "FALSE"),
    "a smaller neighbourhood": (("teacher", "share"), 0.1, "FALSE"),
    "no teacher": (("teacher",), None, "weaker"),
    "an unknown key": (("claims",), {"more": True}, "FALSE"),
}


@pytest.mark.parametrize(("path", "value", "meaning"), CERTIFICATES.values(), ids=CERTIFICATES)
def test_what_a_certificate_says_is_true_weaker_or_false(
    subject: ForgerySubject, certificate: dict[str, Any], path: Steps, value: Any, meaning: str
) -> None:
    assert believed(subject, "certificate", certificate, replaced(certificate, path, value)) == meaning


def test_two_changes_are_no_weaker_for_one_of_them(subject: ForgerySubject, certificate: dict[str, Any]) -> None:
    more = replaced(certificate, ("claims", "stack_bytes"), 24)
    both = replaced(more, ("claims", "worst_case", "exact"), 92)
    assert believed(subject, "certificate", certificate, more) == "weaker"
    assert believed(subject, "certificate", certificate, both) == "FALSE"


MANIFEST = {"kind": "firmware", "tools": {"numpy": "1"}, "parents": {"teacher": "a"}, "seed": 1}
MANIFEST |= {"format": 2, "files": {"a.c": "0"}, "details": {"target": "generic", "layout": {}}}
FOLDERS: dict[str, tuple[Steps, Any, str, str]] = {
    "tools": (("tools", "numpy"), "2", "gate, unsigned", "no claim"),
    "parents, at the gate": (("parents", "teacher"), "b", "gate, unsigned", "FALSE"),
    "parents, of a proof": (("parents", "teacher"), "b", "check, foreign", "no claim"),
    "files, of a proof": (("files", "a.c"), "1", "check, foreign", "FALSE"),
    "the layout, of a proof": (("details", "layout"), {"x": 1}, "check, foreign", "FALSE"),
}


@pytest.mark.parametrize(("path", "value", "judge", "meaning"), FOLDERS.values(), ids=FOLDERS)
def test_a_folder_is_held_to_what_its_judge_claims(
    subject: ForgerySubject, path: Steps, value: Any, judge: str, meaning: str
) -> None:
    assert believed(subject, "manifest", MANIFEST, replaced(MANIFEST, path, value), judge) == meaning


def test_numbers_may_be_written_otherwise_truth_values_may_not(subject: ForgerySubject) -> None:
    true = {"cycles": 91, "equality": True}
    assert believed(subject, "attestation", true, {"cycles": 91.0, "equality": True}) == "equal"
    assert believed(subject, "attestation", true, {"cycles": 91, "equality": 1}) == "FALSE"
    assert believed(subject, "attestation", true, None) == "FALSE", "what can be read in two ways"


def test_differences_are_named_by_field() -> None:
    true = {"a": [{"b": 1}, {"b": 2}], "c": 1}
    assert differing(true, {"a": [{"b": 1}, {"b": 3}], "c": 1}) == {"a[].b"}
    assert differing(true, {"a": [{"b": 1}], "d": 1}) == {"a", "c", "d"}
    assert differing({"a": 1}, {"a": 1.0}) == differing({"a": 1}, {"a": True}) == {"a"}


def believing(files: Files) -> JudgeAnswer:
    return JudgeAnswer("check", "accepted", "")


def test_a_judge_that_accepts_all_is_found_out(subject: ForgerySubject, tmp_path: Path) -> None:
    """Of every field that is a claim at least one forgery is false."""
    place = prepared_copy(subject, tmp_path)
    rows = [
        judged(subject, replace(forgery, judges=(believing,)), place)
        for forgery in drawn(subject, [], ["certificate"], 1, 1, 1)
    ]
    false = {row.field for row in rows if row.outcome == "FALSE"}
    claims = [
        row.field for row in rows if row.field.startswith(("subject", "engine", "claims", "behaviour", "teacher"))
    ]
    accepted = {row.field for row in rows if row.outcome in ("weaker", "equal")}
    assert set(claims) - accepted <= false
    assert len(set(claims) & false) > 50
    assert len(accepted) < 15
    assert {row.outcome for row in rows if row.field == "cells"} >= {"no claim"}
    assert all(row.document == "certificate" for row in rows)
    files = [p for p in subject.files.root.rglob("*") if p.is_file()]
    assert all((place / p.relative_to(subject.files.root)).read_bytes() == p.read_bytes() for p in files), "put back"


def only(monkeypatch: pytest.MonkeyPatch, subject: ForgerySubject, answer: JudgeAnswer) -> None:
    """The command has this subject, and one judge of certificates."""
    monkeypatch.setattr(command, "_subject", lambda name, options: subject)
    monkeypatch.setattr(results, "hash_of", lambda subject: "0")
    document = replace(DOCUMENTS["certificate"], judges=(lambda files: answer,))
    monkeypatch.setitem(DOCUMENTS, "certificate", document)


@pytest.mark.parametrize(("outcome", "code"), [("accepted", 1), ("crashed", 1), ("refused", 0)])
def test_the_exit_code_says_whether_something_false_was_accepted(
    monkeypatch: pytest.MonkeyPatch, subject: ForgerySubject, tmp_path: Path, capsys: Any, outcome: Any, code: int
) -> None:
    only(monkeypatch, subject, JudgeAnswer("check", outcome, "as it is"))
    work, page = tmp_path / "work", tmp_path / "page.md"
    options = ["small", "--documents", "certificate", "--limit", "60", "--places", "1", "--sample", "0"]
    assert command.main([*options, "--work", str(work), "--out", str(page)]) == code
    shown = capsys.readouterr().out
    assert ("FALSE: small certificate" in shown) == (outcome == "accepted")
    assert ("crashed: small certificate" in shown) == (outcome == "crashed")
    assert f"{outcome}" in page.read_text() or outcome == "accepted"
    lines = (work / "small.jsonl").read_text().splitlines()
    only(monkeypatch, subject, JudgeAnswer("check", "refused", "another answer"))
    assert command.main([*options, "--work", str(work), "--out", str(page)]) == code, "a run that goes on asks nobody"
    assert (work / "small.jsonl").read_text().splitlines() == lines
    every = ["small", "--documents", "certificate", "--places", "1", "--work", str(work), "--out", str(page), "--kept"]
    assert command.main(every) == code
    assert f"\n{len(lines)} forgeries of 1 subjects" in page.read_text(), "what was not judged is not counted"
    assert command.main([*options, "--work", str(work), "--out", str(page), "--fresh"]) == 0


def test_the_worst_answer_is_the_outcome() -> None:
    refused, weaker = {"outcome": "refused", "meaning": ""}, {"outcome": "accepted", "meaning": "weaker"}
    false, crashed = {"outcome": "accepted", "meaning": "FALSE"}, {"outcome": "crashed", "meaning": ""}
    row = ForgeryRow("s", "d", "f", [], "e", True, [refused, weaker, false, crashed])
    assert row.outcome == "FALSE"
    assert replace(row, answers=[refused, crashed, weaker]).outcome == "crashed"
    assert replace(row, answers=[refused, weaker]).outcome == "weaker"
    assert replace(row, answers=[refused]).outcome == "refused"


def test_results_of_other_code_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, subject: ForgerySubject, tmp_path: Path
) -> None:
    monkeypatch.setattr(results, "hash_of", lambda subject: "0")
    forgery = Forgery("certificate", ("cells",), "0", True, lambda files: None, ())
    kept = results.ForgeryResults(tmp_path / "results.jsonl")
    kept.add(subject, ForgeryRow("small", "certificate", "cells", ["cells"], "0", True, [{"outcome": "refused"}]))
    assert results.ForgeryResults(tmp_path / "results.jsonl").of(subject, forgery) is not None
    monkeypatch.setattr(results, "code_hash", lambda: "other")
    assert results.ForgeryResults(tmp_path / "results.jsonl").of(subject, forgery) is None
    assert json.loads((tmp_path / "results.jsonl").read_text())[1]["field"] == "cells"


PROVED = "teacher.deviation_bound"
ROWS: dict[str, tuple[dict[str, str], str]] = {
    "proved": ({PROVED: "at most 0.18513, at least 0.18485"}, "weaker"),
    "left out, which is no proof": (
        {PROVED: "no proof: these set knobs", "teacher.rmse": "0"},
        "no claim",
    ),
    "on rollouts alone": ({"teacher.rmse": "0.001"}, "no claim"),
    "nothing said of a teacher": ({"budget: x": "1"}, "FALSE"),
}


@pytest.mark.parametrize(("values", "meaning"), ROWS.values(), ids=ROWS)
def test_a_mutant_that_passes_is_held_to_what_the_verdict_says(
    subject: ForgerySubject, values: dict[str, str], meaning: str
) -> None:
    (subject.files.root / "teacher").mkdir()
    rows = {name: {"passed": True, "value": value} for name, value in values.items()}
    answer = JudgeAnswer("gate, unsigned", "accepted", "", rows)
    true, forged = {"ensemble": {}, "action": 1}, {"ensemble": {}, "action": 2}
    assert (
        explained(TruthCase(subject, "mutants of data", (), "", true, forged, subject.files, answer)).meaning == meaning
    )


@pytest.mark.parametrize(
    ("name", "edit", "meaning"),
    [
        ("manifest.json", lambda text: text + "\n", "equal"),
        ("manifest.json", lambda text: text.replace("0", "1"), "FALSE"),
        ("rlcc_policy.c", lambda text: text + "\n", "FALSE"),
        ("student.json", lambda text: text + "\n", "FALSE"),
    ],
)
def test_white_space_is_nothing_in_a_document_that_hashes_its_content(
    subject: ForgerySubject, tmp_path: Path, name: str, edit: Callable[[str], str], meaning: str
) -> None:
    """The judge that accepts such a manifest read the same; of other files every byte counts."""
    firmware = subject.files.root / "firmware"
    firmware.mkdir()
    for each in ("manifest.json", "rlcc_policy.c", "student.json"):
        (firmware / each).write_text('{"hash": "0"}')
    place = Files(prepared_copy(subject, tmp_path))
    (place.root / "firmware" / name).write_text(edit('{"hash": "0"}'))
    answer = JudgeAnswer("gate, unsigned", "accepted", "")
    assert explained(TruthCase(subject, "files", (f"firmware/{name}",), "", {}, {}, place, answer)).meaning == meaning
