"""A policy with a start and a cap: its code is proved and judged equal to the program; each wrong cap is refused by
prover and checker, on whichever side of the branch.

Slow: the proofs of unbroken code; each mutant is refused in the fast suite.
"""

from pathlib import Path
from typing import Any

import numpy as np
import options_by_hand
import pytest
from options_by_hand import ENGINE, certified, judge, small_firmware

from bench.drawn.students import tree
from emulator.firmware import Firmware
from verify.check import path_facts, solver
from verify.check.refused import Refused
from verify.trusted.costs import cycle_model

DECLARED, BY_PHASE, BY_POLICY = (
    "uint32_t rate_after_q30;",
    "rate_after_q30 = rate_made_q30;",
    "rate_after_q30 = rate_new_q30_83;",
)
SHARE = "(uint64_t)rate_after_q30 * (uint64_t)in_flight_line_q2"
STORED = "action->in_flight_bytes = in_flight_bytes;"


def _by_branch(phase: str, policy: str) -> dict[str, str]:
    """A variable ``other`` with a value of its own on each side of the branch."""
    return {
        DECLARED: f"{DECLARED} uint32_t other;",
        BY_PHASE: f"{BY_PHASE} other = {phase};",
        BY_POLICY: f"{BY_POLICY} other = {policy};",
    }


WRONG = {
    "the cap of the old rate where the phase steps": {
        **_by_branch("rate_now_q30", "rate_after_q30"),
        SHARE: SHARE.replace("rate_after_q30", "other"),
    },
    "the cap without the mark of a brake": {
        **_by_branch("rate_even_q30", "rate_after_q30"),
        SHARE: SHARE.replace("rate_after_q30", "other"),
    },
    "no cap where the phase steps": {**_by_branch("0U", "1U"), STORED: f"if (other != 0U) {{ {STORED} }}"},
    "no cap where the policy steps": {**_by_branch("1U", "0U"), STORED: f"if (other != 0U) {{ {STORED} }}"},
    "the least dropped where the phase steps": {
        **_by_branch("0U", "params->in_flight_min_bytes"),
        "in_flight_share_bytes > in_flight_min_bytes) ? in_flight_share_bytes : in_flight_min_bytes": (
            "in_flight_share_bytes > other) ? in_flight_share_bytes : other"
        ),
    },
    "the rate of the context capped": {SHARE: SHARE.replace("rate_after_q30", "rate_kept_q30")},
}
"""What is wrong: texts of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return small_firmware(tmp_path_factory.mktemp("start-in-flight"), ("start", "in_flight"))


@pytest.mark.slow
def test_a_start_and_a_cap_are_judged_together_and_nothing_is_multiplied(
    firmware: Firmware, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides of the cap's product speak of the same rate: no solver has to know what a product is."""

    def impossible(*question: Any) -> bool:
        conditions, bounds, name, _, *others = question
        return solver.impossible(conditions, bounds, name, False, *others)

    monkeypatch.setattr(path_facts, "impossible", impossible)
    image, proof, cuts = certified(firmware)
    found = judge(firmware, image, cuts)
    assert proof.worst
    assert found.bound() + cycle_model(ENGINE).overhead >= proof.worst.bound
    assert found.met == set(range(len(cuts)))


@pytest.mark.slow
def test_sixteen_trees_with_a_start_and_a_cap_are_proved_and_judged(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    names = ("congestion_q20", "congestion_q20_1")
    trees = tuple(tree(rng, names, 4, -4096, 2048) for _ in range(16))
    firmware = small_firmware(tmp_path, ("start", "in_flight"), trees)
    image, proof, cuts = certified(firmware)
    found = judge(firmware, image, cuts)
    assert proof.worst
    assert proof.worst.exact
    limit = proof.worst.exact - cycle_model(ENGINE).overhead
    assert found.bound() >= limit
    assert found.met == set(range(len(cuts)))
    assert not list(found.dearer_chains(limit))


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_cap_beside_a_start_is_refused_by_prover_and_checker(
    what: str, firmware: Firmware, tmp_path: Path
) -> None:
    image, proof = options_by_hand.not_proved(firmware, WRONG[what], tmp_path)
    assert proof.failures[0].kind == "wrong-result"
    with pytest.raises(Refused, match=r"another value .*action\.in_flight_bytes|not write action"):
        judge(firmware, image).bound()
