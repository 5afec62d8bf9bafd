"""monotone, step: of any decision by one forest, for all signals and all contexts.

A column of the past may hold whatever its storage can: what is proved holds for corrupted contexts too, and what fails
may fail in a state that nothing leads to; the witness says which.
"""

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.program import Op
from verify.behaviour.cells import FAR, Boxes
from verify.behaviour.extremes import Extreme, greatest
from verify.behaviour.finding import Finding, judged
from verify.behaviour.split_decision import ONE, Decided
from verify.trusted import wording
from verify.trusted.properties import Monotone, Step


def monotone(of: Decided, asked: Monotone) -> list[Finding]:
    """A finding a feature that is seen: not the past decisions. InputError where none is called as asked."""
    seen = [c for c in range(len(of.columns)) if not _decides(of, c)]
    names = [of.names[c] for c in seen]
    if asked.feature is not None and asked.feature not in names:
        raise InputError(f"the trees see no {asked.feature}; they see {', '.join(names) or 'nothing'}")
    if not seen:
        says, value = wording.SEES_NOTHING
        return [Finding("monotone", says, "holds", value)]
    return [_monotone(of, c) for c in seen if asked.feature in (None, of.names[c])]


def _monotone(of: Decided, column: int) -> Finding:
    says, edges = wording.monotone(of.names[column]), of.cells.edges[column]
    low, high = of.ranges[column]
    crossed = [k for k, edge in enumerate(edges) if low <= edge < high]
    raising: list[tuple[int, Extreme]] = []
    open_ends = 0
    for k in crossed:
        worst = _rise(of, column, k)
        open_ends += worst.cell is None and worst.bound > 0
        if worst.cell is not None:
            raising.append((k, worst))
    if open_ends and not raising:
        return Finding("monotone", says, "undecided", f"{open_ends} of {len(crossed)} thresholds are not decided")
    if not raising:
        return Finding("monotone", says, "holds", wording.not_raised(len(crossed)))
    k, worst = max(raising, key=lambda pair: pair[1].value)
    assert worst.cell is not None
    witness = of.witness(worst.cell, (column, int(edges[k])))
    at = [int(edges[k]) for k, _ in raising]
    value = wording.raised(at, len(crossed), worst.value / ONE, worst.exact)
    return Finding("monotone", says, "fails", value, witness)


def _rise(of: Decided, column: int, k: int) -> Extreme:
    """Returns the largest rise of the value if the column goes from cell k to the next."""

    def upper(boxes: Boxes) -> Integers:
        below, above = of.cells.bounds(boxes.at(column, k))[0], of.cells.bounds(boxes.at(column, k + 1))[1]
        by_ends = of.of(above) - of.of(below)
        # The value never falls as the sum rises: no rise of the sum, none of the value.
        return np.where(of.cells.rises(boxes, column, k) > 0, by_ends, 0)

    return greatest(of.cells, of.anywhere.at(column, k), upper, 0)


def _decides(of: Decided, column: int) -> bool:
    """Whether a column holds a decision of the past rather than what was seen."""
    node = of.columns[column]
    for _ in of.program.state:
        if of.program.nodes[node].op is Op.STATE:
            node = of.written(of.program.state[of.program.nodes[node].imm].node)
    return of.decides(node)


def step(of: Decided, asked: Step) -> list[Finding]:
    """The least and the greatest multiplier of any cell."""
    most = greatest(of.cells, of.anywhere, lambda boxes: of.of(of.cells.bounds(boxes)[1]), -1)
    least = greatest(of.cells, of.anywhere, lambda boxes: -of.of(of.cells.bounds(boxes)[0]), -FAR)
    low, high = -least.bound / ONE, most.bound / ONE
    too_low = asked.at_least is not None and low < asked.at_least
    too_high = asked.at_most is not None and high > asked.at_most
    says, limited = wording.step(asked.at_least, asked.at_most), (asked.at_least, asked.at_most) != (None, None)
    shown = least if too_low else most
    if (too_low or too_high) and not shown.exact:
        return [Finding("step", says, "undecided", f"within {low:.5f} and {high:.5f}")]
    value = wording.multipliers(low, high, least.exact and most.exact)
    verdict = judged(not (too_low or too_high) if limited else None)
    assert shown.cell is not None
    return [Finding("step", says, verdict, value, of.witness(shown.cell))]
