"""`rlcc distill [TEACHER] ROLLOUTS`: fit an integer tree ensemble to a teacher by DAgger, or to recorded decisions."""

from pathlib import Path
from typing import Any

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME, opened
from distill.log.files import READERS
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import IMPORT
from distill.rollout import KIND as ROLLOUTS
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.model_options import given
from teachers.load import load


def handle(
    sources: tuple[Path, ...],
    seed: int,
    out: Path,
    simulator: str | None,
    scenarios: tuple[str, ...],
    **limits: Any,
) -> None:
    if len(sources) > 2:
        raise InputError(f"rlcc distill takes a teacher and rollouts, and {len(sources)} folders are given")
    options = validate(DistillOptions, given(limits), "options of rlcc distill")
    *teachers, rollouts = sources
    _check_rollouts(rollouts)
    imported = opened(rollouts, ROLLOUTS)
    if simulator is None and scenarios:
        raise InputError("--scenario is of --simulator; give that too, or leave it out")
    if IMPORT in imported.details:
        if simulator is None:
            _check_without_network(teachers, rollouts, limits)
        teacher = load(teachers[0]) if teachers else None
        with stage("distill") as (figures, progress):
            stages.distill_recorded(
                imported,
                options,
                seed,
                out,
                figures,
                progress,
                teacher=teacher,
                simulator=simulator,
                scenarios=scenarios,
            )
        return
    if simulator is not None:
        raise InputError(
            f"{rollouts} holds rollouts of rlcc's simulator; --simulator goes on from those of rlcc import"
        )
    if not teachers:
        raise InputError(f"{rollouts} brings no labels along; give its teacher first: rlcc distill TEACHER {rollouts}")
    network = validate(RolloutOptions, imported.details["options"], str(rollouts))
    with stage("distill") as (figures, progress):
        stages.distill(load(teachers[0]), imported, options, network, seed, out, figures, progress)


def _check_rollouts(rollouts: Path) -> None:
    """InputError where they are a log, which `rlcc import` turns into rollouts."""
    log = rollouts.is_file() and rollouts.suffix.lower() in READERS
    logs = sorted(each for each in rollouts.iterdir() if each.suffix in READERS) if rollouts.is_dir() else []
    if log or (logs and not (rollouts / NAME).exists()):
        what = f"{rollouts} is a log" if log else f"{rollouts} has no {NAME} and holds the log {logs[0].name}"
        which = rollouts if log else logs[0]
        raise InputError(f"{what}; make rollouts of it: rlcc import {which} --policy policy.toml --output rollouts")


def _check_without_network(teachers: list[Path], rollouts: Path, limits: dict[str, Any]) -> None:
    """InputError where something is asked that only a network answers."""
    if teachers:
        raise InputError(f"{rollouts} brings its labels along; give it without a teacher: rlcc distill {rollouts}")
    for name in ("rounds", "patience"):
        if limits.get(name) is not None:
            raise InputError(f"--{name} is of DAgger rounds, and {rollouts} has no network for them; give --simulator")
