"""`rlcc demo`: a recipe that came with rlcc, from its teacher to the verdict."""

from pathlib import Path

import click

from rlcc.commands.options import FOLDER
from rlcc.commands.run import RUNS
from rlcc.commands.run import command as run
from rlcc.shipped import recipes


@click.command()
@click.argument("name", type=click.Choice(list(recipes())), default="rl-cc")
@click.option("--out", type=FOLDER, help=f"Folder of the artefacts. [default: {RUNS}/<NAME>]")
@click.pass_context
def command(ctx: click.Context, name: str, out: Path | None) -> int:
    """Run the recipe NAME (rl-cc) that came with rlcc, and say where it lies.

    Exit codes are those of `rlcc run`: 0 PASS, 1 FAIL, 2 could not run.
    """
    recipe = recipes()[name]
    click.echo(f"rlcc run {recipe}")
    code: int = ctx.invoke(run, recipe_file=recipe, out=out, first="rollout")
    return code
