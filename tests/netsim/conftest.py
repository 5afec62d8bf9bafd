"""Teachers and flows that the simulator's tests share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from decision.policy.policy import Policy
from netsim import ArrayEnv, Network
from netsim.policies import NativePolicy, native

CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
FEATURES = [{"kind": "previous_action"}, CONGESTION]


def policy_of(**changes: Any) -> Policy:
    """RL-CC's MLP with two hidden units, or another policy by its top-level tables."""
    data: dict[str, Any] = {
        "format": 1,
        "name": "hand-made",
        "architecture": {"kind": "mlp", "hidden": [2], "bias": False},
        "observation": {
            "window": 2,
            "base_rtt": "8192 ns",
            "line_rate": "100 Gb/s",
            "rtt_max": "4 ms",
            "features": FEATURES,
        },
        "action": {"kind": "tanh_map", "step": 0.2},
        "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
    }
    for name, change in changes.items():
        data[name] = data.get(name, {}) | change if isinstance(change, dict) and name != "action" else change
    return Policy.model_validate(data)


@pytest.fixture(scope="session")
def make_policy() -> Callable[..., Policy]:
    return policy_of


@pytest.fixture(scope="session")
def steering() -> Callable[..., NativePolicy]:
    """An MLP that computes x = tanh(-gain * r): it pushes the RTT to where RL-CC's congestion feature r is zero."""

    def make(gain: float = 0.1, **changes: Any) -> NativePolicy:
        hidden = np.zeros((2, 4), dtype=np.float32)
        hidden[:, 1] = 1, -1
        weights = {"fc0.weight": hidden, "out.weight": np.array([[-gain, gain]], dtype=np.float32)}
        return native(policy_of(**changes), weights)

    return make


@pytest.fixture(scope="session")
def constant() -> Callable[..., NativePolicy]:
    """A policy that never changes the rate (all weights zero)."""

    def make(rate: str = "100 %") -> NativePolicy:
        policy = policy_of(limits={"rate_initial": rate})
        zeros = {"fc0.weight": np.zeros((2, 4), np.float32), "out.weight": np.zeros((1, 2), np.float32)}
        return native(policy, zeros)

    return make


@pytest.fixture(scope="session")
def from_outside() -> Callable[..., Any]:
    """The records of flows that make a policy's decisions, ``rows`` of them, from outside of the simulator."""

    def make(
        teacher: NativePolicy,
        rows: Any,
        scenario: str,
        *,
        seed: int,
        duration_ps: int,
        network: Network | None = None,
    ) -> Any:
        policy = teacher.policy
        assert policy.limits is not None
        env = ArrayEnv(
            scenario,
            seed=seed,
            duration_ps=duration_ps,
            record=True,
            network=network,
            rate_min_q30=policy.limits.rate_min,
            rate_max_q30=policy.limits.rate_max,
            rate_initial_q30=policy.limits.rate_initial,
            in_flight=policy.in_flight,
            probes=policy.probes,
            bursts=policy.bursts,
            device_rate=policy.observation.device_rate,
            acks=policy.observation.acks,
        )
        done = 0
        while (batch := env.recv()) is not None:
            env.send(multiplier=1 + rows["action_q16"][done : done + len(batch)] / 65536)
            done += len(batch)
        assert done == len(rows["flow"])
        return env.drain_records()

    return make
