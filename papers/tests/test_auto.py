"""AuTO's page says what the runs said."""

import numpy as np
import pytest

from netsim import scenarios
from papers import auto
from papers.auto import (
    ANY_ROW,
    HEURISTICS,
    LATENCIES_PS,
    PLACES,
    WHOLE,
    Costs,
    LongSet,
    Outcomes,
    came,
    candidates,
    of_place,
    searched_name,
)

FORMS = ["sRLA, network", "sRLA, tree", "lRLA, network", "lRLA, tree", *WHOLE.values()]
TREE = ["| the tree, mean | 1 | 1.00 | 1.0 |"]
COST = Costs(TREE, TREE, ["| 11, 10 | 1 |"], ["| sRLA | clang | 0.10 | 1,000 | 0 | 60 | 1 | 2 | 3 | 3 |"], ["A tree."])
SEARCHED: dict[str, tuple[int, ...]] = {"QLAS": (1000, 2000, 3000), "QSJF": (4000, 5000, 6000)}
SET = LongSet(10, (0.0, 0.0, 0.2, 0.8), (0.9, 0.1, 0.0), (0.3, 0.3, 0.4), 0.95)


def outcomes(agents: float) -> Outcomes:
    """Mean FCTs of 100 and 200 us in two seeds, of agents so many times that."""
    metrics, set_kb = {}, {}
    for place in PLACES:
        who = [contender.name for contender in of_place(None, SEARCHED)]
        forms = [*FORMS, *(auto._late(latency) for latency in LATENCIES_PS)]
        for name in [*who, ANY_ROW, *forms]:
            factor = agents if name in forms else 1.0
            metrics[place.title, name] = [
                {"fct_mean_us": factor * fct, "fct_p99_us": 2 * factor * fct, "completions": 99.0}
                for fct in (100.0, 200.0)
            ]
            if name.startswith("sRLA"):
                set_kb[place.title, name] = [20.0, 200.0, 2000.0]
    titles = [place.title for place in PLACES]
    searched, arrived = dict.fromkeys(titles, SEARCHED), {title: [99, 100] for title in titles}
    return Outcomes(
        2, metrics, set_kb, searched, dict.fromkeys([(title, "lRLA, tree") for title in titles], SET), arrived
    )


def off_by(agents: float) -> str:
    return f"{100 * (agents - 1):+.1f} ± 0.0"


@pytest.mark.parametrize(("agents", "says"), [(0.5, "below"), (1.0, "not told from it"), (2.0, "above")])
def test_the_words_follow_the_figures(agents: float, says: str) -> None:
    text = auto.page(outcomes(agents), COST)
    for place in PLACES:  # of lRLA against two, of sRLA against QLAS, of both against QLAS and QSJF
        assert text.count(f"*{place.title}* {says} (") == 5
    for gain in (
        "-48.14 % of the mean FCT against QSJF",
        "-37.20 % of the mean FCT against QLAS",
        "-9.18 % of the p99 against QSJF",
    ):
        assert f"{gain} {'reproduced' if agents == 0.5 else '**not reproduced**'} (networks {off_by(agents)}" in text
    row = next(line for line in text.splitlines() if line.startswith("| sRLA, tree |"))
    off = off_by(agents)
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [
        f"{150 * agents:,.0f}",
        off,
        off,
        f"{300 * agents:,.0f}",
        off,
        off,
    ]
    assert "Of 199 flows 99.00% ended at the least." in text
    assert f"| {PLACES[0].title}: lRLA, tree | 10 | 0%, 0%, 20%, 80% | 90%, 10%, 0% | 30%, 30%, 40% | 95.0% |" in text
    assert "20, 200, 2,000 | 20, 200, 2,000 |" in text
    assert "| 1, 2, 3 |" in text
    assert "| 4, 5, 6 |" in text


@pytest.mark.parametrize(
    ("factors", "says"),
    [((0.6, 0.55), "reproduced"), ((0.6, 0.75), "within the interval"), ((0.7, 0.7), "**not reproduced**")],
)
def test_a_gain_of_the_papers_is_judged_with_its_noise(factors: tuple[float, float], says: str) -> None:
    found, place = outcomes(1.0), PLACES[2]
    for name in WHOLE.values():
        found.metrics[place.title, name] = [
            {"fct_mean_us": 100 * factor * seed, "fct_p99_us": 1.0} for seed, factor in enumerate(factors, 1)
        ]
    assert f"-37.20 % of the mean FCT against QLAS {says} (networks" in auto._reproduced(found, place)


def test_its_scenarios_and_thresholds_are_ones_that_there_are() -> None:
    for place in PLACES:
        assert scenarios.read(place.scenario).phases
        for by in HEURISTICS.values():
            assert len(candidates(place, by)) >= 6
            for row in candidates(place, by):
                assert list(row) == sorted(set(row))
                auto.network(by, (row,))


def test_each_heuristic_is_searched_by_what_it_knows() -> None:
    who = {contender.name: contender.network for contender in of_place(None, SEARCHED)}
    for heuristic, by in HEURISTICS.items():
        found = who[searched_name(heuristic)]
        assert (found.class_by, found.demotion) == (by, (SEARCHED[heuristic],))


def test_flows_have_time_to_end() -> None:
    """Nothing arrives in what follows the phases, and all that is compared with is of the same flows."""
    for place in PLACES:
        assert place.duration_ps > 3 * place.arrivals_ps
        drawn = scenarios.instantiate(place.scenario, 1, place.duration_ps, auto.network(None))
        assert place.arrivals_ps * 0.9 < drawn.column("start_ps").max() <= place.arrivals_ps
        assert len(drawn.flows) == came(place, 1)[0]


def test_what_lrla_set_is_counted() -> None:
    columns = {"priority_class": [3, 3, 0], "limit_q16": [1 << 16, 1 << 14, 1 << 16], "path_number": [1, 2, 0]}
    records = [{name: np.array(values) for name, values in columns.items()} | {"active_0_path": np.array([1, 1, 0])}]
    assert LongSet.of(records) == LongSet(
        3, (1 / 3, 0.0, 0.0, 2 / 3), (2 / 3, 0.0, 1 / 3), (1 / 3, 1 / 3, 1 / 3), pytest.approx(2 / 3)
    )
