"""The simulator against an independent emulator (unicorn) and the RTL, and what it refuses."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import unicorn
from unicorn.riscv_const import UC_RISCV_REG_A0, UC_RISCV_REG_A1, UC_RISCV_REG_A2, UC_RISCV_REG_RA, UC_RISCV_REG_SP

from emulator import memory_map
from emulator.compile import compile_policy, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.elf import Image, LoadedSection, read_image
from emulator.memory_map import Block
from emulator.profile import load_profile
from verify.trusted.calibrate_programs import COMPUTE, encode, random_program
from verify.trusted.execute import COMPUTED, CONDITIONS, ExecutionFault, Simulator
from verify.trusted.machine import BRANCHES, IllegalInstruction, decode

SMALL = load_profile("ibex-small")
BASE, BACK = 0x100, 0x40
WORDS = 16
OUT, IN = Block("out", 4 * WORDS, writable=True), Block("in", 4 * WORDS, writable=False)


def image_of(*words: int) -> Image:
    """A program that was never linked: these words, and an address to return to."""
    code = struct.pack(f"<{len(words)}I", *words)
    text = (BASE, BASE + len(code))
    return Image((LoadedSection(".text", BASE, code),), {"f": BASE, "rlcc_back": BACK}, text, (0, 0), 0)


def simulator(*words: int) -> Simulator:
    return Simulator(image_of(*words), "f", SMALL, [OUT, IN])


RET = encode("jalr", 0, 1)
ZEROS = [bytes(4 * WORDS), bytes(4 * WORDS)]
EDGES = (0, 1, 2, 31, 32, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFF, 0x0001_0000, 0xFFFF_8000)


def test_every_operation_agrees_with_unicorn() -> None:

    rng = np.random.default_rng(7)
    cpu = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    cpu.mem_map(0x1000, 0x1000)
    pairs = [(a, b) for a in EDGES for b in EDGES] + [tuple(p) for p in rng.integers(0, 1 << 32, size=(60, 2)).tolist()]
    for n, name in enumerate([*COMPUTED, *BRANCHES]):
        at = 0x1000 + 16 * n  # its own place: the emulator caches what it has translated
        for a, b in pairs:
            imm = 8 if name in BRANCHES else int(rng.integers(-2048, 2048)) << (12 if name == "lui" else 0)
            word = encode(name, 0 if name in BRANCHES else 12, 10, 11, imm)
            code = struct.pack("<3I", word, encode("addi", 12, 0, imm=55), encode("addi", 0, 0))
            cpu.mem_write(at, code)
            cpu.reg_write(UC_RISCV_REG_A0, a)
            cpu.reg_write(UC_RISCV_REG_A1, b)
            cpu.reg_write(UC_RISCV_REG_A2, 0)
            cpu.emu_start(at, at + (8 if name in BRANCHES else 4))
            theirs = cpu.reg_read(UC_RISCV_REG_A2)
            if name in BRANCHES:
                assert CONDITIONS[name](a, b) == (theirs == 0), (name, a, b)
            else:
                ours = COMPUTED[name](a, b, decode(word, 0).imm & 0xFFFF_FFFF)
                assert ours == theirs, (name, a, b, imm)


def test_whole_programs_agree_with_unicorn() -> None:

    rng = np.random.default_rng(8)
    for _ in range(25):
        words = random_program(rng)
        inputs = [rng.bytes(4 * WORDS), rng.bytes(4 * WORDS)]
        ours = simulator(*words)
        result = ours.call(inputs)
        cpu = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
        cpu.mem_map(0, 0x4000)
        cpu.mem_map(memory_map.DATA_BASE, SMALL.data_memory.bytes)
        cpu.mem_write(BASE, struct.pack(f"<{len(words)}I", *words))
        for address, content in zip(ours.addresses, inputs, strict=True):
            cpu.mem_write(address, content)
        values = (*ours.addresses, ours.top, BACK)
        for register, value in zip(
            (UC_RISCV_REG_A0, UC_RISCV_REG_A1, UC_RISCV_REG_SP, UC_RISCV_REG_RA), values, strict=True
        ):
            cpu.reg_write(register, value)
        cpu.emu_start(BASE, BACK)
        assert cpu.reg_read(UC_RISCV_REG_A0) == result.returned
        assert bytes(cpu.mem_read(ours.addresses[0], 4 * WORDS)) == result.written["out"]


DECIDE = """\
#include <stdint.h>
typedef struct { uint32_t rate; int16_t action; uint8_t seen[2]; } flow_t;
static const int16_t factor[4] = {-300, 7, 40, 32767};
static int32_t __attribute__((noinline)) tree(uint32_t a, int32_t b) {
  if (a > 70000U) { return b > -5 ? 11 : -12; }
  return factor[(a ^ (uint32_t)b) & 3U];
}
uint32_t decide(flow_t *flow, const uint32_t *event) {
  const uint32_t rtt = event[1] - event[0];
  const int32_t sum = tree(rtt, flow->action) + tree(event[2], (int32_t)rtt >> 3);
  flow->rate = (uint32_t)(((uint64_t)flow->rate * (uint32_t)(65536 + sum)) >> 16);
  flow->action = (int16_t)sum;
  flow->seen[1] = (uint8_t)(flow->seen[0] + 1U);
  return flow->rate >> 10;
}
"""


@pytest.mark.parametrize("profile", ["ibex-small", "ibex-maxperf"])
@pytest.mark.parametrize("opt", ["-O0", "-O2"])
def test_a_compiled_decision_runs_as_on_the_core(tmp_path: Path, opt: str, profile: str) -> None:
    engine = load_profile(profile)
    source = tmp_path / "decide.c"
    source.write_text(DECIDE)
    policy = compile_policy(source, toolchain(engine, opt=opt), folder=tmp_path)
    image = read_image(link_program(policy, "decide", engine, tmp_path))
    rng = np.random.default_rng(3)
    records = [
        (rng.integers(0, 1 << 32, size=(60, n), dtype=np.uint32) >> rng.integers(0, 20, size=(60, n), dtype=np.uint32))
        .astype("<u4")
        .view([("words", "<u4", (n,))])
        .reshape(-1)
        for n in (2, 3)
    ]
    blocks = [Block("context", 8, writable=True), Block("event", 12, writable=False)]
    run = run_on_core(image, "decide", engine, list(zip(blocks, records, strict=True)))
    assert run.fault is None
    ours = Simulator(image, "decide", engine, blocks)
    for n in range(60):
        result = ours.call([r[n].tobytes() for r in records])
        assert (result.returned, result.cycles) == (run.returned[n], run.cycles[n])
        assert result.written["context"] == run.written["context"][n].tobytes()
        assert result.clobbered == ()
    assert max(ours.call([r[n].tobytes() for r in records]).stack_bytes for n in range(60)) == run.stack_bytes


SW_OUTSIDE = encode("sw", rs1=10, rs2=11, imm=4 * WORDS)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([SW_OUTSIDE, RET], "store out"),
        ([encode("sw", rs1=11, rs2=11), RET], "store into"),
        ([encode("lw", 12, 10, imm=-4), RET], "load out"),
        ([encode("lw", 12, 0), RET], "load out"),
        ([encode("lw", 12, 10, imm=2), RET], "misaligned load"),
        ([encode("sh", rs1=10, rs2=0, imm=1), RET], "misaligned store"),
        ([encode("sw", rs1=2, rs2=0), RET], "store out"),  # above the stack pointer at the call
        ([encode("jal", 0, imm=-8)], "jump out"),
        ([encode("addi", 10, 10)], "jump out"),  # runs past its end
        ([encode("jal", 0, imm=0)], "no return within"),
    ],
)
def test_what_the_core_refuses_the_simulator_refuses(words: list[int], why: str) -> None:
    with pytest.raises(ExecutionFault, match=why):
        simulator(*words).call(ZEROS)


def test_a_register_that_is_not_kept_is_told() -> None:
    kept = [encode("addi", 2, 2, imm=-16), encode("addi", 2, 2, imm=16), RET]
    assert simulator(*kept).call(ZEROS).clobbered == ()
    assert simulator(encode("addi", 9, 9, imm=1), encode("addi", 2, 2, imm=-16), RET).call(ZEROS).clobbered == (2, 9)


def test_the_stack_is_counted_to_its_lowest_store() -> None:
    words = [encode("addi", 2, 2, imm=-32), encode("sw", rs1=2, rs2=0, imm=8), encode("addi", 2, 2, imm=32), RET]
    assert simulator(*words).call(ZEROS).stack_bytes == 24


def test_forbidden_code_is_refused_before_it_runs() -> None:
    with pytest.raises(IllegalInstruction, match="division"):
        simulator(RET, 0x02B5_4533)


def test_constants_are_read_and_kept() -> None:
    table = LoadedSection(".rodata", memory_map.CONSTANTS_BASE, bytes([1, 2, 3, 0x84]))
    words = [encode("lui", 12, imm=memory_map.DATA_BASE), encode("lh", 10, 12, imm=66), RET]
    plain = image_of(*words)
    where = (memory_map.CONSTANTS_BASE, memory_map.CONSTANTS_BASE + 4)
    image = replace(plain, sections=(*plain.sections, table), constants=where, data_end=where[1])
    result = Simulator(image, "f", SMALL, [OUT, IN]).call(ZEROS)
    assert result.returned == 0xFFFF_8403
    assert result.cycles == 1 + 2 + 2
    bad = image_of(words[0], encode("sb", rs1=12, rs2=0, imm=64), RET)
    bad = replace(bad, sections=(*bad.sections, table), constants=where, data_end=where[1])
    with pytest.raises(ExecutionFault, match="const"):
        Simulator(bad, "f", SMALL, [OUT, IN]).call(ZEROS)


def test_the_random_programs_hold_every_instruction() -> None:
    rng = np.random.default_rng(0)
    seen = {decode(word, 0).name for _ in range(30) for word in random_program(rng)}
    assert seen >= {*COMPUTE, *BRANCHES, "jal", "jalr", "lb", "lbu", "lh", "lhu", "lw", "sb", "sh", "sw"}
