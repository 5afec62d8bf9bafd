"""`rlcc distill TEACHER ROLLOUTS`: fit an integer tree ensemble to a teacher by DAgger."""

from pathlib import Path
from typing import Any

import click

from decision.artefact.documents import validate
from decision.artefact.manifest import opened
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import KIND as ROLLOUTS
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.model_options import given, model_options
from rlcc.commands.options import FOLDER, out_option
from rlcc.commands.where import where_options
from teachers.load import load

OPTIONS = (
    "trees",
    "depth",
    "borders",
    "window",
    "rounds",
    "patience",
    "rows",
    "uniform_state_samples",
    "monotone_decreasing",
    "max_deviation",
)
"""The keys of [distill] that the command takes."""


@click.command()
@click.argument("teacher", type=FOLDER)
@click.argument("rollouts", type=FOLDER)
@model_options(DistillOptions, *OPTIONS)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the sampling and the fit.")
@out_option
@where_options("threads")
def command(teacher: Path, rollouts: Path, seed: int, out: Path, **limits: Any) -> None:
    """Distil TEACHER into trees on ROLLOUTS; write student.json and student.cbm to OUT.

    DAgger rounds run in the networks of the rollouts.
    """
    options = validate(DistillOptions, given(limits), "options of rlcc distill")
    network = validate(RolloutOptions, opened(rollouts, ROLLOUTS).details["options"], str(rollouts))
    with stage("distill") as (figures, progress):
        stages.distill(load(teacher), rollouts, options, network, seed, out, figures, progress)
