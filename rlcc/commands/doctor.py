"""`rlcc doctor`: a table of what is installed and what is missing; exit 2 if a required part is missing."""

import click

from rlcc.commands.handled import handled


@click.command()
@handled
def command() -> None:
    """Report installed and missing dependencies, with versions and the command that installs what is missing.

    Exit code 0: all required parts are installed; 2: one is missing.
    """
