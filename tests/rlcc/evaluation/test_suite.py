"""Suites: those there are, what is wrong with one of one's own, and a run from the file to the page."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bench import starts
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from netsim import scenarios
from netsim.network import MS
from rlcc import cli
from rlcc.evaluation import standing_page, suite
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


@pytest.mark.parametrize(("name", "least"), [("quick", 12), ("full", 40), ("families", 30)])
def test_the_suites_that_there_are(name: str, least: int) -> None:
    cells = suite.cells(suite.load(name))
    assert len(cells) >= least
    for cell in cells:
        scenarios.instantiate(cell.scenario, 1, cell.times.duration_ps, cell.network)
        assert cell.times.window_ps[0] >= 5 * MS  # so that the start is seen apart
    judged = suite.load(name)
    assert judged.baselines == ["dcqcn", "hpcc", "swift", "timely", "dctcp", "nscc"]
    assert len(judged.seeds) >= 3


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


def scenarios_of(content: object) -> Iterator[str]:
    """Yields every name of a scenario in a recipe, whatever key it stands under."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for inner in content.values() if isinstance(content, dict) else content:
            yield from scenarios_of(inner)


def test_the_families_and_what_is_held_out() -> None:
    """Nothing is trained, distilled, judged or tuned by a held-out cell: its traffic stands nowhere else."""
    cells = suite.cells(suite.load("families"))
    held_out = {cell.scenario for cell in cells if cell.held_out}
    assert sum(cell.held_out for cell in cells) >= 20
    read = [scenarios.read(cell.scenario) for cell in cells if cell.held_out]
    assert {"ring-all-reduce", "tree-all-reduce", "exchange", "parameter-server"} <= {r.traffic for r in read}
    assert {"websearch", "hadoop", "storage", "datamining", "incast", "long-short"} <= {r.traffic for r in read}
    assert {cell.network.link_gbps for cell in cells if cell.held_out} == {10, 25, 100, 400}
    assert len({cell.network.base_rtt_ps for cell in cells if cell.held_out}) == 6
    used = {cell.scenario for cell in cells if not cell.held_out}
    for path in Path("recipes").glob("*.toml"):
        used |= set(scenarios_of(tomllib.loads(path.read_text())))
    used |= {name for names in tomllib.loads(Path("rlcc/scenario_lists.toml").read_text()).values() for name in names}
    used |= {cell.scenario for cell in starts.CHOOSE}
    assert not held_out & used


def test_cells_that_are_held_out_are_counted_apart(tmp_path: Path) -> None:
    text = SMALL.replace('label = "25 Gb/s"', 'held_out = true\nlabel = "25 Gb/s"')
    (tmp_path / "mine.toml").write_text(text)
    judged = suite.load(str(tmp_path / "mine.toml"))
    assert list(standing_page.parts(judged).values()) == [
        ("many-to-one:2", "incast:2x10KB"),
        ("many-to-one:2, 25 Gb/s",),
    ]
    (tmp_path / "mine.toml").write_text(SMALL)
    assert list(standing_page.parts(suite.load(str(tmp_path / "mine.toml")))) == [""]


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
        ('label = "25 Gb/s"', "held_out = 3", "held_out"),
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
    with pytest.raises(InputError, match=r"'huge'; .*families, full, quick"):
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
