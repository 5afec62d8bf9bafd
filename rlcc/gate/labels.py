"""How far the integer program's actions are off recorded labels that its student was not fitted to."""

from pathlib import Path
from typing import Any

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened
from decision.ir.program import Program
from decision.policy.deciders import Decider
from decision.policy.policy import Header
from decision.policy.student import Student
from distill.log.record import Recorded, read_recorded, rows_hash
from distill.rollout import FILE, IMPORT, KIND
from rlcc.gate.teacher_match import MAX_ROWS, Errors, errors_of_labels

LABELS = "labels"
"""Key of a student's report: where its labels were recorded, and the hashes of those rollouts and of their rows."""


def labels_of(decider: Decider) -> dict[str, Any] | None:
    """Returns where a student's labels were recorded; None of every other decider, and where the report does not name
    both their source and their rollouts."""
    labels = decider.report.get(LABELS) if isinstance(decider, Student) else None
    return labels if isinstance(labels, dict) and {"from", "rollouts"} <= labels.keys() else None


def check_unseen(student: Student, path: Path) -> None:
    """InputError where ``path`` holds the rollouts of `rlcc import` that a student was fitted to. Those of `rlcc
    rollout` are left alone."""
    manifest = _rollouts(path)
    if IMPORT in manifest.details:
        _unseen(student, path, manifest)


def _rollouts(path: Path) -> Opened:
    return opened(path.parent if path.name == FILE else path, KIND)


def _unseen(student: Student, path: Path, manifest: Opened) -> Recorded:
    """The recorded decisions. InputError where the student was fitted to them."""
    record = read_recorded(manifest, most_rows=MAX_ROWS)
    fitted = labels_of(student) or {}
    # The rollouts' own hash holds the log's name. A student of earlier has no hash of the rows.
    if record.hash == fitted.get("rollouts") or rows_hash(record.runs) == fitted.get("rows"):
        raise InputError(f"{path} holds the rollouts that the student was fitted to; import a log that it has not seen")
    return record


def compare_labels(program: Program, student: Student, path: Path) -> Errors:
    """The errors of all decisions in ``path``, rollouts of `rlcc import`. InputError where the student was fitted to
    them, or they are of a policy that observes or sets something else."""
    record = _unseen(student, path, _rollouts(path))
    header, window = record.source.header, student.observation.window
    there = header.model_copy(update={"observation": header.observation.with_window(window)})
    other = [name for name in Header.model_fields if getattr(there, name) != getattr(student, name)]
    if other:
        raise InputError(
            f"{path} holds rollouts of another {other[0]} than the student's; import the log with its policy.toml"
        )
    params = student.params()
    errors = [errors_of_labels(program, student.observation, params, header, run) for run in record.runs]
    return Errors.of(errors, f"rollouts {path.name}")
