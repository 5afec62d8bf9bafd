"""A hand-made teacher that controls congestion, its rollouts in two tiny networks, and its student."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.policy.policy import Policy
from distill import distil, rollout
from distill.fitted_student import Fitted
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import Rollout
from teachers.teacher import Teacher, make_teacher

PROPORTIONAL, DIFFERENTIAL = 0.12, 0.05
PolicyMaker = Callable[..., Policy]


def policy_of(**changes: Any) -> Policy:
    """RL-CC's observation and action; other top-level tables as given."""
    congestion = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    content: dict[str, Any] = {
        "format": 1,
        "name": "hand-made",
        "architecture": {"kind": "mlp", "hidden": [12], "bias": False},
        "observation": {"window": 2, **path, "features": [{"kind": "previous_action"}, congestion]},
        "action": {"kind": "tanh_map", "step": 0.2},
        "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
    }
    for name, change in changes.items():
        content[name] = content[name] | change if name == "observation" else change
    return Policy.model_validate(content)


def pd_controller(policy: Policy, gain: float = 1.0) -> Teacher:
    """x = tanh(-k r_t - d (r_t - r_{t-1})), with two ReLU units of the twelve."""
    hidden, out = np.zeros((12, 4), np.float32), np.zeros((1, 12), np.float32)
    hidden[0] = 0, gain * (PROPORTIONAL + DIFFERENTIAL), 0, -gain * DIFFERENTIAL
    hidden[1] = -hidden[0]
    out[0, :2] = -1, 1
    return make_teacher(policy, {"fc0.weight": hidden, "out.weight": out}, "the test")


@pytest.fixture(scope="session")
def make_policy() -> PolicyMaker:
    return policy_of


@pytest.fixture(scope="session")
def teacher() -> Teacher:
    return pd_controller(policy_of())


@pytest.fixture(scope="session")
def other_teacher() -> Teacher:
    return pd_controller(policy_of(), gain=0.5)


@pytest.fixture(scope="session")
def network() -> RolloutOptions:
    return RolloutOptions.model_validate({"scenarios": ["many-to-one:2", "many-to-one:8"], "duration": "4 ms"})


@pytest.fixture(scope="session")
def small() -> DistillOptions:
    return DistillOptions.model_validate(
        {"trees": 4, "depth": 3, "rounds": 1, "rows": 2000, "comparison_window": ["2 ms", "4 ms"]}
    )


@pytest.fixture(scope="session")
def runs(teacher: Teacher, network: RolloutOptions) -> list[Rollout]:
    return rollout.collect(rollout.teacher_policy(teacher), network)


@pytest.fixture(scope="session")
def fitted(teacher: Teacher, runs: list[Rollout], small: DistillOptions, network: RolloutOptions) -> Fitted:
    return distil.distil(teacher, runs, small, network, seed=1)


@pytest.fixture
def student_folder(fitted: Fitted, tmp_path: Path) -> Path:
    distil.save(fitted, "0" * 64, tmp_path / "student", seed=1)
    return tmp_path / "student"
