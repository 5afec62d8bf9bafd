"""Caches before the memories: which accesses miss, what a miss costs, and each state of them measured for itself."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from emulator.compile import compile_policy, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.elf import read_image
from emulator.job import State
from emulator.memory_map import Block
from emulator.profile import load_profile
from emulator.rtl_run import RtlRun
from emulator.run import emulate

Maker = Callable[..., Path]
SMALL = Path(__file__).parents[2] / "emulator" / "profiles" / "ibex-small.toml"
PENALTY = 20


def cached(folder: Path, memory: str, ways: int = 2, lines: int = 8) -> Path:
    """ibex-small with a cache of lines of 16 bytes before one memory."""
    cache = f"cache = {{ bytes = {lines * 16}, line_bytes = 16, ways = {ways}, miss_cycles = {PENALTY} }}\n"
    path = folder / f"{memory}.toml"
    path.write_text(SMALL.read_text().replace(f"[{memory}]\n", f"[{memory}]\n{cache}"))
    return path


def run(source: Path, profile: Path, state: State, calls: int = 5) -> RtlRun:
    """f(row), ``row`` 256 writable bytes, on the core."""
    engine = load_profile(profile)
    folder = source.parent
    elf = link_program(compile_policy(source, toolchain(engine), folder=folder), "f", engine, folder)
    rows = np.zeros(calls, dtype=[("words", "<u4", (64,))])
    return run_on_core(read_image(elf), "f", engine, [(Block("row", 256, True), rows)], state=state)


LOADS = {  # a snippet, its cycles without misses but for the return, the lines that it reads
    "nop": (1, 0),
    "lw a1, 0(a0)": (2, 1),
    "lw a1, 0(a0); lw a1, 12(a0)": (4, 1),
    "lw a1, 0(a0); lw a1, 16(a0); lw a1, 4(a0)": (6, 2),
    "sw x0, 0(a0)": (2, 0),  # a store waits for nothing and brings no line
    "sw x0, 0(a0); lw a1, 0(a0)": (4, 1),
}


@pytest.mark.parametrize("body", LOADS)
def test_each_missed_load_costs_the_penalty(tmp_path: Path, assembled: Callable[[str], Path], body: str) -> None:
    cycles, lines = LOADS[body]
    profile = cached(tmp_path, "data_memory")
    hot, cold = (run(assembled(body), profile, state) for state in ("hot", "cold"))
    assert hot.cycles.tolist() == [cycles + 2] * 5
    assert cold.cycles.tolist() == [cycles + 2 + lines * PENALTY] * 5
    assert cold.data_misses.tolist() == [lines] * 5
    assert hot.data_misses.tolist() == [0] * 5


def test_another_flows_context_is_missed_and_nothing_else(tmp_path: Path, assembled: Callable[[str], Path]) -> None:
    source = assembled("lui a2, %hi(table); lw a1, %lo(table)(a2); lw a1, 0(a0)")  # a constant, then the context
    source.write_text(source.read_text() + "const int table[4] = {1, 2, 3, 4};\n")
    profile = cached(tmp_path, "data_memory")
    found = {}
    for state in ("hot", "other-flow", "cold"):
        found[state] = run(source, profile, state).data_misses.tolist()
    assert found == {"hot": [0] * 5, "other-flow": [1] * 5, "cold": [2] * 5}


@pytest.mark.parametrize(("ways", "misses"), [(1, 4), (2, 0)])
def test_the_least_recently_used_line_goes(
    tmp_path: Path, assembled: Callable[[str], Path], ways: int, misses: int
) -> None:
    """Two lines of one of four sets, in turn: one way loses each, two ways keep both."""
    body = "lw a1, 0(a0); lw a1, 64(a0); lw a1, 0(a0); lw a1, 64(a0)"
    done = run(assembled(body), cached(tmp_path, "data_memory", ways=ways, lines=4 * ways), "hot")
    assert done.data_misses.tolist() == [misses] * 5


def test_a_line_used_again_stays(tmp_path: Path, assembled: Callable[[str], Path]) -> None:
    body = "lw a1, 0(a0); lw a1, 64(a0); lw a1, 0(a0); lw a1, 128(a0); lw a1, 0(a0)"  # the oldest line, but used last
    done = run(assembled(body), cached(tmp_path, "data_memory", ways=2, lines=8), "cold")
    assert done.data_misses.tolist() == [3] * 5


def test_a_cold_instruction_buffer_misses_each_line_once(tmp_path: Path, assembled: Callable[[str], Path]) -> None:
    body = "; ".join(["nop"] * 39)  # 40 instructions with the return: ten lines
    profile = cached(tmp_path, "instruction_memory", lines=64)
    hot, cold = (run(assembled(body), profile, state) for state in ("hot", "cold"))
    assert hot.cycles.tolist() == [39 + 2] * 5
    assert hot.instruction_misses.tolist() == [0] * 5
    assert cold.instruction_misses.tolist() == [10] * 5
    waited = cold.cycles + cold.entering - hot.cycles - hot.entering
    assert set(waited.tolist()) <= set(range(10 * (PENALTY - 4), 10 * PENALTY + 1))  # a line of four is fetched ahead
    assert int(cold.entering[0] - hot.entering[0]) == PENALTY  # of the first line, before its first instruction stands


def test_code_larger_than_its_buffer_is_never_hot(tmp_path: Path, assembled: Callable[[str], Path]) -> None:
    done = run(assembled("; ".join(["nop"] * 79)), cached(tmp_path, "instruction_memory", lines=8), "hot")
    assert int(done.instruction_misses.min()) >= 20


def test_a_report_has_every_state_where_there_is_a_cache(tmp_path: Path, firmware_folder: Maker) -> None:
    report = emulate(firmware_folder(), profile=cached(tmp_path, "data_memory"))
    assert report.passed, report
    assert list(report.states) == ["hot", "cold", "other-flow", "back-to-back"]
    assert report.states["hot"].cycles == report.cycles
    means = {name: state.cycles.mean for name, state in report.states.items()}
    assert means["hot"] < means["other-flow"] < means["cold"]
    assert report.to_json()["states"]["cold"]["data_misses"] == 3  # context, event, parameters: a line each


def test_without_a_cache_nothing_depends_on_what_ran_before(firmware_folder: Maker) -> None:
    report = emulate(firmware_folder(), profile="ibex-small")
    assert list(report.states) == ["hot", "back-to-back"]
    assert report.cycles is not None
    assert report.runner_cycles is not None
    assert report.states["back-to-back"].cycles.max == report.cycles.max + report.runner_cycles


def test_a_core_with_a_cache_of_its_own_is_slower_cold(firmware_folder: Maker) -> None:
    report = emulate(firmware_folder(), profile="vexriscv")
    assert report.states["cold"].cycles.min > report.states["hot"].cycles.max
