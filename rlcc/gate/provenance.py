"""The parents that a firmware names: held to the artefacts that lie beside it, and said to be unchecked elsewhere.

A manifest can name any hash, and a student.json any report. If the folders of the student and of its rollouts lie next
to the firmware, as `rlcc run` leaves them, the firmware must name their hashes.
"""

from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened
from decision.policy.student import NAME as STUDENT_NAME
from rlcc.gate.names import named
from rlcc.gate.verdict import Check
from teachers.teacher import Teacher

PARENTS = "equality.parents"
"""The id of its check."""
RECORD = "teacher (by its rollouts)"
"""What is held of a teacher that was not opened: the rollouts beside the firmware name the same one."""
STUDENT, ROLLOUTS = "student", "rollouts"
"""Kinds, and the folders' names beside the firmware."""


def provenance(firmware: Opened, teacher: Teacher | None) -> Check:
    """The row of the verdict: which parents were held to what is there, and which were not."""
    held, wrong = ([] if teacher is None else ["teacher"]), list[str]()
    known = {"teacher": "" if teacher is None else teacher.hash}
    student = _beside(firmware, STUDENT, wrong) if STUDENT in firmware.parents else None
    if student is not None:
        held.append(STUDENT)
        if student.hash != firmware.parents[STUDENT]:
            wrong.append("the student beside the firmware is another than it names")
        elif student.files.get(STUDENT_NAME) != firmware.files.get(STUDENT_NAME):
            wrong.append(f"its {STUDENT_NAME} is not the named student's")
        if teacher is not None and student.parents.get("teacher") != known["teacher"]:
            wrong.append("the student beside the firmware names another teacher")
    ancestors = (student or firmware).parents
    rollouts = _beside(firmware, ROLLOUTS, wrong) if ROLLOUTS in ancestors and not wrong else None
    if rollouts is not None:
        held.append(ROLLOUTS)
        if rollouts.hash != ancestors[ROLLOUTS]:
            wrong.append("the rollouts beside the firmware are others than its student names")
        elif teacher is None and rollouts.parents.get("teacher") == firmware.parents.get("teacher"):
            held.insert(0, RECORD)
    unchecked = sorted({*firmware.parents, *ancestors} - {*held} - ({"teacher"} if RECORD in held else set()))
    said = [f"{', '.join(held)} as named"] if held and not wrong else []
    said += [f"{', '.join(unchecked)} not checked"] if unchecked else []
    return named(PARENTS)(
        value="; ".join(wrong or said) or "it names none",
        limit="as named, if present",
        passed=not wrong,
        detail="emit the firmware again from the student beside it, or keep it elsewhere" if wrong else "",
        note=f"no artefact was there to hold {', '.join(unchecked)} to" if unchecked and not wrong else "",
        file="manifest.json",
    )


def _beside(firmware: Opened, kind: str, wrong: list[str]) -> Opened | None:
    """The artefact beside the firmware's folder; None where there is nothing of that name. An artefact that is there
    and cannot be read is wrong."""
    place = Path(firmware.folder.resolve().parent, kind)
    if not place.exists() and not place.is_symlink():
        return None
    try:
        return opened(place, kind)
    except InputError as error:
        wrong.append(f"the {kind} beside the firmware is not readable: {error}")
        return None
