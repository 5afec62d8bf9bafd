"""`rlcc check TEACHER`: what rlcc reads a trained policy as, before anything is made from it."""

import click

from decision.artefact.quantity import parse_duration_ps
from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER, quantity


@click.command()
@click.argument("teacher", type=FOLDER)
@click.option(
    "--row",
    "rows",
    multiple=True,
    help="Network inputs, comma-separated: print the decision. Repeatable.",
)
@click.option(
    "--rows",
    "file",
    type=FOLDER,
    help="CSV of your own forward passes: inputs by name (previous_action_0, ..), then outputs.",
)
@click.option("--picture", type=FOLDER, help="Output file, PNG: the action over the two inputs with most influence.")
@click.option("--scenario", default="many-to-one:8", show_default=True, help="Scenario of --picture.")
@click.option("--network", "network_file", type=FOLDER, help="Network of --picture, TOML file.")
@click.option(
    "--senders",
    default="dcqcn",
    show_default=True,
    help="Baseline that controls the flows, if the agents are not flows.",
)
@click.option(
    "--period",
    default="100 us",
    show_default=True,
    callback=quantity(parse_duration_ps),
    help="Decision period of agents that are not flows.",
)
@handled
def command() -> None:
    """Show how TEACHER is interpreted: layers, input columns, actions.

    TEACHER is a folder, or a weights file next to a policy.toml. Exit code 1: your own forward passes (--rows) differ.
    """
