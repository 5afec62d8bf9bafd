"""A cache of trainings of any method: each with its validation and the CPU time that it took.

teacher, training = trained(document, seed, folder)
"""

import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

from pydantic import ValidationError

from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME as MANIFEST
from decision.artefact.output import write_atomically
from netsim.answers import Lost
from netsim.processes import Processes
from teachers.adpg import TrainReport
from teachers.checkpoint import checkpoint_path, recipe_hash
from teachers.ddqn_trigger import policy_path
from teachers.load import load
from teachers.methods import method_of, seeded
from teachers.teacher import Teacher


@dataclass(frozen=True)
class CachedTraining:
    """``value``: of the validation, the least where ``better`` is -1 the best, else the greatest; ``yardstick``: what
    it is; ``best`` of ``steps``: whose weights were kept; ``cpu_seconds``: of all threads of the process."""

    value: float
    yardstick: str
    better: int
    best: int
    steps: int
    cpu_seconds: float


def place_of(document: dict[str, Any], seed: int, folder: Path) -> Path:
    """Returns where ``folder`` has the recipe's training with this seed. Raises InputError where the recipe is none."""
    try:
        return folder / recipe_hash(seeded(document, seed))[:16]
    except ValidationError as error:
        raise InputError(f"the recipe with seed {seed} is not valid: {error}") from None


def trained(document: dict[str, Any], seed: int, folder: Path) -> tuple[Teacher, CachedTraining]:
    """Returns the cached training, or trains now. One that was interrupted begins anew: its time would not be that of a
    training. Raises InputError where the training was killed, or its teacher is gone."""
    out = place_of(document, seed, folder)
    record = out.parent / f"{out.name}.training.json"
    if not record.exists():
        for left in (out, policy_path(out)):
            shutil.rmtree(left, ignore_errors=True)
        checkpoint_path(out).unlink(missing_ok=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        # A process of its own: MKL's kernels are chosen once a process, and recipes ask for either's.
        ((_, training),) = Processes(1).answers(_train, [(document, seed, out)])
        if isinstance(training, Lost):
            raise InputError(f"the training with seed {seed} was killed; run it again, with more memory")
        write_atomically(record, dump_json(asdict(training)))
        print(f"# {method_of(document).name}, seed {seed}: {training}", file=sys.stderr, flush=True)
    if not (out / MANIFEST).exists():
        raise InputError(
            f"{out} is gone, but {record.name} beside it tells of it; remove that, and it is trained again"
        )
    return load(out), CachedTraining(**load_json(record))


def _train(task: tuple[dict[str, Any], int, Path]) -> CachedTraining:
    document, seed, out = task
    before = process_time()
    report = method_of(document).train(seeded(document, seed), out)
    seconds = process_time() - before
    if isinstance(report, TrainReport):
        return CachedTraining(report.cost, "cost", -1, report.best_episode, report.episodes, seconds)
    its = report.yardstick
    return CachedTraining(report.best, its.name, its.better, report.best_round, report.rounds, seconds)


def validated(document: dict[str, Any], teacher: Teacher, folder: Path) -> float:
    """Returns what the recipe's validation says of these weights; cached."""
    seed = int(teacher.policy.provenance["seed"])
    record = folder / f"{teacher.hash[:16]}.by.{place_of(document, seed, folder).name}.json"
    if not record.exists():
        value = method_of(document).validate(seeded(document, seed), teacher.weights)
        record.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(record, dump_json({"value": value}))
    return float(load_json(record)["value"])
