"""`rlcc identify IMAGE [FIRMWARE ...]`: which policies a firmware image holds."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER


@click.command()
@click.argument("image", type=FOLDER)
@click.argument("firmware", type=FOLDER, nargs=-1)
@handled
def command() -> None:
    """Report the policies that IMAGE holds, and compare them with FIRMWARE.

    IMAGE is any file with the records of rlcc_identity.c: an ELF file, an object, a flash dump. Each FIRMWARE folder
    must be one of its policies. Exit code 0: all are; 2: a policy is missing or another one, two policies have one
    prefix, or the command could not run.
    """
