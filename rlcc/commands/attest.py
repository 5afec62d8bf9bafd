"""`rlcc attest FIRMWARE`: sign what its certificate claims."""

from pathlib import Path

import click

from decision.artefact.documents import write_atomically
from rlcc.commands.console import stage
from rlcc.commands.options import FOLDER, not_within
from rlcc.gate.certified import PLACE


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option(
    "--certificate", type=FOLDER, help="Of the proof. [default: certificate/certificate.json beside FIRMWARE]"
)
@click.option("--key", required=True, type=FOLDER, help="Private Ed25519 key, PEM without a password.")
@click.option("--teacher", type=FOLDER, help="Of the distance that the certificate claims, where it claims one.")
@click.option("-o", "--out", required=True, type=FOLDER, help="The envelope's file.")
def command(firmware: Path, certificate: Path | None, key: Path, teacher: Path | None, out: Path) -> int:
    """State FIRMWARE's files and what its certificate claims of them, and sign it with KEY: in-toto in a DSSE envelope.

    The certificate is checked again before anything is signed, as `rlcc verify --check` does.

    Exit code 0: written; 1: the certificate does not hold, and nothing is written; 2: could not run.
    """
    from rlcc.attestation import Refused, attest

    not_within(firmware, out)
    with stage("attest") as (figures, progress):
        try:
            envelope = attest(firmware, certificate or firmware.resolve().parent / PLACE, key, teacher, progress)
        except Refused as error:
            figures.append(f"nothing is signed: {error}")
            return 1
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, envelope)
        figures.append(str(out))
    return 0
