"""A policy that looks at what was acknowledged is proved over all events and judged equal; another ratio is refused."""

from pathlib import Path

import options_by_hand
import pytest
from options_by_hand import check_certified, check_refused, small_firmware

from decision.ir.forest import oblivious
from emulator.firmware import Firmware

FEATURES = (
    {"kind": "ratio", "of": "sent_bytes", "over": "acked_bytes", "over_unit": 1024, "at_most": 4},
    {"kind": "ratio", "of": "marked_bytes", "over": "acked_bytes"},
    {"kind": "level", "signal": "acked_bytes", "unit": 1024},
)
TREES = (oblivious(((0, 300), (1, 64)), (655, -20, -3000, -8192)), oblivious(((2, 90), (0, 1000)), (55, 9, -300, 4)))
WRONG = {
    "sent for acknowledged": ("event->acked_bytes", "event->sent_bytes"),
    "marks for what was sent": ("event->marked_bytes", "event->sent_bytes"),
    "units of another size": ("acked_bytes >> 10U", "acked_bytes >> 9U"),
    "a ratio that ends sooner": ("16777212U", "16400000U"),
}
"""Text of the emitted C, and what stands there instead. A ratio may end anywhere above 1001 times the
most units acknowledged, 16400380 in its units: the last ends just below."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("acks"), ("acks",), TREES, FEATURES, window=1)


def test_it_is_proved_and_its_certificate_holds(firmware: Firmware) -> None:
    check_certified(firmware)


@pytest.mark.parametrize("what", WRONG)
def test_another_ratio_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    check_refused(firmware, image)
