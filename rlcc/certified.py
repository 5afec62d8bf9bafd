"""The gate's look at a certificate: is it of this firmware on this engine, and does it hold when checked again?"""

from dataclasses import dataclass
from pathlib import Path

from emulator.profile import load_profile
from rlcc.recipe import EmulateOptions
from rlcc.verdict import Check
from spec.errors import InputError
from verify.certificate import Certificate, read_certificate
from verify.check.recheck import Progress, calibrated_again, rebuilt, recheck
from verify.check.walk import Refused

NAME = "certificate.json"
FOLDER = "certificate"
"""Where `rlcc run` writes it, and `rlcc gate` looks for it: beside the firmware folder."""


@dataclass(frozen=True)
class Certified:
    """The check, and the certificate if it holds."""

    check: Check
    certificate: Certificate | None

    @property
    def worst_cycles(self) -> int | None:
        """What no input exceeds: proved."""
        return self.certificate.claims.worst_case.cycles if self.certificate else None


def beside(firmware: Path) -> Path:
    return firmware.resolve().parent / FOLDER / NAME


def discard(path: Path) -> None:
    """Remove an earlier certificate: one that is left behind by a proof that failed would mislead a reader."""
    for name in (path, path.with_suffix(".queries.gz")):
        name.unlink(missing_ok=True)


def certified(firmware: Path, path: Path, engine: EmulateOptions, progress: Progress | None = None) -> Certified:
    """Check the certificate in ``path`` again, with other means than the prover's; everything wrong is a FAIL."""
    made = f"--profile {engine.profile} --compiler {engine.compiler} --optimise {engine.optimise}"
    how = f"rlcc verify {firmware} {made} --out {path}"
    if not path.is_file():
        return Certified(_check("there is none", passed=False, detail=f"prove the firmware: {how}"), None)
    try:
        certificate = read_certificate(path)
        wrong = _of_another(certificate, engine)
        if wrong:
            return Certified(_check(wrong, passed=False, detail=f"prove the firmware again: {how}"), None)
        built = rebuilt(certificate, firmware)
        recheck(certificate, built, progress=progress)
        calibrated_again(certificate, built, progress)
    except (Refused, InputError) as error:
        return Certified(_check(str(error), passed=False, detail=f"prove the firmware again: {how}"), None)
    return Certified(_check(f"{certificate.hash[:12]} holds", passed=True), certificate)


def _of_another(certificate: Certificate, engine: EmulateOptions) -> str:
    subject = certificate.subject
    if certificate.engine.profile != load_profile(engine.profile).meaning():
        return f"it is of the engine {certificate.engine.profile.get('name')}, not of {engine.profile}"
    if (subject.compiler, subject.flags[-1:]) != (engine.compiler, [engine.optimise]):
        return f"it is of {subject.compiler} {' '.join(subject.flags[-1:])}, not of {engine.compiler} {engine.optimise}"
    return ""


def _check(value: str, *, passed: bool, detail: str = "") -> Check:
    limit = "equal to the program for all inputs, safe"
    return Check(
        group="proof", name="certificate, checked again", value=value, limit=limit, passed=passed, detail=detail
    )
