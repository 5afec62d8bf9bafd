"""Whole programs: no run takes longer than the bound; what is not shown to be in order is refused."""

import struct

import numpy as np
import pytest

from emulator.elf import Image, LoadedSection
from emulator.memory_map import Block
from emulator.profile import load_profile
from verify.code.arguments import Field, Structure
from verify.code.failures import Refused
from verify.ranges import walk as walking
from verify.ranges.memory import Layout
from verify.ranges.walk import Walked, walk
from verify.trusted.calibrate_programs import KINDS, WEIGHTS, encode, random_program
from verify.trusted.costs import cycle_model
from verify.trusted.execute import Simulator

BASE, BACK, WORDS, STACK = 0x100, 0x40, 16, 256
PROFILES = ("ibex-small", "ibex-maxperf")
FIELDS = tuple(Field(f"word{n}", 4 * n, 4, 0, (1 << 32) - 1) for n in range(WORDS))
LAYOUT = Layout(
    (Structure("context", 4 * WORDS, FIELDS, True), Structure("event", 4 * WORDS, FIELDS, False)), (0, b""), STACK
)
BLOCKS = [Block("context", 4 * WORDS, writable=True), Block("event", 4 * WORDS, writable=False)]
RET = encode("jalr", 0, 1)
A0, A1, A2, A3, T0, S0, RA, SP = 10, 11, 12, 13, 5, 8, 1, 2


def image_of(*words: int) -> Image:
    code = struct.pack(f"<{len(words)}I", *words)
    text = (BASE, BASE + len(code))
    return Image((LoadedSection(".text", BASE, code),), {"f": BASE, "rlcc_back": BACK}, text, (0, 0), 0)


def walked(*words: int, profile: str = "ibex-small") -> Walked:
    return walk(image_of(*words), "f", LAYOUT, cycle_model(load_profile(profile)))


def slowest(words: list[int], profile: str, seed: int = 1, runs: int = 30) -> int:
    """Cycles of random inputs, small and large."""
    rng = np.random.default_rng(seed)
    simulator = Simulator(image_of(*words), "f", load_profile(profile), BLOCKS)
    drawn = (rng.integers(0, 1 << int(rng.integers(1, 33)), WORDS, dtype=np.uint32) for _ in range(2 * runs))
    inputs = [each.astype("<u4").tobytes() for each in drawn]
    return max(simulator.call(list(pair)).cycles for pair in zip(inputs[::2], inputs[1::2], strict=True))


