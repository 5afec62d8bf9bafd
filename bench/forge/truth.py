"""Is an accepted forgery true all the same? One table of rules; what no rule explains is a false statement accepted.

A rule names a document, says when it holds, and what the forgery then is compared with the true document: ``equal``
(the same statement in other words), ``weaker`` (implied by the true one), ``no claim`` (a field that our pages say is
none; ``source`` names the page). Rules decide by means of their own: the interpreter, the RTL, the prover where the
checker has accepted.
"""

import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bench.forge.arrivals import decisions
from bench.forge.judges import Files, JudgeAnswer
from bench.forge.places import field_of, value_at
from bench.forge.subjects import ForgerySubject
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME as MANIFEST
from decision.ir.forest import Forest
from decision.ir.formats import ACTION_BITS
from decision.ir.program import Program
from decision.ir.program_json import program_from_json, program_to_json
from decision.policy.cells import act
from decision.policy.student import NAME as STUDENT
from decision.policy.student import load_student
from decision.policy.tree_decision import feature_names
from emulator.firmware import PROGRAM
from emulator.firmware_folder import built
from emulator.layout import read_layouts
from rlcc.gate.neighbourhood import extreme, furthest
from rlcc.recipe import Neighbourhood
from teachers.load import load
from verify.behaviour.decide import decide
from verify.deviation.distance import distance
from verify.prover.certify import certify, on_core
from verify.trusted.certificate import Certificate
from verify.trusted.deviation import TeacherClaim
from verify.trusted.properties import Properties

Meaning = Literal["equal", "weaker", "no claim", "FALSE"]


@dataclass(frozen=True)
class TruthCase:
    """An accepted forgery. ``true``, ``forged``: the document's data, ``forged`` None where it is no JSON or TOML;
    ``files``: the forged documents."""

    subject: ForgerySubject
    document: str
    path: tuple[str | int, ...]
    edit: str
    true: Any
    forged: Any
    files: Files
    answer: JudgeAnswer

    @property
    def field(self) -> str:
        return field_of(self.path)

    @property
    def true_certificate(self) -> Any:
        return json.loads(self.subject.files.certificate.read_bytes())

    def at(self, *path: str | int) -> tuple[Any, Any]:
        """The true and the forged value at a place; None where there is none."""
        return _at(self.true, path), _at(self.forged, path)

    def only(self, pattern: str) -> bool:
        """Whether the documents differ in fields of these names alone."""
        return all(re.fullmatch(pattern, name) for name in differing(self.true, self.forged))


@dataclass(frozen=True)
class Rule:
    """``judges``: whose acceptance it explains, a pattern; ``unread``: also where the forged document is no data."""

    document: str
    meaning: Meaning
    reason: str
    holds: Callable[[TruthCase], bool]
    source: str = ""
    judges: str = ".*"
    unread: bool = False


@dataclass(frozen=True)
class Explained:
    meaning: Meaning
    reason: str


def explained(case: TruthCase) -> Explained:
    """The first rule that holds; FALSE where none does."""
    for rule in RULES:
        if re.fullmatch(rule.document, case.document) and re.fullmatch(rule.judges, case.answer.judge):
            try:
                holds = (case.forged is not None or rule.unread) and rule.holds(case)
            except (InputError, OSError, KeyError, TypeError, ValueError, IndexError, AttributeError):
                holds = False
            if holds:
                return Explained(rule.meaning, rule.reason + (f" ({rule.source})" if rule.source else ""))
    return Explained("FALSE", "no rule explains it")


def differing(true: Any, forged: Any, path: tuple[str | int, ...] = ()) -> set[str]:
    """Fields in which two documents differ, each as far down as both have it."""
    if type(true) is type(forged) and isinstance(true, dict):
        found: set[str] = set()
        for key in true.keys() | forged.keys():
            if key not in true or key not in forged:
                found.add(field_of((*path, key)))
            else:
                found |= differing(true[key], forged[key], (*path, key))
        return found
    if type(true) is type(forged) and isinstance(true, list) and len(true) == len(forged):
        return set().union(*(differing(a, b, (*path, n)) for n, (a, b) in enumerate(zip(true, forged, strict=True))))
    return set() if type(true) is type(forged) and true == forged else {field_of(path)}


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    try:
        return value_at(document, path)
    except (KeyError, IndexError, TypeError):
        return None


# --- certificate -----------------------------------------------------------------------------------------------------


