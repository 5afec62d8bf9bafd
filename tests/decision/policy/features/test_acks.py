"""What was acknowledged: the send ratio, the ECN fraction of ACKs and delivered bytes, as a teacher and a device see
them, and what of it is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from decision.ir.interfaces.flow_rate import FLOW_RATE, flow_interface
from decision.ir.tape import Reading
from decision.policy.policy import Observation

PATH = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
SEND_RATIO = {"kind": "ratio", "of": "sent_bytes", "over": "acked_bytes", "over_unit": 1024, "at_most": 4}
ECN_FRACTION = {"kind": "ratio", "of": "marked_bytes", "over": "acked_bytes"}
DELIVERED = {"kind": "level", "signal": "acked_bytes", "unit": 1024}


def observed(*features: dict[str, Any], acks: bool = True) -> Observation:
    return Observation.model_validate({"window": 1, **PATH, "acks": acks, "features": list(features)})


def seen(observation: Observation, **event: int) -> list[float]:
    """What a teacher sees of an event."""
    signals = {name: np.array([float(event.get(name, 0))]) for name in observation.agents.event_names}
    read = Reading(signals, observation.known, np.array([1.0]), {"action": np.array([0.0])})
    return [float(feature.float_value(read, observation.place)[0]) for feature in observation.features]


@given(*[st.integers(0, 32).flatmap(lambda bits: st.integers(0, 2**bits - 1))] * 3)
def test_each_is_what_the_literature_says(sent: int, acked: int, marked: int) -> None:
    values = seen(
        observed(SEND_RATIO, ECN_FRACTION, DELIVERED), sent_bytes=sent, acked_bytes=acked, marked_bytes=marked
    )
    ratio = (sent // 256) / max(acked // 1024, 1)
    assert values[0] == min(ratio, 4)
    assert values[1] == min((marked // 256) / max(acked // 256, 1), 1)
    assert values[2] == acked / 1024


def test_units_alike_make_the_ratio_of_the_bytes() -> None:
    alike = SEND_RATIO | {"of_unit": 1024}
    assert seen(observed(alike), sent_bytes=3 << 20, acked_bytes=2 << 20) == [1.5]
    assert seen(observed(alike), sent_bytes=1 << 20, acked_bytes=2 << 20) == [0.5]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"at_most": 3}, "power of two"),
        ({"at_most": 0}, "at_most"),
        ({"at_most": 512}, "at_most"),
        ({"at_most": 8}, "need 2048"),
        ({"over_unit": 256, "at_most": 1, "fraction_bits": 9}, "need 512"),
        ({"over": "delivered_bytes"}, "not told delivered_bytes"),
    ],
)
def test_a_ratio_that_32_bits_do_not_hold_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        observed(SEND_RATIO | change)


def test_without_acks_nothing_tells_of_them() -> None:
    with pytest.raises(ValidationError, match="not told acked_bytes"):
        observed(DELIVERED, acks=False)
    assert "acked_bytes" not in FLOW_RATE.event_names


@pytest.mark.parametrize("options", [(), ("device_rate",), ("start", "in_flight", "device_rate", "target_ratio")])
def test_they_are_the_last_signals_of_the_event(options: tuple[str, ...]) -> None:
    assert flow_interface((*options, "acks")).event_names[-2:] == ("acked_bytes", "marked_bytes")


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_acks_is_true_or_false(value: Any) -> None:
    with pytest.raises(ValidationError, match="acks"):
        Observation.model_validate({"window": 1, **PATH, "acks": value, "features": [{"kind": "rate"}]})
