"""`rlcc import LOG`: a log of the user's own becomes rollouts with labels."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER


@click.command()
@click.argument("log", type=FOLDER)
@click.option("--policy", required=True, type=FOLDER, help="policy.toml: what an agent observes and sets.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="Column of another name, or in another unit: NAME=COLUMN in UNIT. Repeatable.",
)
@click.option("--teacher", type=FOLDER, help="Teacher that labels the log: a folder or a weights file.")
@click.option("--labels", metavar="MODULE:FUNCTION", help="Python function that labels the log. Its module is run.")
@click.option("--allow-gaps", is_flag=True, help="Accept missing steps; history begins anew behind each.")
@click.option("--out", "--output", "out", required=True, type=FOLDER, help="Output folder of the rollouts.")
@handled
def command() -> None:
    """Turn LOG (.csv, .parquet, .npz) into rollouts with labels; write OUT/rollouts.parquet.

    One row is one decision of one agent: its signals, and what should have been decided. `rlcc distill OUT` takes
    the rollouts without a teacher.
    """
