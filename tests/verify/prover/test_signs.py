"""Ranks and signs that compilers turn into or and masks: proved and checked; a wrong mask is refused by both.

Also flows of one decision's window with a start, whose phases' paths know a product of the rate by different names.

Slow: the two proofs of a start before a window of one decision; the C with a wrong rate is refused in the fast suite.
"""

from pathlib import Path

import pytest
from drawing import FEATURES
from options_by_hand import certified, check_refused, judge, not_proved, small_firmware
from policy_by_hand import LIMITS, PROFILE, SOURCE, layouts, linked, program

from decision.ir.forest import Node, oblivious
from emulator.elf import Image
from verify.check.judge import Judge
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.prover.prove import ENTRY, prove
from verify.trusted.costs import cycle_model

BRANCHES = SOURCE[SOURCE.index("    if (action > 100) {") : SOURCE.index("uint32_t rlcc_decide")]
BY_SIGN = """    static const int16_t leaves[5] = {-3, 250, 0, 17, -900};
    int32_t above = (int32_t)(rtt > 5000U);
    return leaves[(((100 - action) >> 31) & 3) + above];
}

"""
BY_BITS = """    static const int16_t leaves[6] = {-3, 250, 0, 0, 17, -900};
    uint32_t above = (uint32_t)(rtt > 5000U), fast = (uint32_t)(100 - action) >> 31;
    return leaves[fast << 2 | above];
}

"""
WRONG = {
    "another threshold": (BY_SIGN, "100 - action", "99 - action"),
    "another place": (BY_SIGN, "& 3)", "& 2)"),
    "the other sign": (BY_SIGN, "(100 - action)", "(action - 100)"),
    "outside the table": (BY_SIGN, "& 3)", "& 7)"),
    "bits on another": (BY_BITS, "fast << 2", "fast << 1"),
    "the wrong leaf by bits": (BY_BITS, "17, -900", "-900, 17"),
}
"""What is wrong: a text of one of the trees' forms, and what stands there instead."""


def image_of(form: str, folder: Path) -> Image:
    assert BRANCHES in SOURCE
    return linked(SOURCE.replace(BRANCHES, form), folder)


def judged(image: Image) -> int:
    stack, model = PROFILE.limits.stack_bytes, cycle_model(PROFILE)
    return Judge(image, image.symbols[ENTRY], program(), layouts(), (), model, stack, Oracle()).bound()


@pytest.mark.parametrize("form", [BY_SIGN, BY_BITS])
def test_a_place_by_a_spread_sign_or_by_bits_is_proved_and_judged(form: str, tmp_path: Path) -> None:
    image = image_of(form, tmp_path)
    proof = prove(image, program(), layouts(), PROFILE)
    assert proof.proved, proof.failures
    assert proof.worst
    assert judged(image) + cycle_model(PROFILE).overhead == proof.worst.exact


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_mask_is_refused_by_prover_and_checker(what: str, tmp_path: Path) -> None:
    form, text, other = WRONG[what]
    assert text in form
    image = image_of(form.replace(text, other), tmp_path)
    assert not prove(image, program(), layouts(), PROFILE, limits=LIMITS).proved
    with pytest.raises(Refused):
        judged(image)


TREES = (
    oblivious(((0, -7), (1, 4295), (1, 90_000)), (655, 700, 20, 9, -8192, -300, -12_000, 44)),
    oblivious(((1, 40), (0, 900)), (1000, -70, 333, -4000)),
)
CLAMPED = (*TREES, oblivious(((1, 20_000),), (12_900, -2)))
WINDOW_ONE = (FEATURES["previous_action"], FEATURES["rl_cc_congestion"])


@pytest.mark.slow
@pytest.mark.parametrize("trees", [TREES, CLAMPED], ids=["inside", "clamped"])
def test_a_start_before_a_window_of_one_decision_is_proved_and_judged(trees: tuple[Node, ...], tmp_path: Path) -> None:
    firmware = small_firmware(tmp_path, ("start", "in_flight"), trees, WINDOW_ONE, window=1)
    image, proof, cuts = certified(firmware)
    found = judge(firmware, image, cuts)
    assert proof.worst
    assert proof.worst.exact
    assert found.bound() + cycle_model(PROFILE).overhead >= proof.worst.exact
    assert found.met == set(range(len(cuts)))


def test_a_wrong_rate_behind_it_is_refused_by_prover_and_checker(tmp_path: Path) -> None:
    firmware = small_firmware(tmp_path, ("start", "in_flight"), TREES, WINDOW_ONE, window=1)
    image, _ = not_proved(firmware, {"multiplier_q16 << 14U": "multiplier_q16 << 13U"}, tmp_path)
    check_refused(firmware, image)
