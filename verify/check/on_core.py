"""The cost model, and the witness of a certificate, measured on a core again. The caller builds the core."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from emulator.build import Build
from emulator.rtl_run import run_executable
from verify.check.refused import Refused
from verify.trusted.calibrate import calibrate
from verify.trusted.certificate import Certificate, witness_bytes


def calibrated_again(
    certificate: Certificate, built: Build, executable: Path, progress: Callable[[str], None] | None = None
) -> None:
    """Raises ``Refused`` if the cost model or the witness, measured on the core, differs from the certificate.
    ``executable``: the engine's core, built by emulator.core."""
    found = calibrate(built.engine, executable, progress=progress)
    if found.to_json() != certificate.engine.calibration:
        raise Refused("the cost model measured on the core is not what the certificate says of it")
    worst = certificate.claims.worst_case
    inputs = zip(built.blocks, witness_bytes(built, worst.witness), strict=True)
    layouts = built.firmware.layouts
    records = [(block, np.frombuffer(content, dtype=layouts[block.name].dtype)) for block, content in inputs]
    run = run_executable(executable, built.image, certificate.subject.entry, built.engine, records)
    if run.fault is not None or int(run.cycles[0]) != worst.rtl_cycles:
        took = run.fault.text if run.fault is not None else f"{int(run.cycles[0])} cycles"
        raise Refused(f"the witness on the core: {took}; the certificate says {worst.rtl_cycles} cycles")