def _same_certificate(case: TruthCase) -> bool:
    """Read, it says the same."""
    true, forged = (Certificate.model_validate_json(json.dumps(data), strict=True) for data in (case.true, case.forged))
    return true.model_copy(update={"hash": ""}) == forged.model_copy(update={"hash": ""})


def _number(name: str, compare: Callable[[float, float], bool], *path: str | int) -> Callable[[TruthCase], bool]:
    """One number differs, and compares so: (true, forged)."""

    def holds(case: TruthCase) -> bool:
        true, forged = case.at(*path)
        return case.only(rf"{re.escape(name)}|hash") and type(forged) is type(true) and compare(true, forged)

    return holds


def _no_longer_exact(case: TruthCase) -> bool:
    exact, forged = case.at("claims", "worst_case", "exact")
    return case.only(r"claims\.worst_case\.exact|hash") and exact is not None and forged is None


def _another_witness(case: TruthCase) -> bool:
    """On the core it takes as long and leaves what the certificate says of it."""
    if not case.only(r"claims\.worst_case\.witness\..*|hash"):
        return False
    worst = case.forged["claims"]["worst_case"]
    engine, subject = case.forged["engine"]["profile"]["name"], case.forged["subject"]
    made = built(case.subject.files.firmware, profile=engine, compiler=subject["compiler"], opt=subject["flags"][-1])
    run = on_core(made, worst["witness"])
    return run.equal and run.cycles == worst["rtl_cycles"] and run.outputs == worst["outputs"]


def _fewer_properties(case: TruthCase) -> bool:
    """Some are left out, said twice, or said in another order; none is another."""
    true, forged = case.at("behaviour")
    return case.only(r"behaviour|behaviour\[\].*|hash") and all(claim in true for claim in forged or [])


def _decided_so(case: TruthCase) -> bool:
    """The prover finds each property as it is said, in the same words; the witness shows it, or is the prover's."""
    if not case.only(r"behaviour|behaviour\[\].*|hash"):
        return False
    forged = case.forged["behaviour"]
    asked = Properties.model_validate({"format": 1, "property": [claim["asked"] for claim in forged]}).property
    made = built(case.subject.files.firmware, profile=case.true["engine"]["profile"]["name"])
    found = [claim.model_dump(mode="json") for claim in decide(made.firmware, asked).claims()]
    return all(_same_findings(case, ours, said) for ours, said in zip(found, forged, strict=True))


def _same_findings(case: TruthCase, ours: Any, said: Any) -> bool:
    if set(ours) != set(said) or len(ours["findings"]) != len(said["findings"]):
        return False
    return all(
        {**mine, "witness": 0} == {**theirs, "witness": 0} and _shows(case, said, mine["witness"], theirs["witness"])
        for mine, theirs in zip(ours["findings"], said["findings"], strict=True)
    )


def _shows(case: TruthCase, claim: Any, ours: dict[str, int], said: dict[str, int]) -> bool:
    """A witness in the same cell of the forest shows what the prover's shows; one that a run of decisions starts from,
    in the same cell of every age that its values come to."""
    if ours == said:
        return True
    if set(ours) != set(said):
        return False
    if claim["asked"]["kind"] in ("recovers", "yields") and _arrive_alike(case, claim["asked"], ours, said):
        return True
    at = str if claim["asked"]["kind"] in ("monotone", "step") else _memory
    forest, cuts = _program(case.subject.files).forest, dict[str, list[int]]()
    for feature, thresholds in forest.thresholds().items():
        cuts.setdefault(at(forest.features[feature]), []).extend(thresholds)
    known = {at(name) for name in forest.features}
    return all(
        ours[name] == said[name] or (at(name) in known and _in_one_cell(ours[name], said[name], cuts.get(at(name), [])))
        for name in ours
    )


def _arrive_alike(case: TruthCase, asked: Any, *witnesses: dict[str, int]) -> bool:
    """Whether the runs from both arrive, in as many decisions."""
    counts = {decisions(case.subject.files, asked, witness) for witness in witnesses}
    return len(counts) == 1 and None not in counts


def _memory(name: str) -> str:
    """Returns the group of past values of one kind: each goes through the features of every age, decision by
    decision."""
    return re.sub(r"_\d+$", "", name.removeprefix("context."))


def _in_one_cell(one: int, other: int, cuts: Sequence[int]) -> bool:
    return type(other) is int and not any(min(one, other) <= cut < max(one, other) for cut in cuts)


def _no_teacher(case: TruthCase) -> bool:
    return case.only("teacher|hash") and case.forged.get("teacher") is None


