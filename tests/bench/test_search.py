"""The page of searches: what it tells of a seed, and where there is nothing to tell."""

import pytest

from bench import search
from netsim.tolerance import DEFAULT
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.recipe import Recipe

RECIPE = Recipe.model_validate(
    {
        "format": 1,
        "name": "mine",
        "teacher": "teacher",
        "rollout": {"scenarios": ["many-to-one:2"]},
        "gate": {"budget": "1 us"},
    }
)


def metrics(goodput: float, latency: float) -> dict[str, float]:
    return {"goodput": goodput, "latency_mean_us": latency, "jain": 1.0, "loss": 0.0}


def test_of_each_seed_counts_the_network_and_metric_that_is_furthest_off():
    assert DEFAULT["goodput"].most == 0.005
    outcomes = [
        PolicyMetrics("teacher", "a", (1, 2), (metrics(0.9, 10.0), metrics(0.8, 20.0))),
        PolicyMetrics("mine", "a", (1, 2), (metrics(0.91, 10.0), metrics(0.8, 20.1))),
        PolicyMetrics("teacher", "b", (1, 2), (metrics(0.5, 10.0), metrics(0.5, 10.0))),
        PolicyMetrics("mine", "b", (1, 2), (metrics(0.5, 10.3), metrics(0.5, 10.0))),
    ]
    assert search._errors("mine", outcomes, RECIPE) == pytest.approx([3.0, 0.5])
    assert search._errors("teacher", outcomes, RECIPE) == [0.0, 0.0]


def test_where_nothing_was_searched_it_says_what_to_run(tmp_path, capsys):
    assert search.main(["rl-cc", "--runs", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 2
    assert "run rlcc search" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
