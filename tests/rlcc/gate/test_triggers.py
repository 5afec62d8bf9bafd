"""What the gate says of a trigger: both kinds of decisions, their mean, and how often it fires."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from decision.ir.interfaces.queue_marking import QUEUE_TRIGGERED
from decision.policy.records import Trajectories, record_columns
from emulator.report import Cycles
from rlcc.gate.triggers import Shares, budget_by_trigger, mean_by_trigger, share
from rlcc.recipe import GateOptions

TOLD = {"triggered=0": Cycles(90, 100.0, 110, 120), "triggered=1": Cycles(300, 400.0, 450, 500)}


def options(**changes: Any) -> GateOptions:
    return GateOptions.model_validate({"budget": "2 us", "margin": 0.1} | changes)


def judged(told: dict[str, Cycles], shares: Shares, **changes: Any) -> list[bool]:
    report: Any = SimpleNamespace(told=told, clock_mhz=330.0)
    asked = options(**changes)
    return [check.passed for check in (*budget_by_trigger(report, asked), *mean_by_trigger(report, asked, shares))]


def test_both_kinds_and_their_mean_are_held_to_the_budget() -> None:
    quarter = Shares(0.25, 0.25)
    assert judged(TOLD, quarter) == [True, True, True, True]
    assert judged(TOLD, quarter, budget="1.6 us") == [True, False, True, True]  # 550 cycles are 1.67 us
    assert judged(TOLD, quarter, mean_budget="0.54 us") == [True, True, True, True]  # 175 cycles are 0.53 us
    assert judged(TOLD, quarter, mean_budget="0.52 us") == [True, True, False, True]
    assert judged(TOLD, Shares(0.5, 0.5), mean_budget="0.54 us") == [True, True, False, True]


def test_a_kind_that_no_vector_shows_fails() -> None:
    assert judged({"triggered=0": TOLD["triggered=0"]}, Shares(0.1, 0.1)) == [True, False, False, True]


@pytest.mark.parametrize(("program", "teacher", "passed"), [(0.1, 0.19, True), (0.1, 0.21, False), (0.3, 0.1, False)])
def test_a_trigger_fires_about_as_often_as_its_teachers(program: float, teacher: float, passed: bool) -> None:
    assert judged(TOLD, Shares(program, teacher))[-1] == passed
    assert not judged(TOLD, Shares(float("nan"), teacher))[-1]


def test_each_network_counts_alike() -> None:
    def states(fired: list[int]) -> Trajectories:
        columns = dict.fromkeys(record_columns(QUEUE_TRIGGERED), np.zeros(len(fired), dtype=np.int64))
        return Trajectories.of(columns | {"step": np.arange(len(fired)), "triggered": np.array(fired)}, QUEUE_TRIGGERED)

    assert share([states([1, 0]), states([1, 1, 1, 1]), states([])]) == 0.75
    assert np.isnan(share([]))