def _within_the_same_figure(case: TruthCase) -> bool:
    """Floats of the distance that differ by less than their arithmetic is said to be right to."""
    fields = [f for f in differing(case.true, case.forged) if f != "hash"]
    if not all(re.fullmatch(r"teacher\.(bound|reached|student|around\[\])", f) for f in fields):
        return False
    true, forged = case.true["teacher"], case.forged["teacher"]
    pairs = [(true[k], forged[k]) for k in ("bound", "reached", "student")]
    pairs += list(zip(true["around"], forged["around"], strict=True))
    return all(abs(a - b) <= FIGURE for a, b in pairs)


def _distance_so(case: TruthCase) -> bool:
    """Neither the prover's search nor the gate's, of the same neighbourhood, finds a state that is further out; the
    witness is as far out as it is said to be."""
    if not case.only(r"teacher\.(?!teacher).*|hash"):
        return False
    claim = TeacherClaim.model_validate_json(json.dumps(case.forged["teacher"]), strict=True)
    files = case.subject.files
    student, teacher = load_student(files.firmware / STUDENT), load(files.teacher)
    asked = Neighbourhood(share=claim.share, action=claim.action)
    if claim.step:
        found = distance(student, teacher.policy, teacher.weights, teacher.hash, asked.around).reached
    else:
        found = furthest(student, teacher, asked).distance
    if found > claim.bound + FIGURE:
        return False
    observation = student.observation.with_window(max(student.observation.window, teacher.policy.observation.window))
    row = np.array([[claim.witness[name] for name in feature_names(observation)]], dtype=np.float64)
    action = float(act(student, row[:, : student.observation.size].astype(np.int64))[0]) / 2**ACTION_BITS
    ends = [float(extreme(teacher, observation, row, np.array([sign]), asked)[0]) for sign in (-1, 1)]
    out = max(0.0, ends[0] - action, action - ends[1])
    return bool(abs(action - claim.student) <= FIGURE and out >= claim.reached - FIGURE)


FIGURE = 2.0**-20
"""Error bound of a tanh in the bounds of the distance from the teacher (docs/explanation/soundness.md)."""


# --- folders ---------------------------------------------------------------------------------------------------------


def _same_manifest(case: TruthCase) -> bool:
    keys = ("format", "kind", "files", "parents", "tools", "seed", "details")
    return all(case.true.get(key) == case.forged.get(key) for key in keys)


def _same_layout(case: TruthCase) -> bool:
    """Read, the structures are the same; nothing but the layout differs."""
    if not case.only(r"details\.layout(\..*|\[\].*)?|hash"):
        return False
    program = _program(case.subject.files)
    true, forged = (read_layouts(data["details"], program, "") for data in (case.true, case.forged))
    fields = [{name: layout.dtype.fields for name, layout in read.items()} for read in (true, forged)]
    sizes = [{name: layout.dtype.itemsize for name, layout in read.items()} for read in (true, forged)]
    return fields[0] == fields[1] and sizes[0] == sizes[1]


def _program(files: Files) -> Program:
    return program_from_json(json.loads((files.firmware / PROGRAM).read_bytes()))


def _same_program(case: TruthCase) -> bool:
    true, forged = (program_to_json(program_from_json(data)) for data in (case.true, case.forged))
    return bool(true == forged)


def _other_words(case: TruthCase) -> bool:
    """Names and notes of nodes and fields alone; which node and field is which stays."""
    fields = r"nodes\[\]\.(name|note)|state\[\]\.note"
    return case.only(fields) and _same_nodes(case)


def _same_nodes(case: TruthCase) -> bool:
    blank = [json.loads(json.dumps(data)) for data in (case.true, case.forged)]
    for data in blank:
        for part in (*data["nodes"], *data["state"]):
            part.pop("note", None)
        for node in data["nodes"]:
            node.pop("name", None)
    return bool(blank[0] == blank[1])


def _same_student(case: TruthCase) -> bool:
    """All that a student decides by, and its report."""
    true, forged = (load_student(files.firmware / STUDENT) for files in (case.subject.files, case.files))
    return true == forged


def _said_to_be_unchecked(case: TruthCase) -> bool:
    """Parents alone differ, and the verdict says that they were not checked."""
    row = case.answer.rows.get(PARENTS)
    unchecked = "" if row is None else row["value"].partition("; ")[2] or row["value"]
    names = [name.removeprefix("parents.") for name in differing(case.true, case.forged) if name != "hash"]
    return "not checked" in unchecked and all(name in unchecked for name in names)


