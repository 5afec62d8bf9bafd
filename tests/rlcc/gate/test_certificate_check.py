"""Which form of a certificate's cuts is kept: the first that the checker follows quickly, or else at all."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rlcc.gate import certificate_check
from rlcc.gate.certificate_check import held_with, that_holds
from rlcc.gate.check_cache import Remembered
from verify.check.effort import FULL, QUICK, Effort
from verify.check.refused import Refused
from verify.prover.cuts import CutForms
from verify.trusted.certificate import Certificate, Claims, CutClaim, WorstCase

FORMS = [(CutClaim(pc=pc, holds={}, bounds={}), CutClaim(pc=pc + 1, holds={}, bounds={})) for pc in (4, 8, 12)]
NEVER, SLOWLY, QUICKLY = None, FULL, QUICK
MORE, MOST = QUICK.more(1), QUICK.more(2)


@dataclass(frozen=True)
class Answer:
    pc: int
    unmet: tuple[int, ...] = ()


@pytest.fixture
def certificate(monkeypatch: pytest.MonkeyPatch) -> Certificate:
    """A certificate with the first form of cuts. Its other claims do not matter here."""
    monkeypatch.setattr(certificate_check, "extended", lambda one, **claims: one.model_copy(update=claims))
    return Certificate.model_construct(cuts=[*FORMS[0]], claims=worst_of(None))


def checker(
    *needed: Effort | None, unmet: tuple[int, ...] = ()
) -> tuple[Callable[[Certificate, Effort], Answer], list[tuple[int, Effort]]]:
    """Follows each form with the effort that it needs; what it was asked. A check that was not given it is not
    finished."""
    asked: list[tuple[int, Effort]] = []

    def check(certificate: Certificate, effort: Effort) -> Answer:
        pc = certificate.cuts[0].pc
        asked.append((pc, effort))
        wanted = needed[pc // 4 - 1]
        if wanted is None or (wanted is FULL and effort is not FULL):
            raise Refused(f"{pc}", unfinished=wanted is not None)
        return Answer(pc, unmet)

    return check, asked


@pytest.mark.parametrize(
    ("needed", "tried"),
    [
        ((QUICKLY, QUICKLY, QUICKLY), [(4, QUICK)]),
        ((SLOWLY, QUICKLY, NEVER), [(4, QUICK), (8, MORE)]),
        ((NEVER, SLOWLY, SLOWLY), [(4, QUICK), (8, MORE), (12, MOST), (8, FULL)]),
        ((SLOWLY, NEVER, NEVER), [(4, QUICK), (8, MORE), (12, MOST), (4, FULL)]),
    ],
)
def test_the_first_form_that_the_checker_follows_quickest_is_kept(
    certificate: Certificate, needed: tuple[Effort | None, ...], tried: list[tuple[int, Effort]]
) -> None:
    check, asked = checker(*needed)
    kept, answer = that_holds(certificate, FORMS, check, quickly=True)
    assert asked == tried
    assert kept.cuts[0].pc == answer.pc == tried[-1][0]
    assert len(kept.cuts) == 2


@pytest.mark.parametrize(("unmet", "left"), [((0,), [5]), ((1,), [4]), ((), [4, 5])])
def test_cuts_that_no_path_comes_to_are_left_out(
    certificate: Certificate, unmet: tuple[int, ...], left: list[int]
) -> None:
    check, asked = checker(QUICKLY, unmet=unmet)
    kept, _ = that_holds(certificate, FORMS, check, quickly=True)
    assert [cut.pc for cut in kept.cuts] == left
    assert len(asked) == 1


def test_a_certificate_that_no_form_of_cuts_helps_is_refused_for_what_the_first_one_met(
    certificate: Certificate,
) -> None:
    check, asked = checker(NEVER, NEVER, NEVER)
    with pytest.raises(Refused, match="4"):
        that_holds(certificate, FORMS, check, quickly=True)
    assert asked == [(4, QUICK), (8, MORE), (12, MOST)]


def test_a_form_with_cuts_at_places_that_were_tried_waits_for_its_turn_to_the_end(certificate: Certificate) -> None:
    check, asked = checker(NEVER, SLOWLY, NEVER)
    that_holds(certificate, [FORMS[0], FORMS[1], FORMS[1][::-1], FORMS[1]], check, quickly=True)
    assert asked == [(4, QUICK), (8, MORE), (8, FULL)]


def test_it_does_not_wait_where_the_form_before_was_followed_and_refused(certificate: Certificate) -> None:
    check, asked = checker(NEVER, NEVER, NEVER)
    with pytest.raises(Refused):
        that_holds(certificate, [FORMS[0], FORMS[0][::-1]], check, quickly=True)
    assert [effort for _, effort in asked] == [QUICK, MORE]


@pytest.mark.parametrize(("needed", "tried"), [((SLOWLY, QUICKLY, QUICKLY), [4]), ((NEVER, SLOWLY, QUICKLY), [4, 8])])
def test_forms_with_cuts_at_the_same_places_are_each_tried_to_the_end(
    certificate: Certificate, needed: tuple[Effort | None, ...], tried: list[int]
) -> None:
    check, asked = checker(*needed)
    that_holds(certificate, FORMS, check, quickly=False)
    assert asked == [(pc, FULL) for pc in tried]


BOUNDS = {4: 130, 8: 110, 12: 120}


def bounded_checker(follows_bounds: bool, unfinished: bool) -> Callable[[Certificate, Effort], Answer]:
    """Follows no exact worst case; of each form it finds a bound."""

    def check(made: Certificate, effort: Effort) -> Answer:
        pc = made.cuts[0].pc
        if made.claims.worst_case.exact is not None:
            raise Refused(f"{pc} chains", unfinished=unfinished, bound=BOUNDS[pc])
        if not follows_bounds:
            raise Refused("nor this")
        return Answer(pc)

    return check


def worst_of(exact: int | None) -> Claims:
    worst = WorstCase(bound=140, exact=exact, witness={}, outputs={}, rtl_cycles=100)
    return Claims(equality=True, safety=True, stack_bytes=0, worst_case=worst)


@pytest.mark.parametrize("unfinished", [True, False])
@pytest.mark.parametrize("quickly", [True, False])
def test_where_the_checker_does_not_follow_the_exact_worst_case_the_least_bound_that_it_found_is_claimed(
    certificate: Certificate, quickly: bool, unfinished: bool
) -> None:
    certificate = certificate.model_copy(update={"claims": worst_of(100)})
    kept, answer = that_holds(certificate, FORMS, bounded_checker(True, unfinished), quickly=quickly)
    worst = certificate.claims.worst_case.model_copy(update={"bound": 110, "exact": None})
    assert kept.claims.worst_case == worst
    assert kept.cuts[0].pc == answer.pc == 8


def test_a_bound_that_does_not_hold_either_is_refused(certificate: Certificate) -> None:
    certificate = certificate.model_copy(update={"claims": worst_of(100)})
    with pytest.raises(Refused, match="4 chains"):
        that_holds(certificate, FORMS, bounded_checker(False, True), quickly=True)


def test_a_claim_of_a_bound_is_not_loosened(certificate: Certificate) -> None:
    certificate = certificate.model_copy(update={"claims": worst_of(None)})

    def check(made: Certificate, effort: Effort) -> Answer:
        raise Refused("above the bound", bound=150)

    with pytest.raises(Refused, match="above the bound"):
        that_holds(certificate, FORMS, check, quickly=True)


def test_half_the_questions_come_to_each_further_form() -> None:
    assert QUICK.questions
    assert [QUICK.more(n) for n in range(3)] == [
        replace(QUICK, questions=QUICK.questions * halves // 2) for halves in (2, 3, 4)
    ]
    assert FULL.more(1) == FULL


def test_what_was_written_is_remembered_and_nothing_else(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file with the form that holds, without idle cuts; not the form that was refused."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    follow, asked = checker(NEVER, QUICKLY, NEVER, unmet=(0,))
    monkeypatch.setattr(certificate_check, "_needs", lambda *_: None)
    monkeypatch.setattr(certificate_check, "_parts", lambda _, content, *__: {"content": content.decode()})
    monkeypatch.setattr(certificate_check, "_check", lambda made, *_, effort, idle, **__: follow(made, effort))
    build: Any = "a build"

    def content(made: Certificate) -> bytes:
        return str([cut.pc for cut in made.cuts]).encode()

    def written(made: Certificate) -> Certificate:
        forms = CutForms(iter(FORMS), places=True)
        return held_with(made, forms, build, content=content, remembered=Remembered())

    kept = written(certificate)
    assert [cut.pc for cut in kept.cuts] == [9]
    assert asked == [(4, QUICK), (8, MORE)]
    assert written(kept) == kept
    assert len(asked) == 2, "it was remembered"
    written(certificate)
    assert len(asked) == 4, "the refused form was not"
