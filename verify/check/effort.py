"""How far a check goes before it is given up, in counts: no clock of a machine decides."""

from dataclasses import dataclass


class Spent(Exception):
    """A check has asked as many questions as it may."""


@dataclass(frozen=True)
class Effort:
    """Most ``paths`` between the cuts, ``chains`` of paths that may be too dear, and ``questions`` that a solver is
    asked; None: any number."""

    paths: int
    chains: int
    questions: int | None = None


FULL = Effort(paths=50_000, chains=20_000)
"""A certificate without enough cuts would keep the checker for ever."""
QUICK = Effort(paths=5_000, chains=1_000, questions=1_200)
"""Most forms of cuts that are followed at all need less."""