PARENTS = "equality.parents"


def _another_report(case: TruthCase) -> bool:
    """A student that decides the same, with other figures of how it was distilled."""
    name = DOCUMENTS_OF_STUDENTS[case.document]
    true, forged = (load_student(name(files)) for files in (case.subject.files, case.files))
    return replace(true, report={}) == replace(forged, report={})


DOCUMENTS_OF_STUDENTS: Mapping[str, Callable[[Files], Path]] = {
    "student": lambda files: files.firmware / STUDENT,
    "student artefact": lambda files: files.student / STUDENT,
}


def _claims_of_the_program_alone(case: TruthCase) -> bool:
    """The certificate beside it says nothing of what only the student file holds."""
    certificate = json.loads(case.files.certificate.read_bytes())
    return "teacher" not in certificate and "behaviour" not in certificate


def _other_student(case: TruthCase) -> bool:
    """It is read as a student: one that is another, under a hash of its own."""
    return load_student(case.files.student / STUDENT) is not None


def _same_emission(case: TruthCase) -> bool:
    """Options alone differ, and the verdict says that they emit these very files."""
    row = case.answer.rows.get("equality.emitted")
    return case.only(r"details\.compiled(\..*|\[\].*)?|hash") and row is not None and bool(row["passed"])


# --- attestation, verdict, recipe ------------------------------------------------------------------------------------


def _same_numbers(case: TruthCase) -> bool:
    """The same statement; a number may be written as another (91.0 for 91), a truth value may not."""
    return _alike(case.true, case.forged)


def _alike(true: Any, forged: Any) -> bool:
    if isinstance(true, bool) or isinstance(forged, bool):
        return true is forged
    if isinstance(true, dict) and isinstance(forged, dict):
        return true.keys() == forged.keys() and all(_alike(true[key], forged[key]) for key in true)
    if isinstance(true, list) and isinstance(forged, list):
        return len(true) == len(forged) and all(map(_alike, true, forged))
    return bool(true == forged)


def _same_envelope(case: TruthCase) -> bool:
    """The payload, its type and the signature are there; what else there is decides nothing."""
    same = all(case.true[key] == case.forged[key] for key in ("payloadType", "payload"))
    return same and any(one["sig"] == case.true["signatures"][0]["sig"] for one in case.forged["signatures"])


USED: Mapping[str, str] = {
    "verdict": (
        r"verdict|not_judged|checks(\[\]\.passed)?|measured|measured\.emulation(\..*)?|measured\.worst_case_cycles"
    ),
}
"""Fields of a document that a judge takes a figure from."""


def _unused_of_a_verdict(case: TruthCase) -> bool:
    fields = differing(case.true, case.forged)
    return not any(re.fullmatch(USED["verdict"], name) for name in fields)


# --- files and mutants -----------------------------------------------------------------------------------------------


READ: Mapping[str, Sequence[str]] = {
    "check": ("firmware", "certificate", "teacher"),
    "check, foreign": ("firmware", "certificate", "teacher"),
    "gate, unsigned": ("firmware", "certificate", "teacher", "student"),
}
"""The documents that each judge reads; others read the attestation and the key too, where there is an attestation."""
SIGNED = ("firmware", "certificate", "teacher", "student", "attestation.json", "signer.pub")


def _same_bytes(case: TruthCase) -> bool:
    """Read through links, every document that the judge reads has the true bytes; a certificate and a manifest, which
    have a hash of their own over what they say, have the true content."""
    signed = case.files.attestation.is_file()
    parts = READ.get(case.answer.judge, SIGNED if signed else READ["gate, unsigned"])
    return all(_alike_files(case.subject.files.root / part, case.files.root / part) for part in parts)


def _alike_files(true: Path, forged: Path) -> bool:
    read = [_read(true), _read(forged)]
    if true.name == "certificate":
        read = [{name: text for name, text in r.items() if name.endswith(".json")} for r in read]
    documents = ("certificate.json", MANIFEST)
    said = [{name: json.loads(text) if name in documents else text for name, text in r.items()} for r in read]
    return said[0] == said[1]


def _read(path: Path) -> dict[str, Any]:
    """Files by their names."""
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    return {"": path.read_bytes()} if path.is_file() else {}


