"""`rlcc visits SOURCE`: count where a student is asked, in simulated networks or in a device's samples."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER
from rlcc.commands.run_location import where_options


@click.command()
@click.argument("source", type=FOLDER)
@click.option("--recipe", type=FOLDER, help="Recipe with network, agents and rollouts.")
@click.option(
    "--scenario", "scenarios", multiple=True, help="Scenario. Repeatable. [default: the recipe's, or many-to-one:64]"
)
@click.option(
    "--seed", "seeds", multiple=True, type=click.IntRange(0), help="Seed. Repeatable. [default: the recipe's, or 1]"
)
@model_options("rollout", "duration", "decision_latency", default="the recipe's, or {}")
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
@handled
def command() -> None:
    """Count how often SOURCE, a student or its firmware, visits each cell of its trees."""
