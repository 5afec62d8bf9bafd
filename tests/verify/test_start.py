"""A policy with a start: its C is proved and judged equal to the program; each wrong one is refused by both."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "decision"))  # drawing.py
sys.path.insert(0, str(Path(__file__).resolve().parent))

from options_by_hand import ENGINE, judge, linked, small_firmware

from emulator.firmware import Firmware
from verify.check.refused import Refused
from verify.prove import Limits as ProofLimits
from verify.prove import prove

WRONG = {
    "growth that ends one late": (
        "until_q10 > rtt_inflation_raw_q10) ? rate_grown",
        "until_q10 >= rtt_inflation_raw_q10) ? rate_grown",
    ),
    "a brake one too early": ("rtt_inflation_raw_q10 > brake_above_q10", "rtt_inflation_raw_q10 >= brake_above_q10"),
    "a NACK missed": ("nack_count > 0U", "nack_count > 1U"),
    "a brake in the settled phase": ("rate_q30 > 1073741823U", "rate_q30 > 0U"),
    "the wrong phase after the brake": ("(brakes != 0U) ? 2U", "(brakes != 0U) ? 3U"),
    "a recovery that ends late": ("rate_max_q30 > rate_grown_q30", "rate_max_q30 >= rate_grown_q30"),
    "a new flow that is settled": ("(rate_q30 == 0U) || (phase > 1U)", "(phase > 1U)"),
    "the first response after the brake not passed over": ("rate_made_q30 = v52 + brakes", "rate_made_q30 = v52"),
    "the rate held with its phase": ("rate_held_q32 >> 2U", "rate_q30"),
    "the phase lost by the policy": ("= phase << 30U", "= phase << 31U"),
    "a history of another rate": ("rate_now_q30 << 2U", "rate_now_q30 << 1U"),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("start"), ("start",))


def test_a_start_is_proved_and_judged_equal(firmware: Firmware, tmp_path: Path) -> None:
    image = linked(firmware, (firmware.folder / "rlcc_policy.c").read_text(), tmp_path)
    proof = prove(image, firmware.program, firmware.layouts, ENGINE, limits=ProofLimits(worst_seconds=2))
    assert proof.proved, proof.failures
    assert judge(firmware, image).bound() > 0


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_start_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    right, (text, other) = (firmware.folder / "rlcc_policy.c").read_text(), WRONG[what]
    assert text in right
    image = linked(firmware, right.replace(text, other), tmp_path)
    proof = prove(image, firmware.program, firmware.layouts, ENGINE, limits=ProofLimits(1000, 4000, 5.0, 1.0))
    assert not proof.proved
    with pytest.raises(Refused, match="another value"):
        judge(firmware, image).bound()
