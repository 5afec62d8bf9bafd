"""Firmware folders of the targets' students, and C with one place changed."""

import re
from collections.abc import Callable
from pathlib import Path

from target_students import STUDENTS

from codegen.emit import emit
from decision.artefact.output import writing


def emit_student(student: str, target: str, folder: Path) -> None:
    """Writes one of STUDENTS into folder/student, and its firmware for a target into folder/firmware."""
    with writing(folder / "student", "student") as work:
        STUDENTS[student].save(work)
    emit(folder / "student", folder / "firmware", target=target)


def emitted_once(made_once: Callable[[str, Callable[[Path], None]], Path], student: str, target: str) -> Path:
    """Returns the firmware folder of one of STUDENTS for a target, made once for all workers: nothing may be changed in
    it."""
    return made_once(f"{student}-{target}", lambda folder: emit_student(student, target, folder)) / "firmware"


def edited(text: str, old: str, new: str) -> str:
    """Returns emitted C with a place replaced. Lines may be broken at any blank of ``old``."""
    indent = old[: len(old) - len(old.lstrip())]
    place = re.search(re.escape(indent) + r"\s+".join(map(re.escape, old.split())), text)
    assert place is not None, f"the mutant's place is gone: {old}"
    return text[: place.start()] + new + text[place.end() :]
