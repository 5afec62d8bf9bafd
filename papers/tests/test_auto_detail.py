"""Where long flows are, from what was decided; and the page of AuTO's section 6.2 says what the runs said."""

import numpy as np

from decision.ir.interfaces.long_flow import LONG_FLOW
from netsim.network import MS
from papers import auto_detail
from papers.auto import ANY_ROW, PATH_PS, Outcomes
from papers.auto_detail import LOADS, SEARCHED, STAYING, THEORY, spread, stays

NAMES = [THEORY, SEARCHED, "sRLA, network", "sRLA, tree"]
RECORDS = {
    LONG_FLOW.agent: np.array([5, 7, 5]),
    "t_ps": np.array([12, 12, 24]) * MS,
    "active_0_path": np.array([0, 1, 0]),
    "path_number": np.array([0, 1, 2]),
}
"""Flow 5 is left on path 0, then sent to path 2; flow 7 stays on path 1."""


def ends(**at: int) -> np.ndarray:
    """Of eight flows, in ms."""
    found = np.full(8, 100 * MS, dtype=np.int64)
    for name, when in at.items():
        found[int(name.removeprefix("flow_"))] = when * MS
    return found


def rows(records: dict[str, np.ndarray], ends_ps: np.ndarray, moves: bool) -> list[tuple[int, ...]]:
    found = stays(records, ends_ps, moves)
    columns = found.flow, found.path, found.begin_ps // MS, found.end_ps // MS
    return [tuple(row) for row in np.array(columns).T.tolist()]


def test_a_flow_is_on_its_path_until_a_decision_holds_or_it_ends() -> None:
    late = PATH_PS // MS
    moved = rows(RECORDS, ends(flow_5=50, flow_7=30), True)
    first = [(5, 0, 12, 12 + late), (5, 0, 12 + late, 24 + late), (5, 2, 24 + late, 50)]
    assert moved == [*first, (7, 1, 12, 12 + late), (7, 1, 12 + late, 30)]
    assert rows(RECORDS, ends(flow_5=50, flow_7=30), False) == [(5, 0, 12, 50), (7, 1, 12, 30)]


def test_what_would_hold_after_a_flow_has_ended_does_not() -> None:
    assert rows(RECORDS, ends(flow_5=20, flow_7=13), True) == [(5, 0, 12, 20), (7, 1, 12, 13)]


def test_flows_are_counted_at_both_of_their_ends() -> None:
    """Two flows of one sender on one path, to two receivers: two at that link, none at others, until one ends."""
    records = {name: column[:2] for name, column in RECORDS.items()} | {"active_0_path": np.array([1, 1])}
    times = np.array([11, 12, 20, 29, 30, 49, 50], dtype=np.int64) * MS
    sender = np.full(8, 1)
    receiver = np.arange(8) % 3
    found = spread(stays(records, ends(flow_5=30, flow_7=50), False), (sender, receiver), 3, 3, times)
    assert found.tolist() == [0, 2, 2, 2, 1, 1, 0]


def test_the_page_says_what_was_measured() -> None:
    def outcomes(title: str) -> Outcomes:
        sizes = [f"{size}fct_{what}_us" for size in auto_detail.SIZES for what in ("mean", "p99")]
        metrics = {
            (title, name): [dict.fromkeys(sizes, 100.0 * factor * seed) for seed in (1, 2)]
            for name, factor in zip(NAMES, (1.0, 1.0, 1.5, 0.5), strict=True)
        }
        return Outcomes(2, metrics, {(title, name): [20.0, 200.0, 2000.0] for name in NAMES}, {}, {}, {})

    even = {name: np.array([[1, 2, 12], [0, 3, 4]]) for name in ("lRLA, tree", STAYING, ANY_ROW)}
    text = auto_detail.page([(place, outcomes(place.title)) for place in LOADS], even)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "| sRLA, network | mean | 225 (+50.0 ± 0.0) |" in next(line for line in lines if "(+50.0" in line)
    assert sum("75 (-50.0 ± 0.0)" in line for line in lines) == 4
    assert f"| {ANY_ROW} | 3.67 | 12 | 12 | 83.3% |" in lines
