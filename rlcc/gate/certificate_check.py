"""Whether a certificate holds: checked again, or the very same was checked here before."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeVar

from decision.artefact.manifest import sha256
from emulator.build import Build
from rlcc.gate.check_cache import Remembered
from teachers.teacher import Teacher
from verify.check.refused import Refused
from verify.check.teacher_distance import TeacherNetwork
from verify.trusted.certificate import Certificate, CutClaim, extended, image_hash

Checked = TypeVar("Checked")
Progress = Callable[[str], None]


def hold(
    certificate: Certificate,
    content: bytes,
    build: Build,
    *,
    teacher: Teacher | None = None,
    progress: Progress | None = None,
    remembered: Remembered | None = None,
) -> None:
    """Refused where a certificate, the bytes of its file given, does not hold for the firmware of this build, or speaks
    of a teacher that is another or not known. ``remembered``: what held before is not checked once more."""
    from verify.check.boundary import checked  # with its solvers, which one who signs or reads needs not

    before = remembered or Remembered(use=False)
    if certificate.teacher is not None and teacher is None:
        raise Refused(
            f"it speaks of a distance from the teacher {certificate.teacher.teacher[:12]}, which is not known here"
        )
    parts = {
        "certificate": [certificate.hash, sha256(content)],
        "firmware": build.firmware.hash,
        "image": image_hash(build.image),
        "profile": build.engine.model_dump(mode="json"),
        "compiler": [build.toolchain.compiler.name, build.toolchain.compiler.version, build.toolchain.opt],
        "teacher": teacher.hash if teacher and certificate.teacher else None,
    }  # all that decides whether it holds; the checker and its tools come to it
    if before.holds("certificate", parts):
        return
    network = None if teacher is None else network_of(teacher)
    checked(certificate, build.firmware.manifest, progress=progress, teacher=network)
    before.keep("certificate", parts)


def without_idle_cuts(certificate: Certificate, check: Callable[[Certificate], Checked]) -> tuple[Certificate, Checked]:
    """Returns the certificate without the cuts that no path comes to, under the same hash as a cut is no claim, and
    what ``check`` returned of it. Refused where the certificate does not hold."""
    try:
        return certificate, check(certificate)
    except Refused as error:
        if not error.unmet:
            raise
        kept = [cut for n, cut in enumerate(certificate.cuts) if n not in error.unmet]
    certificate = extended(certificate, cuts=kept)
    return certificate, check(certificate)


def that_holds(
    certificate: Certificate, forms: Iterable[Sequence[CutClaim]], check: Callable[[Certificate], Checked]
) -> tuple[Certificate, Checked]:
    """Returns the certificate with the first form of its cuts that the checker can follow, and what ``check`` returned
    of it. ``forms``: all of them, the certificate's own first. Refused, for its own form's reason, where it holds with
    none."""
    try:
        return without_idle_cuts(certificate, check)
    except Refused:
        for cuts in islice(forms, 1, None):
            with suppress(Refused):
                return without_idle_cuts(extended(certificate, cuts=list(cuts)), check)
        raise


def network_of(teacher: Teacher) -> TeacherNetwork:
    """Returns the teacher as the checker takes it."""
    return TeacherNetwork(teacher.policy, teacher.weights, teacher.hash)
