"""A policy that is told of its NIC's rate is proved and judged equal; where it goes on from another, it is refused.

Slow: the same mutants in a student with a start.
"""

from pathlib import Path

import options_by_hand
import pytest
from options_by_hand import check_certified, check_refused, small_firmware

from emulator.firmware import Firmware

OPTIONS = [pytest.param(("device_rate",)), pytest.param(("start", "device_rate"), marks=pytest.mark.slow)]
WRONG = {
    "the cut not heard": ("event->device_rate_q20;", "1048576U;"),
    "twice the rate": ("event->device_rate_q20;", "event->device_rate_q20 << 1;"),
    "not told, taken for nothing": ("== 0U) ? 1048576U :", "== 0U) ? 0U :"),
    "half of it": ("<< 10U;", "<< 9U;"),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module", params=OPTIONS, ids="+".join)
def firmware(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("told"), request.param)


def test_it_is_proved_and_its_certificate_holds(firmware: Firmware) -> None:
    check_certified(firmware)


@pytest.mark.parametrize("what", WRONG)
def test_another_rate_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    check_refused(firmware, image)
