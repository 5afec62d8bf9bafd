"""An old key of a training recipe is refused: one sentence that names the new one."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from decision.artefact.documents import _models, validate
from decision.artefact.errors import InputError
from decision.artefact.renamed_keys import new_names
from teachers.credit import Credit
from teachers.curriculum import TrainConfig
from teachers.ddpg_options import DdpgConfig
from teachers.ddqn_options import DdqnConfig
from teachers.pg_options import PgConfig
from teachers.ppo_options import PpoConfig

VALIDATION = {
    "validate_every": "validation_interval",
    "validate_in": "validation_scenarios",
    "validate_seeds": "validation_seeds",
}
EXPLORATION = {"explore": "exploration", "explore_decay": "exploration_decay", "explore_least": "min_exploration"}
ROUNDS = {"plays": "rollouts_per_scenario", "passes": "epochs", "validate_for": "validation_duration"}
NORM = {"gradient_limit": "max_gradient_norm"}
NEW: dict[type[BaseModel], dict[str, str]] = {
    TrainConfig: NORM | {"clipped": "count_clipped", "idle": "count_idle"},
    PpoConfig: VALIDATION | ROUNDS | NORM | {"smooth": "gae_lambda"},
    DdqnConfig: VALIDATION | EXPLORATION,
    DdpgConfig: VALIDATION | EXPLORATION | {"follow": "target_update_rate", "growth_most": "max_growth"},
    PgConfig: VALIDATION | ROUNDS | {"stays": "stay_probability"},
}


RECIPES = Path(__file__).resolve().parents[2] / "recipes"
SHIPPED: dict[type[BaseModel], tuple[str, str]] = {
    TrainConfig: ("train-robust", "training"),
    PpoConfig: ("train-flows-ppo", "ppo"),
    DdqnConfig: ("train-flows-ddqn", "ddqn"),
    DdpgConfig: ("train-flows-ddpg", "ddpg"),
    PgConfig: ("train-auto-lrla", "pg"),
}
"""A recipe of each method, and the table of its keys."""


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and those of its tables."""
    yield model
    for field in model.model_fields.values():
        for inner in _models(field.annotation):
            yield from models(inner)


@pytest.mark.parametrize("config", NEW, ids=lambda config: config.__name__)
def test_each_renamed_key_is_listed(config: type[BaseModel]) -> None:
    tables = [model for model in models(config) if model.__module__.startswith("teachers.")]
    assert new_names(tables) == NEW[config]


@pytest.mark.parametrize(
    ("config", "old"),
    [(config, old) for config, names in NEW.items() for old in names],
    ids=lambda part: part if isinstance(part, str) else part.__name__,
)
def test_an_old_key_is_refused_with_the_new_one(config: type[BaseModel], old: str) -> None:
    name, table = SHIPPED[config]
    content = tomllib.loads((RECIPES / f"{name}.toml").read_text())
    keys = content[table]["credit"] if old in new_names([Credit]) else content[table]
    keys[old] = keys.pop(NEW[config][old], 1)
    with pytest.raises(InputError, match=rf"\b{old}\b.*\b{NEW[config][old]}\b"):
        validate(config, content, "the recipe")
