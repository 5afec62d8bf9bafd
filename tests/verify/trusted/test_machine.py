"""The decoder against the specification's table, an emulator (unicorn), and the object-code check's own decoder."""

import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from emulator import riscv
from emulator.elf import Image, LoadedSection
from emulator.riscv import Kind
from verify.trusted import machine
from verify.trusted.calibrate_programs import encode
from verify.trusted.machine import BRANCHES, ENCODINGS, LOADS, STORES, IllegalInstruction, decode, decode_image

# The opcode map, written down a second time: opcode -> the funct3 (and funct7) that are instructions of a decision.
ANY = None
SPECIFIED: dict[int, dict[int | None, set[int] | None]] = {
    0x37: {ANY: ANY},
    0x17: {ANY: ANY},
    0x6F: {ANY: ANY},
    0x67: {0: ANY},
    0x63: dict.fromkeys((0, 1, 4, 5, 6, 7), ANY),
    0x03: dict.fromkeys((0, 1, 2, 4, 5), ANY),
    0x23: dict.fromkeys((0, 1, 2), ANY),
    0x13: {**dict.fromkeys((0, 2, 3, 4, 6, 7), ANY), 1: {0}, 5: {0, 0x20}},
    0x33: {0: {0, 1, 0x20}, 1: {0, 1}, 2: {0, 1}, 3: {0, 1}, 4: {0}, 5: {0, 0x20}, 6: {0}, 7: {0}},
}


def specified(opcode: int, funct3: int, funct7: int) -> bool:
    """Whether the table above holds the encoding."""
    rows = SPECIFIED.get(opcode, {})
    row = rows.get(funct3, rows.get(ANY, set()))
    return row is ANY or funct7 in (row or set())


def accepted(word: int) -> bool:
    try:
        decode(word, 0)
    except IllegalInstruction:
        return False
    return True


def test_every_encoding_is_decoded_or_refused_as_the_specification_says() -> None:
    rng = random.Random(1)
    names = Counter[str]()
    for key in range(1 << 17):
        opcode, funct3, funct7 = key & 0x7F, key >> 7 & 7, key >> 10
        word = opcode | funct3 << 12 | funct7 << 25 | rng.randrange(32) << 7 | rng.randrange(1024) << 15
        assert accepted(word) == specified(opcode, funct3, funct7), f"{word:#010x}"
        if accepted(word):
            names[decode(word, 0).name] += 1
    assert set(names) == set(ENCODINGS)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        (0x0000_0000, "compressed"),
        (0x0000_4501, "compressed"),  # c.li a0, 0
        (0x02B5_4533, "a division"),  # div a0, a0, a1
        (0x02B5_7533, "a division"),  # remu
        (0x0000_0073, "a system instruction"),  # ecall
        (0xC000_2573, "a system instruction"),  # rdcycle a0
        (0x0FF0_000F, "a fence"),
        (0x0000_100F, "a fence"),  # fence.i
        (0x00B5_7553, "a float instruction"),
        (0x0005_2507, "a float instruction"),  # flw
        (0x1005_252F, "an atomic instruction"),  # lr.w
        (0xFFFF_FFFF, "no RV32I instruction"),
        (0x4000_1013, "no RV32I instruction"),  # slli with a reserved bit
        (0x20B5_2533, "no RV32I instruction"),  # sh1add: Zba
    ],
)
def test_what_is_refused_is_named(word: int, why: str) -> None:
    with pytest.raises(IllegalInstruction, match=rf"{why}.* at 0x80"):
        decode(word, 0x80)


