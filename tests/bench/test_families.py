"""The page of families: its contenders, the family of each cell, and held-out cells apart."""

from pathlib import Path

import pytest

from bench import families, family_tables, start_search
from bench.starts import StartCell
from netsim.places import InThisThread, at_place
from rlcc.evaluation import suite
from rlcc.evaluation.contenders import Contender, opened
from rlcc.evaluation.grid import Cell, Times
from rlcc.evaluation.standing import StandingComparison
from rlcc.evaluation.standing_page import JudgedCell
from rlcc.evaluation.summary import Row


def test_each_cell_of_the_suite_has_a_family() -> None:
    cells = suite.cells(suite.load("families"))
    assert set(family_tables.by_name(cells)) == set(family_tables.FAMILIES)
    assert family_tables.by_name(cells)["long flows, a BDP above"] == [
        f"many-to-one:{flows}, {rtt}" for flows, rtt in ((8, "30 us"), (64, "30 us"), (20, "100 us"), (128, "100 us"))
    ]


def test_a_page_tells_held_out_cells_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "KEPT", tmp_path)
    monkeypatch.setattr(families, "CROWDS", (StartCell("incast:3", 2, 0),))
    monkeypatch.setattr(families, "FABRICS", (StartCell("many-to-one:3", 2, 1),))
    tiny = {"duration": "2 ms", "window": ["1 ms", "2 ms"]}
    cells = [tiny | {"scenarios": ["incast:4"]}, tiny | {"scenarios": ["many-to-one:2"], "held_out": True}]
    words = {"format": 1, "name": "tiny", "seeds": [1, 2], "baselines": ["swift"], "yardstick": "max-min"}
    monkeypatch.setattr(start_search, "CHOICES", {"limits.rate_initial": ("0.25 line", "1.0 line")})
    with at_place(InThisThread()), opened(families.CONTENDERS, decision_latency_ps=None, profile="ibex-small") as ours:
        lines = families.page_of(ours, suite.Suite.model_validate(words | {"cells": cells})).splitlines()
    assert sum(line.startswith(("| `incast:3, from its start`", "| `many-to-one:3`")) for line in lines) == 2
    heads = [line.rsplit("(", 1)[1].rstrip(")") for line in lines if line.startswith("## ") and "(" in line]
    assert heads == ["1", "1"]
    sums = [line.split("|")[2:5] for line in lines if line.startswith("| all")]
    assert len(sums) == 2
    assert all(sum(map(int, cell.split("/"))) == 1 for row in sums for cell in row)
    assert len([line for line in lines if line.startswith("| swift")]) == 2


CELLS = (
    Cell("incast:4", "incast:4", Times.of(10**9)),
    Cell("incast:8", "incast:8", Times.of(10**9), held_out=True),
)
Words = tuple[tuple[str, ...], tuple[str, ...]]
"""Metrics in which a policy is better, and those in which it is worse."""
WON: Words = (("p99",), ())
LEVEL: Words = ((), ())
LOST: Words = ((), ("loss",))


def judged(label: str, *cells: dict[str, Words]) -> JudgedCell:
    """Returns a policy that is better and worse than baselines in these metrics, cell by cell."""
    row = Row("incast:4", Contender(label, label, "teacher", "", "", 0), 1, {}, {})
    comparisons = {
        cell.name: {baseline: StandingComparison(row, row, *words) for baseline, words in stood.items()}
        for cell, stood in zip(CELLS, cells, strict=True)
    }
    return JudgedCell(label, [], [], comparisons, {})


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


@pytest.mark.parametrize("first_wins", [True, False])
def test_the_advice_follows_the_tuning_cells(first_wins: bool) -> None:
    good, bad = {"swift": LEVEL, "hpcc": WON}, {"swift": LOST, "hpcc": WON}
    first = judged("first", good if first_wins else bad, bad)
    second = judged("second", bad if first_wins else good, good)
    (row,) = family_tables.advice([first, second], CELLS).splitlines()[2:]
    taken, held_out = ("first", "1 / 0 / 0 / 1") if first_wins else ("second", "1 / 1 / 0 / 0")
    assert cells_of(row) == ["floods", taken, "1 / 1 / 0 / 0", held_out, "swift" if first_wins else "-"]


def test_the_advice_names_both_of_a_tie_and_each_baseline_that_is_stronger() -> None:
    first = judged("first", {"swift": LEVEL, "hpcc": WON}, {"swift": LOST, "hpcc": WON})
    second = judged("second", {"swift": WON, "hpcc": LEVEL}, {"swift": LOST, "hpcc": LEVEL})
    (row,) = family_tables.advice([first, second], CELLS).splitlines()[2:]
    assert cells_of(row)[1] == "first or second"
    assert cells_of(row)[-1] == "swift; -"


def test_crowds_and_fabrics_are_no_held_out_cells() -> None:
    held_out = {cell.scenario for cell in suite.cells(suite.load("families")) if cell.held_out}
    assert not held_out & {cell.scenario for cell in (*families.CROWDS, *families.FABRICS)}
