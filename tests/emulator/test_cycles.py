"""Cycle accounting against hand-counted snippets: the documented timing of Ibex' two-stage pipeline, and wait states.

A snippet's cost is what it adds to a function that only returns, so each row tests one instruction; the empty function
anchors the definition itself: from the entry in ID/EX to the instruction after the call in ID/EX.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from decision.artefact.errors import InputError
from emulator.compile import toolchain
from emulator.profile import load_profile
from emulator.timing import time_function

PROFILES = Path(__file__).parents[2] / "emulator" / "profiles"
RETURN = 2  # a jump: one cycle and one bubble

SnippetTimer = Callable[..., int]


SMALL = {
    "": 0,
    "addi a0, a0, 1": 1,
    "add a1, a0, a0; xor a1, a1, a0": 2,
    "lw a1, 0(a0)": 2,
    "lw a1, 0(a0); addi a1, a1, 1": 3,
    "sw a0, -4(sp)": 2,
    "lh a1, 2(a0)": 2,
    "beq x0, a0, 1f; nop; 1:": 2,
    "bne x0, a0, 1f; nop; 1:": 3,
    "j 1f; nop; 1:": 2,
    "mul a1, a0, a0": 3,
    "mulhu a1, a0, a0": 4,
    "mulh a1, a0, a0": 4,
    "mulhsu a1, a0, a0": 4,
    "lui a1, 1; slli a1, a1, 3; sltu a1, a1, a0": 3,
    "lw a1, 0(a0); lw a2, 4(a0); blt a1, a2, 1f; nop; 1: mul a1, a1, a2": 2 + 2 + 1 + 1 + 3,
}


@pytest.mark.parametrize("body", SMALL)
def test_small_core_follows_its_documented_timing(cycles: SnippetTimer, body: str) -> None:
    assert cycles(body, "ibex-small") == SMALL[body] + RETURN


MAXPERF = {
    "": 0,
    "addi a1, a0, 1": 1,
    "lw a1, 0(a0); nop": 2,
    "lw a1, 0(a0); addi a1, a1, 1": 3,  # the load's answer is awaited
    "sw a0, -4(sp); nop": 2,
    "beq x0, a0, 1f; nop; 1:": 2,
    "bne x0, a0, 1f; nop; 1:": 2,
    "mul a1, a0, a0": 1,
    "mulhu a1, a0, a0": 2,
    "mulh a1, a0, a0": 2,
    "mulhsu a1, a0, a0": 2,
    "lw a1, 0(a0); lw a2, 4(a0); lw a3, 8(a0); nop": 4,
    "sw a0, -4(sp); sw a0, -8(sp); lw a1, 0(a0); nop": 4,
    "j 1f; nop; 1:": 2,
}


@pytest.mark.parametrize("body", MAXPERF)
def test_maxperf_core_hides_what_it_should(cycles: SnippetTimer, body: str) -> None:
    assert cycles(body, "ibex-maxperf") == MAXPERF[body] + RETURN


def with_waits(folder: Path, instruction: int, data: int) -> Path:
    text = (PROFILES / "ibex-small.toml").read_text()
    first, second = text.split("[data_memory]")
    path = folder / f"wait{instruction}{data}.toml"
    first = first.replace("wait_states = 0", f"wait_states = {instruction}")
    path.write_text(first + "[data_memory]" + second.replace("wait_states = 0", f"wait_states = {data}"))
    profile = load_profile(path)
    assert (profile.instruction_memory.wait_states, profile.data_memory.wait_states) == (instruction, data)
    return path


@pytest.mark.slow_except("2")
@pytest.mark.parametrize("wait", [1, 2, 7])
def test_data_wait_states_lengthen_each_access(tmp_path: Path, cycles: SnippetTimer, wait: int) -> None:
    path = with_waits(tmp_path, 0, wait)
    assert cycles("lw a1, 0(a0)", path) == 2 + wait + RETURN
    assert cycles("sw a0, -4(sp)", path) == 2 + wait + RETURN
    assert cycles("lw a1, 0(a0); lw a2, 4(a0); lw a3, 8(a0)", path) == 3 * (2 + wait) + RETURN
    assert cycles("lw a1, 2(a0)", path) == 2 * (2 + wait) - 1 + RETURN  # misaligned: two accesses
    assert cycles("addi a1, a0, 1", path) == 1 + RETURN


@pytest.mark.parametrize("wait", [1, 3])
def test_instruction_wait_states_slow_every_fetch(tmp_path: Path, cycles: SnippetTimer, wait: int) -> None:
    path = with_waits(tmp_path, wait, 0)
    straight = cycles("; ".join(["nop"] * 40), path) - cycles("; ".join(["nop"] * 20), path)
    assert straight == 20 * (1 + wait)


def test_timing_returns_each_rows_result_and_cycles(tmp_path: Path) -> None:
    source = tmp_path / "tree.c"
    source.write_text(
        "#include <stdint.h>\n"
        "int32_t tree(const int32_t *features) {\n"
        "  if (features[0] > 10) { return features[1] > -5 ? 7 : -7; }\n"
        "  return 1000 * features[1];\n"
        "}\n"
    )
    rows = np.array([[11, -4], [11, -5], [10, 3], [-(2**31), -2], [2**31 - 1, 2**31 - 1]])
    timing = time_function(source, "tree", rows, toolchain("ibex-small"))
    assert timing.returned.tolist() == [7, -7, 3000, -2000, 7]
    assert timing.cycles_each.tolist()[0] == timing.cycles_each.tolist()[4]
    assert timing.cycles.max == timing.cycles_each.max()
    assert timing.code.code_bytes > 0
    assert timing.code.stack_bytes == 0


def test_time_does_not_depend_on_what_ran_before(assembled: Callable[[str], Path]) -> None:
    body = "lw a1, 0(a0); lw a2, 4(a0); blt a1, a2, 1f; mul a1, a1, a2; 1: sw a1, -4(sp)"
    source = assembled(body)
    rng = np.random.default_rng(1)
    rows = rng.integers(-3, 4, size=(500, 2))
    for profile in ("ibex-small", "ibex-maxperf"):
        timing = time_function(source, "f", rows, toolchain(profile))
        taken = rows[:, 0] < rows[:, 1]
        for path in (taken, ~taken):
            assert len(set(timing.cycles_each[path].tolist())) == 1


def test_constant_tables_are_read_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "table.c"
    words = [n * n - 7 for n in range(16)]
    source.write_text(
        f"#include <stdint.h>\nstatic const int32_t squares[16] = {{{', '.join(map(str, words))}}};\n"
        "int32_t look(const int32_t *f) { return squares[f[0]]; }\n"
    )
    timing = time_function(source, "look", [[n] for n in range(16)], toolchain("ibex-small"))
    assert timing.returned.tolist() == words
    assert timing.code.table_bytes == 64
    with pytest.raises(InputError, match=r"row 1: load .*look\+"):
        time_function(source, "look", [[15], [16]], toolchain("ibex-small"))


@pytest.mark.parametrize(("memory", "words"), [("instruction", "instruction memory"), ("data", "below the stack")])
def test_what_does_not_fit_the_engine_is_one_sentence(tmp_path: Path, memory: str, words: str) -> None:
    source = tmp_path / "big.c"
    table = ", ".join(map(str, range(300)))
    nops = "nop\\n" * 300
    source.write_text(
        f"#include <stdint.h>\nstatic const int32_t t[300] = {{{table}}};\n"
        f'int32_t f(const int32_t *x) {{ __asm__ volatile("{nops}"); return t[x[0]]; }}\n'
    )
    text = (PROFILES / "ibex-small.toml").read_text().replace("stack_bytes = 1024", "stack_bytes = 64")
    text = text.replace("code_bytes = 16384", "code_bytes = 1024").replace("table_bytes = 16384", "table_bytes = 1024")
    first, second = text.split("[data_memory]")
    if memory == "instruction":
        first = first.replace("bytes = 65536", "bytes = 1024")
    else:
        second = second.replace("bytes = 65536", "bytes = 1024")
    path = tmp_path / "small.toml"
    path.write_text(first + "[data_memory]" + second)
    with pytest.raises(InputError, match=words):
        time_function(source, "f", [[3]], toolchain(path))
