"""Suites: those there are, what is wrong with one of one's own, and a run from the file to the page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from netsim import scenarios
from netsim.network import MS
from rlcc import cli
from rlcc.evaluation import suite
from tests.stage_output import figures

SMALL = """
format = 1
name = "small"
seeds = [1, 2]
baselines = ["hpcc", "swift"]
yardstick = "max-min"

[[cells]]
scenarios = ["many-to-one:2", "incast:2x10KB"]
duration = "2 ms"
window = ["1 ms", "2 ms"]

[[cells]]
scenarios = ["many-to-one:2"]
duration = "1 ms"
window = ["0.5 ms", "1 ms"]
label = "25 Gb/s"
network = { link = "25 Gb/s" }
"""


@pytest.mark.parametrize(("name", "least"), [("quick", 12), ("full", 40)])
def test_the_suites_that_there_are(name: str, least: int) -> None:
    cells = suite.cells(suite.load(name))
    assert len(cells) >= least
    for cell in cells:
        scenarios.instantiate(cell.scenario, 1, cell.times.duration_ps, cell.network)
        assert cell.times.window_ps[0] >= 5 * MS  # so that the start is seen apart
    judged = suite.load(name)
    assert judged.baselines == ["dcqcn", "hpcc", "swift", "timely", "dctcp", "nscc"]
    assert len(judged.seeds) == 3


def test_the_full_suite_goes_where_it_is_said_to() -> None:
    cells = suite.cells(suite.load("full"))
    read = [scenarios.read(cell.scenario) for cell in cells]
    number = {kind: [r.number for r in read if r.traffic == kind] for kind in {r.traffic for r in read}}
    assert (min(number["many-to-one"]), max(number["many-to-one"])) == (2, 8192)
    assert (min(number["long-short"]), max(number["long-short"])) == (2, 2048)
    assert (min(number["incast"]), max(number["incast"])) == (8, 512)
    for workload in ("websearch", "hadoop", "datamining"):
        assert {30, 60, 90} <= set(number[workload])
    assert {cell.network.link_gbps for cell in cells} == {25, 100, 400}
    assert {"leaf-spine", "fat-tree"} <= {r.fabric.split(":")[0] for r in read if r.fabric}
    assert "all-to-all" in number


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seeds = [1, 2]", "seeds = [1]", "seeds"),
        ("seeds = [1, 2]", "seeds = [1, 1]", "seeds must differ"),
        ('["hpcc", "swift"]', '["bbr"]', "no baseline 'bbr'"),
        ('yardstick = "max-min"', 'yardstick = "best"', "no baseline 'best'"),
        ('["1 ms", "2 ms"]', '["1 ms", "3 ms"]', r"window .*duration"),
        ('["1 ms", "2 ms"]', '["2 ms", "2 ms"]', r"window .*duration"),
        ('label = "25 Gb/s"\n', "", "called 'many-to-one:2'"),
        ('link = "25 Gb/s"', "lnk = 3", "unknown key lnk"),
        ("duration =", "durations =", "duration: is|durations: no"),
    ],
)
def test_what_is_wrong_with_a_suite_is_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in SMALL
    (tmp_path / "mine.toml").write_text(SMALL.replace(old, new, 1))
    with pytest.raises(InputError, match=words) as error:
        suite.cells(suite.load(str(tmp_path / "mine.toml")))
    assert "\n" not in str(error.value)


def test_a_suite_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"'huge'; .*full, quick"):
        suite.load("huge")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scenario", "many-to-one:2"], "leave out --scenario"),
        (["--duration", "2 ms"], "leave out --duration"),
        (["--seed", "3"], "two --seed"),
    ],
)
def test_a_suite_brings_its_own_cells(refused: Callable[..., str], arguments: list[str], words: str) -> None:
    assert words in refused("evaluate", "mine=nscc", "--suite", "quick", *arguments)


def test_somebody_must_be_judged(refused: Callable[..., str]) -> None:
    assert "these baselines itself" in refused("evaluate", "hpcc", "--suite", "quick")


def test_a_suite_from_its_file_to_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.toml").write_text(SMALL)
    mine = str(tmp_path / "mine.toml")
    arguments = ["evaluate", "mine=dctcp", "--suite", mine, "--out", str(tmp_path), "--jobs", "1"]
    assert cli.main(arguments) == 0
    first = capsys.readouterr()
    assert first.out.splitlines()[-3].split() == ["policy", "beside", "win", "level", "mixed", "loss"]
    folder = tmp_path / "evaluation"
    table: Any = pq.read_table(folder / "runs.parquet").to_pylist()
    assert len(table) == 3 * 4 * 2  # cells, contenders, seeds
    assert {row["policy"] for row in table} == {"mine", "hpcc", "swift", "max-min"}
    assert {row["scenario"] for row in table} == {"many-to-one:2", "incast:2x10KB", "many-to-one:2, 25 Gb/s"}
    assert {row["duration_ps"] for row in table} == {2 * MS, MS}
    assert all(row["start_goodput"] > 0 for row in table if row["scenario"] != "incast:2x10KB")
    page = (folder / "standing.md").read_text()
    assert page.partition("\n")[0].endswith(" suite small")
    assert "## mine" in page
    assert "| many-to-one:2, 25 Gb/s |" in page
    cell = opened(folder, "evaluation").details["cells"][2]
    assert cell["network"] == {"link_gbps": 25}
    assert not list(folder.glob("*.png"))

    before = page
    assert cli.main(arguments) == 0  # resumed
    shown = figures(capsys.readouterr().out, "evaluate")
    assert (shown["runs"], shown["cached"].split()[0]) == ("24", "24")
    assert (folder / "standing.md").read_text() == before
    more = [*arguments, "--seed", "1", "--seed", "2", "--seed", "5"]
    assert cli.main(more) == 0
    shown = figures(capsys.readouterr().out, "evaluate")
    assert (shown["runs"], shown["cached"].split()[0]) == ("36", "24")
    assert "seeds 1, 2, 5" in (folder / "standing.md").read_text()
