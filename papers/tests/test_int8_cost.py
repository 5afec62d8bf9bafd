"""A teacher's networks, taken apart to be emitted one by one."""

from pathlib import Path

import numpy as np
import pytest

from decision.policy.weights import TRIGGER, shapes
from papers.haecn import int8_costs
from papers.int8_cost import Int8, apart
from teachers.load import load

TEACHERS = Path(__file__).resolve().parents[2] / "fixtures" / "teachers"


@pytest.mark.parametrize(("name", "hidden"), [("acc", [[20, 40, 40]]), ("haecn", [[20, 40, 40, 40], [16]])])
def test_each_network_stands_by_itself_with_its_weights(name: str, hidden: list[list[int]]) -> None:
    teacher = load(TEACHERS / name)
    networks = apart(teacher)
    assert [policy.architecture.hidden for policy, _ in networks] == hidden
    for policy, weights in networks:
        assert policy.trigger is None
        assert {key: w.shape for key, w in weights.items()} == shapes(policy)
    if len(networks) > 1:
        assert np.array_equal(networks[1][1]["out.weight"], teacher.weights[f"{TRIGGER}out.weight"])


def test_a_decision_whose_trigger_fires_runs_both() -> None:
    choice, trigger = Int8(4000, 50_000.0, 50_010, 500.0, 6000), Int8(300, 2_500.0, 2_600, 500.0, 2500)
    assert int8_costs([choice, trigger]) == (105_000_000, 5_000_000)
    assert int8_costs([choice]) == (100_000_000, None)
