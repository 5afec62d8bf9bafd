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
    "--certificate", type=FOLDER, help="Certificate file. [default: certificate/certificate.json next to FIRMWARE]"
)
@click.option("--key", required=True, type=FOLDER, help="Private Ed25519 key, PEM without a password.")
@click.option("--teacher", type=FOLDER, help="Teacher of the certificate's deviation bound, if it has one.")
@click.option("-o", "--out", required=True, type=FOLDER, help="Output file: the DSSE envelope.")
def command(firmware: Path, certificate: Path | None, key: Path, teacher: Path | None, out: Path) -> int:
    """Sign the claims of FIRMWARE's certificate with KEY, as an in-toto statement in a DSSE envelope.

    The certificate is checked again first, as by `rlcc verify --check`.

    Exit code 0: written; 1: the certificate does not hold, nothing is written; 2: could not run.
    """
    from rlcc.attestation import Refused, attest

    not_within(firmware, out)
    with stage("attest") as (figures, progress):
        try:
            envelope = attest(firmware, certificate or firmware.resolve().parent / PLACE, key, teacher, progress)
        except Refused as error:
            figures["not signed"] = str(error)
            return 1
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, envelope)
        figures["envelope"] = str(out)
    return 0
