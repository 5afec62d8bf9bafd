"""`rlcc visits SOURCE`: count where a student is asked, in simulated networks or in a device's samples."""

from pathlib import Path

import click

from decision.artefact.documents import validate, write_atomically
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened
from decision.artefact.quantity import parse_duration_ps
from decision.policy.deciders import student_of
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.visits import Visits, joined
from distill.options import RolloutOptions
from netsim.deployment import Deployment
from rlcc.commands.console import stage
from rlcc.commands.options import FOLDER, not_within, quantity
from rlcc.commands.where import where_options
from rlcc.policies import kind_of

TIME = quantity(parse_duration_ps)


@click.command()
@click.argument("source", type=FOLDER)
@click.option("--recipe", type=FOLDER, help="Recipe with network, agents and rollouts.")
@click.option(
    "--scenario", "scenarios", multiple=True, help="Scenario. Repeatable. [default: the recipe's, or many-to-one:64]"
)
@click.option(
    "--seed", "seeds", multiple=True, type=click.IntRange(0), help="Seed. Repeatable. [default: the recipe's, or 1]"
)
@click.option("--duration", callback=TIME, help="Duration of each run. [default: the recipe's, or 40 ms]")
@click.option("--decision-latency", callback=TIME, help="Decision latency. [default: the recipe's, or 900 ns]")
@click.option(
    "--samples",
    "samples",
    type=FOLDER,
    multiple=True,
    help="Samples recorded on a device, instead of simulation. Repeatable.",
)
@click.option("--monitor", type=FOLDER, help="Output file: C header that records samples on a device.")
@click.option("--out", type=FOLDER, help="Output file: counts as JSON, for rlcc drift.")
@where_options("threads")
def command(
    source: Path,
    recipe: Path | None,
    scenarios: tuple[str, ...],
    seeds: tuple[int, ...],
    duration: int | None,
    decision_latency: int | None,
    samples: tuple[Path, ...],
    monitor: Path | None,
    out: Path | None,
) -> None:
    """Count how often SOURCE, a student or its firmware, visits each cell of its trees."""
    if out is None and monitor is None:
        raise InputError("name what to write: --out FILE for the counts, or --monitor FILE for the header")
    kind = kind_of(source)
    if kind not in ("student", "firmware") or not (source / STUDENT_NAME).is_file():
        raise InputError(f"{source} holds no trees of a student; give the folder of a student or of its firmware")
    manifest = opened(source, kind)
    if (monitor is not None or samples) and kind != "firmware":
        raise InputError(f"{source} is a {kind}; a device runs firmware, so give its folder")
    for place in filter(None, (out, monitor)):
        not_within(source, place)
    hash = manifest.hash if kind == "student" else manifest.parent("student", source)
    asked = {"scenarios": list(scenarios), "seeds": list(seeds)}
    asked |= {"duration": _ps(duration), "decision_latency": _ps(decision_latency)}
    with stage("visits") as (figures, progress):
        if monitor is not None:
            from emulator.firmware import read_firmware
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

            options, deployment = _networks(recipe, {name: value for name, value in asked.items() if value})
            student = student_of(manifest)
            progress(", ".join(options.scenarios))
            visits = seen_in(hash, student, collect(interpreted(student), options, deployment))
        visits.write(out)
        figures |= {"decisions": f"{visits.decisions:,}", "cells": f"{len(visits.cells):,}", "visits": str(out)}


def _ps(time: int | None) -> str | None:
    return None if time is None else f"{time} ps"


def _networks(recipe: Path | None, asked: dict[str, object]) -> tuple[RolloutOptions, Deployment]:
    """Where the student drives: in what is asked for, else as the recipe's rollouts."""
    from rlcc.recipe import deployment_of, load_recipe

    if recipe is None:
        usual = {"scenarios": ["many-to-one:64"], "duration": "40 ms", "decision_latency": "900 ns"}
        return validate(RolloutOptions, usual | asked, "options of rlcc visits"), Deployment()
    read = load_recipe(recipe)
    theirs = read.rollout.model_dump(mode="json")
    return validate(RolloutOptions, theirs | asked, "options of rlcc visits"), deployment_of(read, recipe)


def _of_samples(hash: str, firmware: Opened, samples: tuple[Path, ...]) -> Visits:
    from emulator.firmware import read_firmware
    from emulator.samples import visits_of

    read = read_firmware(firmware)
    return joined(visits_of(hash, read, path) for path in samples)
