"""The instructions that a decision may be made of: RV32I without system instructions and fences, and M's products.

Whatever is not in ``ENCODINGS`` is refused: division, floats, CSRs, compressed and atomic instructions, and every word
that the specification keeps back. A decoder that knows too little can therefore make a proof fail, never succeed.
Encodings after the RISC-V unprivileged specification, chapters RV32I and M.
"""

from dataclasses import dataclass

from emulator.elf import Image


class IllegalInstruction(Exception):
    """A word that is not one of the instructions a decision may be made of. The message says where and why."""


@dataclass(frozen=True)
class Instruction:
    """One decoded instruction.

    ``imm`` is sign-extended, in bytes for branches and jumps (relative to ``address``), and already shifted for lui and
    auipc (so -2^31..2^31 - 4096 there). A field that the format lacks is 0.
    """

    address: int
    word: int
    name: str
    rd: int
    rs1: int
    rs2: int
    imm: int

    @property
    def target(self) -> int:
        """Returns the target of a branch or jal."""
        return (self.address + self.imm) & 0xFFFF_FFFF


# Mnemonic -> (format, bits that are given, their values): opcode, funct3 << 12, funct7 << 25.
OPCODE, WITH_FUNCT3, WITH_FUNCT7 = 0x0000007F, 0x0000707F, 0xFE00707F
ENCODINGS = {
    "lui": ("U", OPCODE, 0x37),
    "auipc": ("U", OPCODE, 0x17),
    "jal": ("J", OPCODE, 0x6F),
    "jalr": ("I", WITH_FUNCT3, 0x67),
    "beq": ("B", WITH_FUNCT3, 0x0063),
    "bne": ("B", WITH_FUNCT3, 0x1063),
    "blt": ("B", WITH_FUNCT3, 0x4063),
    "bge": ("B", WITH_FUNCT3, 0x5063),
    "bltu": ("B", WITH_FUNCT3, 0x6063),
    "bgeu": ("B", WITH_FUNCT3, 0x7063),
    "lb": ("I", WITH_FUNCT3, 0x0003),
    "lh": ("I", WITH_FUNCT3, 0x1003),
    "lw": ("I", WITH_FUNCT3, 0x2003),
    "lbu": ("I", WITH_FUNCT3, 0x4003),
    "lhu": ("I", WITH_FUNCT3, 0x5003),
    "sb": ("S", WITH_FUNCT3, 0x0023),
    "sh": ("S", WITH_FUNCT3, 0x1023),
    "sw": ("S", WITH_FUNCT3, 0x2023),
    "addi": ("I", WITH_FUNCT3, 0x0013),
    "slti": ("I", WITH_FUNCT3, 0x2013),
    "sltiu": ("I", WITH_FUNCT3, 0x3013),
    "xori": ("I", WITH_FUNCT3, 0x4013),
    "ori": ("I", WITH_FUNCT3, 0x6013),
    "andi": ("I", WITH_FUNCT3, 0x7013),
    "slli": ("shift", WITH_FUNCT7, 0x0000_1013),
    "srli": ("shift", WITH_FUNCT7, 0x0000_5013),
    "srai": ("shift", WITH_FUNCT7, 0x4000_5013),
    "add": ("R", WITH_FUNCT7, 0x0000_0033),
    "sub": ("R", WITH_FUNCT7, 0x4000_0033),
    "sll": ("R", WITH_FUNCT7, 0x0000_1033),
    "slt": ("R", WITH_FUNCT7, 0x0000_2033),
    "sltu": ("R", WITH_FUNCT7, 0x0000_3033),
    "xor": ("R", WITH_FUNCT7, 0x0000_4033),
    "srl": ("R", WITH_FUNCT7, 0x0000_5033),
    "sra": ("R", WITH_FUNCT7, 0x4000_5033),
    "or": ("R", WITH_FUNCT7, 0x0000_6033),
    "and": ("R", WITH_FUNCT7, 0x0000_7033),
    "mul": ("R", WITH_FUNCT7, 0x0200_0033),
    "mulh": ("R", WITH_FUNCT7, 0x0200_1033),
    "mulhsu": ("R", WITH_FUNCT7, 0x0200_2033),
    "mulhu": ("R", WITH_FUNCT7, 0x0200_3033),
}
BRANCHES = ("beq", "bne", "blt", "bge", "bltu", "bgeu")
LOADS = {"lb": 1, "lbu": 1, "lh": 2, "lhu": 2, "lw": 4}  # bytes
STORES = {"sb": 1, "sh": 2, "sw": 4}

_BY_VALUE = {(mask, value): (name, form) for name, (form, mask, value) in ENCODINGS.items()}
_MASKS = (WITH_FUNCT7, WITH_FUNCT3, OPCODE)
_REASONS = {
    0x07: "a float instruction", 0x27: "a float instruction", 0x43: "a float instruction",
    0x47: "a float instruction", 0x4B: "a float instruction", 0x4F: "a float instruction",
    0x53: "a float instruction", 0x2F: "an atomic instruction", 0x73: "a system instruction", 0x0F: "a fence",
}  # fmt: skip


def decode(word: int, address: int) -> Instruction:
    """The instruction that a 32-bit word at an address is; IllegalInstruction where it is none of ``ENCODINGS``."""
    name, form = next((_BY_VALUE[m, word & m] for m in _MASKS if (m, word & m) in _BY_VALUE), ("", ""))
    if not name:
        raise IllegalInstruction(f"{_reason(word)} at {address:#x}: {word:#010x}")
    rd = 0 if form in "SB" else word >> 7 & 31
    rs1 = 0 if form in "UJ" else word >> 15 & 31
    rs2 = word >> 20 & 31 if form in "RSB" else 0
    return Instruction(address, word, name, rd, rs1, rs2, _immediate(word, form))


def decode_image(image: Image) -> dict[int, Instruction]:
    """Every instruction of the linked program's text section by its address.

    Words in which no instruction can be found raise IllegalInstruction: the text holds nothing but the policy's code.
    """
    low, high = image.text
    code = next((s for s in image.sections if s.address == low and low < high), None)
    if code is None or low % 4 or len(code.data) % 4:
        raise IllegalInstruction(f"the code at {low:#x} is not a whole number of 32-bit instructions")
    words = range(0, len(code.data), 4)
    return {low + at: decode(int.from_bytes(code.data[at : at + 4], "little"), low + at) for at in words}


def constants(image: Image) -> tuple[int, bytes]:
    """The linked program's constants: where they begin, and their bytes."""
    low, high = image.constants
    data = next((s.data for s in image.sections if s.address == low and high > low), b"")
    return low, data[: high - low]


def _immediate(word: int, form: str) -> int:
    match form:
        case "I":
            return _signed(word >> 20, 12)
        case "shift":
            return word >> 20 & 31
        case "S":
            return _signed((word >> 25) << 5 | (word >> 7 & 31), 12)
        case "B":
            high = (word >> 31) << 12 | (word >> 7 & 1) << 11
            return _signed(high | (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1, 13)
        case "U":
            return _signed(word & 0xFFFF_F000, 32)
        case "J":
            high = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12
            return _signed(high | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1, 21)
        case _:
            return 0


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _reason(word: int) -> str:
    if word & 3 != 3:
        return "a compressed or empty instruction"
    if word & 0xFE00_407F == 0x0200_4033:
        return "a division"
    return _REASONS.get(word & 0x7F, "a word that is no RV32I instruction")
