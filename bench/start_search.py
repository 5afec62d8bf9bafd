"""Search for the operator's values of a start: no weight, no student and no decision's code differs by them.

    python -m bench.families     runs it and says what it found

Values are parameters of the firmware (`rate_initial_q30`, `brake_above_q10`, `brake_rate_q30`, `recover_until_q10`,
`in_flight_line_q2`), or wishes to the NIC, which no decision reads (`bursts`). One after another is set to whichever of
its choices loses fewest pairs in cells that may be tuned on, then wins most, until none helps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.family_tables import tally
from bench.tuned import Values, search
from netsim.policies import NativePolicy, native
from rlcc.evaluation.grid import Cell
from rlcc.evaluation.standing_page import JudgedCell
from rlcc.reports.pages import NONE, table

BRAKES = ((3.0, -4), (8.0, -7), ("4000 ns", -3), ("8000 ns", -3), ("16000 ns", -3), ("16000 ns", -4), ("32000 ns", -5))
"""RTT above which a flow brakes, in base RTTs or as a queueing delay, and the exponent of two of the rate after it."""
CHOICES: dict[str, Sequence[Any]] = {
    "limits.rate_initial": ("0.25 line", "0.5 line", "1.0 line"),
    "start.brake": tuple((("above", above), ("to", f"{2.0**to} line")) for above, to in BRAKES),
    "start.recovery.until": (4.0, "4000 ns", "8000 ns", "24000 ns"),
    "in_flight.bdp": (1.1, 1.2),
    "bursts": (None, (("bdp", 0.05),)),
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
            place = place.get(each)
        found[key] = tuple(place.items()) if isinstance(place, dict) else place
    return found


def with_values(policy: NativePolicy, values: Values) -> NativePolicy:
    """Returns the policy with other values; a part of a key may be a number in a list. None leaves a key out."""
    document: Any = policy.policy.model_dump(mode="json", exclude_none=True)
    for key, value in values.items():
        *tables, last = key.split(".")
        place = document
        for each in tables:
            place = place[int(each)] if isinstance(place, list) else place[each]
        place[last] = dict(value) if isinstance(value, tuple) else value
        if value is None:
            del place[last]
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
    if value is None:
        return NONE
    return ", ".join(f"{key} {each}" for key, each in value) if isinstance(value, tuple) else str(value)


def changes(found: StartSearch) -> str:
    """Returns the table of values before and after the search."""
    rows = [
        [f"`{key}`", shown(own), shown(found.after[key]), str(found.lost_with_one_before.get(key, found.lost))]
        for key, own in found.before.items()
    ]
    return table(["value", "before", "after", "lost pairs with the one before"], rows)
