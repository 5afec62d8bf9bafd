"""The RV64 instructions that the proofs know: I without system instructions and fences, products, divisions without a
sign, Zbb and Zbs as compilers use them, and the compressed form of each.

Everything outside ``ENCODINGS`` and ``_compressed`` is refused: divisions with a sign, floats, CSRs, atomic
instructions, and every word that the specification keeps back. Encodings after the RISC-V unprivileged specification,
chapters RV64I, M, C, B.
"""

from collections.abc import Callable
from dataclasses import dataclass

from emulator.elf import Image
from verify.code.failures import Refused


@dataclass(frozen=True)
class Rv64Instruction:
    """One decoded instruction. A compressed one has the name of what it stands for, and a ``length`` of 2 bytes.

    ``imm`` is sign-extended, in bytes for branches and jumps (relative to ``address``), and already shifted for lui and
    auipc. A field that the format lacks is 0.
    """

    address: int
    length: int
    name: str
    rd: int = 0
    rs1: int = 0
    rs2: int = 0
    imm: int = 0

    @property
    def target(self) -> int:
        """Returns the target of a branch or jal."""
        return self.address + self.imm

    @property
    def after(self) -> int:
        """Returns the address behind the instruction."""
        return self.address + self.length


# Mnemonic -> (format, bits that are given, their values): opcode, funct3 << 12, funct7 << 25.
OPCODE, WITH_FUNCT3, WITH_FUNCT6, WITH_FUNCT7, ALL_BUT_REGISTERS = 0x7F, 0x707F, 0xFC00707F, 0xFE00707F, 0xFFF0707F
LOADS = {"lb": 1, "lbu": 1, "lh": 2, "lhu": 2, "lw": 4, "lwu": 4, "ld": 8}  # bytes
STORES = {"sb": 1, "sh": 2, "sw": 4, "sd": 8}
BRANCHES = ("beq", "bne", "blt", "bge", "bltu", "bgeu")


def _row(opcode: int, form: str, mask: int, names: dict[str, int]) -> dict[str, tuple[str, int, int]]:
    return {name: (form, mask, opcode | value) for name, value in names.items()}


def _functs(funct3: int, funct7: int = 0) -> int:
    return funct3 << 12 | funct7 << 25


ENCODINGS: dict[str, tuple[str, int, int]] = {
    "lui": ("U", OPCODE, 0x37),
    "auipc": ("U", OPCODE, 0x17),
    "jal": ("J", OPCODE, 0x6F),
    "jalr": ("I", WITH_FUNCT3, 0x67),
    **_row(0x63, "B", WITH_FUNCT3, {name: _functs(f) for name, f in zip(BRANCHES, (0, 1, 4, 5, 6, 7), strict=True)}),
    **_row(0x03, "I", WITH_FUNCT3, {name: _functs(f) for name, f in zip(LOADS, (0, 4, 1, 5, 2, 6, 3), strict=True)}),
    **_row(0x23, "S", WITH_FUNCT3, {name: _functs(f) for name, f in zip(STORES, range(4), strict=True)}),
    **_row(
        0x13,
        "I",
        WITH_FUNCT3,
        {
            f"{name}": _functs(f)
            for name, f in {"addi": 0, "slti": 2, "sltiu": 3, "xori": 4, "ori": 6, "andi": 7}.items()
        },
    ),
    **_row(
        0x13,
        "shift",
        WITH_FUNCT6,
        {
            "slli": _functs(1),
            "srli": _functs(5),
            "srai": _functs(5, 0x20),
            "rori": _functs(5, 0x30),
            "bclri": _functs(1, 0x24),
            "bexti": _functs(5, 0x24),
            "binvi": _functs(1, 0x34),
            "bseti": _functs(1, 0x14),
        },
    ),
    **_row(
        0x13, "one", ALL_BUT_REGISTERS, {"sext.b": _functs(1, 0x30) | 4 << 20, "sext.h": _functs(1, 0x30) | 5 << 20}
    ),
    **_row(
        0x33,
        "R",
        WITH_FUNCT7,
        {
            **{name: _functs(f) for f, name in enumerate(("add", "sll", "slt", "sltu", "xor", "srl", "or", "and"))},
            **{name: _functs(f, 1) for f, name in enumerate(("mul", "mulh", "mulhsu", "mulhu"))},
            "divu": _functs(5, 1),
            "remu": _functs(7, 1),
            "sub": _functs(0, 0x20),
            "sra": _functs(5, 0x20),
            "andn": _functs(7, 0x20),
            "orn": _functs(6, 0x20),
            "xnor": _functs(4, 0x20),
            **{name: _functs(f, 5) for f, name in enumerate(("min", "minu", "max", "maxu"), 4)},
            "rol": _functs(1, 0x30),
            "ror": _functs(5, 0x30),
            "bclr": _functs(1, 0x24),
            "bext": _functs(5, 0x24),
            "binv": _functs(1, 0x34),
            "bset": _functs(1, 0x14),
        },
    ),
    "addiw": ("I", WITH_FUNCT3, 0x1B),
    **_row(
        0x1B,
        "shiftw",
        WITH_FUNCT7,
        {"slliw": _functs(1), "srliw": _functs(5), "sraiw": _functs(5, 0x20), "roriw": _functs(5, 0x30)},
    ),
    **_row(
        0x3B,
        "R",
        WITH_FUNCT7,
        {
            "addw": _functs(0),
            "sllw": _functs(1),
            "srlw": _functs(5),
            "mulw": _functs(0, 1),
            "divuw": _functs(5, 1),
            "remuw": _functs(7, 1),
            "subw": _functs(0, 0x20),
            "sraw": _functs(5, 0x20),
            "rolw": _functs(1, 0x30),
            "rorw": _functs(5, 0x30),
        },
    ),
    "zext.h": ("one", ALL_BUT_REGISTERS, 0x3B | _functs(4, 4)),
}
_BY_VALUE = {(mask, value): (name, form) for name, (form, mask, value) in ENCODINGS.items()}
_MASKS = (ALL_BUT_REGISTERS, WITH_FUNCT7, WITH_FUNCT6, WITH_FUNCT3, OPCODE)