def _same_function(case: TruthCase) -> bool:
    """The same decider but for trees that give the same sums in every cell of both."""
    keys = [key for key in ("ensemble", "forest") if key in case.true]
    if not keys or any(case.true[k] != case.forged[k] for k in case.true if k not in (*keys, "report")):
        return False
    true, forged = (Forest.from_json(data[keys[0]]) for data in (case.true, case.forged))
    if true.features != forged.features or len(true.bias) != len(forged.bias):
        return False
    places = [
        sorted({-(2**31), *(t + 1 for f in (true, forged) for t in f.thresholds().get(c, []))})
        for c in range(len(true.features))
    ]
    if math.prod(map(len, places)) > CELLS:
        return False
    rows = np.array(list(itertools.product(*places)), dtype=np.int64)
    return bool((true.evaluate(rows) == forged.evaluate(rows)).all())


CELLS = 1 << 20
"""Of two forests together, that are looked into one by one."""


def _within_limits(case: TruthCase) -> bool:
    """Over all states the deviation is proved, and within the recipe's limit."""
    return _proved_deviation(case) and bool(case.answer.rows[ALL_STATES]["passed"])


def _proved_deviation(case: TruthCase) -> bool:
    row = case.answer.rows.get(ALL_STATES)
    return row is not None and "at most" in str(row["value"])


ALL_STATES = "teacher.deviation_bound"


def _compared_on_rollouts(case: TruthCase) -> bool:
    """No claim over all states: the rows on rollouts and networks are all that is said of its actions."""
    rows = case.answer.rows
    return not _proved_deviation(case) and "teacher.rmse" in rows


def _itself_the_specification(case: TruthCase) -> bool:
    return not case.subject.distilled


def _another_text(case: TruthCase) -> bool:
    """The same image and the same bytes of program and layout: what a certificate is about."""
    true, forged = (json.loads(f.certificate.read_bytes()) for f in (case.subject.files, case.files))
    program = [(f.firmware / PROGRAM).read_bytes() for f in (case.subject.files, case.files)]
    return true["subject"]["image"] == forged["subject"]["image"] and program[0] == program[1]


def _proved_too(case: TruthCase) -> bool:
    """The prover, which shares no walk with the checker, proves the mutant equal to the same program."""
    same = (case.subject.files.firmware / PROGRAM).read_bytes() == (case.files.firmware / PROGRAM).read_bytes()
    return same and _proved_as_it_is(case)


def _proved_as_it_is(case: TruthCase) -> bool:
    """The prover proves the code beside it equal to the program of the folder, whichever that is."""
    engine, subject = case.true_certificate["engine"]["profile"]["name"], case.true_certificate["subject"]
    made = built(case.files.firmware, profile=engine, compiler=subject["compiler"], opt=subject["flags"][-1])
    return certify(made).certificate is not None


def _same_student_file(case: TruthCase) -> bool:
    """Student and teacher, of which the certificate speaks too, have the true bytes."""
    root, forged = case.subject.files, case.files
    students = [(files.firmware / STUDENT).read_bytes() for files in (root, forged)]
    return students[0] == students[1] and _read(root.teacher) == _read(forged.teacher)


def _layout_stays(case: TruthCase) -> bool:
    return bool(case.true["details"]["layout"] == case.forged["details"]["layout"])


