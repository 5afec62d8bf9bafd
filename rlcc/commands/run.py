"""`rlcc run RECIPE`: every stage of a recipe, from the teacher to the verdict."""

from pathlib import Path

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER
from rlcc.commands.run_location import where_options

STAGES = ("rollout", "distill", "emit", "emulate", "verify", "gate")
RUNS = Path("runs")


@click.command()
@click.argument("recipe_file", metavar="RECIPE", type=FOLDER)
@click.option("--out", type=FOLDER, help="Output folder. [default: runs/<recipe's name>]")
@click.option(
    "--from",
    "first",
    type=click.Choice(STAGES),
    default=STAGES[0],
    help="Start at this stage, with the artefacts of an earlier run.",
)
@click.option(
    "--no-cache",
    is_flag=True,
    help="Take nothing from the cache of earlier runs: distil, simulate, check the certificate, build the core.",
)
@where_options("threads")
@handled
def command() -> None:
    """Run every stage of RECIPE: rollout, distill, emit, emulate, verify, gate.

    Prints the figures of each stage and the gate's table. Exit code 0: PASS, 1: FAIL, 2: could not run.
    """
