"""Interface of a user's simulator to rlcc, in Python: one method.

class MySimulator:
    def run(self, student, scenario, seed):
        ...  # student.decide(agent, event) -> knobs
        return {"flow": [...], "t_ps": [...], ...}  # a row a decision, as a log (docs/reference/import.md)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from decision.artefact.errors import InputError
from decision.policy.policy import Header
from decision.policy.student import Student
from distill.log.files import columns_log
from distill.log.importing import labelled_log
from distill.log.labels import FunctionLabels, Labels, TeacherLabels
from distill.log.record import LabelledRun, Recorded
from distill.recorded_labels import Drive
from rlcc.simulator.student_library import DrivenStudent, driven
from teachers.teacher import Teacher

Rows = Mapping[str, Any]
"""Columns [rows] by name, those of the log that was imported or of rlcc."""


class Simulator(Protocol):
    """Runs a student."""

    def run(self, student: DrivenStudent, scenario: str, seed: int) -> Rows:
        """Simulates ``scenario`` with the student deciding; returns one row a decision. The same seed gives the same
        run."""
        ...


def driving(simulator: Simulator, record: Recorded, labels: Labels | None) -> Drive:
    """Returns what drives a student for distill.recorded_labels: the simulator's rows, checked as a log is, with their
    labels."""
    header = record.source.header

    def drive(student: Student, scenario: str, seed: int) -> Sequence[LabelledRun]:
        where = f"rows of the simulator ({scenario}, seed {seed})"
        with driven(student) as given:
            rows = simulator.run(given, scenario, seed)
        if not isinstance(rows, Mapping):
            raise InputError(f"{where}: run returns {type(rows).__name__}; return columns by name")
        return labelled_log(columns_log(rows, where), header, labels, record.columns, f"{scenario} {seed}")

    return drive


def labels_for(record: Recorded, teacher: Teacher | None, function: Callable[..., Any] | None = None) -> Labels | None:
    """Returns who labels what a simulator shows: whoever labelled the record; None: the simulator's own label columns.
    InputError where that teacher is missing or another, or that function is another now."""
    kind, header = record.labels.get("from"), record.source.header
    if kind == "teacher":
        if teacher is None or teacher.hash != record.source.hash:
            raise InputError(
                f"the labels are of the teacher {record.labels.get('name')} {record.source.hash[:12]}, who must label "
                "what the simulator shows too; give it before the rollouts: rlcc distill TEACHER ROLLOUTS"
            )
        return TeacherLabels(teacher)
    if teacher is not None:
        raise InputError("the rollouts bring labels along that are of no teacher; leave the teacher out")
    if kind == "function":
        return _same_function(record, header, function)
    return None


def _same_function(record: Recorded, header: Header, function: Callable[..., Any] | None) -> FunctionLabels:
    name, expected = str(record.labels.get("name")), record.labels.get("sha256")
    found = FunctionLabels.named(name, header) if function is None else FunctionLabels.of(function, header)
    if expected is not None and found.hash != expected:
        raise InputError(f"the module of {name} was changed since it labelled the log; import the log again")
    return found
