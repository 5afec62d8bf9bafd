"""Make the files of this folder with Stable-Baselines3 itself, and compare rlcc's reading with `model.predict`.

Needs what rlcc does not: pip install stable-baselines3==2.9.2 sb3-contrib==2.9.2
python tests/teachers/sb3_models/make.py compare     10,000 observations of each model, nothing is written
python tests/teachers/sb3_models/make.py write       the models with 40 observations and their actions

Each model learns for a moment in an environment without meaning, then its last layer is multiplied: many of its outputs
lie beyond the ends. Of a saved file `data`, without its pickles, and `policy.pth` are kept.
"""

import io
import json
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, DDPG, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from teachers.inference import outputs_of
from teachers.load import load_with_layout

HERE = Path(__file__).parent
ROWS, KEPT = 10_000, 40
TOLERANCE = 5e-6
"""Of an action, relative to half the width of its space."""


class Environment(gymnasium.Env[Any, Any]):
    def __init__(self, size: int, low: float, high: float) -> None:
        self.observation_space = gymnasium.spaces.Box(-100, 100, (size,), np.float32)
        self.action_space = gymnasium.spaces.Box(low, high, (1,), np.float32)

    def _observed(self) -> Any:
        return observations(self.np_random, 1, self.observation_space.shape[0])[0]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self._observed(), {}

    def step(self, action: Any) -> Any:
        return self._observed(), -float(action[0] ** 2), False, bool(self.np_random.random() < 0.05), {}


def observations(random: Any, rows: int, size: int) -> Any:
    """Numbers of different means and deviations, as observations are."""
    number = np.arange(size)
    return (random.normal(size=(rows, size)) * (1 + number) + 0.5 * number).astype(np.float32)


PPO_SHORT: dict[str, Any] = {"n_steps": 64, "batch_size": 32}
REPLAY: dict[str, Any] = {"learning_starts": 20, "buffer_size": 200}
SILU = torch.nn.SiLU
MODELS: dict[str, tuple[Any, int, float, float, dict[str, Any], dict[str, Any]]] = {
    "ppo": (PPO, 4, -1, 1, PPO_SHORT, {"net_arch": [12]}),
    "ppo-small-box": (PPO, 4, -0.2, 0.2, PPO_SHORT, {"net_arch": [12]}),
    "ppo-vec-normalize": (PPO, 4, -0.1, 0.3, PPO_SHORT, {"net_arch": [12, 8], "activation_fn": SILU}),
    "ppo-squashed": (PPO, 4, -0.2, 0.2, PPO_SHORT | {"use_sde": True}, {"net_arch": [12], "squash_output": True}),
    "a2c": (A2C, 4, -2, 2, {}, {"net_arch": [12], "activation_fn": torch.nn.ReLU}),
    "sac-small-box": (SAC, 4, -0.2, 0.2, REPLAY, {"net_arch": [12, 8]}),
    "sac-gsde": (SAC, 4, -1, 1, REPLAY | {"use_sde": True}, {"net_arch": [12]}),
    "sac-gsde-clip": (SAC, 4, -0.2, 0.2, REPLAY | {"use_sde": True}, {"net_arch": [12], "clip_mean": 0.5}),
    "td3": (TD3, 4, -1, 1, REPLAY, {"net_arch": [12]}),
    "ddpg-vec-normalize": (DDPG, 4, -1, 1, REPLAY, {"net_arch": [12]}),
    "recurrent-ppo": (
        RecurrentPPO,
        2,
        -1,
        1,
        PPO_SHORT,
        {"net_arch": [12], "n_lstm_layers": 2, "lstm_hidden_size": 8},
    ),
}
CLIP_OBS = 1.5
FACTORS = {PPO: 60, A2C: 12, RecurrentPPO: 2000}
"""Of the last layer's weights; PPO begins with small ones."""


def trained(name: str) -> tuple[Any, Any]:
    """The model and its VecNormalize, None where it has none."""
    kind, size, low, high, options, policy = MODELS[name]
    venv: Any = DummyVecEnv([lambda: Environment(size, low, high)])
    if "vec-normalize" in name:
        venv = VecNormalize(venv, clip_obs=CLIP_OBS)
    model = kind(
        "MlpLstmPolicy" if kind is RecurrentPPO else "MlpPolicy",
        venv,
        policy_kwargs=policy,
        seed=1,
        device="cpu",
        **options,
    )
    model.learn(128)
    last = model.policy.action_net if hasattr(model.policy, "action_net") else model.policy.actor.mu
    layers = [last] if isinstance(last, torch.nn.Linear) else [each for each in last if hasattr(each, "weight")]
    with torch.no_grad():
        layers[-1].weight.mul_(FACTORS.get(kind, 10))
    return model, venv if isinstance(venv, VecNormalize) else None


def predicted(model: Any, statistics: Any, rows: Any) -> Any:
    """Actions [N] of model.predict; one run of decisions where the network has a memory."""
    seen = rows if statistics is None else statistics.normalize_obs(rows)
    if not isinstance(model, RecurrentPPO):
        return model.predict(seen, deterministic=True)[0][:, 0]
    actions, state = [], None
    for number, row in enumerate(seen):
        action, state = model.predict(row[None], state, np.array([number == 0]), deterministic=True)
        actions.append(action[0, 0])
    return np.array(actions)


def read(name: str, folder: Path, rows: Any) -> Any:
    """Actions [N] of the teacher that rlcc reads, spread to the ends."""
    _, _, low, high, _, _ = MODELS[name]
    teacher, _ = load_with_layout(folder / f"{name}.zip", HERE / f"{name}.toml")
    x = outputs_of(teacher, rows, np.zeros(1, dtype=np.int64))[:, 0].astype(np.float64)
    return low + (high - low) * (x + 1) / 2


def stripped(path: Path) -> None:
    """Leave `data` without its pickles, which name paths of this machine, and `policy.pth`."""
    with zipfile.ZipFile(path) as archive:
        data, weights = json.loads(archive.read("data")), archive.read("policy.pth")
    for value in data.values():
        if isinstance(value, dict) and ":serialized:" in value:
            value[":serialized:"] = ""
            for key in [key for key in value if key.startswith("__") and key not in ("__module__", "__init__")]:
                del value[key]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("data", json.dumps(data, indent=1).encode()), ("policy.pth", weights)):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def main(command: str) -> None:
    torch.set_num_threads(1)
    rows_of = {size: observations(np.random.default_rng(3), ROWS, size) for size in (2, 4)}
    kept: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, (_, size, low, high, _, _) in MODELS.items():
            model, statistics = trained(name)
            folder = HERE if command == "write" else Path(scratch)
            model.save(folder / f"{name}.zip")
            if statistics is not None:
                statistics.save(str(HERE / f"{name}.pkl"))
            rows = rows_of[size]
            actions = predicted(model, statistics, rows)
            off = float(np.abs(read(name, folder, rows) - actions).max()) / ((high - low) / 2)
            ends = float(np.mean((actions <= np.float32(low)) | (actions >= np.float32(high))))
            print(
                f"{name:20} {off:.2e} off in {len(rows):,} observations, {ends:.1%} at an end, "
                f"{np.std(actions):.3f} deviation"
            )
            assert off < TOLERANCE
            if command == "write":
                stripped(folder / f"{name}.zip")
                kept |= {f"{name}.rows": rows[:KEPT], f"{name}.actions": actions[:KEPT]}
    if command == "write":
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **kept)
        (HERE / "predicted.npz").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main(sys.argv[1])
