"""student.json: a distilled policy, exactly: integer forest, observation, action map, limits, provenance."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from decision.artefact.documents import dump_json, parse_json, read_bytes
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.forest import Forest
from decision.ir.program import Program
from decision.policy.header_fields import Headed
from decision.policy.policy import POLICY_NAME, header_of
from decision.policy.tree_decision import build

FORMAT = 1
NAME = "student.json"


@dataclass(frozen=True)
class Student(Headed):
    """A policy of trees and what it was made from: ``teacher``, the hash of the one that was distilled, or ``model``,
    that of a model's file that was read; the other is empty. ``report`` holds figures of it."""

    forest: Forest
    teacher: str
    report: dict[str, Any] = field(default_factory=dict)
    model: str = ""

    @cached_property
    def _program(self) -> Program:
        return build(self.observation, self.action, self.forest, self.start, self.trigger, self.once_per_rtt)

    def program(self) -> Program:
        """The whole decision as an integer program, built once."""
        return self._program

    def save(self, folder: Path) -> None:
        """Write student.json into an artefact folder."""
        content = {
            "format": FORMAT,
            "name": self.name,
            **({"model": self.model} if self.model else {"teacher": self.teacher}),
            **self.header.model_dump(mode="json"),
            "report": self.report,
            "ensemble": self.forest.to_json(),
        }
        write_atomically(folder / NAME, dump_json(content))


def writable_names(name: str, origin: str) -> bool:
    """A policy's name and the hash of what it was made from stand in comments of the C: nothing that could end one."""
    return bool(re.fullmatch(POLICY_NAME, name) and re.fullmatch("[0-9a-f]{12,64}", origin))


def load_student(path: Path) -> Student:
    """Read and check a student.json. InputError where it is not one, or its parts do not fit each other."""
    return read_student(read_bytes(path), str(path))


def read_student(content: bytes, where: str) -> Student:
    """The same of the file's bytes; ``where`` names it."""
    data = parse_json(content, where)
    try:
        if data["format"] != FORMAT:
            raise InputError(f"{where} has format {data['format']!r}, not {FORMAT}; distil the student again")
        header = header_of(data, where)
        model = str(data.get("model", ""))
        teacher = "" if model else str(data["teacher"])
        name, report = str(data["name"]), dict(data["report"])
        forest = Forest.from_json(data["ensemble"])
        if not writable_names(name, teacher or model) or (model and "teacher" in data):
            raise InputError(f"{where} has a name or a hash of its origin that rlcc does not write; make it again")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} is not a student of rlcc ({error!r}); distil it again") from None
    student = Student(name, header, forest, teacher, report, model)
    student.program()
    return student
