"""`rlcc drift NOW MADE_ON`: has the traffic left what the student was made on?"""

from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from decision.policy.visits import Visits, joined
from rlcc.commands.console import console
from rlcc.commands.options import FOLDER, share
from rlcc.drift import MOST, drift, interval


@click.command()
@click.argument("now", type=FOLDER, nargs=-1, required=True)
@click.argument("made_on", type=FOLDER)
@click.option(
    "--most", callback=share, help=f"Maximum share of decisions outside the training data.  [default: {MOST:.0%}]"
)
@click.pass_context
def command(context: click.Context, now: tuple[Path, ...], made_on: Path, most: float | None) -> None:
    """Report how far traffic drifted from the data that a student was trained on.

    NOW and MADE_ON are files of `rlcc visits`. Exit code 0: no drift; 1: drift, distil again; 2: could not run.
    """
    here = drift(joined(Visits.read(path) for path in now), Visits.read(made_on))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("of", "apart", "beyond", "most of it"):
        table.add_column(title, justify="right" if title in ("apart", "beyond") else "left", overflow="fold")
    unseen = f"{here.unseen:.1%} in cells never met"
    table.add_row("all cells", f"{here.apart:.3f}", f"{here.beyond:.3f}", unseen)
    for one in here.features:
        new = "" if one.new is None else interval(one.new)
        table.add_row(escape(one.name), f"{one.apart:.3f}", f"{one.beyond:.3f}", new)
    out = console()
    out.print(table)
    limit = MOST if most is None else most
    drifted = here.beyond > limit
    told = f"{here.beyond:.1%} of {here.decisions:,} decisions are beyond what it was made on ({limit:.1%} allowed)"
    out.print(f"{'DRIFTED' if drifted else 'as it was made'}: {told}", soft_wrap=True)
    context.exit(1 if drifted else 0)
