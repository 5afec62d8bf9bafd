"""Emitted firmware on both machines, all its vectors: whichever form of the C, compiler, optimisation and engine."""

from pathlib import Path

import pytest
from programs import both, engine
from target_students import STUDENTS

from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from emulator.compile import compile_sources, find_gcc, link_program, toolchain
from emulator.elf import read_image
from emulator.firmware import ENTRY, Firmware
from emulator.firmware_folder import read_firmware
from emulator.profile import Profile
from emulator.run import blocks
from emulator.vectors import vectors_of

SMALL, MAXPERF = engine("ibex-small"), engine("ibex-maxperf")
CACHED = engine("ibex-maxperf", fetch=(1024, 32, 2, 60), data=(1024, 32, 2, 60))
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
CASES = [  # student, form, compiler, optimisation, engine
    ("rl_cc", "joint", "clang", "-O2", SMALL),
    ("rl_cc", "branches", "clang", "-O0", MAXPERF),
    ("counting", "index", "gcc", "-O3", SMALL),
    ("counting", "branches", "gcc", "-Os", MAXPERF),
    ("table", "auto", "clang", "-O1", SMALL),
    ("table", "branches", "gcc", "-O0", MAXPERF),
    ("rl_cc", "joint", "clang", "-O2", CACHED),
]
COMPILERS = [("clang", opt) for opt in LEVELS] + [("gcc", opt) for opt in LEVELS]


def emitted(student: str, folder: Path, form: str) -> Firmware:
    with writing(folder / "student", "student") as work:
        STUDENTS[student].save(work)
    emit(folder / "student", folder / "firmware", target="generic", options=Options(form=form))
    return read_firmware(folder / "firmware")


def compare(firmware: Firmware, compiler: str, opt: str, profile: Profile, folder: Path) -> None:
    policy = compile_sources(firmware.sources, toolchain(profile, compiler, opt), folder=folder)
    image = read_image(link_program(policy, ENTRY, profile, folder))
    vectors = vectors_of(firmware)
    records = blocks(firmware)
    pair = both(image, profile, records, ENTRY)
    assert pair.rtl.fault is None
    assert pair.differences() == []
    assert (pair.ours.returned == vectors.expected["rate_q20"]).all()


@pytest.mark.slow_except(
    "table-branches-gcc--O0-profile5",
    "table-auto-clang--O1-profile4",
    "rl_cc-joint-clang--O2-profile6",
    "counting-branches-gcc--Os-profile3",
)
@pytest.mark.parametrize(("student", "form", "compiler", "opt", "profile"), CASES)
def test_emitted_code_takes_the_same_cycles(
    tmp_path: Path, student: str, form: str, compiler: str, opt: str, profile: Profile
) -> None:
    if compiler == "gcc" and find_gcc() is None:
        pytest.skip("no RISC-V GCC on this machine")
    compare(emitted(student, tmp_path, form), compiler, opt, profile, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["branches", "index", "joint"])
@pytest.mark.parametrize("student", STUDENTS)
def test_every_compiler_makes_code_of_the_same_cycles(tmp_path: Path, student: str, form: str) -> None:
    firmware = emitted(student, tmp_path, form)
    for compiler, opt in COMPILERS if find_gcc() else COMPILERS[: len(LEVELS)]:
        for profile in (SMALL, MAXPERF, CACHED):
            compare(firmware, compiler, opt, profile, tmp_path)
