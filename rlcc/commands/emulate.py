"""`rlcc emulate FIRMWARE...`: run every vector on the cycle-accurate core."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, foreign_option


@click.command()
@click.argument("firmwares", nargs=-1, required=True, type=FOLDER, metavar="FIRMWARE...")
@model_options("emulate", "profile", "compiler", "optimise")
@click.option("--json", "json_file", type=FOLDER, help="Output file: the report as JSON.")
@foreign_option
@handled
def command() -> None:
    """Run all test vectors of FIRMWARE on the core: bit-equality, and cycles of one decision from call to return.

    Several FIRMWAREs, each with its own prefix, are linked into one image; the vectors of each run in it.

    Exit code 0: all equal, nothing forbidden; 1: otherwise; 2: could not run.
    """
