"""Which start values: what a value is, what a cell costs, and that a sweep keeps what costs least."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench import starts
from bench.starts import CHOICES, CHOOSE, REPORT, Metrics, StartCell, StartRuns, cost, sweep, values_of, with_values
from decision.policy.policy import Policy
from teachers.load import load

TEACHERS = Path(__file__).resolve().parents[2] / "fixtures" / "teachers"
SWIFT = {"goodput": 0.9, "loss": 0.02, "slowdown_mean": 10.0, "slowdown_p99": 20.0}


@pytest.mark.parametrize("name", starts.TEACHERS.values())
def test_values_are_those_of_the_policy_and_go_back_into_it(name: str) -> None:
    policy = load(TEACHERS / name).policy
    values = values_of(policy)
    assert list(values) == list(CHOICES)[: len(values)]
    assert with_values(policy, values) == policy
    for key in values:
        other = next(choice for choice in CHOICES[key] if choice != values[key])
        assert values_of(with_values(policy, values | {key: other})) == values | {key: other}


def test_nothing_is_reported_on_that_was_chosen_by() -> None:
    assert not {(c.scenario, c.link_gbps) for c in CHOOSE} & {(c.scenario, c.link_gbps) for c in REPORT}


def test_a_cell_costs_what_is_lost_and_what_is_slower_than_swift() -> None:
    level = SWIFT | {"loss": 0.0}
    assert cost(level, SWIFT) == 0
    assert cost(SWIFT, SWIFT) == pytest.approx(0.4)
    assert cost(level | {"slowdown_mean": 20.0}, SWIFT) == pytest.approx(0.693, abs=1e-3)
    assert cost(level | {"slowdown_p99": 40.0}, SWIFT) == pytest.approx(0.347, abs=1e-3)
    assert cost(level | {"goodput": 0.45}, SWIFT) == pytest.approx(2.5)
    assert cost(level | {"slowdown_mean": float("nan")}, SWIFT) == 10
    lasting = {"goodput": 0.9, "loss": 0.02}
    assert cost(lasting, lasting) == 0
    assert cost(lasting | {"loss": 0.03, "goodput": 0.72}, lasting) == pytest.approx(0.2 + 0.75)


def test_a_sweep_keeps_what_costs_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the slowdown is least at one choice of two values, these are chosen, and the others stay."""

    def metrics(self: Any, cells: Sequence[StartCell], policy: Policy | str, teacher: Any) -> list[Metrics]:
        if isinstance(policy, str):
            return [SWIFT] * len(cells)
        values = values_of(policy)
        slower = abs(values["first rate, 2^-"] - 3) + abs(values["brake, above"] - 8)
        return [SWIFT | {"slowdown_mean": 10.0 + slower}] * len(cells)

    monkeypatch.setattr(StartRuns, "metrics", metrics)
    teacher = load(TEACHERS / "robust")
    result = sweep(teacher, StartRuns((1,), 1))
    assert result.chosen == values_of(teacher.policy) | {"first rate, 2^-": 3, "brake, above": 8}
    assert result.least == pytest.approx(0.4)
    assert min(result.around["brake, above"].values()) == result.around["brake, above"][8] == result.least
    assert starts.page({"by rate alone": teacher}, StartRuns((1,), 1)).count("**chosen**") == len(result.chosen)