def decode_rv64(code: bytes, base: int) -> dict[int, Rv64Instruction]:
    """Returns the instructions of code that begins at address ``base``, by their addresses. Refused: a word that is no
    instruction of ``ENCODINGS``."""
    result: dict[int, Rv64Instruction] = {}
    at = 0
    while at < len(code):
        half = int.from_bytes(code[at : at + 2], "little")
        length = 4 if half & 3 == 3 else 2
        word = int.from_bytes(code[at : at + length], "little")
        found = (_wide if length == 4 else _compressed)(word, base + at) if at + length <= len(code) else None
        if found is None:
            raise Refused(
                "illegal-instruction", base + at, f"a word that no proof here knows at {base + at:#x}: {word:#x}"
            )
        result[base + at] = found
        at += length
    return result


def decode_text(image: Image) -> dict[int, Rv64Instruction]:
    """Returns every instruction of the linked program's text section by its address."""
    low, high = image.text
    code = next((s.data for s in image.sections if s.address == low and low < high), b"")
    return decode_rv64(code, low)


def _wide(word: int, address: int) -> Rv64Instruction | None:
    name, form = next((_BY_VALUE[m, word & m] for m in _MASKS if (m, word & m) in _BY_VALUE), ("", ""))
    if not name:
        return None
    rd = 0 if form in ("S", "B") else word >> 7 & 31
    rs1 = 0 if form in ("U", "J") else word >> 15 & 31
    rs2 = word >> 20 & 31 if form in ("R", "S", "B") else 0
    return Rv64Instruction(address, 4, name, rd, rs1, rs2, _immediate(word, form))


def _immediate(word: int, form: str) -> int:
    match form:
        case "I":
            return _signed(word >> 20, 12)
        case "shift":
            return word >> 20 & 63
        case "shiftw":
            return word >> 20 & 31
        case "S":
            return _signed(word >> 25 << 5 | word >> 7 & 31, 12)
        case "B":
            return _signed(_gather(word, (31, 31, 12), (7, 7, 11), (30, 25, 5), (11, 8, 1)), 13)
        case "U":
            return _signed(word & 0xFFFF_F000, 32)
        case "J":
            return _signed(_gather(word, (31, 31, 20), (19, 12, 12), (20, 20, 11), (30, 21, 1)), 21)
    return 0


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _gather(word: int, *spans: tuple[int, int, int]) -> int:
    """Gathers an immediate: each span is (highest bit, lowest bit, place in the immediate)."""
    return sum((word >> low & ((1 << (high - low + 1)) - 1)) << to for high, low, to in spans)


