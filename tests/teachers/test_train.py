"""ADPG: the gradient is the one of the paper, training improves a policy, and a resumed run is the same run.

Slow: further recipes of resumed and short trainings, and traffic that changes.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

import teachers
from decision.artefact.documents import load_toml
from decision.artefact.errors import InputError
from netsim.network import MS
from teachers.adpg import EpisodeReport, Segment, cost_of, loss, train, validate
from teachers.checkpoint import checkpoint_path
from teachers.curriculum import TrainConfig, load_recipe
from teachers.ddpg_options import DdpgConfig
from teachers.ddqn_options import DdqnConfig
from teachers.networks import seeded
from teachers.pg_options import PgConfig
from teachers.ppo_options import PpoConfig
from teachers.validation import Changing, Measured

RECIPES = Path(__file__).resolve().parents[2] / "recipes"


@pytest.fixture
def make_config(make_policy: Any) -> Any:
    def make(episodes: int = 4, lstm: int | None = None, **training: Any) -> TrainConfig:
        policy = make_policy(hidden=[12], lstm=lstm, bias=lstm is not None)
        content = {
            "format": 1,
            "policy": policy.model_dump(mode="json"),
            "training": {
                "seed": 5,
                "scenarios": ["many-to-one:2", "many-to-one:4"],
                "episodes": episodes,
                "segments": 10,
                "learning_rate": 0.01,
                "delta_limit": 1.0,
                **training,
            },
            "validation": {"flows": [2, 4], "every": 2, "settle": "5 ms", "measure": "2 ms"},
        }
        return TrainConfig.model_validate(content)

    return make


def segment_of(delta: list[float], rows: Any) -> Segment:
    column = np.array(delta, dtype=np.float32)[:, None]
    return Segment(rows.astype(np.float32), column, np.array([len(delta)]), np.zeros((1, 0), np.float32))


def test_gradient_is_reward_to_go_times_policy_gradient(make_config: Any) -> None:
    config = make_config(horizon=2, action_difference=0.0, leak=0.0, gamma=0.5, delta_limit=10.0)
    network = seeded(config.policy, 0)
    random = np.random.default_rng(1)
    rows, delta = random.normal(size=(5, 1, 4)), [0.3, -0.2, 0.05, 0.6, -0.4]
    loss(network, segment_of(delta, rows), config.training, target=0.1).backward()
    found = network.out.weight.grad.clone()

    network.zero_grad()
    outputs = network(torch.from_numpy(rows.astype(np.float32)))[:, 0]
    # The last two decisions have no two deltas after them: nobody knows what followed.
    expected = sum((delta[t + 1] + 0.5 * delta[t + 2]) / 0.1 * outputs[t] for t in range(3)) / 3
    (-expected).backward()
    assert torch.allclose(found, network.out.weight.grad, rtol=1e-5)


def test_congestion_that_follows_lowers_the_action(make_config: Any) -> None:
    config = make_config(horizon=1)
    rows = np.tile(np.array([1.0, 0.4, 1.0, 0.2]), (6, 1, 1))
    for delta, sign in ((-0.05, -1), (0.05, 1)):
        network = seeded(config.policy, 0)
        before = network(torch.from_numpy(rows.astype(np.float32))).mean().item()
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        loss(network, segment_of([delta] * 6, rows), config.training, target=0.064).backward()
        optimizer.step()
        after = network(torch.from_numpy(rows.astype(np.float32))).mean().item()
        assert (after - before) * sign > 0


def test_saturated_in_the_wrong_direction_finds_back(make_config: Any) -> None:
    """tanh(40) has no gradient in float32; the leak has. Saturated in the right direction, nothing pushes further."""
    config = make_config(horizon=1, action_difference=0.0)
    network = seeded(config.policy, 0)
    rows = np.full((4, 1, 4), 1e4)
    up = network.logits(torch.from_numpy(rows.astype(np.float32))).mean().item() > 0
    for delta, moves in ((-1.0 if up else 1.0, True), (1.0 if up else -1.0, False)):
        network.zero_grad()
        loss(network, segment_of([delta] * 4, rows), config.training, target=0.064).backward()
        assert bool(network.out.weight.grad.abs().max() > 0) is moves


@pytest.mark.slow_except("None")
@pytest.mark.parametrize("lstm", [None, 8])
def test_short_training_improves_the_policy(tmp_path: Path, make_config: Any, lstm: int | None) -> None:
    config = make_config(episodes=6, lstm=lstm, segments=25)
    untrained = np.mean([m.cost for m in validate(config, seeded(config.policy, config.training.seed).weights())])
    steps: list[EpisodeReport] = []
    report = train(config, tmp_path / "t", progress=steps.append)
    assert report.cost < 0.2 * untrained
    assert len(steps) == report.episodes == 6
    assert steps[-1].best_cost == report.cost
    loaded = teachers.load(tmp_path / "t")
    assert loaded.hash == report.teacher.hash
    assert loaded.policy.provenance["seed"] == 5
    assert not checkpoint_path(tmp_path / "t").exists()


class Interruption(Exception):
    """Stands for Ctrl-C or a power cut."""


CHANGING: dict[str, Any] = {
    "scenarios": ["many-to-one:2", "long-short:3", "incast:2x50KB"],
    "segments": 13,
    "starts": ["100 ppm", "100 %"],
    "randomise": {"link_gbps": [25, 100], "base_rtt": ["6 us", "20 us"], "decision_loss": [0.05, 0.3]},
    "credit": {"others": "shared", "newcomer": 2, "by_rate": True},
}


@pytest.mark.slow_except("4-options1")
@pytest.mark.parametrize(("lstm", "options"), [(None, {}), (4, {}), (None, CHANGING), (4, CHANGING)])
def test_resumed_run_is_bit_equal(tmp_path: Path, make_config: Any, lstm: int | None, options: dict[str, Any]) -> None:
    config = make_config(lstm=lstm, **options)
    whole = train(config, tmp_path / "whole")

    def interrupt(step: EpisodeReport) -> None:
        if step.episode == 3:
            raise Interruption

    with pytest.raises(Interruption):
        train(config, tmp_path / "parts", progress=interrupt)
    assert not (tmp_path / "parts").exists()
    resumed = train(config, tmp_path / "parts", resume=True)
    assert resumed.teacher.hash == whole.teacher.hash
    for name in ("policy.safetensors", "policy.toml", "manifest.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()


def test_a_recipe_is_judged_in_changing_traffic_too(make_config: Any) -> None:
    config = make_config()
    changing = {"changing": ["incast:2x50KB"], "changing_time": 12 * MS, "changing_weight": 0.5}
    v = config.validation.model_copy(update=changing)
    measured = validate(config.model_copy(update={"validation": v}), seeded(config.policy, 1).weights())
    assert [type(m) for m in measured] == [Measured, Measured, Changing]
    assert cost_of(v, measured) == pytest.approx((measured[0].cost + measured[1].cost) / 2 + 0.5 * measured[2].cost)
    assert cost_of(v, measured[:2]) == pytest.approx((measured[0].cost + measured[1].cost) / 2)


@pytest.mark.slow
def test_traffic_that_changes_has_a_weight_of_its_own(tmp_path: Path, make_config: Any) -> None:
    def trained(name: str, scenario: str, weight: float) -> str:
        config = make_config(1, scenarios=["many-to-one:2", scenario], segments=4, changing_weight=weight)
        return train(config, tmp_path / name).teacher.hash

    assert trained("a", "incast:4x200KB", 1.0) != trained("b", "incast:4x200KB", 0.25)
    assert trained("c", "many-to-one:4", 1.0) == trained("d", "many-to-one:4", 0.25)


@pytest.mark.slow
def test_another_seed_is_another_teacher(tmp_path: Path, make_config: Any) -> None:
    one = train(make_config(episodes=1), tmp_path / "a").teacher
    assert train(make_config(episodes=1, seed=6), tmp_path / "b").teacher.hash != one.hash


def test_resume_refusals(tmp_path: Path, make_config: Any) -> None:
    with pytest.raises(InputError, match="train without --resume"):
        train(make_config(), tmp_path / "t", resume=True)

    def interrupt(step: EpisodeReport) -> None:
        raise Interruption

    with pytest.raises(Interruption):
        train(make_config(), tmp_path / "t", progress=interrupt)
    with pytest.raises(InputError, match="another recipe"):
        train(make_config(horizon=4), tmp_path / "t", resume=True)
    path = checkpoint_path(tmp_path / "t")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="readable checkpoint"):
        train(make_config(), tmp_path / "t", resume=True)


def test_foreign_folder_is_refused_before_training(tmp_path: Path, make_config: Any) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    steps: list[EpisodeReport] = []
    for place in (tmp_path / "mine", tmp_path / "mine" / "thesis.tex"):
        with pytest.raises(InputError, match="name another place"):
            train(make_config(), place, progress=steps.append)
    assert steps == []
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "x"


def test_early_stop_keeps_the_best(tmp_path: Path, make_config: Any) -> None:
    """With a learning rate of nothing no validation beats the first."""
    config = make_config(episodes=20, learning_rate=1e-12, final_learning_rate=1e-12, segments=1)
    patient = config.validation.model_copy(update={"every": 1, "patience": 2})
    report = train(config.model_copy(update={"validation": patient}), tmp_path / "t")
    assert (report.stopped_early, report.episodes, report.best_episode) == (True, 3, 1)


def test_training_goes_on_from_another_teacher(tmp_path: Path, make_config: Any) -> None:
    first = train(make_config(), tmp_path / "first")
    config = make_config(episodes=1, segments=1, start=str(tmp_path / "first"), learning_rate=1e-9)
    second = train(config, tmp_path / "second").teacher
    for name, weights in second.weights.items():
        assert np.abs(weights - first.teacher.weights[name]).max() < 1e-7


def test_without_an_episode_a_teacher_keeps_its_weights_under_another_policy(tmp_path: Path, make_config: Any) -> None:
    first = train(make_config(), tmp_path / "first").teacher
    config = make_config(episodes=0, start=str(tmp_path / "first"))
    other = config.model_copy(update={"policy": config.policy.model_copy(update={"name": "other"})})
    report = train(other, tmp_path / "second")
    assert (report.episodes, report.best_episode, report.stopped_early) == (0, 0, False)
    assert report.teacher.policy.name == "other"
    assert report.teacher.policy.provenance["cost"] == pytest.approx(report.cost, abs=1e-6)
    assert 0 <= report.cost < float("inf")
    assert all((report.teacher.weights[name] == first.weights[name]).all() for name in first.weights)


def test_without_an_episode_there_must_be_a_teacher_to_start_from(make_config: Any) -> None:
    with pytest.raises(ValidationError, match="give start"):
        make_config(episodes=0)


METHODS = {"ddqn": DdqnConfig, "ddpg": DdpgConfig, "pg": PgConfig, "ppo": PpoConfig}
"""By the table of a recipe; one without any is for ADPG."""


@pytest.mark.parametrize("recipe", sorted(RECIPES.glob("train-*.toml")), ids=lambda p: p.stem)
def test_recipes_are_valid(recipe: Path) -> None:
    text = recipe.read_text()
    method = next((config for table, config in METHODS.items() if f"[{table}]" in text), None)
    config: Any = load_recipe(recipe) if method is None else load_toml(method, recipe)
    assert config.policy.name == recipe.stem.removeprefix("train-")
    assert f"rlcc train recipes/{recipe.name} " in config.policy.provenance["command"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 2", "seed = 2\nsead = 2", "sead"),
        ('"many-to-one:8"', '"many-to-none:8"', "many-to-none"),
        ("every = 5", 'every = 5\nchanging = ["websearch:0%"]', "a load of 0 %"),
        ("seed = 2", 'seed = 2\nstarts = ["100 %", "1 ppm"]', "must ascend"),
        ("seed = 2", 'seed = 2\ncredit = { others = "blamed" }', "training.credit.others"),
        ("learning_rate = 0.003", "learning_rate = -1", "learning_rate"),
        ('kind = "rl_cc_congestion"\ntarget = 0.064\nbeta = 1.5\nscale = -12.5', 'kind = "rate"', "congestion feature"),
    ],
)
def test_wrong_recipes(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (RECIPES / "train-rl-cc-mlp.toml").read_text()
    assert old in text
    (tmp_path / "r.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_recipe(tmp_path / "r.toml")
