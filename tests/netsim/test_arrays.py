"""The array API: same decisions as inside the simulator, and clear errors."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import ArrayEnv, Simulation
from netsim.arrays import Batch
from netsim.network import MS
from netsim.policies import native


def threshold(batch: Batch) -> np.ndarray:
    return np.where(batch.rtt_ns / 8192 >= 1.9, 0.9, 1.05)


@pytest.mark.parametrize("latency_ps", [0, 900_000])
def test_a_native_policy_and_its_twin_outside_agree(make_policy, latency_ps: int) -> None:
    """logits (inflation, 1.9) over the multipliers (0.9, 1.05)."""
    policy = make_policy(
        architecture={"hidden": [], "bias": True},
        observation={"window": 1, "features": [{"kind": "rtt_inflation"}]},
        action={"kind": "table", "multipliers": [0.9, 1.05]},
    )
    weights = {"out.weight": np.array([[1], [0]], np.float32), "out.bias": np.array([0, 1.9], np.float32)}
    run = Simulation("many-to-one:16", native(policy, weights), seed=2, decision_latency_ps=latency_ps, record=True)
    run.run(5 * MS)
    low = policy.limits.rate_min
    env = ArrayEnv(
        "many-to-one:16", 2, duration_ps=5 * MS, decision_latency_ps=latency_ps, record=True, rate_min_q30=low
    )
    sizes = []
    while (batch := env.recv()) is not None:
        sizes.append(len(batch))
        assert batch.t_ps[-1] <= batch.t_ps[0] + latency_ps
        env.send(multiplier=threshold(batch))
    inside, outside = run.drain_records(), env.drain_records()
    for name, column in inside.items():
        if name != "output":
            np.testing.assert_array_equal(column, outside[name], err_msg=name)
    assert run.conservation() == env.conservation()
    assert max(sizes) == 1 if latency_ps == 0 else max(sizes) > 1


def test_a_run_may_stop_and_go_on(constant) -> None:
    whole, parts = [ArrayEnv("many-to-one:4", 1, duration_ps=2 * MS, record=True) for _ in range(2)]
    while (batch := whole.recv()) is not None:
        whole.send(multiplier=threshold(batch))
    for until in range(MS // 7, 2 * MS, MS // 7):
        while (batch := parts.recv(until)) is not None:
            parts.send(multiplier=threshold(batch))
        assert parts.now_ps == until
    while (batch := parts.recv()) is not None:
        parts.send(multiplier=threshold(batch))
    for (name, a), b in zip(whole.drain_records().items(), parts.drain_records().values(), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_rates_are_clamped(constant) -> None:
    env = ArrayEnv("many-to-one:2", 1, rate_min_q30=1 << 28, rate_max_q30=1 << 29, rate_initial_q30=1 << 29)
    seen = set()
    for i in range(40):
        batch = env.recv()
        assert batch is not None
        seen |= set(batch.rate_q30.tolist())
        env.send(multiplier=np.full(len(batch), 0.01 if i % 4 < 2 else 100.0))
    assert seen == {1 << 28, 1 << 29}


def test_wrong_answers_are_refused_and_can_be_given_again() -> None:
    env = ArrayEnv("many-to-one:4", 1, decision_latency_ps=20_000_000)
    with pytest.raises(InputError, match="call recv first"):
        env.send(multiplier=[1.0])
    batch = env.recv()
    assert batch is not None
    n = len(batch)
    assert n > 1
    with pytest.raises(InputError, match="not been answered"):
        env.recv()
    ones = np.ones(n)
    with pytest.raises(InputError, match="either"):
        env.send()
    with pytest.raises(InputError, match="either"):
        env.send(multiplier=ones, rate_q30=ones)
    with pytest.raises(InputError, match="shape"):
        env.send(multiplier=np.ones(n + 1))
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="NaN or infinity"):
            env.send(multiplier=ones * bad)
        with pytest.raises(InputError, match="NaN or infinity"):
            env.send(rate_q30=ones * bad)
    for bad in (0.0, -1.0, 1e9):
        with pytest.raises(InputError, match="positive"):
            env.send(multiplier=ones * bad)
    with pytest.raises(InputError, match="exactly the flows"):
        env.send(np.zeros(n), multiplier=ones)
    env.send(batch.flow[::-1], multiplier=ones)
    assert env.recv() is not None


def test_limits_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="rate_min_q30"):
        ArrayEnv("many-to-one:4", 1, rate_min_q30=0)
    with pytest.raises(InputError, match="rate_min_q30"):
        ArrayEnv("many-to-one:4", 1, rate_initial_q30=1 << 31)
