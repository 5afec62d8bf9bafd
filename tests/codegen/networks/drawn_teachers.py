"""Small teachers with drawn weights, and decisions as if recorded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from queue_actions import GROUPS

from codegen.emit import Emission
from codegen.networks.quantise import Bits
from codegen.networks.quantised import quantised
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.network_policy import NetworkPolicy
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.weights import shapes

CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
MLP = {"kind": "mlp", "hidden": [5], "bias": False}
LSTM = {"kind": "lstm", "hidden": [6], "lstm": 3, "bias": True}
TANH = {"kind": "tanh_map", "step": 0.2}


@dataclass(frozen=True)
class Drawn:
    """A teacher and what was recorded."""

    policy: Policy
    weights: dict[str, np.ndarray]
    parts: list[Trajectories]

    def quantised(self, bits: Bits | None = None) -> NetworkPolicy:
        form = f"{self.policy.architecture.kind}-int8"
        return quantised(self.policy, self.weights, "ab" * 32, self.parts, form, bits)


def emission(**choices: Any) -> Emission:
    return Emission(**{"target": "generic", "seed": 1} | choices)


def policy_of(architecture: dict[str, Any], *, features: list[dict[str, Any]] | None = None, **more: Any) -> Policy:
    window = 2 if architecture["kind"] == "mlp" else 1
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    limits = {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"}
    told: dict[str, Any] = {
        "format": 1,
        "name": "drawn",
        "architecture": architecture,
        "action": TANH,
        "limits": limits,
    }
    told["observation"] = {"window": window, **path, "features": features or [{"kind": "previous_action"}, CONGESTION]}
    return Policy.model_validate(told | more)


def weights_of(policy: Policy, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    found = {name: rng.uniform(-0.8, 0.8, shape).astype(np.float32) for name, shape in shapes(policy).items()}
    found["out.weight"] = found["out.weight"] / 4
    return found


def records(flows: int = 10, steps: int = 60, seed: int = 1) -> Trajectories:
    """Flows whose rates and RTTs wander from a start at line rate."""
    rng = np.random.default_rng(seed)
    n = flows * steps
    flow, step = np.repeat(np.arange(flows), steps), np.tile(np.arange(steps), flows)
    sent = rng.integers(0, 2**32, n)
    rtt = 8192 * np.exp(np.abs(np.cumsum(rng.normal(0, 0.3, (flows, steps)), axis=1)) % 2.5).reshape(-1)
    columns = dict.fromkeys(FLOW_RATE.event_names, np.zeros(n, dtype=np.uint32))
    columns |= {"request_sent_ns": sent.astype(np.uint32), "response_ns": (sent + rtt.astype(int)).astype(np.uint32)}
    columns |= {"cnp_count": rng.integers(0, 5, n), "sent_bytes": rng.integers(0, 60_000, n)}
    columns["t_ps"] = step * 10_000 + flow
    columns |= {"flow": flow, "step": step, "output": np.zeros(n)}
    columns["rate_q30"] = (2.0 ** rng.uniform(18, 30, n)).astype(np.int64) - 1
    columns["action_q16"] = rng.integers(-10_923, 13_107, n) // rng.choice([1, 8, 256], n)
    return Trajectories.of(columns)


QUEUE_FEATURES: list[dict[str, Any]] = [
    {"kind": "bucket", "signal": "queue_bytes", "first": 5_000, "count": 12},
    {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"},
    {"kind": "difference", "signal": "queue_bytes", "unit": 4096},
    {"kind": "previous_knob", "knob": "kmin_bytes", "unit": 65_536, "fraction_bits": 8},
]


def queues(steps: int = 300, agents: int = 6, seed: int = 1) -> Trajectories:
    """Queues that grow and drain, under settings of the map's own rows."""
    rng = np.random.default_rng(seed)
    n = agents * steps
    queue, step = np.repeat(np.arange(agents), steps), np.tile(np.arange(steps), agents)
    length = (5_000 * 2.0 ** rng.uniform(-3, 10, n)).astype(np.int64)
    rows = rng.integers(0, 3, (2, n))
    pairs = np.array([list(row.values()) for row in GROUPS["groups"][1]])[rows[1]]
    columns: dict[str, np.ndarray] = {"t_ps": step * 50_000_000 + queue, "queue": queue, "step": step}
    columns |= {"queue_bytes": length, "sent_bytes": rng.integers(0, 200_000, n), "marked_bytes": length // 9}
    columns["kmin_bytes"] = np.array([row["kmin_bytes"] for row in GROUPS["groups"][0]])[rows[0]]
    return Trajectories.of(columns | {"kmax_bytes": pairs[:, 0], "pmax_q16": pairs[:, 1]}, QUEUE_MARKING)


def choosing(seed: int = 4, action: dict[str, Any] = GROUPS) -> Drawn:
    """A teacher at queues that chooses a row of each group; by this seed each row of both somewhere."""
    told = {
        "format": 1,
        "name": "queues",
        "architecture": {"kind": "mlp", "hidden": [7, 6], "bias": True},
        "observation": {
            "interface": "queue_marking",
            "window": 2,
            "params": {"capacity_bytes": 156_250},
            "features": QUEUE_FEATURES,
        },
        "action": action,
    }
    policy = Policy.model_validate(told)
    return Drawn(policy, weights_of(policy, seed), [queues(seed=seed), queues(seed=seed + 1)])


def drawn(architecture: dict[str, Any], seed: int = 1, **more: Any) -> Drawn:
    policy = policy_of(architecture, **more)
    return Drawn(policy, weights_of(policy, seed), [records(seed=seed), records(flows=4, seed=seed + 1)])
