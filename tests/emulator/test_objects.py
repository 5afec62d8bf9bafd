"""The decoder and the object-code rules against assembled code, and against a disassembler where one is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from emulator.compile import find_compiler, run_tool
from emulator.objects import loops, resolve_far_calls, stack_bound
from emulator.riscv import Instruction, Kind, decode

OBJDUMP = "riscv64-unknown-elf-objdump"
COMPILER = find_compiler("clang", "rv32imc")


def assemble(folder: Path, text: str) -> list[Instruction]:
    """Decode what the assembler made of ``text``."""
    source, target = folder / "code.S", folder / "code.o"
    source.write_text(text)
    run_tool([*COMPILER.compile, "-c", str(source), "-o", str(target)], "assembly")
    with target.open("rb") as file:
        return decode(ELFFile(file).get_section_by_name(".text").data(), 0)


@pytest.mark.parametrize("option", ["norvc", "rvc"])
def test_kinds_lengths_and_targets(tmp_path: Path, option: str) -> None:
    code = assemble(
        tmp_path,
        f"""
        .option {option}
        addi sp, sp, -32
    1:  beqz a0, 2f
        addi a0, a0, -1
        bnez a0, 1b
        j 2f
        .insn i 0x7, 2, x1, x2, 0
    2:  divu a0, a0, a1
        mulhu a0, a0, a1
        ecall
        jr a5
        jalr a5
        addi sp, sp, 32
        ret
        """,
    )
    k = Kind
    assert [i.kind for i in code] == [
        *(k.STACK, k.BRANCH, k.PLAIN, k.BRANCH, k.JUMP, k.FLOAT, k.DIVIDE, k.PLAIN, k.SYSTEM),
        *(k.JUMP_REGISTER, k.CALL_REGISTER, k.STACK, k.RETURN),
    ]
    assert code[0].offset == -32
    assert code[11].offset == 32
    assert code[1].target == code[4].target == code[6].address
    assert code[3].target == code[1].address
    assert [i.address for i in code[1:]] == [i.address + i.length for i in code[:-1]]
    assert {i.length for i in code} == ({4} if option == "norvc" else {2, 4})
    assert loops(code) == [code[3].address]


@pytest.mark.parametrize("name", ["div", "divu", "rem", "remu"])
def test_every_division_is_seen(tmp_path: Path, name: str) -> None:
    assert assemble(tmp_path, f"{name} a0, a1, a2")[0].kind is Kind.DIVIDE


@pytest.mark.parametrize("frame", [16, 48, 496, 2032])
@pytest.mark.parametrize("option", ["norvc", "rvc"])
def test_frames_of_every_encoding(tmp_path: Path, frame: int, option: str) -> None:
    code = assemble(tmp_path, f".option {option}\naddi sp, sp, -{frame}\naddi sp, sp, {frame}\nret")
    assert [i.offset for i in code] == [-frame, frame, 0]
    assert stack_bound({0: code}, 0) == (frame, None)


def test_a_backward_jump_that_closes_no_cycle_is_no_loop(tmp_path: Path) -> None:
    assert loops(assemble(tmp_path, "beqz a0, 3f\nj 2f\n1: ret\n2: nop\nj 1b\n3: j 1b")) == []


def test_stack_adds_up_over_calls_and_recursion_has_no_bound() -> None:
    def stack(address: int, size: int) -> Instruction:
        return Instruction(address, 4, Kind.STACK, offset=-size)

    def call(address: int, target: int) -> Instruction:
        return Instruction(address, 4, Kind.CALL, target=target)

    functions = {
        0: [stack(0, 16), call(4, 100), call(8, 200)],
        100: [stack(100, 64)],
        200: [stack(200, 32), call(204, 100)],
    }
    assert stack_bound(functions, 0) == (16 + 32 + 64, None)
    functions[100].append(call(104, 200))
    bound, recursive = stack_bound(functions, 0)
    assert bound is None
    assert recursive in (100, 200)


def test_far_call_is_resolved() -> None:
    code = decode(bytes.fromhex("97100000e7800001"), 0x400)  # auipc ra, 1; jalr 16(ra)
    assert resolve_far_calls(code)[1] == Instruction(0x404, 4, Kind.CALL, target=0x400 + 0x1000 + 16, rd=1)


@pytest.mark.skipif(shutil.which(OBJDUMP) is None, reason="no RISC-V GCC, whose package brings the disassembler")
def test_decoder_agrees_with_a_disassembler(tmp_path: Path) -> None:
    source, target = tmp_path / "code.c", tmp_path / "code.o"
    source.write_text(
        "int g(int *); double d;\n"
        "int f(int n, int *p, unsigned q) { int s[40]; for (int i = 0; i < n; i++) { s[i % 40] = p[i] / (int)q; }\n"
        "  if (g(s) > 3) { d = d * 2.5; return g(p) % 7; } return s[3] + f(n - 1, p + 1, q) * 3; }\n"
    )
    run_tool([*COMPILER.compile, "-O2", "-c", str(source), "-o", str(target)], "C")
    with target.open("rb") as file:
        code = decode(ELFFile(file).get_section_by_name(".text").data(), 0)
    command = [OBJDUMP, "-d", "--no-show-raw-insn", "-M", "no-aliases", str(target)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", listing, re.MULTILINE)
    assert [int(address, 16) for address, _, _ in lines] == [i.address for i in code]
    for instruction, (_, name, operands) in zip(code, lines, strict=True):
        short = name.removeprefix("c.")
        assert (instruction.kind is Kind.DIVIDE) == (short in ("div", "divu", "rem", "remu"))
        branch = short in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez")
        assert (instruction.kind is Kind.BRANCH) == branch
        if branch:
            assert instruction.target == int(re.search(r"([0-9a-f]+) <", operands)[1], 16)  # type: ignore[index]
        assert instruction.length == (2 if name.startswith("c.") else 4)
