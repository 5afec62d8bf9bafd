"""Native policies against decision's float features and a plain NumPy network, over the trajectories they produced."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.weights import shapes
from netsim import Network, Simulation, policies, simulate
from netsim.network import MS

ALL_FEATURES = [
    {"kind": "previous_action"},
    {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    {"kind": "pcc_rl_congestion", "target": 2.0},
    {"kind": "rtt_inflation"},
    {"kind": "queue_inflation"},
    {"kind": "rate"},
    {"kind": "cnp_ratio"},
    {"kind": "nack_ratio"},
]
QUEUE = [{"kind": "rl_cc_congestion", "target": 0.064, "beta": 0.5, "scale": -2.0, "signal": "queue"}]
COUNTING = [{"kind": "decisions", "most": 9}, {"kind": "rate"}]
CARRYING = [
    {"kind": "average", "signal": "rtt_ns", "shift": 3, "unit": 1024, "fraction_bits": 8},
    {"kind": "minimum", "signal": "rtt_ns", "unit": 1024, "fraction_bits": 4, "rise": 1},
    {"kind": "maximum", "signal": "sent_bytes", "unit": 4096, "fall": 1},
    {"kind": "above_minimum", "signal": "rtt_ns", "unit": 1024},
    {"kind": "over_minimum", "signal": "rtt_ns"},
    {"kind": "streak", "signal": "cnp_count", "most": 7},
    {"kind": "decaying_count", "signal": "nack_count", "shift": 2, "most": 100},
    {"kind": "interval", "signal": "response_ns", "unit": 1024},
    {"kind": "difference", "signal": "rtt_ns", "unit": 1024},
]
LOSSY = Network(buffer_bytes=100_000, ecn_min_bytes=5_000, ecn_max_bytes=80_000)
ACTIONS: list[dict[str, Any]] = [
    {"kind": "tanh_map", "step": 0.2},
    {"kind": "multiplier", "low": 0.7, "high": 1.3},
    {"kind": "table", "multipliers": [0.8, 0.95, 1.0, 1.1]},
]


def random_weights(policy: Policy, seed: int) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    return {
        name: (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32) for name, shape in shapes(policy).items()
    }


def network_outputs(
    policy: Policy, weights: dict[str, NDArray[np.float32]], rows: NDArray[np.float64], starts: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Raw outputs [N, K] in double precision; the LSTM starts anew where ``starts``."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    x = rows.astype(np.float32).astype(np.float64)
    for i in range(len(policy.architecture.hidden)):
        x = np.maximum(x @ w[f"fc{i}.weight"].T + w.get(f"fc{i}.bias", 0.0), 0.0)
    if policy.architecture.lstm:
        units, outputs = policy.architecture.lstm, []
        for row, new in zip(x, starts, strict=True):
            if new:
                h, c = np.zeros(units), np.zeros(units)
            gates = w["lstm.weight_ih"] @ row + w["lstm.weight_hh"] @ h + w["lstm.bias_ih"] + w["lstm.bias_hh"]
            i, f, g, o = np.split(gates, 4)
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
            outputs.append(h)
        x = np.array(outputs)
    return x @ w["out.weight"].T + w.get("out.bias", 0.0)


def run(policy: Policy, weights: dict[str, NDArray[np.float32]]) -> Simulation:
    simulation = Simulation("many-to-one:8", policies.native(policy, weights), seed=11, record=True, network=LOSSY)
    simulation.run(2 * MS)
    return simulation


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize(
    "features", [ALL_FEATURES, QUEUE, COUNTING, CARRYING], ids=["all", "queue", "counting", "carrying"]
)
def test_features_are_those_of_spec(make_policy, features, window) -> None:
    policy = make_policy(observation={"features": features, "window": window}, architecture={"bias": True})
    simulation = run(policy, random_weights(policy, 1))
    trajectories = Trajectories.of(simulation.drain_records())
    rows, valid = trajectories.float_rows(policy.observation)
    assert valid.all()
    last = np.append(trajectories.starts()[1:] - 1, len(trajectories) - 1)
    np.testing.assert_allclose(simulation.observations(), rows[last], rtol=1e-6, atol=1e-6)
    for signal in ("cnp_count", "nack_count"):  # or the ratios would be tested on zeros alone
        assert trajectories.columns[signal].max() > 0


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a["kind"])
@pytest.mark.parametrize(
    "architecture",
    [
        {"kind": "mlp", "hidden": [12], "bias": False},
        {"kind": "mlp", "hidden": [7, 5, 3], "bias": True},
        {"kind": "mlp", "hidden": [], "bias": True},
        {"kind": "lstm", "hidden": [12], "lstm": 12, "bias": True},
        {"kind": "lstm", "hidden": [32, 16], "lstm": 16, "bias": False},
    ],
    ids=["mlp12", "mlp7-5-3", "linear", "lstm12", "lstm32-16-16"],
)
def test_decisions_are_those_of_the_network(make_policy, architecture, action) -> None:
    window = 1 if architecture["kind"] == "lstm" else 2
    policy = make_policy(architecture=architecture, action=action, observation={"window": window})
    weights = random_weights(policy, 2)
    trajectories = Trajectories.of(run(policy, weights).drain_records())
    rows, _ = trajectories.float_rows(policy.observation)
    raw = network_outputs(policy, weights, rows, trajectories.position == 0)
    recorded = trajectories.columns["output"].astype(np.float64)
    if action["kind"] == "table":
        clear = np.diff(np.sort(raw, axis=1)[:, -2:], axis=1)[:, 0] > 1e-5
        np.testing.assert_array_equal(recorded[clear], raw.argmax(axis=1)[clear])
        multiplier = policy.action.multiplier(np.eye(4)[recorded.astype(int)])
    else:
        np.testing.assert_allclose(recorded, np.tanh(raw[:, 0]), atol=2e-6)
        multiplier = policy.action.multiplier(recorded)
    exact = (multiplier - 1) * 65536
    assert np.abs(trajectories.columns["action_q16"] - exact).max() <= 0.5 + 1e-6
    assert action["kind"] == "table" or len(set(recorded.tolist())) > 1


def test_a_trajectory_follows_from_its_records(make_policy) -> None:
    """rate' = round(rate * (1 + action / 2^16)) in Q0.30, clamped: nothing is kept that a record does not hold."""
    policy = make_policy(limits={"rate_min": "0.5 %", "rate_max": "80 %", "rate_initial": "50 %"})
    trajectories = Trajectories.of(run(policy, random_weights(policy, 3)).drain_records())
    rate = trajectories.columns["rate_q30"].astype(np.int64)
    action = trajectories.columns["action_q16"].astype(np.int64)
    follows = (rate * (65536 + action) + 32768) >> 16
    follows = np.clip(follows, policy.limits.rate_min, policy.limits.rate_max)
    same_flow = trajectories.position[1:] > 0
    np.testing.assert_array_equal(rate[1:][same_flow], follows[:-1][same_flow])
    assert (rate[trajectories.starts()] == policy.limits.rate_initial).all()


