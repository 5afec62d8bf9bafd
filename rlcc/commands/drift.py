"""`rlcc drift NOW MADE_ON`: has the traffic left what the student was made on?"""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER, share

DRIFT_LIMIT = 0.05
"""Maximum share of decisions beyond the training data; docs/results/drift.md has the shares of known and new traffic.
"""


@click.command()
@click.argument("now", type=FOLDER, nargs=-1, required=True)
@click.argument("made_on", type=FOLDER)
@click.option(
    "--most",
    default=f"{DRIFT_LIMIT:.0%}",
    show_default=True,
    callback=share,
    help="Maximum share of decisions outside the training data.",
)
@handled
def command() -> None:
    """Report how far traffic drifted from the data that a student was trained on.

    NOW and MADE_ON are files of `rlcc visits`. Exit code 0: no drift; 1: drift, distil again; 2: could not run.
    """
