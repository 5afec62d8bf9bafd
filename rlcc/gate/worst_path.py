"""Which line of the C costs most on the worst path: for annotations, which point at a line."""

from collections.abc import Callable

from decision.artefact.errors import InputError
from emulator.build import Build
from rlcc.cycles.measure import PathCosts, worst_costs
from rlcc.gate.verdict import CostlyLine, WorstPath
from verify.trusted.certificate import Certificate

SHOWN = 8


def slowest_costs(
    build: Build,
    slowest: int,
    progress: Callable[[str], None] | None = None,
    *,
    certificate: Certificate | None = None,
) -> PathCosts | None:
    """Cycles by line of the slowest known input: of the witness of a certificate that holds, else of the vector
    ``slowest``. None where the engine does not tell cycles by address."""
    try:
        return worst_costs(build, slowest, progress, certificate=certificate)
    except InputError:
        return None


def worst_path(costs: PathCosts) -> WorstPath:
    """Its costliest lines."""
    dearest = sorted(costs.lines, key=lambda cost: (-cost.cycles, cost.line))[:SHOWN]
    lines = [CostlyLine(function=c.function, line=c.line, text=c.text[:160], cycles=c.cycles) for c in dearest]
    return WorstPath(input=costs.of, cycles=costs.cycles, lines=lines)
