"""PPO: what a decision answers for is its own flow's, networks are those of an episode, the same recipe repeats."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.documents import load_toml
from netsim.environments.episode import Episode
from netsim.environments.task import Task
from netsim.network import MS
from rlcc import cli
from teachers.checkpoint import checkpoint_path
from teachers.many_networks import ManyNetworks
from teachers.ppo import ENDED, OPEN, PpoLearner, PpoRollout, advantages, begun, played, train
from teachers.ppo_options import PpoConfig
from teachers.transitions import RewardTerm

RECIPES = Path(__file__).parents[2] / "recipes"
SMALL = {
    "kernels": "any",  # as all trainings of this process
    "rounds": 3,
    "episode": 2,
    "rollouts_per_scenario": 1,
    "rollout": 10,
    "epochs": 2,
    "validation_interval": 1,
    "validation_duration": "1 ms",
}
RAW = {"weight": -1.0, "power": 2, "feature": {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": 1.0}}


def content(name: str = "train-flows-ppo.toml", **ppo: Any) -> dict[str, Any]:
    found = tomllib.loads((RECIPES / name).read_text())
    found["ppo"] |= SMALL | ppo
    return found


def config(name: str = "train-flows-ppo.toml", **ppo: Any) -> PpoConfig:
    return PpoConfig.model_validate(content(name, **ppo))


def rollout(value: list[float], reward: list[float], after: list[int]) -> PpoRollout:
    n = len(after)
    floats = (np.array(x, np.float32) for x in ([0.0] * n, [0.0] * n, value, reward))
    return PpoRollout(np.zeros((n, 1), np.float32), *floats, np.array(after))


def test_a_decision_answers_for_its_own_flows_next_ones() -> None:
    """Flow A decides 0, 2 and 4, which is open; flow B decides 1 and 3, with which its life ends."""
    made = rollout([1, 2, 3, 4, 5], [10, 20, 30, 40, 99], [2, 3, 4, ENDED, OPEN])
    found = advantages(made, made.reward, gamma=0.5, gae_lambda=0.5)
    third = 30 + 0.5 * 5 - 3
    last = 40 - 4
    np.testing.assert_allclose(
        found, [10 + 0.5 * 3 - 1 + 0.25 * third, 20 + 0.5 * 4 - 2 + 0.25 * last, third, last, 0], rtol=1e-6
    )


def test_networks_side_by_side_are_episodes() -> None:
    """The same actions lead to the same observations and rewards, decision by decision, in each of two networks."""
    tasks = [Task(name, duration_ps=MS // 5) for name in ("many-to-one:3", "many-to-one:2")]
    many = ManyNetworks(tasks, [5, 6], [RewardTerm.model_validate(RAW)])
    episodes = [Episode(task, seed) for task, seed in zip(tasks, (5, 6), strict=True)]
    random, asked = np.random.default_rng(0), 0
    while many.flow.size:
        actions = random.uniform(-1, 1, many.flow.size).astype(np.float32)
        for first, episode in zip(many.first, episodes, strict=False):
            its = (many.flow >= first) & (many.flow < first + episode.decides.size)
            if not its.any():
                continue
            flow = many.flow[its] - first
            assert sorted(flow) == np.flatnonzero(episode.decides).tolist()
            np.testing.assert_array_equal(many.observed[its], episode.observations[flow])
            np.testing.assert_allclose(many.reward[its], episode.rewards[flow])
            every = np.zeros(episode.decides.size, np.float32)
            every[flow] = actions[its]
            episode.answer(every)
        asked += many.flow.size
        many.answer(actions)
    assert asked > 20
    assert all(episode.over for episode in episodes)


@pytest.mark.parametrize("name", ["train-flows-ppo.toml", "train-flows-ppo-six.toml"])
def test_what_pays_is_drawn_more_often(name: str) -> None:
    """A decision ends at once; the reward is where between the ends it was drawn."""
    given = config(name, epochs=20, learning_rate=0.01, entropy=0.0)
    learner, random = PpoLearner(given.policy, given.ppo), np.random.default_rng(0)
    observed = np.zeros((256, given.policy.observation.size), np.float32)
    before = float(learner.draw(observed, random)[0].mean())
    for _ in range(3):
        drawn, log_pi, value = learner.draw(observed, random)
        learner.learn(PpoRollout(observed, drawn, log_pi, value, drawn, np.full(256, ENDED)), 0.0, random)
    assert float(learner.draw(observed, random)[0].mean()) > before + 0.3


def test_a_round_gives_every_flow_its_decisions() -> None:
    given = config()
    made = played(PpoLearner(given.policy, given.ppo), begun(given, 0), np.random.default_rng(0))
    assert len(made) >= 10 * (2 + 4 + 8)
    following = made.after[made.after >= 0]
    assert (following > np.flatnonzero(made.after >= 0)).all()
    assert np.unique(following).size == following.size
    assert (made.after == OPEN).sum() <= 2 + 4 + 8
    assert (made.reward[made.after != OPEN] <= 0).all()


def test_the_same_recipe_gives_the_same_weights_resumed_or_not(tmp_path: Path) -> None:
    whole = train(config(), tmp_path / "whole")
    assert len(whole.curve) == 3

    class Interrupted(Exception):
        pass

    def stop(said: str) -> None:
        if said.startswith("round 2"):
            raise Interrupted

    with pytest.raises(Interrupted):
        train(config(), tmp_path / "parts", progress=stop)
    assert checkpoint_path(tmp_path / "parts").exists()
    assert train(config(), tmp_path / "parts", resume=True).teacher.hash == whole.teacher.hash


def test_training_ends_when_so_many_decisions_were_played(tmp_path: Path) -> None:
    report = train(config(rounds=50, decisions=200), tmp_path / "few")
    assert report.rounds == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "multiplier"\nlow = 0.8\nhigh = 1.2', 'kind = "tanh_map"\nstep = 0.2', "is a tanh_map"),
        ("window = 4", "window = 4\nacks = true", "leave acks out"),
        ("window = 4", "window = 4\ndevice_rate = true", "leave device_rate out"),
        ("weight = -1.0\npower = 2", "weight = -1.0\npower = 3", "ppo.reward.0.power"),
        ("weight = -1.0", "weight = -1.0\nlimit = 0.0", "ppo.reward.0.limit"),
        ("seed = 1", 'seed = 1\nsenders = "dcqcn"', "ppo.senders"),
    ],
)
def test_wrong_recipes_get_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    text = (RECIPES / "train-flows-ppo.toml").read_text()
    assert old in text
    (tmp_path / "r.toml").write_text(text.replace(old, new, 1))
    assert cli.main(["train", str(tmp_path / "r.toml"), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


def test_the_shipped_recipes_have_equal_budgets() -> None:
    shipped = [load_toml(PpoConfig, path) for path in RECIPES.glob("train-flows-*.toml") if "[ppo]" in path.read_text()]
    assert {each.ppo.decisions for each in shipped} == {50_000}
