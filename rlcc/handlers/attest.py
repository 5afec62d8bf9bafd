"""`rlcc attest FIRMWARE`: sign what its certificate claims."""

from pathlib import Path

from decision.artefact.output import write_atomically
from rlcc.commands.console import stage
from rlcc.commands.options import not_within
from rlcc.gate.certified import PLACE


def handle(firmware: Path, certificate: Path | None, key: Path, teacher: Path | None, out: Path) -> int:
    from rlcc.attestation import RefusedAttestation, attest

    not_within(firmware, out)
    with stage("attest") as (figures, progress):
        try:
            envelope = attest(firmware, certificate or firmware.resolve().parent / PLACE, key, teacher, progress)
        except RefusedAttestation as error:
            figures["not signed"] = str(error)
            return 1
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, envelope)
        figures["envelope"] = str(out)
    return 0
