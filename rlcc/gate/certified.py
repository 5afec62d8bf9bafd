"""The gate's look at a certificate: is it of this firmware on this engine, and does it hold when checked again?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from emulator.build import Build
from emulator.firmware import SOURCE
from emulator.profile import Profile
from rlcc.gate.certificate_check import hold
from rlcc.gate.check_cache import Remembered
from rlcc.gate.hints import Request, prove
from rlcc.gate.names import named
from rlcc.gate.verdict import Check
from rlcc.recipe import EmulateOptions
from teachers.teacher import Teacher
from verify.check.refused import Refused
from verify.trusted.certificate import Certificate, certificate_of

Progress = Callable[[str], None]
PLACE = Path("certificate", "certificate.json")
"""Beside the firmware folder: where `rlcc run` writes it, and `rlcc gate` looks for it."""
CHECK = partial(named("proof.certificate"), limit="equal to the program for all inputs, safe", file=SOURCE)


@dataclass(frozen=True)
class Certified:
    """The check, and the certificate if it holds."""

    check: Check
    certificate: Certificate | None


def not_demanded() -> Certified:
    """Returns the check that takes a certificate's place if the recipe or the command line demands none."""
    return Certified(CHECK(value="not demanded, not looked at", limit="not judged", passed=True), None)


def not_provable(reason: str) -> Certified:
    """A certificate is demanded, and none can be."""
    return Certified(CHECK(value="nothing can be proved", passed=False, detail=reason), None)


def discard(path: Path) -> None:
    """Remove an earlier certificate: one that is left behind by a proof that failed would mislead a reader."""
    for name in (path, path.with_suffix(".queries.gz")):
        name.unlink(missing_ok=True)


def certified(
    build: Build,
    path: Path,
    engine: EmulateOptions,
    progress: Progress | None = None,
    remembered: Remembered | None = None,
    *,
    teacher: Teacher | None = None,
    request: Request = Request(),  # noqa: B008 - frozen
) -> Certified:
    """Check the certificate in ``path`` again, with other means than the prover's; everything wrong is a FAIL. Its
    deviation from ``teacher`` is checked too.

    ``remembered``: where the very same was checked before, it is not checked once more. ``request``: what the gate was
    called with, for the command that mends."""
    command = partial(prove, build.firmware.folder, engine, path, request)
    if not path.exists():
        return Certified(CHECK(value="there is none", passed=False, detail=f"prove the firmware: {command()}"), None)
    try:
        content = read_bytes(path)
        certificate = certificate_of(content, str(path))
        wrong = of_another(certificate, build.engine, engine.compiler, engine.optimise)
        if wrong:
            return Certified(CHECK(value=wrong, passed=False, detail=f"prove the firmware again: {command()}"), None)
        hold(certificate, content, build, teacher=teacher, progress=progress, remembered=remembered)
    except (Refused, InputError) as error:
        return Certified(CHECK(value=str(error), passed=False, detail=f"prove the firmware again: {command()}"), None)
    claims = ["equal", "safe"]
    claims += [] if not certificate.behaviour else [f"{len(certificate.behaviour)} properties"]
    claims += [] if certificate.teacher is None else [f"deviation at most {certificate.teacher.bound:.5f}"]
    return Certified(CHECK(value=f"holds ({certificate.hash[:12]}): {', '.join(claims)}", passed=True), certificate)


def of_another(certificate: Certificate, profile: Profile | None, compiler: str | None, optimise: str | None) -> str:
    """How a certificate is of another engine, compiler or level than asked for (None: any will do); else empty."""
    subject, engine = certificate.subject, certificate.engine.profile
    if profile is not None and engine != profile.meaning():
        return f"it is of the engine {str(engine.get('name'))[:80]!r}, not of what {profile.name} is here"
    level = subject.flags[-1]
    if compiler not in (None, subject.compiler) or optimise not in (None, level):
        asked = " ".join(part for part in (compiler, optimise) if part)
        return f"it is of {subject.compiler[:80]!r} {level[:80]!r}, not of {asked}"
    return ""
