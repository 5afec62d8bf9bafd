"""A trigger is learnt after its policy, which stays; and what a recipe has to say of it.

Slow: that the policy learns first.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from queue_actions import FOUR

from decision.policy.records import Trajectories
from netsim.policies import native
from netsim.trials import run
from teachers import ddqn
from teachers.ddqn_options import DdqnConfig
from teachers.ddqn_trigger import policy_path, train
from teachers.load import load
from teachers.transitions import transitions, trigger_transitions

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
TRIGGER = {"hidden": [6], "saved": 2}
SHORT = {"rounds": 1, "updates": 5, "validation_interval": 1, "scenarios": ["incast:4"], "episode": "2 ms"}


def config(**changes: Any) -> DdqnConfig:
    told = {"trigger": {"price": 0.05, "rounds": 2}} | changes
    return DdqnConfig.model_validate(
        CONFIG | {"policy": POLICY | {"trigger": TRIGGER}, "ddqn": CONFIG["ddqn"] | SHORT | told}
    )


@pytest.mark.slow
def test_the_policy_learns_first_and_stays_as_it_is(tmp_path: Path) -> None:
    told: list[str] = []
    report = train(config(), tmp_path / "both", progress=told.append)
    alone = ddqn.train(config().untriggered(), tmp_path / "alone")
    both = load(tmp_path / "both")
    assert both.hash == report.teacher.hash
    assert both.policy.observation.interface == "queue_marking_triggered"
    assert all((both.weights[name] == weights).all() for name, weights in alone.teacher.weights.items())
    assert {name for name in both.weights if name not in alone.teacher.weights} == {
        f"trigger_{layer}.{part}" for layer in ("fc0", "out") for part in ("weight", "bias")
    }
    assert [line.partition(",")[0] for line in told] == ["round 1 of 1", "trigger", "trigger"]
    assert not policy_path(tmp_path / "both").exists()


def test_a_transition_of_the_trigger_costs_its_price_and_sees_what_was_saved(tmp_path: Path) -> None:
    made = config()
    both = train(made, tmp_path / "both").teacher
    deployment = made.deployment()
    trial = deployment.trial(
        native(both.policy, both.weights), "incast:4", seed=1, duration_ps=10**9, record_ps=10**9, decision_latency_ps=0
    )
    (outcome,) = run([trial])
    states = Trajectories.of(
        outcome.records[1], both.policy.observation.agents, deployment.places("incast:4", 1, 10**9)
    )
    free, dear = (trigger_transitions(states, both.policy, made.ddqn.reward, price) for price in (0.0, 0.5))
    assert free.before.shape[1] == both.policy.observation.size + both.policy.saved_size
    np.testing.assert_allclose(free.reward - dear.reward, 0.5 * free.action, atol=1e-6)
    asked = transitions(states, both.policy, made.ddqn.reward)
    assert len(free) == len(asked) - len({int(q) for q in states.columns["queue"]}), "not in an agent's first decision"


@pytest.mark.parametrize(
    ("policy", "trigger"), [({"trigger": TRIGGER}, None), ({}, {"price": 0.05}), ({"trigger": TRIGGER}, {"price": -1})]
)
def test_a_recipe_has_both_tables_or_none(policy: dict[str, Any], trigger: dict[str, Any] | None) -> None:
    ddqn_table = CONFIG["ddqn"] | ({} if trigger is None else {"trigger": trigger})
    with pytest.raises(ValidationError, match=r"ddqn\.trigger"):
        DdqnConfig.model_validate(CONFIG | {"policy": POLICY | policy, "ddqn": ddqn_table})
