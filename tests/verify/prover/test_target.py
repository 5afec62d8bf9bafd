"""An operator's target is proved and judged equal for every gain; a wrong scale is refused.

Slow: the same mutants in a student with a start.
"""

from pathlib import Path

import options_by_hand
import pytest
from drawing import FEATURES
from options_by_hand import check_certified, check_refused, judge, small_firmware

from emulator.firmware import Firmware

OPTIONS = [pytest.param(("target_ratio",)), pytest.param(("start", "target_ratio"), marks=pytest.mark.slow)]
WRONG = {
    "as trained, whatever is set": ("= params->congestion_gain_q28;", "= 268435456U;"),
    "twice the gain": ("congestion_held_q20 << 4U", "congestion_held_q20 << 5U"),
    "not held before it is shifted": ("(congestion_raw_q20 < 268435455U) ?", "(1) ?"),
    "the inverse of nothing": ("(uint64_t)congestion_gain_q28) >> 32U", "(uint64_t)congestion_gain_q28) >> 31U"),
    "not scaled": (
        "(uint32_t)(((uint64_t)congestion_held_q20_shifted * (uint64_t)congestion_gain_q28) >> 32U)",
        "congestion_held_q20",
    ),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module", params=OPTIONS, ids="+".join)
def firmware(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("turned"), request.param)


def test_it_is_proved_and_its_certificate_holds(firmware: Firmware) -> None:
    check_certified(firmware)


@pytest.mark.parametrize("what", WRONG)
def test_another_scale_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    check_refused(firmware, image)


def test_a_large_target_is_one_product_more(tmp_path: Path) -> None:
    """PCC-RL's needs no shift: the product that is shifted anyway."""
    firmware = small_firmware(tmp_path, ("target_ratio",), features=[FEATURES["pcc_rl_congestion"]])
    text = (firmware.folder / "rlcc_policy.c").read_text()
    assert "(uint64_t)congestion_raw_q20 * (uint64_t)congestion_gain_q28) >> 32U" in text
    assert judge(firmware, options_by_hand.proved(firmware, tmp_path)).bound() > 0
