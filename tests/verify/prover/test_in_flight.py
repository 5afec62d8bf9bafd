"""A policy that caps what is in flight: both knobs are proved and judged equal; each wrong cap is refused."""

from pathlib import Path

import options_by_hand
import pytest
from options_by_hand import check_refused, judge, small_firmware

from emulator.firmware import Firmware

STORED = "action->in_flight_bytes = in_flight_bytes;"
LARGER = "(in_flight_share_bytes > in_flight_min_bytes) ? in_flight_share_bytes : in_flight_min_bytes"
WRONG = {
    "a byte too much": (STORED, "action->in_flight_bytes = in_flight_bytes + 1U;"),
    "none": (STORED, ""),
    "the rate in its place": (STORED, "action->in_flight_bytes = rate_q20;"),
    "the least dropped": (LARGER, "in_flight_share_bytes"),
    "the smaller one": (LARGER, LARGER.replace(">", "<")),
    "of the rate before the decision": (
        "(uint64_t)rate_new_q30 * (uint64_t)in_flight_line_q2",
        "(uint64_t)rate_known_q30 * (uint64_t)in_flight_line_q2",
    ),
    "a bit too little": ("in_flight_line_q2) >> 32U", "in_flight_line_q2) >> 33U"),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("in-flight"), ("in_flight",))


def test_both_knobs_are_proved_and_judged_equal(firmware: Firmware, tmp_path: Path) -> None:
    assert judge(firmware, options_by_hand.proved(firmware, tmp_path)).bound() > 0


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_cap_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    check_refused(firmware, image)
