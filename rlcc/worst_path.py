"""Which line of the C costs most on the worst path: for annotations, which point at a line."""

from collections.abc import Callable
from pathlib import Path

from decision.errors import InputError
from emulator.build import Build
from rlcc.cycles.measure import PathCosts, worst_costs
from rlcc.verdict import CostlyLine, WorstPath

SHOWN = 8


def slowest_costs(
    build: Build,
    slowest: int,
    progress: Callable[[str], None] | None = None,
    *,
    proof: Path | None = None,
) -> PathCosts | None:
    """Cycles by line of the slowest known input: of the certificate's witness, else of the vector ``slowest``. None
    where the engine does not tell cycles by address."""
    try:
        return worst_costs(build, slowest, progress, proof=proof)
    except InputError:
        return None


def worst_path(costs: PathCosts) -> WorstPath:
    """Its costliest lines."""
    dearest = sorted(costs.lines, key=lambda cost: (-cost.cycles, cost.line))[:SHOWN]
    lines = [CostlyLine(function=c.function, line=c.line, text=c.text[:160], cycles=c.cycles) for c in dearest]
    return WorstPath(input=costs.of, cycles=costs.cycles, lines=lines)
