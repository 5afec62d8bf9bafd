"""Every file that a target folder holds compiles without a warning: C99 with each compiler, the header as C++.

Slow: the second compiler on further students.
"""

import shutil
import sys

import pytest

from codegen.targets import TARGETS

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
STRICT_CXX = (
    "-std=c++17",
    "-fno-exceptions",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wold-style-cast",
    "-Wpedantic",
    "-Werror",
)
PLACES = [*(("rl_cc", target) for target in TARGETS), ("counting", "doca-pcc"), ("counting", "connectx6dx")]
PLACES += [(student, target) for student in ("options", "told", "all-once") for target in TARGETS]
CHECKED_ELSEWHERE = ("rlcc_selftest.c", "trees_only.c")
ENGINE = ("-target", "riscv32-freestanding-none", "-ffreestanding", "-O2")

CALLER = """
#include "rlcc_policy.h"
int main() {
    static const rlcc_params params = RLCC_PARAMS_DEFAULT;
    rlcc_flow flow{};
    const rlcc_event event{4294967295U, 8191U, 0U, 0U, 1500U, 0U};
    const uint32_t rate = rlcc_decide(&flow, &event, &params);
    return (rate > 0U && rate <= 1048576U) ? 0 : 1;
}
"""


def found_cxx() -> dict[str, list[str]]:
    found = {name: [path] for name in ("g++", "clang++") if (path := shutil.which(name))}
    return found | {"zig": [sys.executable, "-m", "ziglang", "c++"]}


@pytest.mark.slow_except("gcc-rl_cc-*", "gcc-all-once-*", "gcc-counting-*", "zig-rl_cc-*")
@pytest.mark.parametrize(("student", "target"), PLACES)
def test_c_compiles_strictly(student, target, firmware, compiler, run, tmp_path):
    folder = firmware(student, target)
    for source in sorted(p for p in folder.glob("*.c") if p.name not in CHECKED_ELSEWHERE):
        built = run(*compiler, *STRICT, "-O1", "-c", source, "-o", tmp_path / "object.o")
        assert built.returncode == 0, f"{source.name}: {built.stderr}"


ALONE = ("rlcc_policy.c", "rlcc_selftest.c", "rlcc_identity.c")


@pytest.mark.parametrize("target", ["connectx6dx", "doca-pcc"])
def test_the_adapters_need_no_library_on_a_32_bit_engine(target, firmware, run, tmp_path):
    """Not even a memcpy: nothing is undefined but the policy and the device's own functions."""
    from elftools.elf.elffile import ELFFile

    folder = firmware("counting", target)
    zig = (sys.executable, "-m", "ziglang", "cc")
    (source,) = [p for p in folder.glob("rlcc_*.c") if p.name not in ALONE]
    built = run(*zig, *ENGINE, *STRICT, "-fno-sanitize=all", "-c", source, "-o", tmp_path / "adapter.o")
    assert built.returncode == 0, built.stderr
    with (tmp_path / "adapter.o").open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab").iter_symbols()
        undefined = {s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF" and s.name}
    assert {name for name in undefined if not name.startswith(("rlcc_", "doca_pcc_dev_", "device_"))} == set()


@pytest.mark.parametrize("name", found_cxx())
def test_cxx_includes_the_header_and_calls_the_c(name, firmware, host_compiler, run, tmp_path):
    folder, cxx = firmware("rl_cc", "generic"), found_cxx()[name]
    (tmp_path / "caller.cc").write_text("#include <stdint.h>\n" + CALLER)
    policy = run(*host_compiler, *STRICT, "-c", folder / "rlcc_policy.c", "-o", tmp_path / "policy.o")
    assert policy.returncode == 0, policy.stderr
    built = run(*cxx, *STRICT_CXX, "-I", folder, "-c", tmp_path / "caller.cc", "-o", tmp_path / "caller.o")
    assert built.returncode == 0, built.stderr
    # Linked by the C compiler: a name that C++ mangled would be missing.
    linked = run(*host_compiler, tmp_path / "caller.o", tmp_path / "policy.o", "-o", tmp_path / "caller")
    assert linked.returncode == 0, linked.stderr
    assert run(tmp_path / "caller").returncode == 0


def test_a_warning_is_an_error(firmware, host_compiler, run, tmp_path):
    text = (firmware("rl_cc", "generic") / "rlcc_policy.c").read_text()
    assert "(int16_t)" in text
    (tmp_path / "rlcc_policy.c").write_text(text.replace("(int16_t)", "", 1))
    shutil.copy(firmware("rl_cc", "generic") / "rlcc_policy.h", tmp_path)
    built = run(*host_compiler, *STRICT, "-c", tmp_path / "rlcc_policy.c", "-o", tmp_path / "object.o")
    assert "conversion" in built.stderr
