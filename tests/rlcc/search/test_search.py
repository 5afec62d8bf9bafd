"""`rlcc search` of a tiny recipe: what it leaves, and that the recipe of a point is what was searched."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from decision.artefact.manifest import opened
from rlcc import cli
from rlcc.search.page import PAGE, POINTS
from rlcc.search.study import JOURNAL

SEARCH = """
[search]
points = 4
front = 2
population = 3

[search.limits]
table = 250

[search.space]
"distill.rounds" = [0]
"distill.depth" = [2, 3]
"emit.form" = ["auto"]
"emit.max_table" = [512]
"""


@dataclass(frozen=True)
class Searched:
    root: Path
    code: int

    @property
    def recipe(self) -> Path:
        return self.root / "tiny.toml"

    @property
    def folder(self) -> Path:
        return self.root / "search"

    @property
    def rows(self) -> list[dict[str, Any]]:
        return pq.read_table(self.folder / POINTS).to_pylist()

    def again(self, *options: object) -> int:
        return cli.main(["search", str(self.recipe), "--out", str(self.folder), *map(str, options)])


@pytest.fixture(scope="module")
def searched(tmp_path_factory: Any, recipe_text: str, save_teacher: Callable[..., None]) -> Searched:
    """The tiny recipe, searched. Nothing is proved: that is the certificate's tests."""
    root = tmp_path_factory.mktemp("search")
    save_teacher(root / "teacher")
    text = recipe_text.replace('budget = "20 us"', 'budget = "20 us"\nproof = false')
    (root / "tiny.toml").write_text(text + SEARCH)
    one = Searched(root, 0)
    return Searched(root, one.again())


def test_a_search_leaves_its_points_and_its_front(searched):
    assert searched.code == 0
    assert [row["point"] for row in searched.rows] == [0, 1, 2, 3]
    assert searched.rows[0]["distill.trees"] == "3"  # the recipe itself
    made = [row for row in searched.rows if row["firmware"]]
    assert 1 <= len(made) <= 2
    assert made[0]["point"] == 0
    for row in made:
        assert row["cycles"] > 0
        assert not row["proved"]
        assert row["error"] >= 0
        assert row["noise"] >= 0
        assert abs(row["cycles"] - row["cycles_predicted"]) < 0.3 * row["cycles"]
    assert any(row["on_front"] for row in made)


def test_a_limit_keeps_points_off_every_front(searched):
    over = [row for row in searched.rows if row["table_bytes"] is not None and row["table_bytes"] > 250]
    assert over, "no point of this search is over the limit: it shows nothing"
    for row in over:
        assert row["broken"] == "table"
        assert row["error_quick"] is None  # not driven
        assert not row["on_quick_front"]
        assert not row["firmware"]


@pytest.mark.slow
def test_the_recipe_of_a_point_makes_its_firmware(searched, tmp_path, capsys):
    row = [row for row in searched.rows if row["firmware"]][-1]
    assert searched.again("--point", row["point"], "--to", tmp_path / "deep" / "point.toml") == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "deep" / "point.toml")
    assert cli.main(["run", str(tmp_path / "deep" / "point.toml"), "--out", str(tmp_path / "out")]) == 0
    made, before = tmp_path / "out/firmware", searched.folder / "points" / str(row["point"]) / "firmware"
    assert opened(made, "firmware").hash == opened(before, "firmware").hash == row["firmware"]


def test_a_search_that_is_done_does_nothing_more(searched):
    journal = (searched.folder / JOURNAL).read_bytes()
    page = (searched.folder / PAGE).read_bytes()
    assert searched.again() == 0
    assert len((searched.folder / JOURNAL).read_bytes()) == len(journal)
    assert (searched.folder / PAGE).read_bytes() == page


def test_the_page_needs_nothing_from_elsewhere(searched):
    text = (searched.folder / PAGE).read_text()
    assert len(text) < 40_000
    assert not re.search(r"\b(src|href|url|import)\b\s*[=(]", text.replace("http://www.w3.org/2000/svg", ""))
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    content = json.loads(data)
    assert [point["point"] for point in content["points"]] == [0, 1, 2, 3]
    assert content["own"] == 0
    assert "teacher" in content["points"][0]["recipe"]


def test_what_cannot_be_done_is_said_in_a_sentence(searched, tmp_path, refused, monkeypatch):
    out = ("--out", searched.folder)
    assert "no point 99" in refused("search", searched.recipe, *out, "--point", 99)
    assert "say which point" in refused("search", searched.recipe, *out, "--to", tmp_path / "x.toml")
    same = ("--point", 1, "--to", searched.recipe)
    assert "recipe that is" in refused("search", searched.recipe, *out, *same)
    assert "holds no search" in refused("search", searched.recipe, "--out", tmp_path / "none", "--point", 1)
    assert not (tmp_path / "none").exists()
    assert "no file" in refused("search", tmp_path / "nowhere.toml")
    other = searched.root / "other.toml"
    other.write_text(searched.recipe.read_text().replace("seed = 1", "seed = 2"))
    assert "of another recipe" in refused("search", other, *out)
    other.write_text(searched.recipe.read_text().replace("front = 2", "fornt = 2"))
    assert "search.fornt: no such key" in refused("search", other, *out)


def test_without_optuna_it_is_said_how_to_get_it(searched, refused, monkeypatch):
    for name in [*sys.modules]:
        if name.partition(".")[0] == "optuna" or name.startswith("rlcc.search."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert "pip install 'rlcc[search]'" in refused("search", searched.recipe, "--out", searched.folder)
