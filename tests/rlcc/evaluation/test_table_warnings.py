"""Warnings beside a table: intervals wider than their figures, windows that lie in the start."""

import numpy as np
import pytest

from netsim.baselines import by_name
from netsim.network import MS
from netsim.result_store import Outcome
from netsim.samples import Samples
from rlcc.evaluation import summary
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.grid import Cell, Grid, Results, Times
from rlcc.evaluation.summary import Row
from rlcc.evaluation.table_warnings import doubts

ONE = Contender("one", "hpcc", "baseline", "0" * 64, by_name("hpcc"), 0)


def run(queue: tuple[float, float], gbps: tuple[float, float] = (9.0, 9.0)) -> Outcome:
    """From one value at the start to another at the end of 10 ms."""
    t_us, none = np.linspace(25, 10_000, 400).astype(np.float32), np.zeros(0)
    mean = np.linspace(*gbps, 400).astype(np.float32)
    samples = Samples(
        t_us,
        np.linspace(*queue, 400).astype(np.float32),
        mean[:, None],
        mean,
        np.zeros(400, np.int32),
        none.astype(np.int64),
        none.astype(np.float32),
    )
    return Outcome(2, {"goodput": 0.9, "loss": 0.01}, (), samples)


def told(outcomes: list[Outcome], scenario: str = "many-to-one:2") -> list[str]:
    cell = Cell(scenario, scenario, Times(10 * MS, (4 * MS, 10 * MS)))
    results = Results(Grid((ONE,), (cell,), tuple(range(len(outcomes)))), outcomes)
    return doubts(results, summary.rows(results), ["goodput", "loss"])


def test_what_has_settled_raises_no_doubt() -> None:
    assert told([run((70_000, 70_000))]) == []
    assert told([run((0, 9_000))]) == [], "a few packets"
    assert told([run((70_000, 80_000))]) == [], "by 6 % in the window"


@pytest.mark.parametrize(
    ("outcome", "what"), [(run((900_000, 0)), "longest queue"), (run((70_000, 70_000), (1.0, 9.0)), "goodput")]
)
def test_a_window_in_the_start_is_said(outcome: Outcome, what: str) -> None:
    (sentence,) = told([outcome])
    assert sentence.startswith(f"many-to-one:2, one: the {what} moves ")
    assert "give a longer --duration" in sentence


def test_where_flows_come_and_go_nothing_settles() -> None:
    assert told([run((900_000, 0))], "long-short:3") == []
    assert told([run((900_000, 0))], "websearch:30%") == []


def test_an_interval_wider_than_its_figure_is_said() -> None:
    row = Row("many-to-one:2", ONE, 2, {"goodput": 0.9, "loss": 0.02}, {"goodput": 0.1, "loss": 0.03})
    cell = Cell("many-to-one:2", "many-to-one:2", Times(10 * MS, (4 * MS, 10 * MS)))
    results = Results(Grid((ONE,), (cell,), (1,)), [run((0, 0))])
    (sentence,) = doubts(results, [row] * 5, ["goodput", "loss"])
    assert sentence.startswith("many-to-one:2 one loss 0.02000 ±0.03000, ")
    assert " and 2 more" in sentence
    assert doubts(results, [row], ["goodput"]) == [], "of what is shown"
