"""A policy with a start: its C is proved and judged equal to the program; each wrong one is refused by both.

Slow: the proof without cuts; the fast suite proves the same firmware with cuts.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import options_by_hand
import pytest
from options_by_hand import certified, judge, linked, small_firmware, unbroken

from emulator.elf import Image
from emulator.firmware import Firmware
from verify.check.judge import Cut
from verify.check.refused import Refused

WRONG = {
    "growth that ends one late": (
        "until_q10 > rtt_inflation_raw_q10) ? rate_grown",
        "until_q10 >= rtt_inflation_raw_q10) ? rate_grown",
    ),
    "a brake one too early": ("rtt_inflation_raw_q10 > brake_above_q10", "rtt_inflation_raw_q10 >= brake_above_q10"),
    "a NACK missed": ("nack_count > 0U", "nack_count > 1U"),
    "a brake in the settled phase": ("rate_q30 > 1073741823U", "rate_q30 > 0U"),
    "the wrong phase after the brake": (
        "(brakes != 0U) ? RLCC_PHASE_RECOVERING",
        "(brakes != 0U) ? RLCC_PHASE_STARTING",
    ),
    "a recovery that ends late": ("rate_max_q30 > rate_grown_q30", "rate_max_q30 >= rate_grown_q30"),
    "a new flow that is settled": ("(rate_q30 == 0U) || (phase > RLCC_PHASE_ARMED)", "(phase > RLCC_PHASE_ARMED)"),
    "the first response after the brake not passed over": (
        "rate_made_q30 = rate_even_q30 + brakes",
        "rate_made_q30 = rate_even_q30",
    ),
    "the rate held with its phase": ("rate_held_q32 >> 2U", "rate_q30"),
    "the phase lost by the policy": ("= phase << 30U", "= phase << 31U"),
    "a history of another rate": ("rate_now_q30 << 2U", "rate_now_q30 << 1U"),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("start"), ("start",))


@pytest.fixture(scope="module")
def proved(firmware: Firmware) -> tuple[Image, tuple[Cut, ...]]:
    """The linked C and the cuts of its certificate."""
    image, _, cuts = certified(firmware)
    return image, cuts


def made(firmware: Firmware) -> str:
    """The value that says whether the phase makes the step."""
    return f"node.{next(n for n, node in enumerate(firmware.program.nodes) if node.name == 'made')}"


def test_there_is_a_cut_on_each_side_of_the_fork(firmware: Firmware, proved: tuple[Image, tuple[Cut, ...]]) -> None:
    """So the paths before it are not walked once for each path behind it."""
    image, cuts = proved
    fork = {cut.pc: cut.bounds[made(firmware)] for cut in cuts if made(firmware) in cut.bounds}
    assert {(0, 0), (1, 1)} == set(fork.values())
    there = judge(firmware, image, cuts)
    assert there.bound() > 0
    assert there.met == set(range(len(cuts)))


@pytest.mark.slow
def test_cuts_halve_what_is_walked_and_lower_no_bound(
    firmware: Firmware, proved: tuple[Image, tuple[Cut, ...]]
) -> None:
    image, cuts = proved
    there, alone = judge(firmware, image, cuts), judge(firmware, image)
    assert there.bound() >= alone.bound()
    assert there.walked < alone.walked / 2


def test_no_path_meets_a_cut_that_says_what_is_not_so(
    firmware: Firmware, proved: tuple[Image, tuple[Cut, ...]]
) -> None:
    """The check of the certificate refuses it then."""
    image, cuts = proved
    side = {n for n, cut in enumerate(cuts) if cut.bounds.get(made(firmware)) == (0, 0)}
    forged = [replace(c, bounds={**c.bounds, made(firmware): (1, 1)}) if n in side else c for n, c in enumerate(cuts)]
    found = judge(firmware, image, tuple(forged))
    with suppress(Refused):
        found.bound()
    assert side
    assert not found.met & side


def test_what_a_cut_leaves_out_is_followed_all_the_same(
    firmware: Firmware, proved: tuple[Image, tuple[Cut, ...]]
) -> None:
    """A settled flow at the least rate: its path goes on by itself, and is judged."""
    image, cuts = proved
    narrow = {"context.rate_q30": (2, 2**31 - 1)}
    forged = [
        replace(cut, bounds={**cut.bounds, **narrow}) if cut.bounds.get("context.rate_q30") == (1, 2**31 - 1) else cut
        for cut in cuts
    ]
    sound, found = judge(firmware, image, cuts), judge(firmware, image, tuple(forged))
    assert found.bound() <= sound.bound()
    assert found.walked > sound.walked


@pytest.mark.parametrize("what", ["a NACK missed", "the wrong phase after the brake", "the phase lost by the policy"])
def test_a_wrong_start_is_refused_with_cuts(
    what: str, firmware: Firmware, proved: tuple[Image, tuple[Cut, ...]], tmp_path: Path
) -> None:
    """Before a cut or behind it: the cuts of the right C, where it has not moved."""
    right, (text, other) = unbroken((firmware.folder / "rlcc_policy.c").read_text()), WRONG[what]
    assert text in right
    image = linked(firmware, right.replace(text, other), tmp_path)
    with pytest.raises(Refused):
        judge(firmware, image, proved[1]).bound()


@pytest.mark.slow
def test_a_start_is_proved_and_judged_equal(firmware: Firmware, tmp_path: Path) -> None:
    assert judge(firmware, options_by_hand.proved(firmware, tmp_path)).bound() > 0


@pytest.mark.slow_except(
    "growth*", "a brake*", "a NACK*", "the wrong*", "a recovery*", "a new*", "the first*", "the rate*", "a history*"
)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_start_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    image, _ = options_by_hand.not_proved(firmware, dict([WRONG[what]]), tmp_path)
    with pytest.raises(Refused, match="another value"):
        judge(firmware, image).bound()
