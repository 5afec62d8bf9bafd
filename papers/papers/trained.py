"""Teachers trained for one page alone: RL-CC's MLP for other targets and betas, PCC-RL's network with its own reward;
and students distilled for one.

What was trained is kept in a folder by recipe and simulator, so that one training serves several pages.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decision.artefact.documents import dump_json, read_text
from decision.artefact.manifest import sha256
from distill.options import DistillOptions, RolloutOptions
from netsim.build import simulator_hash
from netsim.content import content
from netsim.deployment import Deployment
from netsim.tolerance import DEFAULT, Tolerance
from papers.contenders import ROOT
from papers.runs import say
from papers.theory import BETA, TARGET
from teachers.load import load
from teachers.teacher import Teacher

MLP = ROOT / "recipes" / "train-rl-cc-mlp.toml"
PCC_RL = ROOT / "recipes" / "train-pcc-rl-own.toml"


@dataclass(frozen=True)
class Aim:
    """What a training is for: the target and the tolerance of RL-CC's equation 1."""

    target: float = TARGET
    beta: float = BETA

    def __str__(self) -> str:
        return f"target {self.target:g}, beta {self.beta:g}"

    def recipe(self) -> dict[str, Any]:
        """RL-CC's training with another aim. The feature is scaled by as much less as the target is more, so that the
        network sees values of the same size."""
        document = tomllib.loads(read_text(MLP))
        document["policy"]["name"] = f"rl-cc-mlp-{self.target:g}-{self.beta:g}"
        document["policy"]["provenance"] = {}
        feature = _congestion(document)
        feature |= {"target": self.target, "beta": self.beta, "scale": feature["scale"] * TARGET / self.target}
        return document


@dataclass(frozen=True)
class OwnReward:
    """PCC-RL's reward as it prints it: RTT inflation x sqrt(rate) at the target, no tolerance."""

    target: float
    seed: int = 1

    def __str__(self) -> str:
        return f"PCC-RL's reward, target {self.target:g}, seed {self.seed}"

    def recipe(self) -> dict[str, Any]:
        """The recipe of its standard target with another, the network seeing values of the same size."""
        document = tomllib.loads(read_text(PCC_RL))
        document["policy"]["name"] = f"pcc-rl-own-{self.target:g}"
        document["policy"]["provenance"] = {}
        document["training"]["seed"] = self.seed
        feature = _congestion(document)
        feature |= {"target": self.target, "scale": feature["scale"] * feature["target"] / self.target}
        return document


def distilled(
    teacher: Teacher,
    watched: RolloutOptions,
    options: DistillOptions,
    work: Path,
    seed: int,
    deployment: Deployment | None = None,
    tolerance: Tolerance = DEFAULT,
) -> Path:
    """Where its student is, made of these rollouts, or kept; half a minute and more."""
    from distill import distil, rollout

    made_of = [each.model_dump(mode="json") for each in (watched, options)]
    allowed = {name: one.text() for name, one in tolerance.items()}
    given = dump_json([teacher.hash, *made_of, content(deployment), allowed, seed, simulator_hash()])
    folder = work / "trained" / f"{teacher.policy.name}-student-{sha256(given.encode())[:16]}"
    if not folder.exists():
        say(f"distilling {teacher.policy.name}, seed {seed}")
        runs = rollout.collect(rollout.teacher_policy(teacher), watched, deployment)
        fitted = distil.distil(teacher, runs, options, watched, seed=seed, deployment=deployment, tolerance=tolerance)
        distil.save(fitted, "0" * 64, folder, seed=seed)
    return folder


def _congestion(document: dict[str, Any]) -> dict[str, Any]:
    return next(f for f in document["policy"]["observation"]["features"] if "target" in f)


def trained(aims: Sequence[Aim | OwnReward], work: Path, now: bool) -> dict[Any, Teacher]:
    """Those that are kept, and where ``now`` the others too, trained; minutes each."""
    from teachers.adpg import train
    from teachers.checkpoint import recipe_hash
    from teachers.curriculum import TrainConfig

    found: dict[Any, Teacher] = {}
    for aim in aims:
        recipe = aim.recipe()
        config = TrainConfig.model_validate(recipe)
        key = sha256(dump_json([recipe_hash(config), simulator_hash()]).encode())[:16]
        folder = work / "trained" / f"{recipe['policy']['name']}-{key}"
        if now and not folder.exists():
            say(f"training for {aim}")
            train(config, folder)
        if folder.exists():
            found[aim] = load(folder)
    return found
