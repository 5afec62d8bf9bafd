"""`rlcc observe FIRMWARE LOG`: what a window's policy would have done with recorded sends and completions."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER, foreign_option


@click.command()
@click.argument("firmware", type=FOLDER)
@click.argument("log", type=FOLDER)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=N",
    help="Parameter of the flows that was set, as the header names it. Repeatable.",
)
@click.option("--json", "json_file", type=FOLDER, help="Output file: the figures as JSON.")
@click.option("--out", type=FOLDER, help="Output file: CSV with window and bytes in flight after each row.")
@foreign_option
@handled
def command() -> None:
    """Replay LOG through the header of FIRMWARE in mode observe; compare its windows with what was sent.

    LOG is CSV, Parquet or NPZ, a row a send or a completion (docs/reference/observe.md). FIRMWARE was emitted with
    --target host. If LOG has the column window_bytes, each window is compared with it.

    Exit code 0: done, and recorded windows are equal; 1: a recorded window differs; 2: could not run.
    """
