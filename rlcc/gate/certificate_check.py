"""Whether a certificate holds: checked again, or the very same was checked here before."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from decision.artefact.manifest import sha256
from emulator.build import Build
from rlcc.gate.check_cache import Remembered
from teachers.teacher import Teacher
from verify.check.effort import FULL, QUICK, Effort
from verify.check.refused import Refused
from verify.check.teacher_distance import TeacherNetwork
from verify.trusted.certificate import Certificate, CutClaim, extended, image_hash

if TYPE_CHECKING:
    from verify.check.recheck import Recheck
    from verify.prover.cuts import CutForms

Progress = Callable[[str], None]


class WithUnmetCuts(Protocol):
    """An answer of the checker: ``unmet`` are numbers of the cuts that no path comes to."""

    @property
    def unmet(self) -> tuple[int, ...]: ...


Found = TypeVar("Found", bound=WithUnmetCuts)


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
    _needs(certificate, teacher)
    before = remembered or Remembered(use=False)
    parts = _parts(certificate, content, build, teacher)
    if before.holds("certificate", parts):
        return
    _check(certificate, build, teacher=teacher, progress=progress)
    before.keep("certificate", parts)


def held_with(
    certificate: Certificate,
    forms: "CutForms | None",
    build: Build,
    *,
    content: Callable[[Certificate], bytes],
    teacher: Teacher | None = None,
    progress: Progress | None = None,
    remembered: Remembered | None = None,
) -> Certificate:
    """Returns the certificate with those of the ``forms`` of its cuts, its own first, that the checker follows, and
    remembers that its file, of this ``content``, holds. Refused where it holds with none."""
    _needs(certificate, teacher)
    before = remembered or Remembered(use=False)
    if before.holds("certificate", _parts(certificate, content(certificate), build, teacher)):
        return certificate

    def check(made: Certificate, effort: Effort) -> "Recheck":
        return _check(made, build, teacher=teacher, progress=progress, effort=effort, idle=True)

    kept, _ = that_holds(certificate, forms or (), check, quickly=forms is not None and forms.places)
    before.keep("certificate", _parts(kept, content(kept), build, teacher))
    return kept


def that_holds(
    certificate: Certificate,
    forms: Iterable[Sequence[CutClaim]],
    check: Callable[[Certificate, Effort], Found],
    *,
    quickly: bool,
) -> tuple[Certificate, Found]:
    """Returns the certificate with the first form of its cuts that the checker can follow, and what ``check`` returned
    of it. If all are to be tried ``quickly`` before one for long, it is the first that is followed so, if any is. The
    certificate's own of ``forms`` is the first; they are gone through for each effort.

    Cuts that no path comes to are left out, under the same hash as a cut is no claim: the paths between the others are
    those that were walked. Where the checker follows all but that the worst case is exact, the certificate says no more
    than the least bound that it found. Refused, for its own form's reason, where it holds with none."""
    claimed = certificate.claims.worst_case
    refused: dict[int, Refused] = {}
    bounded: dict[int, Certificate] = {}
    tried: set[tuple[int, ...]] = set()
    for effort in (QUICK, FULL) if quickly else (FULL,):
        for number, cuts in enumerate(chain([certificate.cuts], islice(forms, 1, None))):
            if number in refused and not refused[number].unfinished:
                continue
            places = tuple(sorted(cut.pc for cut in cuts))
            if effort is QUICK and places in tried:
                continue  # it takes as long as the one before
            form = extended(certificate, cuts=list(cuts)) if number else certificate
            try:
                found = check(form, effort.more(number))
            except Refused as error:
                refused[number] = error
                if error.unfinished:
                    tried.add(places)
                if claimed.exact is not None and error.bound is not None:
                    bounded[error.bound] = _bounded(form, error.bound)
                continue
            return _with_met(form, found), found
    if bounded:
        form = bounded[min(bounded)]
        with suppress(Refused):
            found = check(form, FULL)
            return _with_met(form, found), found
    raise refused[0]


def only_bounded(made: Certificate, kept: Certificate) -> bool:
    """Whether the certificate that holds claims a bound, and the one that was made an exact worst case."""
    return made.claims.worst_case.exact is not None and kept.claims.worst_case.exact is None


def _with_met(form: Certificate, found: WithUnmetCuts) -> Certificate:
    """Returns the certificate without the cuts that no path comes to."""
    met = [cut for n, cut in enumerate(form.cuts) if n not in found.unmet]
    return extended(form, cuts=met) if found.unmet else form


def _bounded(certificate: Certificate, bound: int) -> Certificate:
    """Returns the certificate with no more than a bound of the worst case."""
    claims = certificate.claims
    worst = claims.worst_case.model_copy(update={"bound": bound, "exact": None})
    return extended(certificate, claims=claims.model_copy(update={"worst_case": worst}))


def _needs(certificate: Certificate, teacher: Teacher | None) -> None:
    """Refused where it speaks of a teacher that is not known."""
    if certificate.teacher is not None and teacher is None:
        raise Refused(
            f"it speaks of a distance from the teacher {certificate.teacher.teacher[:12]}, which is not known here"
        )


def _check(certificate: Certificate, build: Build, *, teacher: Teacher | None, **how: Any) -> "Recheck":
    """Returns the answer of the checker, in its own process."""
    from verify.check.boundary import checked  # with its solvers, which one who signs or reads needs not

    network = None if teacher is None else network_of(teacher)
    return checked(certificate, build.firmware.manifest, teacher=network, **how)


def _parts(certificate: Certificate, content: bytes, build: Build, teacher: Teacher | None) -> dict[str, object]:
    """All that decides whether a certificate holds, next to the checker and its tools."""
    return {
        "certificate": [certificate.hash, sha256(content)],
        "firmware": build.firmware.hash,
        "image": image_hash(build.image),
        "profile": build.engine.model_dump(mode="json"),
        "compiler": [build.toolchain.compiler.name, build.toolchain.compiler.version, build.toolchain.opt],
        "teacher": teacher.hash if teacher and certificate.teacher else None,
    }


def network_of(teacher: Teacher) -> TeacherNetwork:
    """Returns the teacher as the checker takes it."""
    return TeacherNetwork(teacher.policy, teacher.weights, teacher.hash)
