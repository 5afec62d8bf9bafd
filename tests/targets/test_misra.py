"""MISRA C:2012 as far as cppcheck's addon checks it: the policy with each adapter, no violation but the deviations that
docs/reference/misra.md gives reasons for.

Slow: further programs, and the system's cppcheck.
"""

import re
import shutil
import sys
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "misra.md"
PROGRAMS = {
    "rl_cc-generic": ("rl_cc", "generic", ("rlcc_policy.c", "rlcc_identity.c", "rlcc_main_loop.c")),
    "table-doca-pcc": ("table", "doca-pcc", ("rlcc_policy.c", "rlcc_doca_pcc.c")),
    "rl_cc-connectx6dx": ("rl_cc", "connectx6dx", ("rlcc_policy.c", "rlcc_rl_algo.c")),
    "losing-falcon-rue": ("losing", "falcon-rue", ("rlcc_policy.c", "rlcc_falcon_rue.c")),
    "rl_cc-branches": ("rl_cc", "linux-bpf", ("rlcc_policy.c",)),
    "counting-doca-pcc": ("counting", "doca-pcc", ("rlcc_policy.c", "rlcc_doca_pcc.c")),
}
OPTIONS = ("-q", "--addon=misra", "--std=c99", "--platform=unix32", "--enable=all", "--suppress=missingIncludeSystem")
ELSEWHERE = ("-URLCC_WITH_DOCA_SDK", "-U__BPF__", "-U__cplusplus")
"""Macros of other builds: an SDK's headers, BPF, C++."""


def found_cppchecks() -> list[str]:
    """The wheel's and the system's, which are of different versions; all but the first are slow tests."""
    places = [str(Path(sys.executable).parent / "cppcheck"), shutil.which("cppcheck")]
    return list(dict.fromkeys(place for place in places if place and Path(place).exists()))


@pytest.fixture(
    params=[pytest.param(c, marks=[pytest.mark.slow] if n else [], id=str(n)) for n, c in enumerate(found_cppchecks())]
)
def cppcheck(request, run):

    def check(folder: Path, *sources: str) -> set[tuple[str, str]]:
        """(file, rule) of each violation."""
        done = run(request.param, *OPTIONS, *ELSEWHERE, "--template={file} {id}", *sources, cwd=folder)
        said = done.stdout + done.stderr
        assert "Failed to execute" not in said, said
        assert "not find addon" not in said, said
        return set(re.findall(r"^(\S+) misra-c2012-([0-9.]+)$", done.stderr + done.stdout, flags=re.MULTILINE))

    return check


def deviations() -> dict[str, str]:
    """Rules that docs/reference/misra.md deviates from, and their categories."""
    rows = re.findall(r"^\| ([0-9.]+) \| (\w+) \| deviation", DOCUMENT.read_text(), flags=re.MULTILINE)
    return dict(rows)


HOW_MANY = (4, 7, 2, 2, 9, 2, 4, 14, 5, 8, 9, 5, 6, 4, 7, 7, 8, 8, 2, 14, 20, 10)
"""Rules of each of the 22 groups, amendments 1 and 2 included."""


def test_the_matrix_has_every_rule_once():
    rows = re.findall(r"^\| ([0-9., ]+) \| [a-z, ]+ \|", DOCUMENT.read_text().split("## Rules")[1], flags=re.MULTILINE)
    listed = [rule for row in rows for rule in row.split(", ")] + list(deviations())
    assert sorted(listed) == sorted(f"{g}.{r}" for g, count in enumerate(HOW_MANY, 1) for r in range(1, count + 1))


def test_only_advisory_rules_are_deviated_from():
    assert deviations()
    assert set(deviations().values()) == {"advisory"}


@pytest.mark.slow_except("0-losing-falcon-rue", "0-rl_cc-branches")
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_violation_but_the_deviations(program, firmware, cppcheck):
    student, target, sources = PROGRAMS[program]
    found = cppcheck(firmware(student, target), *sources)
    assert {(file, rule) for file, rule in found if rule not in deviations()} == set()


BROKEN = {
    "a cast of a sum to another type": (r"= (\w+) \+ 1U;", r"= (uint32_t)(int32_t)(\1 + 1U);", "10.8"),
    "an else without braces": (r"\} else \{\n( +)(leaf = [^;]+;)\n +\}", r"} else\n\1\2", "15.6"),
    "no suffix": (r"= flow->rate_q30;", "= flow->rate_q30 | 0x80000000;", "7.2"),
    "two returns": (r"\n    return rate_q20;", "\n    if (rate_q20 > 5U) { return 5U; }\n    return rate_q20;", "15.5"),
}


@pytest.mark.slow_except("0-*")
@pytest.mark.parametrize("name", BROKEN)
def test_a_violation_is_found(name, firmware, cppcheck, tmp_path):
    """So that silence means something. ``expected``: the rule, where the addon of this version has it."""
    folder = firmware("rl_cc", "linux-bpf")  # in branches
    old, new, expected = BROKEN[name]
    text, times = re.subn(old, new, (folder / "rlcc_policy.c").read_text(), count=1)
    assert times == 1
    (tmp_path / "rlcc_policy.c").write_text(text)
    shutil.copy(folder / "rlcc_policy.h", tmp_path)
    assert ("rlcc_policy.c", expected) in cppcheck(tmp_path, "rlcc_policy.c")
