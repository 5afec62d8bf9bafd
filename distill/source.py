"""Sources of the decisions that a student is fitted to."""

from dataclasses import dataclass

from decision.policy.policy import Header
from teachers.teacher import Teacher


@dataclass(frozen=True)
class Source:
    """A teacher, or a record that stands for one: name, header, and hash."""

    name: str
    header: Header
    hash: str

    @staticmethod
    def of(teacher: Teacher) -> "Source":
        """A teacher's."""
        return Source(teacher.policy.name, teacher.policy.header, teacher.hash)
