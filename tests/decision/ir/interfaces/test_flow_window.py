"""The interfaces of windows: ranges that their deciders rely on."""

import pytest

from decision.ir.interface import Interface
from decision.ir.interfaces.completion import COMPLETION, DELAYS_NS
from decision.ir.interfaces.flow_rate import FLOW_RATE, FLOWS, WINDOWED, flow_interface
from decision.ir.interfaces.flow_window import FLOW_WINDOW, FLOW_WINDOW_NSCC, MAX_WINDOW_BYTES

SCALED = flow_interface(WINDOWED[0])
ALL = (FLOW_WINDOW, FLOW_WINDOW_NSCC, *(flow for flow in FLOWS if flow.name.endswith("window")))


@pytest.mark.parametrize("interface", ALL, ids=lambda i: i.name)
def test_events_of_all_are_alike_and_live_at_one_site(interface: Interface) -> None:
    assert interface.event_names == tuple(signal.name for signal in COMPLETION)
    assert interface.knobs[-1].name == "window_bytes"
    assert interface.site_name == FLOW_WINDOW.name
    assert interface.spans == ()


def test_what_sets_bytes_has_the_same_parameters_and_what_scales_a_rate_those_of_a_rate() -> None:
    assert FLOW_WINDOW_NSCC.params[: len(FLOW_WINDOW.params)] == FLOW_WINDOW.params
    assert SCALED.params[: len(FLOW_RATE.params)] == FLOW_RATE.params
    assert SCALED.knobs[0] == FLOW_RATE.knobs[0]
    assert [s.name for s in SCALED.context] == [s.name for s in FLOW_RATE.context]


@pytest.mark.parametrize("interface", ALL, ids=lambda i: i.name)
def test_every_parameter_says_what_may_be_set(interface: Interface) -> None:
    for signal in interface.params:
        low, high = signal.settable or signal.range
        assert 0 <= low <= high <= signal.range[1]


def test_a_window_times_a_byte_in_units_of_a_word_stays_in_a_word() -> None:
    """Formats of 2^-8 ns and shares of 2^-32 are one high word."""
    assert DELAYS_NS[1] << 8 < 2**32
    assert (MAX_WINDOW_BYTES >> 4) << 10 < 2**32
