"""The worst case is one figure, wherever it is said: exact where it is shown to be, else the bound."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emulator.profile import load_profile
from rlcc import api, stages
from rlcc.handlers import verify
from rlcc.predicate import predicate_of
from verify.trusted.certificate import Certificate, read_certificate

LOOSER = 47
"""Cycles by which a bound may lie above the exact worst case."""


def with_looser_bound(good: Path, exact: bool) -> Certificate:
    found = read_certificate(good / "certificate/certificate.json")
    worst = found.claims.worst_case
    assert worst.exact is not None
    changed = worst.model_copy(update={"bound": worst.exact + LOOSER, "exact": worst.exact if exact else None})
    return found.model_copy(update={"claims": found.claims.model_copy(update={"worst_case": changed})})


def verified(certificate: Certificate) -> Any:
    return SimpleNamespace(
        certificate=certificate,
        proof=SimpleNamespace(seconds=1.0, failures=()),
        calibration=SimpleNamespace(above=0, below=0, calls=1280, model="exact"),
        build=SimpleNamespace(engine=load_profile("ibex-small")),
    )


@pytest.mark.parametrize("exact", [True, False])
def test_line_and_table_say_the_figure_that_the_gate_judges(
    exact: bool, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = with_looser_bound(good, exact)
    worst = certificate.claims.worst_case
    other = worst.bound if exact else worst.bound - LOOSER
    verify._table(verified(certificate))
    table = capsys.readouterr().out
    row = next(line for line in table.splitlines() if line.startswith("worst case"))
    line = ", ".join(stages.proved(verified(certificate)).values())
    for said in (line, row.partition("witness")[0]):
        assert re.findall(r"(\d+) cycles (exactly|at most)", said) == [
            (str(worst.cycles), "exactly" if exact else "at most")
        ]
        assert str(other) not in said
    assert f"{worst.cycles / load_profile('ibex-small').clock.mhz:.3f} us" in table
    assert predicate_of(certificate).claims.worst_case.cycles == worst.cycles


def test_python_and_the_certificate_say_the_same(good: Path) -> None:
    claimed = read_certificate(good / "certificate/certificate.json").claims.worst_case
    assert api.Firmware(good / "firmware").worst_case_cycles == claimed.cycles


@pytest.mark.parametrize("exact", [True, False])
def test_a_check_says_it_too(
    exact: bool, good: Path, monkeypatch: pytest.MonkeyPatch, rlcc: Callable[..., tuple[int, str, str]]
) -> None:
    from verify.check import boundary
    from verify.trusted import certificate as certificates

    changed = with_looser_bound(good, exact)
    holds = SimpleNamespace(
        stack_bytes=0, paths=1, questions=0, solved=0, engine="ibex-small", profile_hash="x", on_core=True
    )
    monkeypatch.setattr(certificates, "read_certificate", lambda path: changed)
    monkeypatch.setattr(boundary, "checked", lambda *a, **k: holds)
    code, out, _ = rlcc("verify", good / "firmware", "--check", good / "certificate/certificate.json")
    assert code == 0
    assert changed.claims.worst_case.said in " ".join(out.split())
