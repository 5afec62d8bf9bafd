"""A training of any method, kept in build/training/whole with its validation and the CPU time that it took."""

import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

from pydantic import ValidationError

from bench.training.__main__ import TRAINED
from decision.artefact.documents import dump_json, load_json, write_atomically
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME as MANIFEST
from netsim.answers import Lost
from netsim.processes import Processes
from teachers.adpg import TrainReport
from teachers.checkpoint import checkpoint_path, recipe_hash
from teachers.ddqn_trigger import policy_path
from teachers.load import load
from teachers.methods import method_of, seeded
from teachers.teacher import Teacher

WHOLE = TRAINED / "whole"


@dataclass(frozen=True)
class Training:
    """``value``: of the validation, the least where ``better`` is -1 the best, else the greatest; ``yardstick``: what
    it is; ``best`` of ``steps``: whose weights were kept; ``cpu_seconds``: of all threads of the process."""

    value: float
    yardstick: str
    better: int
    best: int
    steps: int
    cpu_seconds: float


def place_of(document: dict[str, Any], seed: int) -> Path:
    """Where the recipe's training with this seed is kept. InputError where the recipe is none."""
    try:
        return WHOLE / recipe_hash(seeded(document, seed))[:16]
    except ValidationError as error:
        raise InputError(f"the recipe with seed {seed} is not valid: {error}") from None


def trained(document: dict[str, Any], seed: int) -> tuple[Teacher, Training]:
    """What is kept, or trained now. One that was interrupted begins anew: its time would not be that of a training."""
    out = place_of(document, seed)
    told = out.parent / f"{out.name}.training.json"
    if not told.exists():
        for left in (out, policy_path(out)):
            shutil.rmtree(left, ignore_errors=True)
        checkpoint_path(out).unlink(missing_ok=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        # A process of its own: MKL's kernels are chosen once a process, and recipes ask for either's.
        ((_, training),) = Processes(1).answers(_train, [(document, seed, out)])
        if isinstance(training, Lost):
            raise InputError(f"the training with seed {seed} was killed; run it again, with more memory")
        write_atomically(told, dump_json(asdict(training)))
        print(f"# {method_of(document).name}, seed {seed}: {training}", file=sys.stderr, flush=True)
    if not (out / MANIFEST).exists():
        raise InputError(f"{out} is gone, but {told.name} beside it tells of it; remove that, and it is trained again")
    return load(out), Training(**load_json(told))


def _train(task: tuple[dict[str, Any], int, Path]) -> Training:
    document, seed, out = task
    before = process_time()
    report = method_of(document).train(seeded(document, seed), out)
    seconds = process_time() - before
    if isinstance(report, TrainReport):
        return Training(report.cost, "cost", -1, report.best_episode, report.episodes, seconds)
    its = report.yardstick
    return Training(report.best, its.name, its.better, report.best_round, report.rounds, seconds)


def validated(document: dict[str, Any], teacher: Teacher) -> float:
    """What the recipe's validation says of these weights; kept."""
    seed = int(teacher.policy.provenance["seed"])
    kept = WHOLE / f"{teacher.hash[:16]}.by.{place_of(document, seed).name}.json"
    if not kept.exists():
        value = method_of(document).validate(seeded(document, seed), teacher.weights)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, dump_json({"value": value}))
    return float(load_json(kept)["value"])
