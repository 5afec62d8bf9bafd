"""Random programs for the calibration, made of machine words: acyclic, safe whatever the inputs, rich in neighbours.

    f:    make a frame, clear it, load the free registers
          random instructions; jumps go forward, calls go to the leaf
          add a0; drop the frame; lw ra; ret
    leaf: fewer random instructions; ret

Registers a0 and a1 keep the addresses of the two blocks, a4 that of the constants if there are some, sp and ra what the
convention says; the others are free.
"""

import numpy as np

from verify.trusted.machine import BRANCHES, ENCODINGS, LOADS, STORES

WORDS = 16  # of each block
FRAME, SLOTS = 32, 7  # bytes of stack, and words of it that the body uses
A0, A1, A4, SP, RA = 10, 11, 14, 2, 1
FREE = (5, 6, 7, 12, 13)  # few, so that neighbours meet in a register
COMPUTE = tuple(n for n in ENCODINGS if n not in (*LOADS, *STORES, *BRANCHES, "jal", "jalr"))
KINDS, WEIGHTS = (
    ("load", "store", "branch", "jump", "call", "indirect", "compute"),
    (0.2, 0.1, 0.2, 0.05, 0.03, 0.04, 0.38),
)
LEAF_UNITS, LONGEST_JUMP = 8, 6


def encode(name: str, rd: int = 0, rs1: int = 0, rs2: int = 0, imm: int = 0) -> int:
    """The word of an instruction: the inverse of ``verify.trusted.machine.decode``."""
    form, _, word = ENCODINGS[name]
    i = imm & 0xFFFF_FFFF
    match form:
        case "R":
            fields = rd << 7 | rs1 << 15 | rs2 << 20
        case "I":
            fields = rd << 7 | rs1 << 15 | (i & 0xFFF) << 20
        case "shift":
            fields = rd << 7 | rs1 << 15 | (i & 31) << 20
        case "S":
            fields = (i & 31) << 7 | rs1 << 15 | rs2 << 20 | (i >> 5 & 0x7F) << 25
        case "B":
            low = (i >> 11 & 1) << 7 | (i >> 1 & 0xF) << 8
            fields = low | rs1 << 15 | rs2 << 20 | (i >> 5 & 0x3F) << 25 | (i >> 12 & 1) << 31
        case "U":
            fields = rd << 7 | i & 0xFFFF_F000
        case _:  # J
            low = (i >> 12 & 0xFF) << 12 | (i >> 11 & 1) << 20
            fields = rd << 7 | low | (i >> 1 & 0x3FF) << 21 | (i >> 20 & 1) << 31
    return word | fields


def random_program(rng: np.random.Generator, table: int | None = None) -> list[int]:
    """The words of a function and its leaf; the function stands first. ``table``: the address of ``WORDS`` constants,
    which are then loaded as well."""
    bases: tuple[int, ...] = (A0, A1, SP)
    length = int(rng.integers(4, 120))
    prologue = [encode("addi", SP, SP, imm=-FRAME), encode("sw", rs1=SP, rs2=RA, imm=FRAME - 4)]
    prologue += [encode("sw", rs1=SP, rs2=0, imm=4 * n) for n in range(SLOTS)]
    prologue += [encode("lw", r, A1, imm=4 * n) for n, r in enumerate(FREE)]
    if table is not None:
        prologue += [encode("lui", A4, imm=table + 0x800), encode("addi", A4, A4, imm=table)]
        bases = (*bases, A4, A4)
    epilogue = [
        encode("add", A0, FREE[0], FREE[1]),
        encode("addi", SP, SP, imm=FRAME),
        encode("lw", RA, SP, imm=-4),  # just before its use
        encode("jalr", 0, RA),
    ]
    body = [_unit(rng, bases, leaf=False) for _ in range(length)]
    words = sum(map(len, body))
    leaf = 4 * (len(prologue) + words + len(epilogue))
    inner = [_unit(rng, bases, leaf=True) for _ in range(LEAF_UNITS)]
    return [
        *prologue,
        *_placed(rng, body, leaf - 4 * len(prologue)),
        *epilogue,
        *_placed(rng, inner, 0),
        encode("jalr", 0, RA),
    ]


Unit = list[tuple[str, int, int, int, int]]
"""Instructions that stay together (name, rd, rs1, rs2, imm); only the last may jump, to where ``_placed`` says."""


def _unit(rng: np.random.Generator, bases: tuple[int, ...], leaf: bool) -> Unit:
    """One random instruction, or the two of an indirect jump. ``bases``: registers that loads start from."""
    rd, rs1, rs2 = (int(rng.choice(FREE)) for _ in range(3))
    match rng.choice(KINDS, p=WEIGHTS):
        case "load":
            name = str(rng.choice(list(LOADS)))
            return [(name, rd if rng.integers(8) else 0, *_address(rng, LOADS[name], bases))]
        case "store":
            name = str(rng.choice(list(STORES)))
            base, _, offset = _address(rng, STORES[name], (A0, SP))
            return [(name, 0, base, rs2, offset)]
        case "branch":
            return [(str(rng.choice(BRANCHES)), 0, rs1, rs2 if rng.integers(4) else 0, 0)]
        case "jump":
            return [("jal", int(rng.choice([0, rd])), 0, 0, 0)]
        case "call" if not leaf:
            return [("jal", RA, 0, 0, 0)]
        case "indirect":
            return [("auipc", rd, 0, 0, 0), ("jalr", int(rng.choice([0, rs1])), rd, 0, 0)]
        case _:
            return [(str(rng.choice(COMPUTE)), rd, rs1, rs2, int(rng.integers(-(1 << 31), 1 << 31)))]


def _address(rng: np.random.Generator, size: int, bases: tuple[int, ...]) -> tuple[int, int, int]:
    """Base register, 0 and an aligned offset of an access inside a block or the frame."""
    base = int(rng.choice(bases))
    return base, 0, size * int(rng.integers(4 * (SLOTS if base == SP else WORDS) // size))


def _placed(rng: np.random.Generator, units: list[Unit], leaf: int) -> list[int]:
    """Words of the units, jumps aimed at one of the next few, calls at the leaf (bytes from the first unit)."""
    starts = [0]
    for unit in units:
        starts.append(starts[-1] + 4 * len(unit))
    words = []
    for n, unit in enumerate(units):
        target = starts[min(n + int(rng.integers(1, LONGEST_JUMP + 1)), len(units))]
        for k, (name, rd, rs1, rs2, imm) in enumerate(unit):
            here = starts[n] + 4 * k
            if name in BRANCHES or (name == "jal" and rd != RA):
                imm = target - here
            elif name == "jal":
                imm = leaf - here
            elif name == "jalr":
                imm = target - starts[n]
            words.append(encode(name, rd, rs1, rs2, imm))
    return words
