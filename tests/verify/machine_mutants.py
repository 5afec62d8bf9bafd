"""Linked code with one thing wrong: a table's entry, a constant, a comparison, an operation, an instruction lost."""

from collections.abc import Iterator
from dataclasses import replace

from emulator.elf import Image, LoadedSection
from verify.trusted.machine import BRANCHES, decode_image

IMMEDIATE, FUNCT3, NOP = 1 << 20, 12, 0x0000_0013
ARITHMETIC = ("addi", "slti", "sltiu", "andi", "ori", "xori")
FLIPPED = {  # register operations: what differs in the word
    "add": 0x4000_0000, "sub": 0x4000_0000, "srl": 0x4000_0000, "sra": 0x4000_0000, "srli": 0x4000_0000,
    "slt": 1 << FUNCT3, "sltu": 1 << FUNCT3, "and": 1 << FUNCT3, "or": 1 << FUNCT3, "mulhu": 2 << FUNCT3,
}  # fmt: skip


def entries(image: Image, size: int) -> Iterator[tuple[str, Image]]:
    """Each entry of the constants (of ``size`` bytes) one more, and one less."""
    low, high = image.constants
    section = next((s for s in image.sections if s.address == low and s.data), None)
    if section is None:
        return
    for at in range(0, high - low - size + 1, size):
        for step in (1, -1):
            value = (int.from_bytes(section.data[at : at + size], "little") + step) % (1 << 8 * size)
            data = section.data[:at] + value.to_bytes(size, "little") + section.data[at + size :]
            yield f"entry {at // size} {step:+d}", _with(image, section, data)


def instructions(image: Image) -> Iterator[tuple[str, Image]]:
    """Each instruction of the policy with a constant off by one, a comparison flipped, another operation, or lost."""
    section = next(s for s in image.sections if s.address == image.text[0])
    for address, i in decode_image(image).items():
        words: dict[str, int] = {}
        if i.name in ARITHMETIC and i.rd and i.rd != 2:
            words["+ 1"] = (i.word + IMMEDIATE) & 0xFFFF_FFFF
            words["- 1"] = (i.word - IMMEDIATE) & 0xFFFF_FFFF
        if i.name in ("slli", "srli", "srai"):
            words["shift by another"] = i.word ^ IMMEDIATE
        if i.name == "lui":
            words["+ 4096"] = (i.word + 4096) & 0xFFFF_FFFF
        if i.name in BRANCHES:
            words["the other way"] = i.word ^ 1 << FUNCT3
            if i.name not in ("beq", "bne"):
                words["the other sign"] = i.word ^ 2 << FUNCT3
        if i.name in FLIPPED:
            words["another operation"] = i.word ^ FLIPPED[i.name]
        if i.name not in ("jal", "jalr"):
            words["lost"] = NOP
        at = address - section.address
        for what, word in words.items():
            data = section.data[:at] + word.to_bytes(4, "little") + section.data[at + 4 :]
            yield f"{i.name} at {address:#x}: {what}", _with(image, section, data)


def _with(image: Image, section: LoadedSection, data: bytes) -> Image:
    changed = tuple(LoadedSection(s.name, s.address, data) if s is section else s for s in image.sections)
    return replace(image, sections=changed)
