"""A context that keeps ranks: its C is proved and judged equal to the program; each wrong one is refused by both."""

import re
from pathlib import Path

import pytest
from options_by_hand import certified, check_certified, check_refused, not_proved, small_firmware, unbroken

from decision.ir.forest import oblivious
from emulator.firmware import Firmware

NOW, AGO = (703, 4295, 17_180, 65_536), (1000, 4295, 30_000, 131_072)
TREES = tuple(
    oblivious(((0, a), (1, b)), (9 * k, -700, 300 + k, 40)) for k, (a, b) in enumerate(zip(NOW, AGO, strict=True))
)
CUT = "congestion_q20_1_rank & 7U"


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    made = small_firmware(tmp_path_factory.mktemp("ranks"), (), TREES)
    assert "congestion_q20_1_rank" in made.layouts["context"].fields
    return made


def test_all_that_keep_the_rank_go_on_as_one_behind_the_trees(firmware: Firmware) -> None:
    """Under the name of what the context is left as, and the table's entry under the factor's, shifted."""
    _, proof, _ = certified(firmware)
    (cut,) = [c for c in proof.cuts if any(name.startswith("(+ (* 16384 node.") for name in c.names.values())]
    assert cut.lanes > 12
    (rank,) = (s.node for s in firmware.program.state if s.name.endswith("_rank"))
    assert f"node.{rank}" in cut.names.values()


def wrong(source: str) -> dict[str, tuple[str, str]]:
    """What is wrong: a text of the emitted C, and what stands there instead."""
    row = max(re.findall(r"row\[\d+\]", source), key=lambda text: int(text[4:-1]))
    entries = re.search(r"leaves\[\d+\] = \{\n(?: +/\*.*\n)* +(\d+), ", source)
    assert entries is not None
    return {
        "a rank that is not cut": (CUT, "congestion_q20_1_rank"),
        "a rank cut too high": (CUT, CUT.replace("7U", "15U")),
        "a rank cut too low": (CUT, CUT.replace("7U", "3U")),
        "a rank off by one": ("rank = 3U;", "rank = 4U;"),
        "another row of the table": (row, "row[0]"),
        "a wrong entry of the table": (f"{entries[1]}, ", f"{int(entries[1]) + 16384}, "),
        "the rank that was": ("= (uint8_t)congestion_q20_rank", "= (uint8_t)congestion_q20_1_rank"),
    }


def test_the_c_is_proved_and_judged_equal_for_every_context(firmware: Firmware) -> None:
    assert CUT in unbroken((firmware.folder / "rlcc_policy.c").read_text())
    check_certified(firmware)


@pytest.mark.parametrize("number", range(7))
def test_each_wrong_one_is_refused_by_prover_and_checker(number: int, firmware: Firmware, tmp_path: Path) -> None:
    what, (text, other) = list(wrong(unbroken((firmware.folder / "rlcc_policy.c").read_text())).items())[number]
    image, proof = not_proved(firmware, {text: other}, tmp_path)
    assert not proof.proved, what
    check_refused(firmware, image)
