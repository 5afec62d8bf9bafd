"""How far a check goes before it is given up, in counts: no clock of a machine decides."""

from dataclasses import dataclass, replace


class Spent(Exception):
    """A check has asked as many questions as it may."""


@dataclass(frozen=True)
class Effort:
    """Most ``paths`` between the cuts, ``chains`` of paths that may be too dear, and ``questions`` that a solver is
    asked; None: any number."""

    paths: int
    chains: int
    questions: int | None = None

    def more(self, times: int) -> "Effort":
        """Returns this effort with half of its questions added so many times."""
        return self if self.questions is None else replace(self, questions=self.questions * (2 + times) // 2)


FULL = Effort(paths=50_000, chains=20_000)
"""A certificate without enough cuts would keep the checker for ever."""
QUICK = Effort(paths=15_000, chains=3_000, questions=2_500)
"""Most forms of cuts that are followed at all need no more, or half as much again."""
