"""Instructions told to lines of C, through inlined functions, by both compilers."""

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from emulator.compile import compile_policy, find_gcc, link_program, toolchain
from emulator.lines import Frame, SourceLines
from emulator.profile import load_profile

PROFILE = load_profile("ibex-small")
SOURCE = """\
#include <stdint.h>
static uint32_t halved(uint32_t x)
{
    return x / 2U;
}
__attribute__((noinline)) static uint32_t far(uint32_t x)
{
    return x * 77U;
}
uint32_t rlcc_decide(uint32_t *flow)
{
    const uint32_t a = halved(flow[0]);
    flow[1] = far(a);
    return a ^ 5U;
}
"""
COMPILERS = ["clang", pytest.param("gcc", marks=pytest.mark.skipif(find_gcc() is None, reason="no RISC-V GCC"))]


def built(folder: Path, compiler: str, *, lines: bool) -> Path:
    (folder / "policy.c").write_text(SOURCE)
    policy = compile_policy(folder / "policy.c", toolchain(PROFILE, compiler, "-O2"), folder=folder, lines=lines)
    return link_program(policy, "rlcc_decide", PROFILE, folder)


def code(elf_file: Path) -> tuple[int, bytes]:
    with elf_file.open("rb") as file:
        text = ELFFile(file).get_section_by_name(".text")
        return text["sh_addr"], text.data()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_line_information_changes_no_instruction(tmp_path: Path, compiler: str) -> None:
    assert code(built(tmp_path, compiler, lines=True)) == code(built(tmp_path, compiler, lines=False))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_instruction_has_its_line_and_the_functions_around_it(tmp_path: Path, compiler: str) -> None:
    elf = built(tmp_path, compiler, lines=True)
    places = SourceLines(elf, "policy.c")
    base, text = code(elf)
    frames = {base + n: places.frames(base + n) for n in range(0, len(text), 4)}
    assert {f[-1].function for f in frames.values()} == {"rlcc_decide", "halved", "far"}
    lines = SOURCE.splitlines()
    for chain in frames.values():
        assert chain[0].function in ("rlcc_decide", "far")
        assert all(0 < frame.line <= len(lines) for frame in chain)
        if chain[-1].function == "halved":  # inlined: where it was called, then its own line
            assert chain == (Frame("rlcc_decide", 12), Frame("halved", 4))
    words = {base + n: int.from_bytes(text[n : n + 4], "little") for n in range(0, len(text), 4)}
    [halving] = [a for a, w in words.items() if w & 0xFE00707F == 0x5013 and w >> 20 & 31 == 1]  # srli by 1
    assert frames[halving][-1] == Frame("halved", 4)
    [product] = [a for a, w in words.items() if w & 0xFE00707F == 0x2000033]  # mul
    assert frames[product] in [(Frame("far", 8),), (Frame("far", 9),)]  # GCC tells it to the return


def test_code_without_line_information_has_its_symbol(tmp_path: Path) -> None:
    elf = built(tmp_path, "clang", lines=False)
    base, _ = code(elf)
    assert {f.line for f in SourceLines(elf, "policy.c").frames(base)} == {0}
    assert SourceLines(elf, "policy.c").frames(base)[0].function in ("rlcc_decide", "far")
