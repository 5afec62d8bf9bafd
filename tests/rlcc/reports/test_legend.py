"""The legend explains the traffic, the fabrics and the metrics of every shipped recipe."""

import re

import pytest

from rlcc.gate.names import named
from rlcc.gate.verdict import Check
from rlcc.recipe import load_recipe
from rlcc.reports.legend import terms
from rlcc.shipped_recipes import recipes

METRICS = {
    "goodput": "goodput",
    "loss": "loss",
    "jain": "Jain fairness",
    "latency_mean_us": "mean latency",
    "queue_mean_us": "queue us",
    "fct_mean_us": "FCT",
    "fct_p99_us": "FCT",
}
"""Metric of a shipped recipe -> its term."""
SHOWN = {"fct_mean_us": "FCT mean us", "fct_p99_us": "FCT p99 us"}


def row(scenario: str, metric: str) -> Check:
    name = SHOWN.get(metric, METRICS[metric])
    return named("network.*", part=metric, of=scenario, metric=name)(value="0", limit="0", passed=True)


@pytest.mark.parametrize("name", recipes())
def test_the_legend_has_each_kind_of_traffic_and_each_metric_of_a_recipe(name: str) -> None:
    gate = load_recipe(recipes()[name]).gate
    metrics = [allowed.metric for allowed in gate.tolerance.values()]
    assert metrics
    for scenario in gate.scenarios:
        kinds = set(re.findall(r"[a-z][a-z-]+", scenario))
        assert kinds, scenario
        for metric in metrics:
            found = terms([row(scenario, metric)])
            assert kinds <= found.keys(), scenario
            assert METRICS[metric] in found


def test_a_legend_has_no_term_that_no_row_has() -> None:
    found = terms([row("many-to-one:8", "loss")])
    assert {"many-to-one", "loss"} <= found.keys()
    assert not {"incast", "goodput", "leaf-spine", "trigger", "margin"} & found.keys()
