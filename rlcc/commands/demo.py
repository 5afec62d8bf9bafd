"""`rlcc demo`: a recipe that came with rlcc, from its teacher to the verdict."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER
from rlcc.commands.run import RUNS
from rlcc.shipped_recipes import recipes


@click.command()
@click.argument("name", type=click.Choice(list(recipes())), default="demo")
@click.option("--out", type=FOLDER, help=f"Output folder. [default: {RUNS}/<recipe's name>]")
@handled
def command() -> None:
    """Run the recipe NAME (default: demo) shipped with rlcc, and print where it lies.

    Exit codes as of `rlcc run`: 0 PASS, 1 FAIL, 2 could not run.
    """