@pytest.mark.slow_except("ibex-small")
@pytest.mark.parametrize("profile", PROFILES)
def test_no_run_of_a_random_program_takes_longer(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    direct = [0.0 if kind == "indirect" else weight for kind, weight in zip(KINDS, WEIGHTS, strict=True)]
    monkeypatch.setattr("verify.trusted.calibrate_programs.WEIGHTS", tuple(weight / sum(direct) for weight in direct))
    rng, tight = np.random.default_rng(3), 0
    for _ in range(60):
        words = random_program(rng)
        bound, found = walked(*words, profile=profile).cycles, slowest(words, profile)
        assert found <= bound
        tight += found == bound
    assert tight > 6  # of so many the slowest run is found by chance


LOOP = [
    encode("addi", A2, 0, imm=5),
    encode("addi", A2, A2, imm=-1),
    encode("bne", 0, A2, 0, imm=-4),
]


def test_a_loop_of_so_many_turns_takes_what_they_take() -> None:
    assert walked(*LOOP, RET).cycles == slowest([*LOOP, RET], "ibex-small")
    assert walked(*LOOP, RET).steps == 1 + 2 * 5 + 1


def test_a_loop_whose_end_an_input_decides_is_refused() -> None:
    loads = encode("lw", A2, A1, imm=4)
    with pytest.raises(Refused, match="no end of") as refused:
        walked(loads, *LOOP[1:], RET)
    assert refused.value.failure.kind == "loop"
    at_most = [loads, encode("andi", A2, A2, imm=7), encode("addi", A2, A2, imm=1), *LOOP[1:], RET]
    assert walked(*at_most).cycles >= slowest(at_most, "ibex-small")  # eight turns at most


def test_of_two_ways_the_slower_counts_and_both_values_are_kept() -> None:
    words = [
        encode("lw", A2, A1),
        encode("addi", A3, 0, imm=4),
        encode("bltu", 0, A2, A3, imm=16),
        encode("addi", A2, 0, imm=12),
        encode("addi", A2, A2, imm=0),
        encode("addi", A2, A2, imm=0),
        encode("slli", A2, A2, imm=2),  # 0, 4, 8 or 12 by the one way, 48 by the other
        encode("add", A2, A2, A1),
        encode("lw", A2, A2, imm=0),
        RET,
    ]
    assert walked(*words).cycles == slowest(words, "ibex-small", runs=200)
    beyond = [*words[:3], encode("addi", A2, 0, imm=16), *words[4:]]
    with pytest.raises(Refused, match="offset 64 of event"):
        walked(*beyond)


MASK = [
    encode("lh", A2, A1),
    encode("srai", A3, A2, imm=31),
    encode("xor", A2, A2, A3),
    encode("sub", A2, A2, A3),  # its magnitude, to 32768
    encode("srli", A2, A2, imm=10),
    encode("andi", A2, A2, imm=-4),
    encode("add", A2, A2, A1),
    encode("lw", A2, A2, imm=0),  # 0 to 32
    RET,
]


def test_a_magnitude_is_no_wider_than_it_is() -> None:
    assert walked(*MASK).cycles == slowest(MASK, "ibex-small")
    with pytest.raises(Refused) as refused:
        walked(MASK[0], *MASK[4:])
    assert refused.value.failure.kind in ("load-address", "load-outside")


def test_what_was_made_of_a_register_before_it_was_compared_is_narrowed_too() -> None:
    words = [
        encode("lw", A2, A1),
        encode("slli", A3, A2, imm=2),
        encode("addi", T0, 0, imm=WORDS),
        encode("bgeu", 0, A2, T0, imm=12),
        encode("add", A3, A3, A1),
        encode("lw", A2, A3),
        RET,
    ]
    assert walked(*words).cycles >= slowest(words, "ibex-small")
    wider = [*words[:2], encode("addi", T0, 0, imm=WORDS + 1), *words[3:]]
    with pytest.raises(Refused, match="offset 64 of event"):
        walked(*wider)


def test_calls_come_back_and_none_is_within_itself() -> None:
    frame = [encode("addi", SP, SP, imm=-16), encode("sw", 0, SP, RA, imm=12)]
    back = [encode("lw", RA, SP, imm=12), encode("addi", SP, SP, imm=16), RET]
    call = [*frame, encode("jal", RA, imm=20), encode("jal", RA, imm=16), *back, encode("addi", A0, 0, imm=1), RET]
    assert walked(*call).cycles == slowest(call, "ibex-small")
    assert walked(*call).stack_bytes == 4
    with pytest.raises(Refused, match="within itself"):
        walked(*frame, encode("jal", RA, imm=-8), *back)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ([encode("addi", S0, 0, imm=1), RET], "callee-saved"),
        ([encode("addi", SP, SP, imm=-16), RET], "stack-pointer"),
        ([encode("lw", A2, A1), encode("jalr", 0, A2)], "indirect-jump"),
        ([encode("addi", RA, RA, imm=4), RET], "indirect-jump"),
        ([encode("jal", 0, imm=64)], "indirect-jump"),
        ([encode("lw", A2, S0), RET], "load-address"),
        ([encode("sw", 0, A1, A0), RET], "store-outside"),
        ([encode("lw", A2, SP, imm=-4), RET], "load-unwritten"),
        (  # the address half the memory away is above the event's, wherever the event lies below the half
            [
                encode("lui", T0, imm=-(1 << 31)),
                encode("add", T0, T0, A1),
                encode("bltu", 0, T0, A1, imm=8),
                encode("sw", 0, A1, A1),
                RET,
            ],
            "store-outside",
        ),
    ],
)
def test_what_a_decision_may_not_do_is_refused(words: list[int], kind: str) -> None:
    with pytest.raises(Refused) as refused:
        walked(*words)
    assert refused.value.failure.kind == kind


def test_a_loop_without_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MAX_STEPS", 1000)
    with pytest.raises(Refused, match="more than 1000 instructions"):
        walked(encode("jal", 0, imm=0))
