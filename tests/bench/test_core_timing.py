"""The page of the cycle model: its rows, its reasons, and engines that it is not about."""

import pytest

from bench.core_timing import main, page
from verify.core_timing.proof import InstructionCycles, TimedInstruction


def test_the_page_lists_instructions_by_their_cycles_and_gives_reasons() -> None:
    found = InstructionCycles(3, 20, {TimedInstruction("lw"): {2}, TimedInstruction("beq", True): {3, 2}})
    text = page([["small", "not proved", "3", "20", "2", "4"]], ["- small: beq takes 2 or 3"], {"small": found})
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[2] == ["small", "not proved", "3", "20", "2", "4"]
    assert ["2", "lw"] in rows
    assert ["2 or 3", "beq, taken"] in rows
    assert text.count("- small:") == 1


@pytest.mark.slow_except("connectx6dx-proxy", "nowhere", "picorv32")
@pytest.mark.parametrize("profile", ["picorv32", "ibex-maxperf", "connectx6dx-proxy", "nowhere"])
def test_an_engine_that_it_is_not_about_is_a_sentence(profile, tmp_path, capsys) -> None:
    out = tmp_path / "page.md"
    assert main([profile, "--out", str(out)]) == 2
    assert profile in capsys.readouterr().err.splitlines()[-1]
    assert not out.exists()
