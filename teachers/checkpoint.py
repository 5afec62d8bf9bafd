"""Training checkpoints: written whole between episodes, read back to the bit, tied to the recipe that made them."""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from teachers.curriculum import TrainConfig
from teachers.networks import PolicyNetwork, torch
from teachers.teacher import Weights


@dataclass(frozen=True)
class Checkpoint:
    """State of a training: episodes done, the best weights so far, validations since they were found."""

    episode: int
    best_weights: Weights
    best_episode: int
    best_cost: float
    stale: int

    @staticmethod
    def first(weights: Weights) -> "Checkpoint":
        return Checkpoint(0, weights, 0, float("inf"), 0)

    def after(self, episode: int, cost: float | None, weights: Weights) -> "Checkpoint":
        """One episode later, judged where ``cost`` is given (NaN is the worst there is)."""
        if cost is None:
            return replace(self, episode=episode)
        if cost < self.best_cost:
            return Checkpoint(episode, weights, episode, cost, 0)
        return replace(self, episode=episode, stale=self.stale + 1)


def checkpoint_path(out: Path) -> Path:
    """The checkpoint of a training run stands beside the folder it will write."""
    return out.parent / f"{out.name}.checkpoint.pt"


def write_checkpoint(
    path: Path,
    config: BaseModel,
    network: PolicyNetwork,
    optimizer: Any,
    kept: Checkpoint,
    more: Mapping[str, Any] | None = None,
) -> None:
    """``more``: what a method has to remember besides, of tensors and plain numbers."""
    content = {
        "recipe": recipe_hash(config),
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "best_weights": {name: torch.from_numpy(np.array(array)) for name, array in kept.best_weights.items()},
        "progress": [kept.episode, kept.best_episode, kept.best_cost, kept.stale],
        "more": dict(more or {}),
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_atomically(path, buffer.getvalue())


def read_checkpoint(
    path: Path, config: BaseModel, network: PolicyNetwork, optimizer: Any
) -> tuple[Checkpoint, dict[str, Any]]:
    """Set network and optimiser back to the checkpoint; what the method remembers besides. InputError where there is
    none, or it is another recipe's."""
    if not path.exists():
        raise InputError(f"there is no checkpoint {path} to resume from; train without --resume")
    try:
        content = torch.load(io.BytesIO(read_bytes(path)), weights_only=True)
        recipe = content["recipe"]
    except InputError:
        raise
    except Exception:  # torch.load raises whatever its readers do
        raise InputError(f"{path} is not a readable checkpoint; train without --resume") from None
    if recipe != recipe_hash(config):
        raise InputError(f"{path} belongs to another recipe; train without --resume, or with the recipe it began with")
    try:
        network.load_state_dict(content["network"])
        optimizer.load_state_dict(content["optimizer"])
        episode, best_episode, best_cost, stale = content["progress"]
        best = {str(name): tensor.numpy() for name, tensor in content["best_weights"].items()}
        more = dict(content["more"])
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError):
        raise InputError(f"{path} is not a readable checkpoint; train without --resume") from None
    return Checkpoint(int(episode), best, int(best_episode), float(best_cost), int(stale)), more


def recipe_hash(config: BaseModel) -> str:
    """Returns the hash of a training recipe, and of the devices that it names."""
    content = config.model_dump(mode="json")
    if isinstance(config, TrainConfig) and config.devices:
        content["devices"] = {name: device.model_dump(mode="json") for name, device in config.devices.items()}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
