"""`rlcc search RECIPE`: search its options for cycles and closeness to the teacher."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER
from rlcc.commands.run_location import where_options


@click.command()
@click.argument("recipe_file", metavar="RECIPE", type=FOLDER)
@click.option("--out", type=FOLDER, help="Output folder of the search. [default: runs/<recipe's name>/search]")
@model_options("search", "points", "front", default="the recipe's, or {}")
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    help="Start no work after this many minutes. [default: no limit]",
)
@click.option("--point", type=click.IntRange(0), help="Write the recipe of this point, without a search.")
@click.option(
    "--to", type=FOLDER, help="Output file of --point. [default: <recipe's name>-point-N.toml in the search folder]"
)
@where_options("threads")
@handled
def command() -> None:
    """Search the options of RECIPE for fewer cycles and a smaller error.

    An interrupted search resumes. Output: all points (points.parquet), the Pareto front (front.html) and, with --point
    N, the recipe of a point for `rlcc run`. Requires the extra `search`. Exit code 0: done, 2: could not run.
    """