def test_the_lstm_state_can_be_read(make_policy) -> None:
    policy = make_policy(architecture={"kind": "lstm", "hidden": [4], "lstm": 3}, observation={"window": 1})
    weights = random_weights(policy, 4)
    simulation = Simulation("many-to-one:4", policies.native(policy, weights), seed=1)
    assert simulation.hidden_state().shape == (4, 6)
    assert (simulation.hidden_state() == 0).all()
    simulation.run(MS)
    state = simulation.hidden_state()
    assert (np.abs(state[:, :3]) < 1).all()
    assert (state != 0).all()


def test_weights_can_be_changed_between_runs(steering) -> None:
    simulation = Simulation("many-to-one:4", steering(0.1), seed=1, record=True)
    simulation.run(MS)
    simulation.drain_records()
    simulation.set_weights({name: 0 * w for name, w in steering(0.1).weights.items()})
    simulation.run(2 * MS)
    assert (simulation.drain_records()["action_q16"] == 0).all()


@pytest.mark.parametrize("name", ["fc0.weight", "out.weight"])
def test_wrong_weights_are_refused(steering, name: str) -> None:
    teacher = steering()
    weights = dict(teacher.weights)
    with pytest.raises(InputError, match="lack"):
        policies.native(teacher.policy, {k: v for k, v in weights.items() if k != name})
    with pytest.raises(InputError, match="shape"):
        policies.native(teacher.policy, weights | {name: weights[name][:, :1]})
    with pytest.raises(InputError, match="NaN"):
        policies.native(teacher.policy, weights | {name: weights[name] * np.float32("nan")})
    with pytest.raises(InputError, match="does not have"):
        policies.native(teacher.policy, weights | {"fc7.weight": weights[name]})


@pytest.mark.parametrize("flows", [2, 64, 512])
def test_the_network_can_be_controlled(steering, flows: int) -> None:
    """RL-CC's fixed point: mean RTT inflation target * sqrt(N) + beta at a full link, no loss after the start."""
    metrics = simulate(f"many-to-one:{flows}", steering(0.1), seed=1).metrics
    assert metrics["goodput"] >= 0.88
    assert metrics["loss"] == 0
    if flows > 2:  # two flows at a gain of 0.1 still swing by more than the queue they aim at
        assert metrics["rtt_inflation_mean"] == pytest.approx(0.064 * flows**0.5 + 1.5, rel=0.05)
        assert metrics["fairness_min_max"] > 0.9
