"""A policy that looks at a ratio: the quotient's bits are joined one after another, so that its proof is short; each
wrong division is refused by prover and checker.

Slow: the paths of a division, joined bit by bit.
"""

import re
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student
from options_by_hand import ENGINE, certified, cuts, judge, not_proved

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.elf import Image
from emulator.firmware import Firmware
from emulator.firmware_folder import read_firmware
from verify.check.judge import Cut
from verify.check.refused import Refused
from verify.prover import cuts as cuts_module
from verify.prover.prove import Attempt, Limits, Proof
from verify.trusted.costs import cycle_model

WRONG = {
    "a bit of another weight": (r"quotient_q8 \+ 64U", "quotient_q8 + 65U"),
    "a remainder that is not less": (r"(part_\d+) > (remainder_\d+)\) \? \2", r"\1 >= \2) ? \2"),
    "another part taken away": (r"(remainder_\d+) - part_\d+", r"\1 - part"),
    "a ratio above one": (": 256U", ": 257U"),
}
"""What is wrong: a pattern of the emitted C, and what stands in the place of the first that it meets."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    folder = tmp_path_factory.mktemp("ratio")
    trees = (oblivious(((0, 40), (1, 130)), (655, 0, -3000, -8192)),)
    with writing(folder / "student", "student") as work:
        make_student([FEATURES["nack_ratio"]], ACTIONS[0], trees, window=2).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return read_firmware(folder / "firmware")


@pytest.fixture(scope="module")
def proved(firmware: Firmware) -> tuple[Image, Proof, tuple[Cut, ...]]:
    return certified(firmware)


@pytest.mark.slow
def test_the_paths_of_a_division_are_joined_bit_by_bit(
    firmware: Firmware, proved: tuple[Image, Proof, tuple[Cut, ...]]
) -> None:
    image, proof, cuts = proved
    assert proof.cells < 64  # of 256 quotients
    assert proof.worst
    assert proof.worst.exact == proof.worst.bound
    found = judge(firmware, image, cuts)
    assert found.bound() + cycle_model(ENGINE).overhead == proof.worst.bound
    assert found.met == set(range(len(cuts)))


@pytest.fixture(scope="module")
def lean(firmware: Firmware, proved: tuple[Image, Proof, tuple[Cut, ...]]) -> tuple[Cut, ...]:
    """The cuts if cells met apart wherever any meet, as at the ends of ACC's divisions (too many lanes for a test)."""
    run = Attempt(proved[0], firmware.program, firmware.layouts, ENGINE, cycle_model(ENGINE), Limits())
    assert not run.execute()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("FEW_JOINS", 0), ("MIN_EACH", 1), ("MIN_LANES", 1)):
            patch.setattr(cuts_module, name, value)
        return cuts(next(iter(cuts_module.cuts_of(run))))


def test_where_cells_meet_apart_a_cut_says_only_what_is_needed_behind_it(
    firmware: Firmware, proved: tuple[Image, Proof, tuple[Cut, ...]], lean: tuple[Cut, ...]
) -> None:
    image, proof, full = proved
    assert max(len(cut.bounds) for cut in lean) < max(len(cut.bounds) for cut in full)
    found = judge(firmware, image, lean)
    assert proof.worst
    assert found.bound() + cycle_model(ENGINE).overhead == proof.worst.bound
    assert found.met == set(range(len(lean)))


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_division_is_refused_by_prover_and_checker(
    what: str,
    firmware: Firmware,
    proved: tuple[Image, Proof, tuple[Cut, ...]],
    lean: tuple[Cut, ...],
    tmp_path: Path,
) -> None:
    pattern, other = WRONG[what]
    text = re.search(pattern, (firmware.folder / "rlcc_policy.c").read_text())
    assert text
    image, proof = not_proved(firmware, {text[0]: text.expand(other)}, tmp_path)
    assert proof.failures[0].kind.startswith("wrong")
    for claimed in (proved[2], lean):
        with pytest.raises(Refused):
            judge(firmware, image, claimed).bound()
