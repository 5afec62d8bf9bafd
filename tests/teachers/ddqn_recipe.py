"""A small training recipe of agents at queues, for the tests of what learns by it."""

from typing import Any

from queue_actions import FOUR

from teachers.ddqn_options import DdqnConfig

KMIN = [row["kmin_bytes"] for row in FOUR["rows"]]
POLICY: dict[str, Any] = {
    "format": 1,
    "name": "queues",
    "architecture": {"kind": "mlp", "hidden": [8], "bias": True},
    "observation": {
        "interface": "queue_marking",
        "window": 2,
        "params": {"capacity_bytes": 156_250},
        "features": [
            {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"},
            {"kind": "bucket", "signal": "queue_bytes", "first": 5_000, "count": 10},
        ],
    },
    "action": FOUR,
}
SENT = {"weight": 0.7, "feature": {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"}}
QUEUE = {"weight": -0.3, "feature": {"kind": "bucket", "signal": "queue_bytes", "first": 20_000, "count": 10}}
CONFIG: dict[str, Any] = {
    "format": 1,
    "policy": POLICY,
    "network": {"link": "25 Gb/s"},
    "ddqn": {
        "seed": 3,
        "senders": "dcqcn",
        "period": "50 us",
        "decision_latency": "10 us",
        "scenarios": ["incast:4", "many-to-one:8"],
        "episode": "4 ms",
        "reward": [SENT, QUEUE],
        "rounds": 4,
        "updates": 20,
        "batch": 32,
        "memory": 300,
        "target_every": 15,
        "validation_interval": 2,
        "validation_scenarios": ["many-to-one:4"],
        "validation_seeds": [7],
    },
}


def config(**ddqn: Any) -> DdqnConfig:
    return DdqnConfig.model_validate(CONFIG | {"ddqn": CONFIG["ddqn"] | ddqn})
