"""`rlcc rollout TEACHER`: watch a teacher decide in the network; write the rollouts (Parquet)."""

import click

from decision.artefact.quantity import parse_duration_ps
from rlcc.commands.handled import handled
from rlcc.commands.options import FOLDER, out_option, quantity, scenario_option, seed_option
from rlcc.commands.where import where_options

TIME = quantity(parse_duration_ps)


@click.command()
@click.argument("teacher", type=FOLDER)
@scenario_option
@seed_option(1)
@click.option("--duration", default="40 ms", show_default=True, callback=TIME, help="Duration of each run.")
@click.option("--decision-latency", default="900 ns", show_default=True, callback=TIME, help="Decision latency.")
@out_option
@where_options("threads")
@handled
def command() -> None:
    """Simulate TEACHER; write one row per decision to OUT/rollouts.parquet."""
