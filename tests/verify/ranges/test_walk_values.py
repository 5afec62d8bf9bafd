"""What the walk says that memory holds at the end: whatever a run of a random program leaves there is among it.

The programs have what ``verify.trusted.calibrate_programs`` lacks: indices into constants and frame that inputs decide,
masks, loops with a way out. What the walk refuses is left out.
"""

import random
import struct
from collections.abc import Callable

import pytest

from emulator import memory_map
from emulator.elf import Image, LoadedSection
from emulator.memory_map import Block
from emulator.profile import load_profile
from verify.code.arguments import Field, Structure
from verify.code.failures import Refused
from verify.ranges.memory import Layout
from verify.ranges.walk import END, _Walker
from verify.ranges.words import COMPUTED, Words, between, hull
from verify.trusted.calibrate_programs import encode
from verify.trusted.costs import cycle_model
from verify.trusted.execute import Simulator
from verify.trusted.machine import BRANCHES, decode_image

BASE, BACK, WORDS, STACK, SLOTS = 0x100, 0x40, 8, 64, 16
TABLE = memory_map.CONSTANTS_BASE
FIELDS = tuple(Field(f"word{n}", 4 * n, 4, 0, (1 << 32) - 1) for n in range(WORDS))
STRUCTURES = (Structure("context", 4 * WORDS, FIELDS, True), Structure("event", 4 * WORDS, FIELDS, False))
BLOCKS = [Block("context", 4 * WORDS, writable=True), Block("event", 4 * WORDS, writable=False)]
A0, A1, A4, SP, RA, COUNT = 10, 11, 14, 2, 1, 28
FREE = (5, 6, 7, 12, 13, 15, 16)
OF_TWO = ("add", "sub", "xor", "or", "and", "sll", "srl", "sra", "slt", "sltu", "mul", "mulh", "mulhsu", "mulhu")
OF_ONE = ("addi", "xori", "ori", "andi", "slti", "sltiu")
EDGES = (0, 1, 2, 15, 16, 31, 255, 0x7FFF, 0x8000, (1 << 31) - 1, 1 << 31, (1 << 32) - 16, (1 << 32) - 1)


def program(rng: random.Random) -> list[int]:
    words = [encode("addi", SP, SP, imm=-4 * SLOTS)]
    words += [encode("sw", 0, SP, 0, imm=4 * n) for n in range(SLOTS)]
    words += [encode("lw", r, A1, imm=4 * n) for n, r in enumerate(FREE)]
    words += [encode("lui", A4, imm=TABLE), encode("addi", A4, A4, imm=TABLE & 0x7FF)]
    for _ in range(rng.randint(2, 4)):
        body = [word for _ in range(rng.randint(1, 3)) for word in part(rng)]
        if rng.random() < 0.4:  # a few turns, and a way out
            out = encode(rng.choice(BRANCHES), 0, rng.choice(FREE), rng.choice(FREE), imm=12)
            back = encode("bne", 0, COUNT, 0, imm=-4 * (len(body) + 2))
            body = [encode("addi", COUNT, 0, imm=rng.randint(1, 4)), *body, out, encode("addi", COUNT, COUNT, imm=-1)]
            body.append(back)
        words += body
    words += [encode("sw", 0, A0, r, imm=4 * n) for n, r in enumerate(FREE)]
    return [*words, encode("addi", SP, SP, imm=4 * SLOTS), encode("jalr", 0, RA)]


def part(rng: random.Random) -> list[int]:
    """Instructions that stay together."""
    d, a, b = (rng.choice(FREE) for _ in range(3))
    match rng.randrange(6):
        case 0:
            return [encode(rng.choice(OF_TWO), d, a, rng.choice((b, 0)))]
        case 1:
            return [encode(rng.choice(OF_ONE), d, a, imm=rng.choice((-1, 0, 1, 7, 16, rng.randint(-2048, 2047))))]
        case 2:  # an entry of the table or a slot
            name, by = rng.choice((("lb", 0), ("lbu", 0), ("lh", 1), ("lhu", 1), ("lw", 2)))
            index = encode("andi", d, a, imm=rng.choice((1, 7, 15)))
            base = rng.choice((A4, SP))
            return [index, encode("slli", d, d, imm=by), encode("add", d, d, base), encode(name, d, d)]
        case 3:
            name, size = rng.choice((("sb", 1), ("sh", 2), ("sw", 4)))
            return [encode(name, 0, SP, a, imm=size * rng.randrange(4 * SLOTS // size))]
        case 4:  # a mask
            return [encode("srai", d, a, imm=rng.choice((15, 31))), encode(rng.choice(("and", "xor", "sub")), b, b, d)]
        case _:
            other = part(rng)
            return [encode(rng.choice(BRANCHES), 0, a, rng.choice((b, 0)), imm=4 + 4 * len(other)), *other]


def image_of(words: list[int], table: bytes) -> Image:
    code = struct.pack(f"<{len(words)}I", *words)
    sections = LoadedSection(".text", BASE, code), LoadedSection(".rodata", TABLE, table)
    places = (BASE, BASE + len(code)), (TABLE, TABLE + len(table))
    return Image(sections, {"f": BASE, "rlcc_back": BACK}, *places, TABLE + len(table))


def differences(seed: int, programs: int) -> tuple[int, list[str]]:
    """How many programs the walk followed to the end, and what runs did that it does not allow for."""
    rng, profile, followed, found = random.Random(seed), load_profile("ibex-maxperf"), 0, list[str]()
    model = cycle_model(profile)
    for _ in range(programs):
        table = bytes(rng.choice((rng.randrange(256), 0, 127, 128, 255)) for _ in range(64))
        image = image_of(program(rng), table)
        walker = _Walker(decode_image(image), BASE, Layout(STRUCTURES, (TABLE, table), STACK), model)
        try:
            end = walker.until(walker.start(), END)
        except Refused:
            continue
        assert end is not None
        followed += 1
        simulator = Simulator(image, "f", profile, BLOCKS, model)
        for _ in range(8):
            inputs = [rng.choice(EDGES) if rng.random() < 0.6 else rng.getrandbits(32) for _ in range(WORDS)]
            run = simulator.call([bytes(4 * WORDS), struct.pack(f"<{WORDS}I", *inputs)])
            left = struct.unpack(f"<{WORDS}I", run.written["context"])
            said = [end.memory.held["context", 4 * n, 4] for n in range(len(FREE))]
            pairs = zip(left, said, strict=False)
            found += [f"{word:#x} is not in {may}" for word, may in pairs if isinstance(may, Words) and word not in may]
            found += [f"{run.cycles} cycles"] * (run.cycles > end.cycles)
    return followed, found


def test_what_a_run_leaves_is_among_what_the_walk_says() -> None:
    followed, found = differences(seed=1, programs=150)
    assert not found
    assert followed > 60


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("sra", lambda a, b: between(a.unsigned[0] >> b.low, a.unsigned[1] >> b.low) if b.exact else hull(a, b)),
        ("sub", lambda a, b: between(a.low - b.low, a.low - b.low + a.span)),
        ("mulhsu", lambda a, b: between(0, (a.unsigned[1] * b.unsigned[1]) >> 32)),
    ],
)
def test_an_operation_that_misses_words_is_found(
    name: str, wrong: Callable[[Words, Words], Words], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMPUTED, name, wrong)
    assert differences(seed=1, programs=150)[1]
