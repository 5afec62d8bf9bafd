"""How many of many alike are so: the same number in both meanings, in any order of the slots."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from reproducible import examples
from wording import Wording

from decision.artefact.errors import InputError
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.ir.interpret import trace
from decision.ir.tape import Reading
from decision.policy.features import HowMany, Place
from decision.policy.policy import Observation
from decision.policy.tree_decision import build_observer

SAME = {"kind": "count", "called": "same", "slots": "active", "first": 1, "last": 4}
SENDER = {"ends": [2, 4], "path": 1}
ANY = SAME | {"where": {"ends": [4, 2, 3], "path": [0, 1]}}
PLAIN = SAME | {"where": SENDER}
LEAD = SAME | {"where": {"ends": [2, 4], "path": "active_0_path"}, "less": SENDER}


def observed(feature: dict[str, Any], event: dict[str, int]) -> tuple[int, float]:
    """The integer, and the float, of one event."""
    seen = Observation.model_validate({"interface": "long_flow", "window": 1, "features": [feature]})
    program, (node,), *_ = build_observer(seen)
    read = Reading({name: np.array([float(value)]) for name, value in event.items()})
    value = seen.features[0].float_value(read, seen.place)
    return int(trace(program, event, {}, {})[node][0]), float(value[0])


def events(slots: list[tuple[int, int]], own: int) -> dict[str, int]:
    event = dict.fromkeys(LONG_FLOW.event_names, 0) | {"active_0_path": own}
    for k, (ends, path) in enumerate(slots, 1):
        event |= {f"active_{k}_ends": ends, f"active_{k}_path": path}
    return event


SLOTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=4, max_size=6)


@settings(max_examples=examples(60))
@given(SLOTS, st.integers(0, 3))
def test_a_count_is_of_the_slots_that_hold_the_values(slots: list[tuple[int, int]], own: int) -> None:
    def number(path: int) -> int:
        return sum(slot in ((2, path), (4, path)) for slot in slots[:4])

    assert observed(PLAIN, events(slots, own)) == (number(1), number(1) / 4)
    assert observed(LEAD, events(slots, own)) == (number(own) - number(1), (number(own) - number(1)) / 4)
    both = sum(ends in (2, 3, 4) and path < 2 for ends, path in slots[:4])
    assert observed(ANY, events(slots, own)) == (both, both / 4)
    backwards = [*reversed(slots[:4]), *slots[4:]]
    assert observed(LEAD, events(backwards, own)) == observed(LEAD, events(slots, own))


def test_it_says_what_it_counts(wording: Wording) -> None:
    plain, lead = HowMany.model_validate(PLAIN), HowMany.model_validate(LEAD)
    wording(plain.meaning())
    wording(lead.meaning())
    assert (plain.physical(2), lead.value(-1)) == ("same >= 3", "same -1")
    assert (plain.storage, lead.storage, plain.exact) == ("uint16", "int32", True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"last": 1}, "active_1 to active_1; .*2 to 64"),
        ({"last": 65}, "give 2 to 64"),
        ({"where": {}}, "at least 1 item"),
        ({"where": {"path": []}}, "at least 1 item"),
        ({"less": {"ends": [2, 2]}}, "same: .*ends .*twice"),
        ({"where": {"path": -1}}, "equal to 0"),
    ],
)
def test_what_counts_nothing_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        HowMany.model_validate(PLAIN | change)


@pytest.mark.parametrize(
    "change", [{"slots": "idle"}, {"last": 11}, {"where": {"colour": 1}}, {"where": {"path": "x"}}]
)
def test_slots_and_signals_that_there_are_not_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, InputError), match=r"long_flow .*not told"):
        HowMany.model_validate(PLAIN | change).expression(Place(LONG_FLOW))
