"""Sources of the decisions that a student is fitted to."""

from dataclasses import dataclass

from decision.policy.policy import Header
from teachers.teacher import Teacher


@dataclass(frozen=True)
class DecisionSource:
    """A teacher, or a record that stands for one: name, header, and hash."""

    name: str
    header: Header
    hash: str

    @staticmethod
    def of(teacher: Teacher) -> "DecisionSource":
        """A teacher's."""
        return DecisionSource(teacher.policy.name, teacher.policy.header, teacher.hash)
