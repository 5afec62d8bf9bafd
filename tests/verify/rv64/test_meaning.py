"""The meaning of instructions on numbers is that of unicorn and qemu, and the same as terms."""

import random
import shutil
import subprocess
from pathlib import Path

import bitwuzla
import numpy as np
import pytest
from rv64_by_hand import COMPILER, assembled
from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV64, Uc
from unicorn.riscv_const import UC_RISCV_REG_A0, UC_RISCV_REG_A1, UC_RISCV_REG_A2, UC_RISCV_REG_PC

from emulator.compile import run_tool
from verify.rv64.decoder import ENCODINGS
from verify.rv64.meaning import CONDITIONS, IMMEDIATES, REGISTERS
from verify.rv64.words import WordNumbers, WordTerms
from verify.terms.bits import BitTerms

BITS = {"andn", "orn", "xnor", "min", "minu", "max", "maxu", "sext.b", "sext.h", "zext.h", "rol", "ror", "rolw", "rorw"}
BITS |= {"rori", "roriw", *(name + last for name in ("bclr", "bext", "binv", "bset") for last in ("", "i"))}
EDGES = (0, 1, 2, 31, 32, 63, 64, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 63, (1 << 63) - 1, (1 << 64) - 1)
CALLS = 60


def operands(rng: random.Random) -> tuple[int, int]:
    first, second = (rng.choice(EDGES) if rng.random() < 0.4 else rng.getrandbits(rng.randint(1, 64)) for _ in range(2))
    return first, second


def cases() -> list[tuple[str, str, int, int, int]]:
    """Mnemonic, text of an instruction from a1 and a2 into a0, operands, and the meaning's second operand."""
    rng, found = random.Random(2), list[tuple[str, str, int, int, int]]()
    for name in (*REGISTERS, *IMMEDIATES):
        form = ENCODINGS[name][0]
        for _ in range(CALLS):
            a, b = operands(rng)
            imm = {"shift": rng.randrange(64), "shiftw": rng.randrange(32), "U": rng.getrandbits(20)}.get(
                form, rng.randrange(-2048, 2048)
            )
            source = {"R": "a1, a2", "one": "a1", "U": str(imm)}.get(form, f"a1, {imm}")
            second = {"R": b, "U": (imm << 12) - (imm >> 19 << 32)}.get(form, imm)
            found.append((name, f"{name} a0, {source}", a, b, second))
    for name in CONDITIONS:  # branches: 1 where it is taken
        for _ in range(CALLS):
            a, b = operands(rng)
            b = a if rng.random() < 0.2 else b
            found.append((name, f"{name} a1, a2, 8", a, b, b))
    return found


def on_numbers(name: str, a: int, b: int) -> int:
    words = WordNumbers()
    meaning = (REGISTERS | IMMEDIATES | CONDITIONS)[name]
    return int(meaning(words, words.number(a), words.number(b))[0])


def test_every_computing_instruction_has_a_meaning() -> None:
    others = {"jal", "jalr", "auipc", "lb", "lh", "lw", "ld", "lbu", "lhu", "lwu", "sb", "sh", "sw", "sd"}
    assert set(REGISTERS) | set(IMMEDIATES) | set(CONDITIONS) | others == set(ENCODINGS)


def test_numbers_are_those_of_unicorn(tmp_path: Path) -> None:
    chosen = [case for case in cases() if case[0] not in BITS]
    code = assembled("\n".join([".option norvc", *(text for _, text, *_ in chosen)]), tmp_path)
    machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV64)
    machine.mem_map(0, 1 << 16)
    for at, (name, text, a, b, second) in enumerate(chosen):
        machine.mem_write(0, code[4 * at : 4 * at + 4])
        machine.reg_write(UC_RISCV_REG_A1, a)
        machine.reg_write(UC_RISCV_REG_A2, b)
        machine.emu_start(0, 4, count=1)
        if name in CONDITIONS:
            seen = machine.reg_read(UC_RISCV_REG_PC) == 8
        else:
            seen = machine.reg_read(UC_RISCV_REG_A0) % (1 << 64)
        assert seen == on_numbers(name, a, second), (text, a, b)


@pytest.mark.skipif(shutil.which("qemu-riscv64") is None, reason="no qemu-riscv64 (qemu-user)")
def test_numbers_are_those_of_qemu(tmp_path: Path) -> None:
    chosen = [case for case in cases() if case[0] not in CONDITIONS]
    lines = [".globl _start", "_start:", "la s0, operands", "la s1, results"]
    for _, text, *_ in chosen:
        lines += ["ld a1, 0(s0)", "ld a2, 8(s0)", text, "sd a0, 0(s1)", "addi s0, s0, 16", "addi s1, s1, 8"]
    size = 8 * len(chosen)
    lines += ["li a0, 1", "la a1, results", f"li a2, {size}", "li a7, 64", "ecall", "li a0, 0", "li a7, 93", "ecall"]
    data = [f".quad {word:#x}" for _, _, a, b, _ in chosen for word in (a, b)]
    lines += [".data", ".balign 8", "operands:", *data, "results:", f".zero {size}"]
    source, target, program = tmp_path / "all.S", tmp_path / "all.o", tmp_path / "all"
    source.write_text("\n".join(lines) + "\n")
    run_tool([*COMPILER.compile, "-c", str(source), "-o", str(target)], "assembly")
    run_tool([*COMPILER.link, "-Ttext=0x10000", "-Tdata=0x200000", str(target), "-o", str(program)], "link")
    done = subprocess.run(
        ["qemu-riscv64", "-cpu", "rv64,zbb=true,zbs=true", str(program)], capture_output=True, check=True, timeout=60
    )
    results = np.frombuffer(done.stdout, dtype="<u8")
    assert len(results) == len(chosen)
    for (name, text, a, b, second), result in zip(chosen, results, strict=True):
        assert int(result) == on_numbers(name, a, second), (text, a, b)


def test_terms_are_the_numbers() -> None:
    bits = BitTerms()
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    words, solver = WordTerms(bits), bitwuzla.Bitwuzla(bits.manager, options)
    solver.check_sat()
    for name, text, a, _, second in cases():
        meaning = (REGISTERS | IMMEDIATES | CONDITIONS)[name]
        term = solver.get_value(meaning(words, words.number(a), words.number(second)))
        assert int(term.value(10)) == on_numbers(name, a, second), (text, a)
