"""The decoder on RV64: what RV32 has not, and the encodings that mean something else there."""

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from emulator.compile import find_compiler, run_tool
from emulator.riscv import Kind, decode

COMPILER = find_compiler("clang", "rv64imac_zbb_zbs")

KINDS = {
    "addiw a0, a0, 1": Kind.PLAIN,  # compressed: the encoding of RV32's call
    "addiw a0, a1, 700": Kind.PLAIN,
    "addw a0, a0, a1": Kind.PLAIN,
    "slliw a0, a1, 3": Kind.PLAIN,
    "mulw a0, a0, a1": Kind.PLAIN,
    "divw a0, a0, a1": Kind.DIVIDE,
    "remuw a0, a0, a1": Kind.DIVIDE,
    "divu a0, a0, a1": Kind.DIVIDE,
    "ld a0, 8(a1)": Kind.PLAIN,  # compressed: the encodings of RV32's float loads and stores
    "sd a0, 8(a1)": Kind.PLAIN,
    "ld a0, 8(sp)": Kind.PLAIN,
    "sd a0, 8(sp)": Kind.PLAIN,
    "ld a0, 800(a1)": Kind.PLAIN,
    "lwu a0, 0(a1)": Kind.PLAIN,
    "ld sp, 8(sp)": Kind.STACK_UNKNOWN,
    "addiw sp, sp, 4": Kind.STACK_UNKNOWN,
    "addw sp, sp, a0": Kind.STACK_UNKNOWN,
    "addi sp, sp, -32": Kind.STACK,
    "min a0, a0, a1": Kind.PLAIN,
    "bset a0, a0, a1": Kind.PLAIN,
    "sext.h a0, a0": Kind.PLAIN,
    ".insn i 0x7, 3, x1, x2, 0": Kind.FLOAT,  # fld
    ".2byte 0x2100": Kind.FLOAT,  # c.fld
    ".2byte 0xa100": Kind.FLOAT,  # c.fsd
    "ecall": Kind.SYSTEM,
    "ret": Kind.RETURN,
}


def assemble(folder: Path, text: str) -> bytes:
    source, target = folder / "code.S", folder / "code.o"
    source.write_text(text + "\n")
    run_tool([*COMPILER.compile, "-c", str(source), "-o", str(target)], "assembly")
    with target.open("rb") as file:
        code: bytes = ELFFile(file).get_section_by_name(".text").data()
    return code


def test_kinds(tmp_path: Path) -> None:
    code = decode(assemble(tmp_path, "\n".join(KINDS)), 0, 64)
    assert {text: i.kind for text, i in zip(KINDS, code, strict=True)} == KINDS


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("addiw a0, a0, 1", Kind.CALL),
        ("ld a0, 8(a1)", Kind.FLOAT),
        ("addw a0, a1, a2", Kind.ILLEGAL),
        ("slliw a0, a1, 3", Kind.ILLEGAL),
    ],
)
def test_the_same_bytes_mean_something_else_on_rv32(tmp_path: Path, text: str, kind: Kind) -> None:
    assert [i.kind for i in decode(assemble(tmp_path, text), 0)] == [kind]
