"""Policers and TCP: what each contest is made of, and the page."""

from pathlib import Path

import pytest

from bench import policers
from decision.devices import TRANSPORTS
from netsim.mixes import Mix
from netsim.network import MS
from rlcc.evaluation.contenders import opened


def test_contests_differ_by_policer_company_and_class() -> None:
    with opened(["swift"], decision_latency_ps=900_000, profile="ibex-small") as (contender,):
        made = [contest.trial(contender, "selective-repeat", 1) for contest in policers.CONTESTS]
    assert [trial.network.policer_gbps for trial in made] == [50, 50, None, None]
    assert [isinstance(trial.policy, Mix) for trial in made] == [False, False, True, True]
    assert [len(trial.network.class_weights) for trial in made] == [1, 1, 1, 2]
    assert all(trial.network.selective_repeat for trial in made)


def test_the_page_has_a_cell_a_contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policers, "KEPT", tmp_path / "runs")
    monkeypatch.setattr(policers, "WINDOW_PS", (MS, 2 * MS))
    page = tmp_path / "page.md"
    assert policers.main(["swift", "--seeds", "1", "--out", str(page)]) == 0
    row = next(line for line in page.read_text().splitlines() if line.startswith("| swift"))
    cells = [cell.strip("* ") for cell in row.strip("|").split("|")[1:]]
    values = [[float(value) for value in cell.split(" / ")] for cell in cells]
    assert len(values) == len(policers.CONTESTS)
    assert all(len(each) == len(TRANSPORTS) for each in values)
    assert all(0 < value < 1 for value in values[0])
    assert values[2][0] < values[3][0]


def test_a_policy_that_there_is_not_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert policers.main(["nothing-of-that-name", "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()
