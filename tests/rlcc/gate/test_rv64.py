"""The gate's check of RV64 machine code is the outcome of a new proof."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from emulator.profile import load_profile
from rlcc.gate import rv64
from verify.code.failures import Failure
from verify.rv64 import equality
from verify.rv64.equality import Rv64Proof

PROOF = Rv64Proof(None, 300, 30, 3, 90, 0)


@pytest.mark.parametrize(("profile", "is_rv64"), [("bluefield3-proxy", True), ("ibex-small", False)])
def test_only_rv64_engines_are_proved_so(profile: str, is_rv64: bool) -> None:
    assert rv64.runs_rv64(SimpleNamespace(engine=load_profile(profile))) is is_rv64


@pytest.mark.parametrize("failure", [None, Failure("wrong-result", 4096, "the return value is not the program's")])
def test_the_check_passes_only_if_all_is_proved(monkeypatch, failure: Failure | None) -> None:
    monkeypatch.setattr(equality, "prove", lambda build: replace(PROOF, failure=failure))
    found = rv64.proved_rv64(SimpleNamespace(), lambda _: None)
    assert found.certificate is None
    assert (found.check.id, found.check.group, found.check.passed) == ("proof.rv64", "proof", failure is None)
    assert "cycles" in found.check.name
    if failure is not None:
        assert failure.text in found.check.detail
        assert failure.kind in found.check.value
