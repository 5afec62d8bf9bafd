"""`rlcc demo`: a recipe that came with rlcc, from its teacher to the verdict."""

from pathlib import Path

import click

from rlcc.commands.run import command as run
from rlcc.shipped_recipes import recipes


def handle(name: str, out: Path | None) -> int:
    recipe = recipes()[name]
    click.echo(f"rlcc run {recipe}")
    code: int = click.get_current_context().invoke(run, recipe_file=recipe, out=out, first="rollout")
    return code
