"""DDPG: what it descends, what it is rewarded for, and that the same recipe gives the same weights.

Slow: that it learns; the fast suite trains and resumes.
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from decision.artefact.documents import load_toml
from decision.policy.records import Trajectories
from netsim.network import MS
from rlcc import cli
from teachers.checkpoint import checkpoint_path
from teachers.ddpg import DdpgLearner, played, train
from teachers.ddpg_options import DdpgConfig
from teachers.transitions import Transitions, growing

RECIPE = Path(__file__).parents[2] / "recipes" / "train-auto-srla.toml"
SMALL = {
    "kernels": "any",  # as all trainings of this process
    "scenarios": ["messages:60%@planes:1x4:1"],
    "validation_scenarios": ["messages:60%@planes:1x4:1"],
    "validation_seeds": [7001],
    "episode": "30 ms",
    "period": "3 ms",
    "decision_latency": "1 ms",
    "rounds": 2,
    "updates": 5,
    "batch": 8,
    "validation_interval": 1,
}


def config(**ddpg: Any) -> DdpgConfig:
    content = tomllib.loads(RECIPE.read_text())
    content["ddpg"] |= SMALL | ddpg
    return DdpgConfig.model_validate(content)


def test_the_same_recipe_gives_the_same_weights_resumed_or_not(tmp_path: Path) -> None:
    whole = train(config(), tmp_path / "whole")
    again = train(config(), tmp_path / "again")
    assert whole.teacher.hash == again.teacher.hash
    assert len(whole.curve) == 2

    class Interrupted(Exception):
        pass

    def stop(_: str) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        train(config(), tmp_path / "parts", progress=stop)
    assert checkpoint_path(tmp_path / "parts").exists()
    assert train(config(), tmp_path / "parts", resume=True).teacher.hash == whole.teacher.hash


def test_what_is_remembered_of_an_action_is_where_each_threshold_lay() -> None:
    """Noise moves them, between -1 and 1 and ascending."""
    small = config(exploration=2.0)
    learner = DdpgLearner(small.policy, small.ddpg)
    rows = played(small, learner.network.weights(), 0)
    assert rows.action.shape == (len(rows), 3)
    assert rows.action.min() >= -1.001
    assert rows.action.max() <= 1.001
    assert np.unique(rows.action[:, 0]).size > 3


def test_the_reward_is_what_follows_over_what_went_before() -> None:
    small = config()
    names = small.policy.observation.agents.event_names
    flows, rates = np.array([4, 4, 0, 2, 2]), np.array([0.2, 0.4, 0.0, 0.5, 0.1])
    columns = {name: np.zeros(5, np.uint32) for name in names}
    columns |= {"flows_q16": (flows << 16).astype(np.uint32), "rates_q16": (flows * rates * 65536).astype(np.uint32)}
    columns |= {knob: np.full(5, 500_000, np.uint32) for knob in small.policy.observation.agents.knob_names}
    columns |= {"t_ps": np.arange(5) * MS, "network": np.zeros(5, np.uint32), "step": np.arange(5, dtype=np.uint32)}
    records = Trajectories.of(columns, small.policy.observation.agents)
    rows = growing(records, small.policy, small.ddpg.reward, 4.0)
    assert rows.reward == pytest.approx([2.0, 1.0, 1.0, 0.2], rel=0.02)


@pytest.mark.slow
def test_it_learns_which_action_is_worth_most() -> None:
    """One step, no future: the reward falls with the distance of the action from 0.5, whatever is seen."""
    small = config(batch=64, gamma=0.0, learning_rate=1e-3, critic_learning_rate=3e-3)
    learner = DdpgLearner(small.policy, small.ddpg)
    random = np.random.default_rng(1)
    rows = random.uniform(0, 1, (2000, small.policy.observation.size)).astype(np.float32)
    action = random.uniform(-1, 1, (2000, 3)).astype(np.float32)
    reward = (-((action - 0.5) ** 2).sum(axis=1)).astype(np.float32)
    learner.memory.add(Transitions(rows, action, reward, rows, np.ones(2000, np.float32)))
    learner.learn(800, random)
    with torch.no_grad():
        chosen = learner.act(learner.network, torch.from_numpy(rows)).numpy()
    assert np.abs(chosen - 0.5).mean() < 0.15


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("policy", "action"), {"kind": "choice", "rows": []}, "choice"),
        (("policy", "action", "knobs", "threshold_2_bytes"), {"low": 1, "high": 9}, "needs not_below"),
        (("ddpg", "episode"), "5 ms", "three periods"),
        (("ddpg", "senders"), "reno", "reno"),
        (("network", "demotion"), [[3, 2, 1]], "must ascend"),
        (("network", "class_weights"), [0, 0], "queues"),
    ],
)
def test_what_cannot_be_trained_is_told(path: tuple[str, ...], value: Any, says: str) -> None:
    content = tomllib.loads(RECIPE.read_text())
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ValidationError, match=says):
        DdpgConfig.model_validate(content)


def test_a_bad_recipe_ends_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(RECIPE.read_text().replace("[[217_671, 2_150_843, 10_689_924]]", "[[1, 2, 3, 4]]"))
    assert cli.main(["train", str(bad), "--out", str(tmp_path / "out")]) == 2
    assert "5 levels, and class_weights" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_shipped_recipe_is_one() -> None:
    assert load_toml(DdpgConfig, RECIPE).ddpg.rounds > 1
