"""`rlcc cycles FIRMWARE`: which part, tree and line of the emitted C costs what on the core."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, foreign_option


@click.command()
@click.argument("firmware", type=FOLDER)
@model_options("emulate", "profile", "compiler", "optimise")
@click.option(
    "--lines",
    default=12,
    show_default=True,
    type=click.IntRange(0),
    help="Number of C lines to print, most expensive first.",
)
@click.option("--out", type=FOLDER, help="Output folder: flame graphs and cycles.json.")
@foreign_option
@handled
def command() -> None:
    """Break down the cycles of FIRMWARE's decision by part, tree and source line, on the worst path and on average.

    The worst path is the witness of the certificate next to FIRMWARE if its engine matches, else the slowest vector.
    Exit code 0; 2: could not run.
    """
