"""A flow's slack is proved and judged equal for every value that an operator may set; another sum is refused.

Slow: the same mutants in a student with a start.
"""

from pathlib import Path

import options_by_hand
import pytest
from options_by_hand import check_certified, check_refused, small_firmware

from emulator.firmware import Firmware

OPTIONS = [pytest.param(("rtt_slack",)), pytest.param(("start", "rtt_slack"), marks=pytest.mark.slow)]
LOADED = "= params->rtt_slack_ns;"
WRONG = {
    "no slack": (LOADED, "= 0U;"),
    "half of it": (LOADED, "= params->rtt_slack_ns >> 1U;"),
    "shorter, not longer": (LOADED, "= 0U - params->rtt_slack_ns;"),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module", params=OPTIONS, ids="+".join)
def firmware(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("slack"), request.param)


def test_it_is_proved_and_its_certificate_holds(firmware: Firmware) -> None:
    check_certified(firmware)


@pytest.mark.parametrize("what", WRONG)
def test_another_sum_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    check_refused(firmware, image)
