"""The report of a real run, and pages of all action maps, in a headless Chromium with no network."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, chromium
from made_judgements import choice, judgement, level, scale
from triggered_students import ROWS, triggered_student

from rlcc.reports.folder import PAGE
from rlcc.reports.html.gather import Report
from rlcc.reports.html.network import series
from rlcc.reports.html.render import render
from rlcc.reports.html.reproduction import Again
from rlcc.reports.html.surface import student_integers, surface

PHONE = 390


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, PHONE])
def test_a_run_s_report_opens_in_silence(browser: Browser, pipeline: Any, width: int, dark: bool) -> None:
    page = pipeline.verdict / PAGE
    assert page.stat().st_size < 1_000_000
    browser.open(page, width=width, dark=dark)
    assert browser.said == []
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.value("document.documentElement.scrollWidth") <= width, "nothing stands out to the right"
    assert browser.value('document.querySelectorAll("#surface svg image").length') == 3
    assert browser.value('document.querySelectorAll("#series svg path").length') >= 6
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") is not dark
    assert len(browser.picture()) > 20_000


def test_no_label_is_cut_or_lies_on_another(browser: Browser, pipeline: Any) -> None:
    for width in (1280, PHONE):
        browser.open(pipeline.verdict / PAGE, width=width)
        assert browser.value(OUTSIDE) == []
        assert browser.value(TOUCHING) == []


OUTSIDE = """[...document.querySelectorAll("svg text")].filter(text => {
  const own = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
  return own.left < svg.left - 1 || own.right > svg.right + 1 || own.top < svg.top - 1 || own.bottom > svg.bottom + 1;
}).map(text => text.textContent)"""
TOUCHING = """[...document.querySelectorAll("svg")].flatMap(svg => {
  const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([name, a], n) => texts.slice(n + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
    .map(([other]) => `${name} on ${other}`));
})"""


def page_of(pair: Any, folder: Path) -> Path:
    """Of the surface and the runs alone."""
    made = judgement(*pair())
    drawn = surface(*pair())
    runs = series(made.sights.outcomes, (0, 10**9))
    report = Report(made.verdict, [], [], drawn, None, runs, "none", "none", None, Again((), {}))
    (folder / "page.html").write_text(render(report))
    return folder / "page.html"


@pytest.mark.parametrize("pair", [scale, level, choice])
def test_the_page_decides_as_the_student_to_the_bit(browser: Browser, tmp_path: Path, pair: Any) -> None:
    student, _, states = pair()
    browser.open(page_of(pair, tmp_path))
    assert browser.said == []
    rows = states.rows
    edges = [(c, t + step) for c, ts in student.forest.thresholds().items() for t in ts for step in (0, 1)]
    at_edges = np.tile(rows[0], (len(edges), 1))
    for n, (column, value) in enumerate(edges):
        at_edges[n, column] = value
    rows = np.vstack([rows, at_edges])
    decided = browser.value(f"{json.dumps(rows.tolist())}.map(row => rlcc.decide(row))")
    assert decided == student_integers(student, rows[:, : len(student.forest.features)]).tolist()
    assert len({tuple(each) for each in decided}) > 3, "it does not say the same everywhere"


def test_of_equal_votes_the_page_takes_the_first_row_too(browser: Browser, tmp_path: Path) -> None:
    _, teacher, states = choice()
    undecided = triggered_student(3, silent=6)
    browser.open(page_of(lambda: (undecided, teacher, states), tmp_path))
    assert browser.value(f"rlcc.decide({states.rows[0].tolist()})") == list(ROWS[0].values())


@pytest.mark.parametrize("pair", [scale, level])
def test_the_slider_draws_the_student_s_frames(browser: Browser, tmp_path: Path, pair: Any) -> None:
    student, _, _ = pair()
    browser.open(page_of(pair, tmp_path))
    page = surface(*pair()).page
    (x, y), (across, up) = page["axes"], page["grid"]
    before = None
    for number, slider in enumerate(page["sliders"]):
        for position in (0, len(slider["values"]) - 1):
            browser.value(f"rlcc.move({number}, {position}, 0)")
            rows = np.tile(page["base"], (len(across) * len(up), 1))
            rows[:, slider["column"]] = slider["values"][position]
            rows[:, x], rows[:, y] = np.tile(across, len(up)), np.repeat(up, len(across))
            quantity = page["quantities"][0]
            own = quantity["origin"] + quantity["step"] * student_integers(student, rows)[:, 0]
            drawn = browser.value("Array.from(rlcc.frame().student)")
            assert drawn == own.tolist()
            assert drawn != before
            before = drawn


def test_runs_zoom_and_come_back(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(scale, tmp_path))
    path = 'document.querySelector("#series path").getAttribute("d")'
    whole = browser.value(path)
    browser.value("rlcc.zoom(1, 2)")
    assert browser.value(path) != whole
    browser.value("rlcc.zoom()")
    assert browser.value(path) == whole
    browser.value("rlcc.scenario(1)")
    assert browser.value(path) != whole


def test_a_page_that_throws_or_asks_is_seen(browser: Browser, tmp_path: Path) -> None:
    """What the tests above would say of a bad page."""
    page = tmp_path / "bad.html"
    page.write_text("<script>console.log(1); throw 1</script><img src='http://example.org/a.png'>")
    browser.open(page)
    assert len(browser.said) >= 2
    assert "http://example.org/a.png" in browser.requests
    text = (page_of(scale, tmp_path)).read_text()
    page.write_text(text.replace("</main>", "<script>fetch('http://example.org')</script></main>"))
    browser.open(page)
    assert browser.requests == [page.as_uri()], "the content policy keeps it"
    assert browser.said != []
