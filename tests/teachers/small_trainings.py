"""Small trainings of each method: python small_trainings.py KERNELS [NAME ..] prints the hash of what each ends in."""

import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from teachers.methods import METHODS, method_of
from teachers.training_log import TrainingLog

RECIPES = Path(__file__).parents[2] / "recipes"
ADPG = {"episodes": 2, "segments": 3, "rollout": 8, "horizon": 5, "scenarios": ["many-to-one:2", "many-to-one:4"]}
ADPG_VALIDATION = {"flows": [2], "every": 1, "settle": "1 ms", "measure": "1 ms", "intervals": 10}
ROUNDS = {"rounds": 2, "validation_interval": 1, "validation_seeds": [7]}
FLOWS = ROUNDS | {
    "scenarios": ["many-to-one:2", "many-to-one:4"],
    "validation_scenarios": ["many-to-one:2"],
    "decisions": 10**6,
}
PPO = FLOWS | {"rollouts_per_scenario": 1, "rollout": 10, "epochs": 2, "validation_duration": "1 ms"}
REPLAY = {"updates": 5, "batch": 16, "episode": "2 ms"}
QUEUES = ROUNDS | REPLAY | {"scenarios": ["incast:4"], "validation_scenarios": ["many-to-one:4"]}
PLANES = {"scenarios": ["websearch:90%@planes:3x4:1"], "validation_scenarios": ["websearch:90%@planes:3x4:1"]}
PG = (
    ROUNDS
    | PLANES
    | {
        "episode": "40 ms",
        "horizon": "10 ms",
        "validation_duration": "50 ms",
        "rollouts_per_scenario": 2,
        "batch": 32,
        "stay_probability": 0,
    }
)

SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "adpg": ("rl-cc-mlp", ADPG),
    "adpg-lstm": ("rl-cc-lstm-small", ADPG),
    "adpg-changing": ("robust", ADPG | {"scenarios": ["many-to-one:4", "long-short:3"], "segments": 6}),
    "adpg-devices": ("rl-cc-devices", ADPG | {"scenarios": ["many-to-one:2x16", "many-to-one:4"]}),
    "ppo": ("flows-ppo", PPO),
    "ppo-table": ("flows-ppo-six", PPO),
    "ddqn": ("flows-ddqn", FLOWS | REPLAY),
    "ddqn-trigger": ("haecn", QUEUES | {"trigger": {"price": 0.05, "rounds": 1}}),
    "ddpg": ("flows-ddpg", FLOWS | REPLAY),
    "pg": ("auto-lrla", PG),
}
"""Of each training the recipe that it comes from, and what is smaller of it."""


def weights_hash(name: str, kernels: str, folder: Path) -> str:
    """The hash of what the training ends in."""
    recipe, changes = SMALL[name]
    document = tomllib.loads((RECIPES / f"train-{recipe}.toml").read_text())
    method = method_of(document)
    document[method.table] |= changes | {"kernels": kernels}
    if method is METHODS["training"]:
        document["validation"] = ADPG_VALIDATION
    return method.train(method.config.model_validate(document), folder / name).teacher.hash


if __name__ == "__main__":
    TrainingLog.draw = lambda log: None  # the curves take longer than the training
    with TemporaryDirectory() as where:
        for each in sys.argv[2:] or SMALL:
            print(each, weights_hash(each, sys.argv[1], Path(where)), flush=True)
