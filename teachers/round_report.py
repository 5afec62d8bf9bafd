"""Results of a training that goes round by round."""

from dataclasses import dataclass

from teachers.round_options import Yardstick
from teachers.teacher import Teacher


@dataclass(frozen=True)
class RoundReport:
    """The trained teacher (the best by validation), and how it came about: of each validated round what the yardstick
    says of its weights."""

    teacher: Teacher
    rounds: int
    best_round: int
    best: float
    curve: tuple[tuple[int, float], ...]
    yardstick: Yardstick
