"""Just enough of RV32IMC and RV64IMC to check object code: lengths, control flow, stack pointer, what is forbidden.

Not a disassembler: an instruction that computes is not told from another that does. Encodings after the RISC-V
unprivileged specification (chapters RV32I, RV64I, M, C and the opcode map).
"""

from dataclasses import dataclass
from enum import Enum, auto

RA, T0, SP = 1, 5, 2


class Kind(Enum):
    """Kind of an instruction for control flow, the stack and the rules."""

    PLAIN = auto()
    BRANCH = auto()  # conditional; target
    JUMP = auto()  # unconditional, no link; target
    CALL = auto()  # links; target
    JUMP_REGISTER = auto()  # register rs1 + offset, no link
    CALL_REGISTER = auto()
    RETURN = auto()
    STACK = auto()  # sp += offset
    STACK_UNKNOWN = auto()  # sp written in another way
    UPPER_PC = auto()  # auipc rd
    DIVIDE = auto()
    FLOAT = auto()
    SYSTEM = auto()  # ecall, ebreak, CSR access
    ILLEGAL = auto()


@dataclass(frozen=True)
class Instruction:
    """One decoded instruction. ``target`` is absolute; ``offset`` is the immediate of the kinds that need one."""

    address: int
    length: int
    kind: Kind
    target: int = 0
    offset: int = 0
    rd: int = 0
    rs1: int = 0


def decode(code: bytes, base: int, xlen: int = 32) -> list[Instruction]:
    """Decode a function's bytes, which start at address ``base``, for registers of ``xlen`` bits (32 or 64)."""
    instructions = []
    at = 0
    while at < len(code):
        half = int.from_bytes(code[at : at + 2], "little")
        if half & 3 == 3:
            instructions.append(_wide(int.from_bytes(code[at : at + 4], "little"), base + at, xlen))
        else:
            instructions.append(_compressed(half, base + at, xlen))
        at += instructions[-1].length
    return instructions


Span = tuple[int, int, int]


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _field(word: int, *spans: Span) -> int:
    """Gather an immediate: each span is (highest bit, lowest bit, position in the immediate)."""
    return sum((word >> low & ((1 << (high - low + 1)) - 1)) << to for high, low, to in spans)


def _wide(word: int, pc: int, xlen: int) -> Instruction:
    opcode, rd, funct3, rs1 = word & 0x7F, word >> 7 & 31, word >> 12 & 7, word >> 15 & 31
    immediate = _signed(word >> 20, 12)
    if word & 0x1F == 0x1F:  # 48 bits and longer
        return Instruction(pc, 4, Kind.ILLEGAL)
    match opcode:
        case 0x63:
            offset = _signed(_field(word, (31, 31, 12), (7, 7, 11), (30, 25, 5), (11, 8, 1)), 13)
            return Instruction(pc, 4, Kind.BRANCH, target=pc + offset)
        case 0x6F:
            offset = _signed(_field(word, (31, 31, 20), (19, 12, 12), (20, 20, 11), (30, 21, 1)), 21)
            return Instruction(pc, 4, Kind.CALL if rd in (RA, T0) else Kind.JUMP, target=pc + offset, rd=rd)
        case 0x67:
            return _jump_register(pc, 4, rd, rs1, immediate)
        case 0x17:
            return Instruction(pc, 4, Kind.UPPER_PC, offset=_signed(word & 0xFFFFF000, 32), rd=rd)
        case 0x13 if rd == SP:
            kind = Kind.STACK if funct3 == 0 and rs1 == SP else Kind.STACK_UNKNOWN
            return Instruction(pc, 4, kind, offset=immediate)
        case 0x1B | 0x3B if xlen == 32:  # operations on the low words of RV64
            return Instruction(pc, 4, Kind.ILLEGAL)
        case 0x33 | 0x3B if word >> 25 == 1 and funct3 >= 4:
            return Instruction(pc, 4, Kind.DIVIDE)
        case 0x07 | 0x27 | 0x43 | 0x47 | 0x4B | 0x4F | 0x53:
            return Instruction(pc, 4, Kind.FLOAT)
        case 0x73:
            return Instruction(pc, 4, Kind.SYSTEM)
        case 0x03 | 0x1B | 0x33 | 0x37 | 0x3B if rd == SP:
            return Instruction(pc, 4, Kind.STACK_UNKNOWN)
        case 0x03 | 0x0F | 0x13 | 0x1B | 0x23 | 0x33 | 0x37 | 0x3B:
            return Instruction(pc, 4, Kind.PLAIN, rd=rd if opcode != 0x23 else 0)
        case _:
            return Instruction(pc, 4, Kind.ILLEGAL)


def _jump_register(pc: int, length: int, rd: int, rs1: int, offset: int) -> Instruction:
    if rd == 0 and rs1 == RA and offset == 0:
        return Instruction(pc, length, Kind.RETURN)
    kind = Kind.CALL_REGISTER if rd in (RA, T0) else Kind.JUMP_REGISTER
    return Instruction(pc, length, kind, offset=offset, rd=rd, rs1=rs1)


def _compressed(half: int, pc: int, xlen: int) -> Instruction:
    spans: tuple[Span, ...]
    quadrant, funct3, rd = half & 3, half >> 13, half >> 7 & 31
    match quadrant, funct3:
        case 0, 0 if half == 0:
            return Instruction(pc, 2, Kind.ILLEGAL)
        case 0 | 2, 1 | 5:
            return Instruction(pc, 2, Kind.FLOAT)
        case 0 | 2, 3 | 7 if xlen == 32:  # of RV64 these load and store doublewords
            return Instruction(pc, 2, Kind.FLOAT)
        case 1, 1 if xlen == 64:  # addiw
            return Instruction(pc, 2, Kind.STACK_UNKNOWN if rd == SP else Kind.PLAIN, rd=rd)
        case 1, 1 | 5:
            spans = ((12, 12, 11), (8, 8, 10), (10, 9, 8), (6, 6, 7), (7, 7, 6), (2, 2, 5), (11, 11, 4), (5, 3, 1))
            target = pc + _signed(_field(half, *spans), 12)
            return Instruction(pc, 2, Kind.CALL if funct3 == 1 else Kind.JUMP, target=target, rd=int(funct3 == 1))
        case 1, 6 | 7:
            spans = ((12, 12, 8), (6, 5, 6), (2, 2, 5), (11, 10, 3), (4, 3, 1))
            return Instruction(pc, 2, Kind.BRANCH, target=pc + _signed(_field(half, *spans), 9))
        case 1, 0 if rd == SP:
            return Instruction(pc, 2, Kind.STACK, offset=_signed(_field(half, (12, 12, 5), (6, 2, 0)), 6))
        case 1, 3 if rd == SP:
            spans = ((12, 12, 9), (4, 3, 7), (5, 5, 6), (2, 2, 5), (6, 6, 4))
            return Instruction(pc, 2, Kind.STACK, offset=_signed(_field(half, *spans), 10))
        case 2, 4 if half >> 2 & 31 == 0 and rd == 0:
            return Instruction(pc, 2, Kind.SYSTEM if half >> 12 & 1 else Kind.ILLEGAL)
        case 2, 4 if half >> 2 & 31 == 0:
            return _jump_register(pc, 2, half >> 12 & 1, rd, 0)
        case (1, 2) | (2, 0 | 2 | 3 | 4) if rd == SP:
            return Instruction(pc, 2, Kind.STACK_UNKNOWN)
        case _:
            return Instruction(pc, 2, Kind.PLAIN, rd=rd if quadrant != 0 else 0)
