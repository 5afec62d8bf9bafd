"""`rlcc distill [TEACHER] ROLLOUTS`: fit an integer tree ensemble to a teacher by DAgger."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, out_option
from rlcc.commands.run_location import where_options

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
@click.argument("sources", nargs=-1, required=True, type=FOLDER, metavar="[TEACHER] ROLLOUTS")
@model_options("distill", *OPTIONS)
@click.option("--simulator", metavar="COMMAND", help="Simulator that speaks JSON lines: DAgger rounds run there.")
@click.option("--scenario", "scenarios", multiple=True, help="Scenario for --simulator, in its own words. Repeatable.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the sampling and the fit.")
@out_option
@where_options("threads")
@handled
def command() -> None:
    """Distil TEACHER into trees on ROLLOUTS; write student.json and student.cbm to OUT.

    DAgger rounds run in the networks of the rollouts. Rollouts of `rlcc import` bring their labels along: they need no
    TEACHER, and DAgger rounds run in --simulator only. An interrupted distillation
    resumes at its last round.
    """
