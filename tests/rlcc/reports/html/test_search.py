"""The front of a search beside the verdict, in the report."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_judgements import judgement, scale

from decision.artefact.errors import InputError
from rlcc.gate.names import named
from rlcc.recipe import EmulateOptions, GateOptions
from rlcc.reports.html.gather import gather
from rlcc.reports.html.render import render
from rlcc.reports.html.search import FRAME, beside, front
from rlcc.search.page import PAGE, POINTS

ROWS = [
    {"point": 0, "cycles": 93, "proved": True, "error": 0.5, "noise": 0.02, "on_front": True},
    {"point": 3, "cycles": 81, "proved": True, "error": 0.7, "noise": 0.02, "on_front": True},
    {"point": 4, "cycles": None, "proved": None, "error": None, "noise": None, "on_front": False},
    {"point": 7, "cycles": 99, "proved": False, "error": 0.9, "noise": 0.02, "on_front": False},
]
GATE = GateOptions.model_validate({"budget": "0.9 us", "scenarios": ["many-to-one:2"]})


def searched(folder: Path) -> Path:
    """A verdict's folder with a search beside it."""
    (folder / "search").mkdir()
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "search" / POINTS)
    return folder / "verdict"


def test_points_that_were_made_stand_by_cycles_and_error(tmp_path: Path) -> None:
    shown = beside(searched(tmp_path))
    assert shown is not None
    assert [(m.number, m.cycles, m.on_front) for m in shown.made] == [(3, 81, True), (0, 93, True), (7, 99, False)]
    assert (shown.judged, shown.page) == (4, f"../search/{PAGE}")
    xs, ys = [m.x for m in shown.made], [m.y for m in shown.made]
    assert FRAME.left < xs[0] < xs[1] < xs[2] < FRAME.right
    assert ys[1] > ys[0] > ys[2], "a smaller error lies lower"
    page = render(gather(judgement(*scale()), EmulateOptions(), GATE, front=shown))
    assert page.count('class="student beaten"') == 1
    assert page.count('id="search"') == 1
    assert f'href="../search/{PAGE}"' in page


def test_without_a_search_or_a_point_there_is_no_front(tmp_path: Path) -> None:
    assert beside(tmp_path / "verdict") is None
    assert front(ROWS[2:3], "") is None
    assert 'id="search"' not in render(gather(judgement(*scale()), EmulateOptions(), GATE))
    assert front(ROWS[:1], "") is not None, "of one point the axes have no span"


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    verdict = searched(tmp_path)
    (tmp_path / "search" / POINTS).write_bytes(b"no Parquet")
    with pytest.raises(InputError, match="not the table"):
        beside(verdict)


def test_what_noise_makes_of_a_check_is_told() -> None:
    check = named("network.closed_loop")(value="1", limit="2", passed=True, note="below the teacher's noise")
    assert "below the teacher&#39;s noise" in render(
        gather(judgement(*scale(), checks=[check]), EmulateOptions(), GATE)
    )
