"""Ratios as threshold tests, in machine code: proved and checked; a wrong multiple is refused by both."""

import re
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student
from options_by_hand import ENGINE, certified, judge, not_proved

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir.forest import Node, oblivious
from emulator.elf import Image
from emulator.firmware import Firmware
from emulator.firmware_folder import read_firmware
from verify.check.judge import Cut
from verify.check.refused import Refused
from verify.prover.prove import Proof
from verify.trusted.costs import cycle_model

WRONG = {
    "a factor one more": ("41U \\*", "42U *"),
    "a factor one less": ("131U \\*", "130U *"),
    "a dividend that is not raised": (r"(nack_ratio_q8_dividend = .*) \+ 1U", r"\1 + 0U"),
    "an equal that counts": (r"> \(41U", ">= (41U"),
}
"""What is wrong: a pattern of the emitted C, and what stands in the place of the first that it meets."""


TREE = oblivious(((0, 40), (1, 130)), (655, 0, -3000, -8192))


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    """One ratio is compared twice."""
    return emitted(tmp_path_factory.mktemp("multiples"), (TREE, oblivious(((0, 87),), (1000, -70))))


@pytest.fixture(scope="module")
def one_tree(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    """Each ratio is compared once."""
    return emitted(tmp_path_factory.mktemp("once"), (TREE,))


def emitted(folder: Path, trees: tuple[Node, ...]) -> Firmware:
    with writing(folder / "student", "student") as work:
        make_student([FEATURES["nack_ratio"], FEATURES["cnp_ratio"]], ACTIONS[0], trees).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return read_firmware(folder / "firmware")


@pytest.fixture(scope="module")
def proved(firmware: Firmware) -> tuple[Image, Proof, tuple[Cut, ...]]:
    return certified(firmware)


@pytest.fixture(scope="module")
def cuts_of_one_tree(one_tree: Firmware) -> tuple[Cut, ...]:
    return certified(one_tree)[2]


@pytest.fixture(scope="module")
def at_least_as_many(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    """Ratio >= 1 is 256 * count + 1 > 256 * over; compilers ask count >= over."""
    folder = tmp_path_factory.mktemp("whole")
    trees = (oblivious(((0, 40), (0, 255)), (655, 0, -3000, -8192)),)
    with writing(folder / "student", "student") as work:
        make_student([FEATURES["nack_ratio"]], ACTIONS[1], trees).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return read_firmware(folder / "firmware")


@pytest.fixture(scope="module")
def proved_as_many(at_least_as_many: Firmware) -> tuple[Image, Proof, tuple[Cut, ...]]:
    return certified(at_least_as_many)


def test_a_ratio_of_one_is_proved_and_checked_though_the_factor_is_not_compared(
    at_least_as_many: Firmware, proved_as_many: tuple[Image, Proof, tuple[Cut, ...]]
) -> None:
    image, proof, cuts = proved_as_many
    assert proof.worst
    assert proof.worst.exact == judge(at_least_as_many, image, cuts).bound() + cycle_model(ENGINE).overhead


@pytest.mark.parametrize(("text", "other"), [("_held_shl8 + 1U;", "_held_shl8 + 0U;"), ("> (256U", "> (257U")])
def test_another_comparison_than_with_one_is_refused(
    text: str,
    other: str,
    at_least_as_many: Firmware,
    proved_as_many: tuple[Image, Proof, tuple[Cut, ...]],
    tmp_path: Path,
) -> None:
    wrong, _ = not_proved(at_least_as_many, {text: other}, tmp_path)
    with pytest.raises(Refused):
        judge(at_least_as_many, wrong, proved_as_many[2]).bound()


def test_threshold_tests_are_proved_and_checked(
    firmware: Firmware, proved: tuple[Image, Proof, tuple[Cut, ...]]
) -> None:
    image, proof, cuts = proved
    assert proof.worst
    assert proof.worst.exact == proof.worst.bound
    found = judge(firmware, image, cuts)
    assert found.bound() + cycle_model(ENGINE).overhead == proof.worst.bound
    assert found.met == set(range(len(cuts)))


def test_a_wrong_test_of_a_ratio_that_is_compared_twice_is_refused(
    firmware: Firmware, proved: tuple[Image, Proof, tuple[Cut, ...]], tmp_path: Path
) -> None:
    pattern, other = next(iter(WRONG.values()))
    text = re.search(pattern, (firmware.folder / "rlcc_policy.c").read_text())
    assert text
    image, _ = not_proved(firmware, {text[0]: text.expand(other)}, tmp_path)
    with pytest.raises(Refused):
        judge(firmware, image, proved[2]).bound()


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_threshold_test_is_refused_by_prover_and_checker(
    what: str, one_tree: Firmware, cuts_of_one_tree: tuple[Cut, ...], tmp_path: Path
) -> None:
    pattern, other = WRONG[what]
    text = re.search(pattern, (one_tree.folder / "rlcc_policy.c").read_text())
    assert text
    image, _ = not_proved(one_tree, {text[0]: text.expand(other)}, tmp_path)
    with pytest.raises(Refused):
        judge(one_tree, image, cuts_of_one_tree).bound()