@settings(max_examples=examples(400), deadline=None)
@given(st.sampled_from(sorted(ENCODINGS)), st.data())
def test_decoding_inverts_encoding(name: str, data: st.DataObject) -> None:
    form = ENCODINGS[name][0]
    registers = st.integers(0, 31)
    rd = data.draw(registers) if form not in "SB" else 0
    rs1 = data.draw(registers) if form not in "UJ" else 0
    rs2 = data.draw(registers) if form in "RSB" else 0
    low, high, step = {
        "R": (0, 0, 1), "I": (-2048, 2047, 1), "shift": (0, 31, 1), "S": (-2048, 2047, 1),
        "B": (-4096, 4094, 2), "U": (-(1 << 31), (1 << 31) - 4096, 4096), "J": (-(1 << 20), (1 << 20) - 2, 2),
    }[form]  # fmt: skip
    imm = low + step * data.draw(st.integers(0, (high - low) // step))
    found = decode(encode(name, rd, rs1, rs2, imm), 0x1000)
    assert (found.name, found.rd, found.rs1, found.rs2, found.imm) == (name, rd, rs1, rs2, imm)
    assert found.target == (0x1000 + imm) % (1 << 32)


KINDS = {"jal": {Kind.JUMP, Kind.CALL}, "jalr": {Kind.JUMP_REGISTER, Kind.CALL_REGISTER, Kind.RETURN}}
PLAIN = {Kind.PLAIN, Kind.STACK, Kind.STACK_UNKNOWN}


@settings(max_examples=examples(1000), deadline=None)
@given(st.sampled_from([*SPECIFIED, 0x73, 0x07, 0x0F, 0x2F, 0x53]), st.integers(0, (1 << 25) - 1))
def test_the_object_code_check_sees_the_same_control_flow(opcode: int, rest: int) -> None:
    word = rest << 7 | opcode
    other = riscv.decode(word.to_bytes(4, "little"), 0x4000)[0]
    if not accepted(word):
        assert other.kind in {Kind.DIVIDE, Kind.FLOAT, Kind.SYSTEM, Kind.ILLEGAL, *PLAIN, *KINDS["jalr"], Kind.BRANCH}
        return
    ours = decode(word, 0x4000)
    if ours.name in BRANCHES:
        assert other.kind is Kind.BRANCH
        assert other.target % (1 << 32) == ours.target
    elif ours.name == "jal":
        assert other.kind in KINDS["jal"]
        assert other.target % (1 << 32) == ours.target
    elif ours.name == "jalr":
        assert other.kind in KINDS["jalr"]
    elif ours.name == "auipc":
        assert other.kind is Kind.UPPER_PC
    else:
        assert other.kind in PLAIN


def test_division_and_floats_are_refused_by_both() -> None:
    for word in (0x02B5_4533, 0x00B5_7553, 0x0000_0073):
        assert not accepted(word)
        assert riscv.decode(word.to_bytes(4, "little"), 0)[0].kind in {Kind.DIVIDE, Kind.FLOAT, Kind.SYSTEM}


OBJDUMP = "riscv64-unknown-elf-objdump"
OPERANDS = {
    "lui": ("rd", "upper"), "auipc": ("rd", "upper"), "jal": ("rd", "target"), "jalr": ("rd", "imm", "rs1"),
    **dict.fromkeys(BRANCHES, ("rs1", "rs2", "target")),
    **dict.fromkeys(LOADS, ("rd", "imm", "rs1")),
    **dict.fromkeys(STORES, ("rs2", "imm", "rs1")),
}  # fmt: skip
"""Fields in the order of assembly; of the others: rd, rs1 and rs2 or an immediate."""


def words_of_32_bits(draws: int) -> list[int]:
    """Every opcode, funct3 and funct7 of an instruction of 32 bits, each with ``draws`` other operands."""
    rng = random.Random(2)
    opcodes = [opcode for opcode in range(3, 128, 4) if opcode & 0x1C != 0x1C]
    keys = (opcode | f3 << 12 | f7 << 25 for opcode in opcodes for f3 in range(8) for f7 in range(128))
    return [key | rng.randrange(32) << 7 | rng.randrange(1024) << 15 for key in keys for _ in range(draws)]


def as_read_by_binutils(words: list[int], place: Path) -> Iterator[dict[str, str | int]]:
    """Yields name and fields of each word as the disassembler of the GNU binutils has them."""
    place.write_bytes(b"".join(word.to_bytes(4, "little") for word in words))
    command = [OBJDUMP, "-D", "-z", "-b", "binary", "-m", "riscv:rv32", "-M", "no-aliases,numeric", str(place)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^ *([0-9a-f]+):\t([0-9a-f]{8}) +\t(\S+)(?:\t([^\s#]*))?", listing, re.MULTILINE)
    assert [(int(at, 16), int(word, 16)) for at, word, _, _ in lines] == [(4 * n, w) for n, w in enumerate(words)]
    for _, _, name, operands in lines:
        found: dict[str, str | int] = {"name": name}
        if name in ENCODINGS:
            last = "rs2" if ENCODINGS[name][0] == "R" else "imm"
            values = [int(text.removeprefix("x"), 0) for text in re.findall(r"x?-?(?:0x)?[0-9a-f]+", operands)]
            found |= zip(OPERANDS.get(name, ("rd", "rs1", last)), values, strict=True)
        yield found


def differing(words: list[int], place: Path) -> list[int]:
    """Words that binutils reads otherwise."""
    wrong = []
    for number, (word, theirs) in enumerate(zip(words, as_read_by_binutils(words, place), strict=True)):
        try:
            ours = machine.decode(word, 4 * number)
        except IllegalInstruction:
            reserved = theirs["name"] in ("slli", "srli", "srai") and word >> 25 & 1  # a shift by 32 or more, of RV64
            same = theirs["name"] not in ENCODINGS or bool(reserved)
        else:
            fields = vars(ours) | {"target": ours.target, "upper": (ours.imm >> 12) & 0xFFFFF}
            same = all(fields[name] == value for name, value in theirs.items())
        wrong += [] if same else [word]
    return wrong


@pytest.mark.skipif(shutil.which(OBJDUMP) is None, reason="no RISC-V GCC, whose package brings the disassembler")
def test_binutils_reads_every_encoding_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = words_of_32_bits(draws=2)
    assert len(words) == 2 * 28 * 1024
    assert differing(words, tmp_path / "words") == []
    honest = machine._immediate
    for form, bit in (("I", 11), ("S", 4), ("B", 11), ("U", 12), ("J", 19)):
        broken = lambda word, kind, form=form, bit=bit: honest(word, kind) ^ (kind == form) << bit  # noqa: E731
        monkeypatch.setattr(machine, "_immediate", broken)
        wrong = {decode(word, 0).name for word in differing(words, tmp_path / "words")}
        assert wrong == {name for name, (its, _, _) in ENCODINGS.items() if its == form}


def image(code: bytes) -> Image:
    return Image((LoadedSection(".text", 0x100, code),), {}, (0x100, 0x100 + len(code)), (0, 0), 0)


def test_an_image_is_decoded_whole_or_refused() -> None:
    words = [encode("addi", 10, 10, imm=1), encode("jalr", 0, 1)]
    code = b"".join(w.to_bytes(4, "little") for w in words)
    assert {a: i.name for a, i in decode_image(image(code)).items()} == {0x100: "addi", 0x104: "jalr"}
    with pytest.raises(IllegalInstruction, match="whole number"):
        decode_image(image(code + b"\0\0"))
    with pytest.raises(IllegalInstruction, match="at 0x108"):
        decode_image(image(code + bytes(4)))
