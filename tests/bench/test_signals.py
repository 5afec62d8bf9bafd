"""The page of signals and features is as it is made, and holds every one of them."""

import pytest

from bench import signals
from bench.signals import PAGE, kinds, page, shown
from decision.ir.interface import Interface
from decision.ir.interfaces import INTERFACES
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.features import FEATURE_KINDS


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> dict[str, Interface]:
    """The interfaces without the one that tests of the emulator add."""
    interfaces = {name: interface for name, interface in INTERFACES.items() if name != "by_hand"}
    monkeypatch.setattr(signals, "INTERFACES", interfaces)
    return interfaces


def test_the_page_is_as_it_is_made() -> None:
    assert PAGE.read_text() == page(), "python -m bench.signals writes it anew"


def test_every_signal_of_every_interface_is_shown(shipped: dict[str, Interface]) -> None:
    told = {signal.name for interface in shown() for signal in (*interface.event, *interface.params)}
    missing = [
        signal.name
        for interface in shipped.values()
        for signal in (*interface.event, *interface.params)
        if signal.name not in told
    ]
    assert not missing
    assert FLOW_RATE.spans[0].name in page()


def test_every_feature_has_a_row() -> None:
    assert {kind.__name__ for kind in FEATURE_KINDS.values()} <= {kind.__name__ for kind in kinds()}
    rows = [line for line in page().partition("## Features")[2].splitlines() if line.startswith("| `")]
    assert len(rows) == len(kinds())
