"""docs/results.svg shows what the generated pages say."""

import re
from pathlib import Path

import pytest

from bench import results_picture as picture
from decision.artefact.errors import InputError


def test_the_picture_is_of_the_pages_there_are() -> None:
    assert picture.PICTURE.read_text() == picture.draw(), "draw it anew: python -m bench.results_picture"


def test_it_shows_these_figures() -> None:
    assert [bar.value for bar in picture.decided()] == [369, 19.7, 0.77, 0.565]
    assert picture.crowd()["HPCC"] == (13.8, 0.87)
    drawn = picture.draw()
    for bar in [*picture.exported(), *picture.changing()]:
        assert re.search(rf">{bar.label}<", drawn)
        assert f">{bar.value:,.0f}<" in drawn or f">{bar.value:.3f}<" in drawn


def test_another_figure_is_another_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = picture.draw()
    for page in (page for folder in picture.PAGES for page in folder.glob("*.md")):
        (tmp_path / page.name).write_text(page.read_text().replace("19.7", "21.7"))
    monkeypatch.setattr(picture, "PAGES", (tmp_path,))
    picture._lines.cache_clear()
    try:
        assert picture.draw() != before
        with pytest.raises(InputError, match=r"tables\.md, PCC-RL, table 1: many-to-one: .*'goodput' .*'BBR'"):
            picture.figure("tables", "PCC-RL, table 1: many-to-one", "goodput", "BBR", "1024 to 1")
        with pytest.raises(InputError, match="has no section 'Table 9'"):
            picture.figure("tables", "Table 9", "goodput", "HPCC", "1024 to 1")
    finally:
        picture._lines.cache_clear()
