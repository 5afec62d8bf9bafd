"""The gate's check of RV64 machine code is the outcome of a new proof."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from emulator import vectors
from emulator.profile import load_profile
from rlcc.gate import rv64
from verify.code.failures import Failure
from verify.rv64 import equality
from verify.rv64.equality import Rv64Proof

PROOF = Rv64Proof(None, 300, 30, 3, 90, 0)


@pytest.mark.parametrize(("profile", "is_rv64"), [("bluefield3-proxy", True), ("ibex-small", False)])
def test_only_rv64_engines_are_proved_so(profile: str, is_rv64: bool) -> None:
    assert rv64.runs_rv64(load_profile(profile)) is is_rv64


UNDECIDED = Failure("not-proved", 4096, "the return value is not shown to be the program's")
WRONG = Failure("wrong-result", 4096, "the return value is not the program's", {"event.response_ns": 1})


@pytest.mark.parametrize(
    ("failure", "demanded", "passed"),
    [
        (None, True, True),
        (None, False, True),
        (UNDECIDED, True, False),
        (UNDECIDED, False, True),
        (WRONG, True, False),
        (WRONG, False, False),
    ],
)
def test_a_difference_fails_and_where_a_proof_is_demanded_all_that_is_not_proved(
    monkeypatch, failure: Failure | None, demanded: bool, passed: bool
) -> None:
    build = SimpleNamespace(firmware="firmware")
    monkeypatch.setattr(vectors, "vectors_of", {"firmware": "its vectors"}.__getitem__)
    proofs = {(id(build), "its vectors"): replace(PROOF, failure=failure)}
    monkeypatch.setattr(equality, "prove", lambda build, tried: proofs[id(build), tried])
    check = rv64.proved_rv64(build, demanded, lambda _: None)
    assert (check.id, check.group, check.passed) == ("proof.rv64", "proof", passed)
    assert "cycles" in check.name
    if failure is not None:
        assert failure.text in check.detail
        assert failure.kind in check.value
