"""Machine code with single bits turned: refused, or it behaves as before.

Slow: three of four parts of the drawn bit flips.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import policy_by_hand as hand
import pytest

from emulator.elf import Image, LoadedSection
from verify.code.failures import KINDS
from verify.prover.concrete import Runner
from verify.prover.prove import ENTRY, Limits, prove
from verify.prover.refute import refute
from verify.trusted.costs import cycle_model


def _with(image: Image, at: int, word: int) -> Image:
    """The image with another word at an address of the code."""
    sections = []
    for s in image.sections:
        data = s.data
        if s.address == image.text[0]:
            offset = at - s.address
            data = data[:offset] + word.to_bytes(4, "little") + data[offset + 4 :]
        sections.append(LoadedSection(s.name, s.address, data))
    return replace(image, sections=tuple(sections))


def _words(image: Image) -> dict[int, int]:
    section = next(s for s in image.sections if s.address == image.text[0])
    return {
        section.address + n: int.from_bytes(section.data[n : n + 4], "little") for n in range(0, len(section.data), 4)
    }


@pytest.mark.slow_except("0")
@pytest.mark.parametrize("part", range(4))
def test_every_bit_flip_is_refused_or_changes_nothing(part: int, tmp_path: Path) -> None:
    """Sixty drawn flips in four parts, the first of which is fast."""
    image, rng = hand.linked(hand.SOURCE, tmp_path), np.random.default_rng([1, part])
    words = _words(image)
    addresses = list(words)
    refused = 0
    for _ in range(15):
        at = addresses[rng.integers(len(addresses))]
        mutant = _with(image, at, words[at] ^ 1 << int(rng.integers(32)))
        proof = prove(mutant, hand.program(), hand.layouts(), hand.PROFILE, limits=hand.LIMITS)
        if not proof.proved:
            assert all(f.kind in KINDS for f in proof.failures)
            refused += 1
            continue
        runner = Runner(mutant, hand.program(), hand.layouts(), hand.PROFILE, cycle_model(hand.PROFILE), ENTRY)
        assert refute(runner, seed=1).wrong is None
    assert refused > 9


def test_machine_code_that_breaks_the_calling_convention_is_refused_by_name(tmp_path: Path) -> None:
    image = hand.linked(hand.SOURCE, tmp_path)
    first = image.symbols[ENTRY]
    cases = {
        0x0014_0413: "callee-saved",  # addi s0, s0, 1
        0xFF01_0113: "stack-pointer",  # addi sp, sp, -16
    }
    for word, kind in cases.items():
        spare = _inserted(image, first, word)
        proof = prove(spare, hand.program(), hand.layouts(), hand.PROFILE, limits=Limits(worst_seconds=1))
        assert [f.kind for f in proof.failures][:1] == [kind]


def _inserted(image: Image, at: int, word: int) -> Image:
    """The code behind one more instruction, entered there."""
    section = next(s for s in image.sections if s.address == image.text[0])
    moved = section.data + word.to_bytes(4, "little")
    start = section.address + len(section.data)
    jump = _jal(at - (start + 4))
    text = LoadedSection(section.name, section.address, moved + jump.to_bytes(4, "little"))
    others = tuple(s for s in image.sections if s is not section)
    symbols = {**image.symbols, ENTRY: start}
    return replace(image, sections=(*others, text), symbols=symbols, text=(image.text[0], start + 8))


def _jal(offset: int) -> int:
    i = offset & 0x1F_FFFF
    return 0x6F | (i >> 20 & 1) << 31 | (i >> 1 & 0x3FF) << 21 | (i >> 11 & 1) << 20 | (i >> 12 & 0xFF) << 12


def test_a_division_is_refused(tmp_path: Path) -> None:
    image = hand.linked(hand.SOURCE, tmp_path)
    mutant = _with(image, image.symbols[ENTRY], 0x02C5_D6B3)  # divu a3, a1, a2
    proof = prove(mutant, hand.program(), hand.layouts(), hand.PROFILE)
    assert proof.failures[0].kind == "illegal-instruction"
