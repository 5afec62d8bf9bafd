"""Cores beside Ibex: instruction costs against each one's documentation, the same bits from all, all watched."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from decision.artefact import extras
from decision.artefact.errors import InputError
from emulator.compile import find_gcc, toolchain
from emulator.profile import load_profile
from emulator.run import emulate
from emulator.timing import time_function
from emulator.verilated import rtl_of

Maker = Callable[..., Path]
SnippetTimer = Callable[..., int]
BEHIND = "nop; nop; nop"  # so that the return waits for nothing of the snippet


@pytest.fixture
def cost(cycles: SnippetTimer) -> SnippetTimer:
    """Cycles that a snippet adds."""
    return lambda body, profile: cycles(f"{body}; {BEHIND}", profile) - cycles(BEHIND, profile)


PICORV32 = {  # README, "Cycles per Instruction Performance"; the fast multiplier is not in the table
    "j 1f; nop; 1:": 3,
    "addi a1, a0, 1": 3,
    "add a1, a0, a0": 3,
    "beq x0, a0, 1f; 1:": 3,
    "bne x0, a0, 1f; nop; 1:": 5,
    "lw a1, 0(a0)": 5,
    "sw a0, -4(sp)": 5,
    "slli a1, a0, 31": 3,  # barrel shifter
    "mul a1, a0, a0": 6,
    "mulhu a1, a0, a0": 6,
}
CV32E40P = {  # user manual, "Single- and Multi-Cycle Instructions", "Hazards"
    "addi a1, a0, 1": 1,
    "lw a1, 0(a0)": 1,
    "lw a1, 0(a0); addi a1, a1, 1": 1 + 1 + 1,
    "lw a1, 0(a0); lw a2, 4(a0)": 2,
    "lw a1, 2(a0)": 2,  # misaligned
    "sw a0, -4(sp)": 1,
    "mul a1, a0, a0": 1,
    "mulhu a1, a0, a0": 5,
    "mulh a1, a0, a0": 5,
    "mulhsu a1, a0, a0": 5,
    "j 1f; nop; 1:": 2,
    "beq x0, a0, 1f; 1:": 1,
    "bne x0, a0, 1f; nop; 1:": 3,
}
VEXRISCV = {  # measured; its README gives the costs of shifter, multiplier and hazards in words alone
    "addi a1, a0, 1": 1,
    "slli a1, a0, 1": 1,
    "slli a1, a0, 7": 7,  # a bit a cycle
    "mul a1, a0, a0": 33,  # a bit a cycle, then the result
    "lw a1, 0(a0)": 2,
    "lw a1, 0(a0); addi a1, a1, 1": 5,
    "beq x0, a0, 1f; 1:": 1,
    "bne x0, a0, 1f; nop; 1:": 4,
    "j 1f; nop; 1:": 2,
}


@pytest.mark.parametrize("body", PICORV32)
def test_picorv32_follows_its_documented_timing(cost: SnippetTimer, body: str) -> None:
    assert cost(body, "picorv32") == PICORV32[body]


def test_picorv32_returns_in_six_cycles(cycles: SnippetTimer) -> None:
    assert cycles("", "picorv32") == 6


@pytest.mark.parametrize("body", CV32E40P)
def test_cv32e40p_follows_its_documented_timing(cost: SnippetTimer, body: str) -> None:
    assert cost(body, "cv32e40p") == CV32E40P[body]


@pytest.mark.parametrize("body", VEXRISCV)
def test_vexriscv_keeps_its_timing(cost: SnippetTimer, body: str) -> None:
    assert cost(body, "vexriscv") == VEXRISCV[body]


CORES = (
    *("ibex-small-nomul", "ibex-small-c", "ibex-maxperf-bitmanip"),
    *("picorv32", "vexriscv", "cv32e40p"),
)


@pytest.mark.parametrize("profile", CORES)
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_every_core_computes_the_same_bits(firmware_folder: Maker, profile: str, compiler: str) -> None:
    if compiler == "gcc" and find_gcc() is None:
        pytest.skip("no RISC-V GCC here")
    if compiler == "gcc" and "_zb" in load_profile(profile).core.isa and not _assembles_zbb():
        pytest.skip("no RISC-V GCC of a version that knows bit manipulation")
    report = emulate(firmware_folder(), profile=profile, compiler=compiler)
    assert report.passed, report
    assert report.profile == profile


def _assembles_zbb() -> bool:
    done = subprocess.run(
        [str(find_gcc()), "-march=rv32im_zba_zbb_zbs", "-mabi=ilp32", "-c", "-x", "c", "/dev/null", "-o", "/dev/null"],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


FAULTS = {
    "store into a": "((rlcc_event *)(uintptr_t)event)->response_ns = 1U;",
    "store out of": "((volatile uint32_t *)flow)[2] = 1U;",
    "load out of": "(void)((const volatile uint8_t *)event)[8];",
    "trapped at": "__builtin_trap();",
    "no return within": "for (;;) { (void)*(const volatile uint32_t *)event; }",
}


@pytest.mark.usefixtures("compiler_words")
@pytest.mark.parametrize("profile", ["picorv32", "vexriscv", "cv32e40p"])
@pytest.mark.parametrize("why", FAULTS)
def test_every_core_is_watched(firmware_folder: Maker, policy_source: str, profile: str, why: str) -> None:
    faulty = policy_source.replace("return flow", f"if (flow->seen == 8U) {{ {FAULTS[why]} }}\n  return flow")
    report = emulate(firmware_folder(policy=faulty), profile=profile)
    assert report.fault is not None
    assert report.fault.startswith("vector 3 (edge:rtt wraps): "), report.fault
    assert why in report.fault
    assert "illegal instruction" in report.fault or "trapped" not in why


MULTIPLIES = """\
#include <stdint.h>
int32_t low(const int32_t *x) { return (int32_t)((uint32_t)x[0] * (uint32_t)x[1]); }
int32_t high(const int32_t *x) { return (int32_t)(((uint64_t)(uint32_t)x[0] * (uint32_t)x[1]) >> 32); }
int32_t high_signed(const int32_t *x) { return (int32_t)(((int64_t)x[0] * x[1]) >> 32); }
int32_t wide_high(const int32_t *x) {
  const uint64_t a = (uint64_t)(uint32_t)x[2] << 32 | (uint32_t)x[0];
  const uint64_t b = (uint64_t)(uint32_t)x[3] << 32 | (uint32_t)x[1];
  return (int32_t)((a * b) >> 32);
}
"""


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
@pytest.mark.parametrize("symbol", ["low", "high", "high_signed", "wide_high"])
def test_multiplication_without_a_multiplier_is_exact(tmp_path: Path, symbol: str, compiler: str) -> None:
    if compiler == "gcc" and find_gcc() is None:
        pytest.skip("no RISC-V GCC here")
    source = tmp_path / "multiplies.c"
    source.write_text(MULTIPLIES)
    edges = [0, 1, -1, 2, 255, 256, -256, 65535, 65536, 2**24 - 1, 2**24, 2**31 - 1, -(2**31), 0x55555555]
    rng = np.random.default_rng(3)
    random = rng.integers(-(2**31), 2**31, size=(300, 4)) >> rng.integers(0, 32, size=(300, 4))
    pairs = [(a, b, c, d) for a in edges for b in edges for c, d in ((0, 0), (b, a))]
    rows = np.concatenate([np.array(pairs), random])
    timing = time_function(source, symbol, rows, toolchain("ibex-small-nomul", compiler))
    assert timing.returned.tolist() == [expected(symbol, *map(int, row)) for row in rows]
    assert timing.code.forbidden == ()


def expected(symbol: str, a: int, b: int, c: int, d: int) -> int:
    ua, ub, uc, ud = (value % 2**32 for value in (a, b, c, d))
    product = {
        "low": a * b,
        "high": ua * ub >> 32,
        "high_signed": a * b >> 32,
        "wide_high": ((uc << 32 | ua) * (ud << 32 | ub) >> 32),
    }[symbol] % 2**32
    return product - 2**32 if product >= 2**31 else product


def test_a_core_with_a_multiplier_gets_no_library(tmp_path: Path) -> None:
    source = tmp_path / "multiplies.c"
    source.write_text(MULTIPLIES)
    row = [[3, 5, 7, 9]]
    with_it = time_function(source, "wide_high", row, toolchain("ibex-small")).code.code_bytes
    without = time_function(source, "wide_high", row, toolchain("ibex-small-nomul")).code.code_bytes
    assert without - with_it > 1000  # the multiplication counts as code


@pytest.mark.parametrize("profile", ["picorv32", "vexriscv", "cv32e40p"])
def test_a_missing_wheel_names_the_extra(monkeypatch: pytest.MonkeyPatch, profile: str) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    message = rf"pythondata-cpu-{profile} .*'rlcc\[cores\]'"
    with pytest.raises(InputError, match=message):
        rtl_of(load_profile(profile).core)
