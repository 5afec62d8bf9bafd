"""The trusted base stays within its limits, and the page has a row for every claim."""

import re

import pytest

from bench.trusted_base import CLAIMS, HEADING, PAGE, PROVER, base, python, section

MOST = {
    "verify.check.judge": (6900, 4230),
    "verify.check.recheck": (10_000, 7090),
    "verify.rv64.equality": (7950, 5800),
    "verify.check.boundary": (18_950, 7090),
}
"""Limits: lines, and lines shared with the prover, at most 2 % above the measured counts."""


@pytest.mark.parametrize("module", MOST)
def test_it_does_not_grow_unseen(module: str) -> None:
    found = base([module])
    lines, shared = MOST[module]
    assert found.lines <= lines
    assert found.shared_lines <= shared


def test_it_counts_what_is_checked_and_nothing_of_the_prover() -> None:
    checker = python([module for modules in CLAIMS.values() for module in modules])
    assert {path.parent.name for path in checker} >= {"check", "trusted", "ir"}
    assert not [path for path in checker if path.parent.name == "prover"]
    assert [path for path in python(PROVER) if path.parent.name == "prover"]
    assert sum(base(["verify.check.judge"]).rooms.values()) <= base(["verify.check.judge"]).lines


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
