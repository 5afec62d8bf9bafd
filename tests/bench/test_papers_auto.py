"""AuTO's page says what the runs said."""

import pytest

from bench.papers import auto
from bench.papers.auto import ANY_ROW, LATENCIES_PS, PLACES, Outcomes, candidates, of_place
from netsim import scenarios

FORMS = ["sRLA, network", "sRLA, tree", "lRLA, network", "lRLA, tree", "AuTO, trees"]
COST = ["| the tree, mean | 1 | 1.00 | 1.0 |"]


def outcomes(agents: float) -> Outcomes:
    """Mean FCTs of 100 and 200 us in two seeds, of agents so many times that."""
    metrics, set_kb = {}, {}
    for place in PLACES:
        who = [contender.name for contender in of_place(None, (1, 2, 3))]
        forms = [*FORMS, *(auto._late(latency) for latency in LATENCIES_PS)]
        for name in [*who, ANY_ROW, *forms]:
            factor = agents if name in forms else 1.0
            metrics[place.title, name] = [
                {"fct_mean_us": factor * fct, "fct_p99_us": 2 * factor * fct} for fct in (100.0, 200.0)
            ]
            if name.startswith("sRLA"):
                set_kb[place.title, name] = [20.0, 200.0, 2000.0]
    return Outcomes(2, metrics, set_kb, {place.title: (1000, 2000, 3000) for place in PLACES})


@pytest.mark.parametrize(("agents", "says"), [(0.5, "below"), (1.0, "not told from it"), (2.0, "above")])
def test_the_words_follow_the_figures(agents: float, says: str) -> None:
    text = auto.page(outcomes(agents), COST, COST, ["| 11, 10 | 1 |"])
    for place in PLACES:  # of lRLA against two, of sRLA and of both against QLAS
        assert text.count(f"*{place.title}* {says} (") == 4
    row = next(line for line in text.splitlines() if line.startswith("| sRLA, tree |"))
    off = f"{100 * (agents - 1):+.1f} ± 0.0"
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [
        f"{150 * agents:,.0f}",
        off,
        off,
        f"{300 * agents:,.0f}",
        off,
    ]
    assert "20, 200, 2,000 | 20, 200, 2,000 |" in text
    assert "| 1, 2, 3 |" in text


def test_its_scenarios_and_thresholds_are_ones_that_there_are() -> None:
    for place in PLACES:
        assert scenarios.read(place.scenario).phases
        assert len(candidates(place)) >= 6
        for row in candidates(place):
            assert list(row) == sorted(set(row))
            auto.network("sent", (row,))
