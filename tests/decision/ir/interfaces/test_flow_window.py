"""The interface of windows: ranges that its deciders rely on."""

import pytest

from decision.ir.interface import Interface
from decision.ir.interfaces.flow_window import (
    FLOW_WINDOW,
    FLOW_WINDOW_NSCC,
    FLOW_WINDOW_PACED,
    MAX_DELAY_NS,
    MAX_WINDOW_BYTES,
)

ALL = (FLOW_WINDOW, FLOW_WINDOW_PACED, FLOW_WINDOW_NSCC)


@pytest.mark.parametrize("interface", ALL, ids=lambda i: i.name)
def test_events_of_all_are_alike_and_live_at_one_site(interface: Interface) -> None:
    assert interface.event == FLOW_WINDOW.event
    assert interface.knobs[0] == FLOW_WINDOW.knobs[0]
    assert interface.params[: len(FLOW_WINDOW.params)] == FLOW_WINDOW.params
    assert interface.site_name == FLOW_WINDOW.site_name == "flow_window"


@pytest.mark.parametrize("interface", ALL, ids=lambda i: i.name)
def test_every_parameter_says_what_may_be_set(interface: Interface) -> None:
    for signal in interface.params:
        assert signal.settable is not None
        assert 0 <= signal.settable[0] <= signal.settable[1] <= signal.range[1]


def test_a_window_times_a_byte_in_units_of_a_word_stays_in_a_word() -> None:
    """Formats of 2^-8 ns and shares of 2^-32 are one high word."""
    assert MAX_DELAY_NS << 8 < 2**32
    assert (MAX_WINDOW_BYTES >> 4) << 10 < 2**32
