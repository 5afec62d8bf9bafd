"""`rlcc visits SOURCE`: count where a student is asked, in simulated networks or in a device's samples."""

from pathlib import Path
from typing import Any

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened
from decision.artefact.output import write_atomically
from decision.policy.deciders import student_of
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.visits import Visits, joined
from distill.options import RolloutOptions
from netsim.deployment import Deployment
from rlcc.commands.console import stage
from rlcc.commands.model_options import given
from rlcc.commands.options import not_within
from rlcc.policies import kind_of


def handle(
    source: Path,
    recipe: Path | None,
    samples: tuple[Path, ...],
    monitor: Path | None,
    out: Path | None,
    **asked: Any,
) -> None:
    if out is None and monitor is None:
        raise InputError("name what to write: --out FILE for the counts, or --monitor FILE for the header")
    kind = kind_of(source)
    if kind not in ("student", "firmware") or not (source / STUDENT_NAME).is_file():
        raise InputError(f"{source} holds no trees of a student; give the folder of a student or of its firmware")
    manifest = opened(source, kind)
    if (monitor is not None or samples) and kind != "firmware":
        raise InputError(f"{source} is of kind {kind}; a device runs firmware, so give its folder")
    for place in filter(None, (out, monitor)):
        not_within(source, place)
    hash = manifest.hash if kind == "student" else manifest.parent("student", source)
    with stage("visits") as (figures, progress):
        if monitor is not None:
            from emulator.firmware_folder import read_firmware
            from rlcc.monitor import header

            write_atomically(monitor, header(read_firmware(manifest)))
            figures["monitor"] = str(monitor)
        if out is None:
            return
        if samples:
            visits = _of_samples(hash, manifest, samples)
        else:
            from distill.rollout import collect
            from netsim.policies import interpreted
            from rlcc.drift import seen_in

            options, deployment = _networks(recipe, given(asked))
            student = student_of(manifest)
            progress(", ".join(options.scenarios))
            visits = seen_in(hash, student, collect(interpreted(student), options, deployment))
        visits.write(out)
        figures |= {"decisions": f"{visits.decisions:,}", "cells": f"{len(visits.cells):,}", "visits": str(out)}


def _networks(recipe: Path | None, asked: dict[str, object]) -> tuple[RolloutOptions, Deployment]:
    """Returns the networks in which the student decides: those requested, else those of the recipe's rollouts."""
    from rlcc.recipe import deployment_of, load_recipe

    if recipe is None:
        usual = {"scenarios": ["many-to-one:64"]}
        return validate(RolloutOptions, usual | asked, "options of rlcc visits"), Deployment()
    read = load_recipe(recipe)
    theirs = read.rollout.model_dump(mode="json")
    return validate(RolloutOptions, theirs | asked, "options of rlcc visits"), deployment_of(read, recipe)


def _of_samples(hash: str, firmware: Opened, samples: tuple[Path, ...]) -> Visits:
    from emulator.firmware_folder import read_firmware
    from emulator.samples import visits_of

    read = read_firmware(firmware)
    return joined(visits_of(hash, read, path) for path in samples)
