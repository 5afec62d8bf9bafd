"""A start with a cut by losses: its C is proved and judged equal to the program; each wrong one is refused by both."""

from pathlib import Path

import options_by_hand
import pytest
from options_by_hand import judge, small_firmware

from decision.policy.start import Start
from emulator.firmware import Firmware
from verify.check.refused import Refused

WRONG = {
    "a cut of nothing": ("rate_less_q30 = rate_now_q30 - rate_now_q30_shr4", "rate_less_q30 = rate_now_q30"),
    "another share": ("rate_now_q30_shr4 = rate_now_q30 >> 4U", "rate_now_q30_shr4 = rate_now_q30 >> 3U"),
    "another phase after it": ("(cuts != 0U) ? RLCC_PHASE_SETTLED", "(cuts != 0U) ? RLCC_PHASE_ARMED"),
    "a NACK left to the policy": ("((rate_q30 > 1073741823U) || (nack_count > 0U))", "(rate_q30 > 1073741823U)"),
    "a cut while the flow recovers": (
        "((rate_q30 == 0U) || (rate_q30 > 1073741823U)) ? (uint32_t)1U",
        "(rate_q30 == 0U) ? (uint32_t)1U",
    ),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    start = Start.model_validate({"loss": {"cut": 0.0625}})
    return small_firmware(tmp_path_factory.mktemp("cut"), ("start",), started=start)


@pytest.mark.slow
def test_a_cut_is_proved_and_judged_equal(firmware: Firmware, tmp_path: Path) -> None:
    assert judge(firmware, options_by_hand.proved(firmware, tmp_path)).bound() > 0


def test_its_certificate_holds_and_tells_what_two_words_compare_as(firmware: Firmware) -> None:
    """Behind the clamp to the least rate the scaled rate was below it. Cuts that do not say so are refused."""
    image, proof, (plain, compared) = options_by_hand.certified_in_forms(firmware)
    assert proof.worst
    assert 0 < judge(firmware, image, compared).bound() <= proof.worst.bound
    assert any(text.startswith("(slt") for cut in compared for text in cut.bounds)
    with pytest.raises(Refused, match="another value"):
        judge(firmware, image, plain).bound()


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_cut_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    with pytest.raises(Refused, match="another value"):
        judge(firmware, image).bound()