SP, RA = 2, 1


def _compressed(half: int, address: int) -> Rv64Instruction | None:
    """Returns what a compressed instruction stands for; None for floats, hints and reserved words."""

    def one(name: str, rd: int = 0, rs1: int = 0, rs2: int = 0, imm: int = 0) -> Rv64Instruction:
        return Rv64Instruction(address, 2, name, rd, rs1, rs2, imm)

    full, second = half >> 7 & 31, half >> 2 & 31
    upper, lower = 8 + (half >> 7 & 7), 8 + (half >> 2 & 7)
    six = _signed(_gather(half, (12, 12, 5), (6, 2, 0)), 6)
    shift = six & 63
    word_place = _gather(half, (12, 10, 3), (6, 6, 2), (5, 5, 6))
    double_place = _gather(half, (12, 10, 3), (6, 5, 6))
    match half & 3, half >> 13:
        case 0, 0:
            imm = _gather(half, (12, 11, 4), (10, 7, 6), (6, 6, 2), (5, 5, 3))
            return one("addi", lower, SP, imm=imm) if imm else None
        case 0, 2:
            return one("lw", lower, upper, imm=word_place)
        case 0, 3:
            return one("ld", lower, upper, imm=double_place)
        case 0, 6:
            return one("sw", 0, upper, lower, word_place)
        case 0, 7:
            return one("sd", 0, upper, lower, double_place)
        case 1, 0:
            return one("addi", full, full, imm=six) if (full and six) or half == 1 else None
        case 1, 1:
            return one("addiw", full, full, imm=six) if full else None
        case 1, 2:
            return one("addi", full, imm=six) if full else None
        case 1, 3 if full == SP:
            imm = _signed(_gather(half, (12, 12, 9), (6, 6, 4), (5, 5, 6), (4, 3, 7), (2, 2, 5)), 10)
            return one("addi", SP, SP, imm=imm) if imm else None
        case 1, 3:
            return one("lui", full, imm=six << 12) if full and six else None
        case 1, 4:
            return _register_arithmetic(one, half, upper, lower, six, shift)
        case 1, 5:
            spans = (12, 12, 11), (11, 11, 4), (10, 9, 8), (8, 8, 10), (7, 7, 6), (6, 6, 7), (5, 3, 1), (2, 2, 5)
            return one("jal", imm=_signed(_gather(half, *spans), 12))
        case 1, 6 | 7:
            imm = _signed(_gather(half, (12, 12, 8), (11, 10, 3), (6, 5, 6), (4, 3, 1), (2, 2, 5)), 9)
            return one("beq" if half >> 13 == 6 else "bne", 0, upper, 0, imm)
        case 2, 0:
            return one("slli", full, full, imm=shift) if full and shift else None
        case 2, 2:
            return one("lw", full, SP, imm=_gather(half, (12, 12, 5), (6, 4, 2), (3, 2, 6))) if full else None
        case 2, 3:
            return one("ld", full, SP, imm=_gather(half, (12, 12, 5), (6, 5, 3), (4, 2, 6))) if full else None
        case 2, 4 if full and not second:
            return one("jalr", half >> 12 & 1, full)
        case 2, 4 if full:
            return one("add", full, full if half >> 12 & 1 else 0, second)
        case 2, 6:
            return one("sw", 0, SP, second, _gather(half, (12, 9, 2), (8, 7, 6)))
        case 2, 7:
            return one("sd", 0, SP, second, _gather(half, (12, 10, 3), (9, 7, 6)))
    return None


def _register_arithmetic(
    one: Callable[..., Rv64Instruction], half: int, upper: int, lower: int, six: int, shift: int
) -> Rv64Instruction | None:
    if (form := half >> 10 & 3) < 2:
        return one("srai" if form else "srli", upper, upper, imm=shift) if shift else None
    if form == 2:
        return one("andi", upper, upper, imm=six)
    names = ("sub", "xor", "or", "and", "subw", "addw")
    which = half >> 10 & 4 | half >> 5 & 3
    return one(names[which], upper, upper, lower) if which < len(names) else None
