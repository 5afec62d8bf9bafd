"""Search for the operator's values of a start: no weight, no student and no byte of the firmware differs by them.

    python -m bench.families     runs it and says what it found

All values are parameters of the firmware (`rate_initial_q30`, `brake_above_q10`, `brake_rate_q30`,
`in_flight_line_q2`). One after another is set to whichever of its choices loses fewest pairs in cells that may be tuned
on, then wins most, until none helps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.family_tables import tally
from bench.tuned import Values, search
from netsim.policies import NativePolicy, native
from rlcc.evaluation.grid import Cell
from rlcc.evaluation.standing_page import JudgedCell
from rlcc.reports.pages import table

BRAKES = ((1.5, -2), (2.0, -2), (2.0, -3), (3.0, -4), (4.0, -5), (8.0, -2), (8.0, -7), (32.0, -9))
"""Inflation above which a flow brakes, in base RTTs, and the exponent of two of the rate that it brakes to."""
CHOICES: dict[str, Sequence[Any]] = {
    "limits.rate_initial": ("0.25 line", "0.5 line", "1.0 line"),
    "start.brake": tuple((("above", above), ("to", f"{2.0**to} line")) for above, to in BRAKES),
    "in_flight.bdp": (1.08, 1.12, 1.2),
}
"""Each key has the values to choose from. The entries of a table are set together."""
MAX_SETS = 48
"""Sets of values that the search may try."""
WON = 1e-3
"""A won pair next to a lost one."""

Judge = Callable[[NativePolicy, Sequence[Cell]], JudgedCell]
"""Returns how a policy stands in some cells, after the runs that are not kept yet."""


def values_of(policy: NativePolicy) -> Values:
    """Returns the policy's values of CHOICES."""
    document: Any = policy.policy.model_dump(mode="json")
    found: Values = {}
    for key in CHOICES:
        place = document
        for each in key.split("."):
            place = place[each]
        found[key] = tuple(place.items()) if isinstance(place, dict) else place
    return found


def with_values(policy: NativePolicy, values: Values) -> NativePolicy:
    """Returns the policy with other values."""
    document = policy.policy.model_dump(mode="json", exclude_none=True)
    for key, value in values.items():
        *tables, last = key.split(".")
        place = document
        for each in tables:
            place = place[each]
        place[last] = dict(value) if isinstance(value, tuple) else value
    return native(type(policy.policy).model_validate(document), policy.weights)


@dataclass(frozen=True)
class StartSearch:
    """``lost``: pairs in the cells that may be tuned on; ``lost_with_one_before``: there, one value being as before."""

    before: Values
    after: Values
    tries: int
    lost: int
    lost_with_one_before: Mapping[str, int]


def chosen(policy: NativePolicy, cells: Sequence[Cell], judge: Judge) -> StartSearch:
    """Returns the search from the policy's own values on, in the cells that are not held out."""
    tuning = [cell for cell in cells if not cell.held_out]
    names = [cell.name for cell in tuning]

    def pairs(values: Values) -> tuple[int, int]:
        won, *_, lost = tally(judge(with_values(policy, values), tuning), names)
        return lost, won

    def price(values: Values) -> float:
        lost, won = pairs(values)
        return lost - WON * won

    before = values_of(policy)
    found = search(before, CHOICES, price, MAX_SETS)
    differ = [key for key, value in before.items() if found.values[key] != value]
    set_back = {key: pairs(found.values | {key: before[key]})[0] for key in differ}
    return StartSearch(before, found.values, found.tries, pairs(found.values)[0], set_back)


def shown(value: Any) -> str:
    """Returns `above 32.0, to 0.001953125 line` for a table, and another value as it is."""
    return ", ".join(f"{key} {each}" for key, each in value) if isinstance(value, tuple) else str(value)


def changes(found: StartSearch) -> str:
    """Returns the table of values before and after the search."""
    rows = [
        [f"`{key}`", shown(own), shown(found.after[key]), str(found.lost_with_one_before.get(key, found.lost))]
        for key, own in found.before.items()
    ]
    return table(["value", "before", "after", "lost pairs with the one before"], rows)
