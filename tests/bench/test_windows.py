"""Flows with windows next to others: a row a network and algorithm, and how far integers are from floats."""

from pathlib import Path

import pytest

from bench import windows
from netsim.network import MS


def rows_of(page: Path) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in page.read_text().splitlines()]
    return [row for row in rows if len(row) == 2 + len(windows.LOAD) and row[0] in windows.NETWORKS]


def test_the_page_has_a_row_a_network_and_algorithm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "KEPT", tmp_path / "runs")
    scene = windows.WindowScene("A start", "many-to-one:32", (0, MS), windows.LOAD, ("plain", "trimmed"))
    monkeypatch.setattr(windows, "SCENES", (scene,))
    page = tmp_path / "page.md"
    integers = f"{windows.INTEGERS}={windows.DOCUMENT}@0us"
    assert windows.main([integers, f"NSCC={windows.FLOATS}", "--out", str(page)]) == 0
    rows = rows_of(page)
    assert [row[0] for row in rows] == ["plain", "plain", "trimmed", "trimmed"]
    trimmed = [row[2 + [name for name, *_ in windows.LOAD].index("trimmed")] for row in rows]
    assert trimmed[:2] == ["-", "-"]
    assert min(map(float, trimmed[2:])) > 0


def test_a_policy_that_there_is_not_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert windows.main(["nothing-of-that-name", "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()
