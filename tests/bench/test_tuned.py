"""Baselines tuned: the search keeps to its budget and finds what is best value by value, and the page is whole."""

from pathlib import Path
from typing import Any

import pytest

from bench import tuned
from bench.starts import CHOOSE, StartCell
from bench.tuned import (
    CHOICES,
    UNSEEN,
    Reported,
    TuningRuns,
    TuningSearch,
    Values,
    changes,
    defaults,
    page,
    search,
    spec_of,
)
from netsim.baselines import by_name
from netsim.places import InThisThread

CHOSEN_BY = {"a": (1, 2, 3, 4), "b": ("low", "high")}


def price(values: Values) -> float:
    return float(abs(values["a"] - 3)) + (0.5 if values["b"] == "low" else 0.0)


def test_the_search_ends_where_no_single_choice_is_better() -> None:
    found = search({"a": 1, "b": "low"}, CHOSEN_BY, price, 100)
    assert found == TuningSearch({"a": 3, "b": "high"}, 0.0, 2.5, 8, ended=True)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_the_search_keeps_to_its_budget(most: int) -> None:
    asked: list[Values] = []

    def counted(values: Values) -> float:
        asked.append(values)
        return price(values)

    found = search({"a": 1, "b": "low"}, CHOSEN_BY, counted, most)
    assert found.tries == len(asked) == most
    assert not found.ended
    assert found.least == min(price(each) for each in asked)


@pytest.mark.parametrize("name", CHOICES)
def test_defaults_are_the_presets_and_every_choice_is_valid_by_itself_or_left_out(name: str) -> None:
    own = defaults(name)
    assert spec_of(name, own) == by_name(name)
    for key, those in CHOICES[name].items():
        assert own[key] in those
        assert sum(spec_of(name, own | {key: value}) is not None for value in those) > 1


def test_values_that_do_not_go_together_are_no_baseline() -> None:
    assert spec_of("dctcp", {"ecn.kmin": "3 BDP", "ecn.kmax": "1.5 BDP"}) is None


def test_what_is_reported_was_not_chosen_by() -> None:
    assert not {c.name for c in UNSEEN} & {c.name for c in CHOOSE}
    assert len(UNSEEN) == len(tuned.REPORTED) + 2


def test_a_contenders_cost_is_beside_the_rivals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuned, "UNSEEN", (StartCell("many-to-one:2", 2, 1),))
    runs = TuningRuns(tmp_path, InThisThread())
    assert tuned.reported(runs, (1,), by_name("swift")).costs == [0.0]
    monkeypatch.setattr(tuned, "CHOOSE", (StartCell("many-to-one:2", 2, 1),))
    found = tuned.tune("hpcc", runs, 3)
    assert (found.tries, found.values.keys()) == (3, CHOICES["hpcc"].keys())


def test_the_page_is_whole() -> None:
    found: dict[str, Any] = {
        n: TuningSearch(defaults(n) | {"gain": 0.5}, 0.1, 0.4, 64, ended=False) for n in ("dcqcn", "dctcp")
    }
    cells = [f"figures {i}" for i in range(len(UNSEEN))]
    who = {
        label: Reported([0.1 * i, 0.1 * i + 0.02], cells)
        for i, label in enumerate(["ours", "dcqcn, tuned", "dcqcn", "dctcp, tuned", "dctcp"])
    }
    text = page(found, who, (1, 2), 64)
    assert "cost here: ours." in text.replace("\n", " ")
    assert "tuned -0.100; dctcp, tuned -0.300" in text.replace("\n", " ")
    assert "gain 0.0625 to 0.5" in text
    assert changes("dctcp", found["dctcp"]) == "gain 0.0625 to 0.5"
    assert "dcqcn -0.100;" in text
    assert text.count("figures 9") == len(who)
