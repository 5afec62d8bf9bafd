"""student.json: a distilled policy, exactly: integer forest, observation, action map, limits, provenance."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from decision.artefact.documents import dump_json, parse_json, read_bytes, validate, write_atomically
from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.program import Program
from decision.policy.actions import AnyAction
from decision.policy.flow_options import implied
from decision.policy.in_flight import InFlight
from decision.policy.policy import POLICY_NAME, Limits, Observation, check_fit, default_params
from decision.policy.probes import Probes
from decision.policy.start import Start
from decision.policy.tree_decision import build
from decision.policy.trigger import Trigger, triggered

FORMAT = 1
NAME = "student.json"


class Header(BaseModel):
    """What a student and a quantised network say alike."""

    model_config = ConfigDict(extra="forbid")
    observation: Observation
    action: AnyAction
    limits: Limits | None = Field(default=None, exclude_if=lambda limits: limits is None)
    start: Start | None = Field(default=None, exclude_if=lambda start: start is None)
    in_flight: InFlight | None = Field(default=None, exclude_if=lambda in_flight: in_flight is None)
    probes: Probes | None = Field(default=None, exclude_if=lambda probes: probes is None)
    trigger: Trigger | None = Field(default=None, exclude_if=lambda trigger: trigger is None)

    @model_validator(mode="before")
    @classmethod
    def _interface(cls, data: Any) -> Any:
        return triggered(implied(data))

    @model_validator(mode="after")
    def _fits(self) -> "Header":
        check_fit(self)
        return self

    @staticmethod
    def of(decider: Any) -> "Header":
        """What a decider's fields of these names say."""
        return Header(**{name: getattr(decider, name) for name in Header.model_fields})


def header_parts(data: dict[str, Any]) -> dict[str, Any]:
    """Of a document, what its header says. KeyError where a part is missing."""
    missing = [key for key, field in Header.model_fields.items() if field.is_required() and key not in data]
    if missing:
        raise KeyError(missing[0])
    return {key: data[key] for key in Header.model_fields if key in data}


@dataclass(frozen=True)
class Student:
    """A student and what it was made from. ``report`` holds figures of the distillation."""

    name: str
    observation: Observation
    action: AnyAction
    limits: Limits | None
    forest: Forest
    teacher: str
    report: dict[str, Any] = field(default_factory=dict)
    start: Start | None = None
    in_flight: InFlight | None = None
    probes: Probes | None = None
    trigger: Trigger | None = None

    @cached_property
    def _program(self) -> Program:
        return build(self.observation, self.action, self.forest, self.start, self.trigger)

    def program(self) -> Program:
        """The whole decision as an integer program, built once."""
        return self._program

    def params(self) -> dict[str, int]:
        """The operator's parameters with the values the student was distilled for."""
        return default_params(self.observation, self.limits, self.start, self.in_flight)

    def save(self, folder: Path) -> None:
        """Write student.json into an artefact folder."""
        content = {
            "format": FORMAT,
            "name": self.name,
            "teacher": self.teacher,
            **Header.of(self).model_dump(mode="json"),
            "report": self.report,
            "ensemble": self.forest.to_json(),
        }
        write_atomically(folder / NAME, dump_json(content))


def writable_names(name: str, teacher: str) -> bool:
    """A policy's name and a teacher's hash stand in comments of the C: nothing that could end one."""
    return bool(re.fullmatch(POLICY_NAME, name) and re.fullmatch("[0-9a-f]{12,64}", teacher))


def load_student(path: Path) -> Student:
    """Read and check a student.json. InputError where it is not one, or its parts do not fit each other."""
    return read_student(read_bytes(path), str(path))


def read_student(content: bytes, where: str) -> Student:
    """The same of the file's bytes; ``where`` names it."""
    data = parse_json(content, where)
    try:
        if data["format"] != FORMAT:
            raise InputError(f"{where} has format {data['format']!r}, not {FORMAT}; distil the student again")
        parts = header_parts(data)
        name, teacher, report = str(data["name"]), str(data["teacher"]), dict(data["report"])
        forest = Forest.from_json(data["ensemble"])
        if not writable_names(name, teacher):
            raise InputError(f"{where} has a name or a teacher's hash that rlcc does not write; distil it again")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} is not a student of rlcc ({error!r}); distil it again") from None
    header = validate(Header, parts, where)
    student = Student(name=name, forest=forest, teacher=teacher, report=report, **dict(header))
    student.program()
    return student
