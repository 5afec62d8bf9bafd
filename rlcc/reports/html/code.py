"""Cycles of the worst path: by part, and in the lines of the emitted C."""

from collections import Counter
from dataclasses import dataclass

from rlcc.cycles.measure import PathCosts
from rlcc.cycles.parts import STAGES, stage_of

AROUND = 2
"""Lines shown before and after one that costs something."""
MAX_LINES = 400
"""Lines shown; the dearest have their place first."""


@dataclass(frozen=True)
class CodePart:
    """``share``: of the dearest part's cycles; ``stage``: of the decision, a number."""

    name: str
    stage: int
    cycles: float
    share: float


@dataclass(frozen=True)
class Line:
    """A line of the C. ``number`` 0: some that are left out, ``text`` says how many. ``heat``: of the dearest's."""

    number: int
    text: str
    cycles: float = 0.0
    heat: float = 0.0


def parts(costs: PathCosts) -> list[CodePart]:
    """Stage by stage."""
    by_part = costs.by_part()
    most = max(by_part.values(), default=1.0) or 1.0
    return [
        CodePart(name, STAGES.index(stage_of(name)), cycles, cycles / most)
        for stage in STAGES
        for name, cycles in by_part.items()
        if stage_of(name) == stage and cycles > 0
    ]


def lines(costs: PathCosts, source: str) -> list[Line]:
    """The lines that the path runs through, and those around them; one line may be code of several functions."""
    text = source.splitlines()
    spent: Counter[int] = Counter()
    for cost in costs.lines:
        if 0 < cost.line <= len(text):
            spent[cost.line] += cost.cycles  # type: ignore[assignment]
    most = max(spent.values(), default=1) or 1
    near: set[int] = set()
    for number, _ in sorted(spent.items(), key=lambda entry: (-entry[1], entry[0])):
        if len(near) >= MAX_LINES:
            break
        near |= set(range(max(number - AROUND, 1), min(number + AROUND, len(text)) + 1))
    shown, last = [], 0
    for number in sorted(near):
        if number > last + 1:
            shown.append(_gap(number - last - 1))
        shown.append(Line(number, text[number - 1], spent[number], spent[number] / most))
        last = number
    return [*shown, _gap(len(text) - last)] if last < len(text) else shown


def _gap(count: int) -> Line:
    return Line(0, f"{count} line{'s' if count > 1 else ''} that the path does not run through")
