"""`rlcc attest FIRMWARE`: sign what its certificate claims."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option(
    "--certificate", type=FOLDER, help="Certificate file. [default: certificate/certificate.json next to FIRMWARE]"
)
@click.option("--key", required=True, type=FOLDER, help="Private Ed25519 key, PEM without a password.")
@click.option("--teacher", type=FOLDER, help="Teacher of the certificate's deviation bound, if it has one.")
@click.option("-o", "--out", required=True, type=FOLDER, help="Output file: the DSSE envelope.")
@handled
def command() -> None:
    """Sign the claims of FIRMWARE's certificate with KEY, as an in-toto statement in a DSSE envelope.

    The certificate is checked again first, as by `rlcc verify --check`.

    Exit code 0: written; 1: the certificate does not hold, nothing is written; 2: could not run.
    """
