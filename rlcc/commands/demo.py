"""`rlcc demo`: a recipe that came with rlcc, from its teacher to the verdict."""

from pathlib import Path

import click

from rlcc.commands.options import FOLDER
from rlcc.commands.run import RUNS
from rlcc.commands.run import command as run
from rlcc.shipped import recipes


@click.command()
@click.argument("name", type=click.Choice(list(recipes())), default="rl-cc")
@click.option("--out", type=FOLDER, help=f"Output folder. [default: {RUNS}/<NAME>]")
@click.pass_context
def command(ctx: click.Context, name: str, out: Path | None) -> int:
    """Run the recipe NAME (default: rl-cc) shipped with rlcc, and print where it lies.

    Exit codes as of `rlcc run`: 0 PASS, 1 FAIL, 2 could not run.
    """
    recipe = recipes()[name]
    click.echo(f"rlcc run {recipe}")
    code: int = ctx.invoke(run, recipe_file=recipe, out=out, first="rollout")
    return code