FORGERIES = "docs/explanation/soundness.md, forgeries"
RULES: tuple[Rule, ...] = (
    Rule("certificate", "equal", "read, it says the same", _same_certificate),
    Rule(
        "certificate",
        "no claim",
        "cells, tools and the prover's questions",
        lambda c: c.only(r"cells|tools(\..*)?|queries(\[\].*)?|hash"),
        "docs/reference/verify.md, the certificate",
    ),
    Rule(
        "certificate",
        "no claim",
        "cuts are means to check claims, which are the same",
        lambda c: c.only(r"cuts(\[\].*)?|hash"),
        "docs/explanation/soundness.md, the claims",
    ),
    Rule(
        "certificate",
        "weaker",
        "more stack",
        _number("claims.stack_bytes", lambda t, f: f > t, "claims", "stack_bytes"),
    ),
    Rule(
        "certificate",
        "weaker",
        "a greater bound beside the same exact worst case",
        _number("claims.worst_case.bound", lambda t, f: f > t, "claims", "worst_case", "bound"),
    ),
    Rule("certificate", "weaker", "a bound that is not said to be exact", _no_longer_exact),
    Rule("certificate", "equal", "another input that takes as long", _another_witness),
    Rule("certificate", "weaker", "properties left out, repeated or in another order", _fewer_properties),
    Rule("certificate", "equal", "properties as the prover finds them", _decided_so),
    Rule("certificate", "weaker", "no word on the teacher", _no_teacher),
    Rule("certificate", "equal", "the same figures of the distance to 2^-20", _within_the_same_figure),
    Rule(
        "certificate", "weaker", "a greater distance", _number("teacher.bound", lambda t, f: f > t, "teacher", "bound")
    ),
    Rule(
        "certificate",
        "weaker",
        "less is reached",
        _number("teacher.reached", lambda t, f: 0 <= f < t, "teacher", "reached"),
    ),
    Rule("certificate", "equal", "a distance that no search of ours refutes", _distance_so),
    Rule("manifest|layout", "equal", "read, it says the same", _same_manifest),
    Rule("manifest|layout", "equal", "read, the structures are the same", _same_layout),
    Rule(
        "manifest",
        "no claim",
        "versions of tools, which no hash covers",
        lambda c: c.only(r"tools(\..*)?|hash"),
        "docs/explanation/soundness.md, the claims",
    ),
    Rule(
        "manifest",
        "no claim",
        "what a certificate of the machine code does not speak of: parents, options and figures of the emission",
        lambda c: c.only(r"parents(\..*)?|seed|tools(\..*)?|details(\.(?!layout).*)?|hash") and _layout_stays(c),
        FORGERIES,
        "check, foreign",
    ),
    Rule(
        "manifest",
        "no claim",
        "parents that the verdict says are not checked",
        lambda c: c.only(r"parents(\..*)?|hash") and _said_to_be_unchecked(c),
        FORGERIES,
        "gate, unsigned",
    ),
    Rule("program", "equal", "read, it is the same program", _same_program),
    Rule("program", "no claim", "names and notes of nodes", _other_words, FORGERIES, "check, foreign"),
    Rule(
        "program",
        "equal",
        "another program of the same values: the prover proves the same code equal to it",
        _proved_as_it_is,
        judges="check, foreign",
    ),
    Rule("student", "equal", "read, it is the same student", _same_student),
    Rule(
        "student|student artefact",
        "no claim",
        "figures of the distillation",
        _another_report,
        FORGERIES,
        "check, foreign|gate, unsigned|student",
    ),
    Rule(
        "student",
        "no claim",
        "nothing is said of the student file but its hash",
        _claims_of_the_program_alone,
        judges="check, foreign",
        unread=True,
    ),
    Rule("student artefact", "no claim", "another student, under its own hash", _other_student, FORGERIES, "student"),
    Rule(
        "manifest", "equal", "options by which the very same files are emitted", _same_emission, judges="gate, unsigned"
    ),
    Rule("attestation", "equal", "the same statement, signed", _same_numbers),
    Rule(
        "envelope",
        "equal",
        "the same payload and signature",
        _same_envelope,
        "docs/how-to/attestation.md, what the gate asks",
    ),
    Rule("files|mutants of code", "equal", "the same bytes are read", _same_bytes),
    Rule(
        "mutants of code", "equal", "the same machine code, program and layout", _another_text, judges="check, foreign"
    ),
    Rule(
        "files",
        "no claim",
        "other files beside the same machine code and program, of which alone the certificate speaks",
        lambda c: _another_text(c) and (_claims_of_the_program_alone(c) or _same_student_file(c)),
        FORGERIES,
        "check, foreign",
        unread=True,
    ),
    Rule(
        "mutants of code",
        "equal",
        "other machine code that the prover proves equal",
        _proved_too,
        judges="check, foreign",
    ),
    Rule("mutants of data", "equal", "the same sums in every cell", _same_function),
    Rule("mutants of data", "weaker", "within the recipe's limit in every state, proved", _within_limits),
    Rule(
        "mutants of data",
        "no claim",
        "a model made elsewhere is its own specification",
        _itself_the_specification,
        FORGERIES,
    ),
    Rule(
        "mutants of data",
        "no claim",
        "actions in states that the gate's rollouts and networks do not visit",
        _compared_on_rollouts,
        "docs/reference/gate.md, what PASS does not mean",
    ),
    Rule("verdict", "equal", "read, it says the same", lambda c: bool(c.true == c.forged)),
    Rule(
        "verdict", "no claim", "what no reference takes a figure from", _unused_of_a_verdict, "docs/reference/gate.md"
    ),
    Rule(
        "verdict",
        "no claim",
        "a reference is what its user gives as the yardstick",
        lambda c: c.answer.judge == "reference",
        "docs/reference/gate.md",
    ),
    Rule(
        "recipe",
        "no claim",
        "a recipe says what is asked for, not what holds",
        lambda c: c.answer.judge == "recipe",
        "docs/reference/run.md",
    ),
)
