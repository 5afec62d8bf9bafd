"""Flows that come and go: who has a fair share when, how soon each has it, and a page that says so."""

import numpy as np
import pytest

from netsim import baselines
from netsim.network import MS
from papers import traces
from papers.contenders import Contender
from papers.courses import Course, course
from papers.pictures import join_and_leave, long_flow
from papers.runs import Run
from papers.traffic import FAIR_MS, joining

STEP_MS = 0.2


def fair(late_ms: float = 0.0) -> Course:
    """Flows at their fair share; in the first so many milliseconds after each change all that the link has is the
    first one's."""
    t_ms = np.arange(1, 90 / STEP_MS + 1) * STEP_MS
    rates = 92.6 * traces.fair_share(t_ms)
    late = np.round(t_ms - STEP_MS, 6) % FAIR_MS < late_ms - 1e-6  # a sample tells of what is before it
    alone = np.eye(traces.FLOWS)[0] * rates.sum(axis=1, keepdims=True)
    metrics = {"long_bandwidth": 0.9, "recovery_us": 500.0, "dropped_packets": 0.0}
    queue = np.zeros(t_ms.size, np.int64)
    return Course(t_ms, np.where(late[:, None], alone, rates), queue, queue, metrics)


def test_fair_shares_of_flows_that_come_and_go() -> None:
    at = np.array([5.0, 15.0, 35.0, 45.0, 65.0, 85.0])
    assert traces.fair_share(at).round(3).tolist() == [
        [1, 0, 0, 0],
        [0.5, 0.5, 0, 0],
        [0.25, 0.25, 0.25, 0.25],
        [0, 0.333, 0.333, 0.333],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ]


@pytest.mark.parametrize("late_ms", [0.0, 1.0, 7.0])
def test_how_soon_all_are_near_their_share(late_ms: float) -> None:
    assert traces.settled_ms(fair(late_ms)) == pytest.approx([late_ms] * 6)


def test_flows_that_never_come_near_are_not_said_to() -> None:
    assert np.isnan(traces.settled_ms(fair(9.0))).all()


def test_with_fair_shares_flows_leave_as_they_came() -> None:
    ideal = Run(Contender("max-min", baselines.by_name("max-min")), joining(4), 1)
    seen = course((ideal.trial(), 450))
    assert seen.t_ms[-1] == 90
    gone = [float(seen.t_ms[np.flatnonzero(seen.host_gbps[:, host] > 1).max()]) for host in range(4)]
    assert gone == pytest.approx([40, 50, 60, 70], abs=0.5)
    assert np.nanmax(traces.settled_ms(seen)) <= 0.6
    assert [t / MS for t in joining(4).scenario.column("start_ps")] == [0, 10, 20, 30]


def test_the_page_is_whole() -> None:
    seeds = (1, 2)
    who = {c: Contender(c, baselines.by_name("swift")) for c in {*traces.PAPER, *traces.FOUR}}
    seen = {place: fair(1.0) for place in traces.asked(who, seeds)}
    text = traces.page(traces.figures(seen, seeds), seen)
    assert "nan" not in text.lower()
    assert "{" not in text
    assert max(len(line) for line in text.split("\n") if not line.startswith(("|", "!"))) <= 120
    assert "| PCC-RL LSTM |          1.0 |" in text
    picture = join_and_leave({c: fair() for c in traces.FOUR}, traces.fair_share)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 200_000
    rows = [(t, {c: fair() for c in traces.PAPER}) for t in traces.LONG_SHORT]
    assert long_flow(rows, 5 << 20) == long_flow(rows, 5 << 20)
