"""`rlcc diff OLD NEW`: where two policies decide differently, by how much, in which share of recorded traffic."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER
from rlcc.commands.run_location import where_options


@click.command()
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option("--rollouts", type=FOLDER, help="Recorded traffic, a folder of rlcc rollout. [default: OLD is simulated]")
@click.option("--recipe", type=FOLDER, help="Recipe with the network and the agents of the traffic.")
@click.option(
    "--scenario", "scenarios", multiple=True, help="Scenario. Repeatable. [default: the recipe's, or many-to-one:64]"
)
@click.option(
    "--seed", "seeds", multiple=True, type=click.IntRange(0), help="Seed. Repeatable. [default: the recipe's, or 1]"
)
@model_options("rollout", "duration", default="the recipe's, or {}")
@click.option("--out", type=FOLDER, help="Output file: the same as an HTML page.")
@click.option("--migration", type=FOLDER, help="Output file: C header that migrates live contexts of OLD's firmware.")
@where_options("threads")
@handled
def command() -> None:
    """Report where OLD and NEW differ: what they are made of, and what they decide.

    OLD and NEW are folders of students or of firmware. Exit code 0: equal decisions wherever compared; 1: differences;
    2: could not run.
    """
