"""`rlcc rollout TEACHER`: watch a teacher decide in the network; write the rollouts (Parquet)."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, out_option, scenario_option, seed_option
from rlcc.commands.run_location import where_options


@click.command()
@click.argument("teacher", type=FOLDER)
@scenario_option
@seed_option(1)
@model_options("rollout", "duration", "decision_latency")
@out_option
@where_options("threads")
@handled
def command() -> None:
    """Simulate TEACHER; write one row per decision to OUT/rollouts.parquet."""
