"""The decoder against the pinned clang: what is decoded, written as text, is assembled to the same bytes."""

import random
from pathlib import Path

import pytest
from rv64_by_hand import assembled

from verify.code.failures import Refused
from verify.rv64.decoder import BRANCHES, ENCODINGS, LOADS, STORES, Rv64Instruction, decode_rv64

TWO_FORMS = {0x6141, 0x713D, 0x717D}
"""addi sp, sp, 16, -32 and -16 have two compressed forms, of which the assembler takes the other."""
REFUSED = (
    0x0000_0073,  # ecall
    0x0000_000F,  # fence
    0x0200_4033,  # div
    0x0200_403B,  # divw
    0x0000_2007,  # flw
    0x1000_202F,  # lr.w
    0x0000_2073,  # csrr
    0x4000_1033,  # nothing
    0x0000_006B,  # nothing
)
NO_CODE = (0x0000, 0x2000, 0xA000, 0x6101, 0x9002, 0x9C41, 0x4002, 0x8002)
"""Zero, floats, reserved compressed words, and ebreak."""


def text(i: Rv64Instruction) -> str:
    if i.name in BRANCHES:
        return f"{i.name} x{i.rs1}, x{i.rs2}, {i.imm}"
    if i.name in LOADS or i.name == "jalr":
        return f"{i.name} x{i.rd}, {i.imm}(x{i.rs1})"
    if i.name in STORES:
        return f"{i.name} x{i.rs2}, {i.imm}(x{i.rs1})"
    if i.name == "jal":
        return f"jal x{i.rd}, {i.imm}"
    if i.name in ("lui", "auipc"):
        return f"{i.name} x{i.rd}, {i.imm >> 12 & 0xFFFFF}"
    form = ENCODINGS[i.name][0]
    last = {"R": f", x{i.rs2}", "one": ""}.get(form, f", {i.imm}")
    return f"{i.name} x{i.rd}, x{i.rs1}{last}"


def decoded(word: int, length: int) -> Rv64Instruction | None:
    try:
        return decode_rv64(word.to_bytes(length, "little"), 0)[0]
    except Refused:
        return None


def test_every_compressed_instruction_is_what_the_assembler_makes(tmp_path: Path) -> None:
    found = {half: i for half in range(1 << 16) if half & 3 != 3 and (i := decoded(half, 2))}
    assert len(found) > 30_000
    code = assembled("\n".join([".option rvc", *map(text, found.values())]), tmp_path)
    made = [int.from_bytes(code[at : at + 2], "little") for at in range(0, len(code), 2)]
    assert len(made) == len(found)
    assert {half for half, again in zip(found, made, strict=True) if half != again} == TWO_FORMS


def test_every_instruction_is_what_the_assembler_makes(tmp_path: Path) -> None:
    rng, words = random.Random(1), dict[int, Rv64Instruction]()
    for name, (_, mask, value) in ENCODINGS.items():
        for _ in range(40):
            word = value | rng.getrandbits(32) & ~mask
            i = decoded(word, 4)
            assert i is not None
            assert i.name == name
            words[word] = i
    code = assembled("\n".join([".option norvc", *map(text, words.values())]), tmp_path)
    assert code == b"".join(word.to_bytes(4, "little") for word in words)


@pytest.mark.parametrize("word", REFUSED)
def test_other_words_are_refused(word: int) -> None:
    assert decoded(word, 4) is None


@pytest.mark.parametrize("half", NO_CODE)
def test_other_compressed_words_are_refused(half: int) -> None:
    assert decoded(half, 2) is None


def test_half_an_instruction_is_refused() -> None:
    with pytest.raises(Refused):
        decode_rv64(b"\x93\x00", 0)
