"""AuTO's page says what the runs said."""

import pytest

from bench.papers import auto
from bench.papers.auto import LATENCIES_PS, PLACES, Outcomes, of_place
from netsim import scenarios


def outcomes(agents: float) -> Outcomes:
    """Mean FCTs of 100 and 200 us in two seeds, of agents so many times that."""
    metrics, set_kb = {}, {}
    for place in PLACES:
        who = [contender.name for contender in of_place(place, {})]
        forms = ["sRLA, network", "sRLA, tree", *(auto._late(latency) for latency in LATENCIES_PS)]
        for name in [*who, *forms]:
            factor = agents if name in forms else 1.0
            metrics[place.title, name] = [
                {"fct_mean_us": factor * fct, "fct_p99_us": 2 * factor * fct} for fct in (100.0, 200.0)
            ]
            if name in forms:
                set_kb[place.title, name] = [20.0, 200.0, 2000.0]
    return Outcomes(2, metrics, set_kb)


@pytest.mark.parametrize(("agents", "says"), [(0.5, "is below"), (1.0, "is not told from"), (2.0, "is above")])
def test_the_words_follow_the_figures(agents: float, says: str) -> None:
    text = auto.page(outcomes(agents), ["| the tree, mean | 1 | 1.00 | 1.0 |"])
    assert text.count(f"mean FCT {says} QLAS'") == len(PLACES)
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


def test_its_scenarios_and_thresholds_are_ones_that_there_are() -> None:
    for place in PLACES:
        assert scenarios.read(place.scenario).phases
        fitted = {c.name: c.network.demotion for c in of_place(place, {}) if "fitted" in c.name}
        assert all(len(rows) == len(place.phases[0]) for rows in fitted.values())
