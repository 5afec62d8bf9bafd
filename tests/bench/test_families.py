"""The page of families: its contenders, the family of each cell, and held-out cells apart."""

from pathlib import Path

import pytest

from bench import families
from netsim.places import InThisThread, at_place
from rlcc.evaluation import suite


def test_each_cell_of_the_suite_has_a_family() -> None:
    cells = suite.cells(suite.load("families"))
    assert {families.family(cell.scenario) for cell in cells} == set(families.FAMILIES)


def test_from_line_rate_differs_in_the_first_rate_alone() -> None:
    _, clear, fast = (each.policy.policy for each in families.contenders(suite.load("families"))[:3])
    assert fast.limits.rate_initial > clear.limits.rate_initial
    assert fast.model_copy(update={"limits": clear.limits}) == clear


def test_a_page_tells_held_out_cells_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "KEPT", tmp_path)
    tiny = {"duration": "2 ms", "window": ["1 ms", "2 ms"]}
    cells = [tiny | {"scenarios": ["incast:4"]}, tiny | {"scenarios": ["many-to-one:2"], "held_out": True}]
    words = {"format": 1, "name": "tiny", "seeds": [1, 2], "baselines": ["swift"], "yardstick": "max-min"}
    with at_place(InThisThread()):
        lines = families.page(suite.Suite.model_validate(words | {"cells": cells})).splitlines()
    heads = [line.rsplit("(", 1)[1].rstrip(")") for line in lines if line.startswith("## ") and "(" in line]
    assert heads == ["1", "1"]
    sums = [line.split("|")[2:5] for line in lines if line.startswith("| all")]
    assert len(sums) == 2
    assert all(sum(map(int, cell.split("/"))) == 1 for row in sums for cell in row)
    assert len([line for line in lines if line.startswith("| swift")]) == 2
