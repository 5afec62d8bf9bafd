"""The trusted base stays within its limits, and the page has a row for every claim."""

import re

import pytest

from bench.trusted_base import CLAIMS, HEADING, LARGE, PAGE, PROVER, REASONS, base, lines, python, section
from decision.artefact.sources import ROOT

MOST = {
    ("verify.check.judge",): (5030, 2340),
    ("verify.check.recheck",): (7650, 4800),
    ("verify.check.recheck", "verify.check.on_core"): (8250, 5350),
    ("verify.check.recheck", "verify.check.on_core", "emulator.core"): (8950, 6050),
    ("verify.rv64.equality",): (6450, 4250),
    ("verify.check.boundary",): (19_700, 6560),
}
"""Limits: lines, and lines shared with the prover, at most 2 % above the measured counts."""


@pytest.mark.parametrize("modules", MOST, ids=" ".join)
def test_it_does_not_grow_unseen(modules: tuple[str, ...]) -> None:
    found = base(modules)
    lines, shared = MOST[modules]
    assert found.lines <= lines
    assert found.shared_lines <= shared


def test_it_counts_what_is_checked_and_nothing_of_the_prover() -> None:
    checker = python([module for modules in CLAIMS.values() for module in modules])
    assert {path.parent.name for path in checker} >= {"check", "trusted", "ir"}
    assert not [path for path in checker if path.parent.name == "prover"]
    assert [path for path in python(PROVER) if path.parent.name == "prover"]
    assert sum(base(["verify.check.judge"]).rooms.values()) <= base(["verify.check.judge"]).lines


@pytest.mark.parametrize(
    "place",
    [
        "decision/policy",
        "decision/artefact/output.py",
        "emulator/verilated",
        "emulator/rtl_run.py",
        "emulator/vectors.py",
        "emulator/firmware_folder.py",
        "decision/ir/network.py",
        "verify/check/proofs.py",
        "emulator/objects.py",
        "emulator/lines.py",
        "verify/trusted/calibrate.py",
    ],
)
def test_a_certificates_check_needs_neither_a_core_nor_a_policy_nor_a_writer(place: str) -> None:
    needed = {str(path.relative_to(ROOT)) for path in python(["verify.check.recheck"])}
    assert (ROOT / place).exists()
    assert not [path for path in needed if path.startswith(place)]


def test_every_large_shared_file_of_a_certificates_check_has_a_reason() -> None:
    shared = python(["verify.check.recheck", "verify.check.on_core"]) & python(PROVER)
    assert {str(path.relative_to(ROOT)) for path in shared if lines([path]) > LARGE} == set(REASONS)
    listed = re.findall(r"^- `([^`]+)` \(([\d,]+) lines\)", PAGE.read_text(), re.M)
    assert [path for path, _ in listed] == list(REASONS)


@pytest.mark.parametrize("place", ["emulator/verilated", "emulator/core.py", "decision/artefact/build_cache.py"])
def test_the_run_on_the_core_does_not_build_it(place: str) -> None:
    needed = {str(path.relative_to(ROOT)) for path in python(["verify.check.recheck", "verify.check.on_core"])}
    assert (ROOT / place).exists()
    assert not [path for path in needed if path.startswith(place)]


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text()
    assert text.index("## Risks") < text.index(HEADING) < text.index("## The claims")
    table = [line for line in text.splitlines() if line.startswith("| ") and "`verify." in line]
    made = [line for line in section().splitlines() if "`verify." in line]
    assert [line.split("|")[1] for line in made] == [f" {claim} " for claim in CLAIMS]
    for said, now in zip(table, made, strict=True):
        assert said.split("|")[1:3] == now.split("|")[1:3]
        numbers = [
            [int(n.replace(",", "")) for n in re.findall(r"[\d,]+", "|".join(line.split("|")[3:6]))]
            for line in (said, now)
        ]
        for old, new in zip(*numbers, strict=True):
            assert abs(old - new) <= max(0.02 * new, 3), "make the table anew: python -m bench.trusted_base"
