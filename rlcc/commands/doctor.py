"""`rlcc doctor`: a table of what is installed and what is missing; exit 2 if a required part is missing."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER


@click.command()
@click.option("--card", type=FOLDER, help="Saved mlxconfig query: report settings with which DOCA PCC does not run.")
@handled
def command() -> None:
    """Report installed and missing dependencies, with versions and the command that installs what is missing.

    Exit code 0: all required parts are installed; 2: one is missing.

    --card FILE reads the settings of a card in place of this machine, saved by `mlxconfig -d DEVICE -e query`. It needs
    no card. Exit code 0: no setting is in the way; 1: one keeps a policy from running or shares its contexts; 2: FILE
    is no such query.
    """
