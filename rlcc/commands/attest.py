"""`rlcc attest FIRMWARE`: sign what its certificate claims."""

from pathlib import Path

import click

from decision.documents import write_atomically
from rlcc.certified import PLACE
from rlcc.console import stage
from rlcc.options import FOLDER, not_within


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option(
    "--certificate", type=FOLDER, help="Of the proof. [default: certificate/certificate.json beside FIRMWARE]"
)
@click.option("--key", required=True, type=FOLDER, help="Private Ed25519 key, PEM without a password.")
@click.option("-o", "--out", required=True, type=FOLDER, help="The envelope's file.")
def command(firmware: Path, certificate: Path | None, key: Path, out: Path) -> None:
    """State FIRMWARE's files and what its certificate claims of them, and sign it with KEY: in-toto in a DSSE envelope.

    The certificate is not checked again here: `rlcc gate --attestation` does that.
    """
    from rlcc.attestation import attest

    not_within(firmware, out)
    with stage("attest") as (figures, _):
        envelope = attest(firmware, certificate or firmware.resolve().parent / PLACE, key)
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, envelope)
        figures.append(str(out))
