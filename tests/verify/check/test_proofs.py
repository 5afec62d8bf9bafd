"""Proofs that the checker keeps: each of the question beside it, by cvc5, and none of what is not so."""

import zipfile
from io import BytesIO

import pytest
from decision_by_hand import CUT, CYCLES, judge, with_code

from verify.check.path_facts import Oracle
from verify.check.proofs import EPOCH, OPEN, Contradiction, Proofs
from verify.check.refused import Refused
from verify.check.solver import SOLVERS, Undecided, impossible
from verify.check.terms import const, make, negate, var
from verify.trusted.calibrate_programs import encode

A0 = 10
X, Y = var("proofs.x"), var("proofs.y")
SMALL = [make("bvult", X, const(9)), make("bvult", const(9), X)]


def files(proofs: Proofs) -> dict[str, str]:
    with zipfile.ZipFile(BytesIO(proofs.archive())) as archive:
        assert {info.date_time for info in archive.infolist()} == {EPOCH}
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_what_is_impossible_is_kept_with_a_proof_of_every_step() -> None:
    proofs = Proofs()
    assert impossible(SMALL, lambda _: (0, 20), "bitwuzla", multiply=True, prove=proofs.add)
    assert not impossible(SMALL[:1], lambda _: (0, 20), "bitwuzla", multiply=True, prove=proofs.add)
    assert (proofs.count, proofs.open_steps) == (1, 0)
    content = files(proofs)
    assert list(content) == ["00001.smt2", "00001.alethe"]
    question, proof = content.values()
    assert question.count("(assert") == 2
    assert question.endswith("(check-sat)\n")
    assert "(assume" in proof
    assert proof.count("(step") > 10
    assert proof.rstrip().rstrip(")").rstrip().rpartition("\n")[2].startswith("(step")


def test_the_question_that_is_proved_is_the_one_that_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Abstract products where these were enough, real ones where they were not."""
    scripts: list[str] = []
    monkeypatch.setattr(Proofs, "add", lambda _, script: scripts.append(script))
    kept, product = Proofs(), make("prod", X, const(5))
    assert not impossible(
        [make("=", product, const(15, 64))], lambda _: (0, 9), "bitwuzla", multiply=True, prove=kept.add
    )
    assert impossible([make("=", product, const(13, 64))], lambda _: (0, 9), "bitwuzla", multiply=True, prove=kept.add)
    assert impossible([make("=", product, const(99, 64))], lambda _: (0, 9), "bitwuzla", multiply=True, prove=kept.add)
    assert ["bvmul" in script for script in scripts] == [True, False]


def test_a_solver_that_calls_everything_impossible_is_told_from_one_that_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would accept any code: what it says is proved by another, which shows the values."""
    monkeypatch.setitem(SOLVERS, "bitwuzla", lambda *_: "unsat")
    with pytest.raises(Contradiction, match="cvc5 satisfies a question"):
        impossible([negate(make("=", X, Y))], lambda _: (0, 9), "bitwuzla", multiply=False, prove=Proofs().add)
    wrong = with_code(plus=encode("addi", A0, A0, imm=2))
    judge(wrong, CUT).bound()  # accepted: nobody else was asked
    with pytest.raises(Contradiction):
        judge(wrong, CUT, oracle=Oracle("bitwuzla", prove=Proofs().add)).bound()


def test_right_code_is_accepted_and_wrong_code_refused_as_without_proofs() -> None:
    assert judge(None, CUT, oracle=Oracle("bitwuzla", prove=Proofs().add)).bound() == CYCLES
    with pytest.raises(Refused, match="returns another value"):
        judge(with_code(plus=encode("addi", A0, A0, imm=2)), CUT, oracle=Oracle(prove=Proofs().add)).bound()


def test_what_cvc5_does_not_prove_in_its_time_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.check.solver.MILLISECONDS", 1)
    abstract, exact = ("sat", "unsat")
    monkeypatch.setitem(SOLVERS, "bitwuzla", lambda script, _: exact if "bvmul" in script else abstract)
    factors = make("=", make("prod", X, Y), const(4294967291 * 4294967279, 64)), make("bvult", X, Y)
    with pytest.raises(Undecided):
        impossible(factors, lambda _: (0, (1 << 32) - 1), "bitwuzla", multiply=True, prove=Proofs().add)


def test_steps_without_a_reason_are_told() -> None:
    assert len(OPEN.findall(b"(step t1 (cl) :rule hole)(step t2 (cl) :rule trust :args (1))")) == 2
    assert not OPEN.search(b"(step t1 (cl) :rule and_pos)(step t2 (cl @hole) :rule rare_rewrite)")
