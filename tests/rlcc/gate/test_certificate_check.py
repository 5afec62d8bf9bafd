"""Which form of a certificate's cuts is kept: the first that the checker can follow, and none if there is none."""

from collections.abc import Callable

import pytest

from rlcc.gate import certificate_check
from rlcc.gate.certificate_check import that_holds
from verify.check.refused import Refused
from verify.trusted.certificate import Certificate, CutClaim

FORMS = [[CutClaim(pc=pc, holds={}, bounds={})] for pc in (4, 8, 12)]


@pytest.fixture
def certificate(monkeypatch: pytest.MonkeyPatch) -> Certificate:
    """A certificate with the first form of cuts. Its other claims do not matter here."""
    monkeypatch.setattr(certificate_check, "extended", lambda one, **claims: one.model_copy(update=claims))
    return Certificate.model_construct(cuts=FORMS[0])


def checker(*followed: int) -> tuple[Callable[[Certificate], int], list[int]]:
    """Follows the cuts at these addresses alone; the addresses it was asked about."""
    asked: list[int] = []

    def check(certificate: Certificate) -> int:
        asked.append(certificate.cuts[0].pc)
        if asked[-1] not in followed:
            raise Refused(f"{asked[-1]}")
        return asked[-1]

    return check, asked


@pytest.mark.parametrize(("followed", "tried"), [((4, 8, 12), [4]), ((8, 12), [4, 8]), ((12,), [4, 8, 12])])
def test_the_first_form_that_the_checker_follows_is_kept(
    certificate: Certificate, followed: tuple[int, ...], tried: list[int]
) -> None:
    check, asked = checker(*followed)
    kept, answer = that_holds(certificate, iter(FORMS), check)
    assert asked == tried
    assert kept.cuts[0].pc == answer == tried[-1]


def test_a_certificate_that_no_form_of_cuts_helps_is_refused_for_what_the_first_one_met(
    certificate: Certificate,
) -> None:
    check, asked = checker()
    with pytest.raises(Refused, match="4"):
        that_holds(certificate, FORMS, check)
    assert asked == [4, 8, 12]
