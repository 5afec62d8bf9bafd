"""Which algorithm trains a recipe: the one whose table the recipe has; a recipe without any is for ADPG.

method = method_of(document)
report = method.train(method.config.model_validate(document), out)
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from teachers import adpg, ddpg, ddqn, ddqn_trigger, online, pg, ppo
from teachers.curriculum import TrainConfig
from teachers.ddpg_options import DdpgConfig
from teachers.ddqn import Progress
from teachers.ddqn_options import DdqnConfig
from teachers.pg_options import PgConfig
from teachers.playing import mean_reward
from teachers.ppo_options import PpoConfig
from teachers.round_report import RoundReport
from teachers.teacher import Weights


@dataclass(frozen=True)
class Method:
    """``table``: of a recipe, with the seed and the hyper-parameters. ``config``: the recipe, checked. ``train``: the
    config, where the teacher goes, whether to go on from the checkpoint there, and who is told how it goes.
    ``validate``: what the config's validation says of weights, by which the best were kept."""

    name: str
    table: str
    config: type[BaseModel]
    train: Callable[..., adpg.TrainReport | RoundReport]
    validate: Callable[..., float]


def _ddqn(config: DdqnConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> RoundReport:
    """Trains a policy alone or with its trigger, between runs or online."""
    if config.ddqn.trigger is not None:
        return ddqn_trigger.train(config, out, resume, progress)
    train = ddqn.train if config.ddqn.exchange is None else online.train
    return train(config, out, resume, progress)


def _cost(config: TrainConfig, weights: Weights) -> float:
    return adpg.cost_of(config.validation, adpg.validate(config, weights))


def _ddqn_reward(config: DdqnConfig, weights: Weights) -> float:
    validate = ddqn.validate if config.ddqn.trigger is None else ddqn_trigger.validate
    return validate(config, weights)


def _ppo_reward(config: PpoConfig, weights: Weights) -> float:
    return mean_reward(config, weights, config.ppo.validation_duration)


ADPG = Method("ADPG", "training", TrainConfig, adpg.train, _cost)
METHODS = {
    method.table: method
    for method in (
        ADPG,
        Method("DDQN", "ddqn", DdqnConfig, _ddqn, _ddqn_reward),
        Method("DDPG", "ddpg", DdpgConfig, ddpg.train, ddpg.validate),
        Method("policy gradient", "pg", PgConfig, pg.train, pg.validate),
        Method("PPO", "ppo", PpoConfig, ppo.train, _ppo_reward),
    )
}


def method_of(tables: Collection[str]) -> Method:
    """Returns the method of the recipe that has these tables."""
    return next((method for table, method in METHODS.items() if table in tables), ADPG)


def seeded(document: dict[str, Any], seed: int) -> BaseModel:
    """The recipe with another seed, checked. ValidationError where it is none."""
    method = method_of(document)
    return method.config.model_validate(document | {method.table: document.get(method.table, {}) | {"seed": seed}})
