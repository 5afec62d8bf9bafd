"""Which line of the C costs most on the worst path: for annotations, which point at a line."""

from collections.abc import Callable
from pathlib import Path

from decision.errors import InputError
from emulator.build import Build
from rlcc.cycles.measure import worst_costs
from rlcc.verdict import CostlyLine, WorstPath

SHOWN = 8


def worst_path(
    build: Build,
    slowest: int,
    progress: Callable[[str], None] | None = None,
    *,
    proof: Path | None = None,
) -> WorstPath | None:
    """The costliest lines of the slowest known input: of the certificate's witness, else of the vector ``slowest``.
    None where the engine does not tell cycles by address."""
    try:
        worst = worst_costs(build, slowest, progress, proof=proof)
    except InputError:
        return None
    dearest = sorted(worst.lines, key=lambda cost: (-cost.cycles, cost.line))[:SHOWN]
    lines = [CostlyLine(function=c.function, line=c.line, text=c.text[:160], cycles=c.cycles) for c in dearest]
    return WorstPath(input=worst.of, cycles=worst.cycles, lines=lines)
