"""Results of a task, wherever it is done (netsim.places)."""

from dataclasses import dataclass
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Lost:
    """In place of an answer: whoever did the task ended before it was done."""

    reason: str


@dataclass(frozen=True)
class Raised:
    """Error that ``work`` raised in another process, on its way here."""

    error: Exception
