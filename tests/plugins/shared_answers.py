"""Answers that the tests of one worker share: of solvers to the same text, of calibrations of the same engine.

Mutants of a program or a certificate ask a solver nearly all that the original asked, and `rlcc verify` and its checker
calibrate an engine for each certificate. Either answer follows from its question. The first that asks gets it from the
solver or the core, and no answer is kept that depends on time ("unknown").

What `verify.trusted.calibrate` finds is tested in tests/verify/trusted/test_costs.py, on the function itself; a test
with ``calibrated_anew`` calibrates for each certificate and each check, as a user's process does.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from bench.mutants import ISOLATION

Solve = Callable[[str, dict[str, int] | None], str]
CALIBRATING = ("verify.prover.certify", "verify.check.on_core")
CHECKER, PROVER = "verify.check.solver", "verify.prover.solve"
CALIBRATIONS: dict[tuple[str, str], Any] = {}
shared_modules: set[str] = set()


def shares() -> bool:
    """Returns whether tests share answers and results."""
    return ISOLATION not in os.environ


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Put the shared answers into the modules that ask, as soon as a test has imported them."""
    if not shares():
        return
    for name in {*CALIBRATING, CHECKER, PROVER} - shared_modules:
        module = sys.modules.get(name)
        if module is None:
            continue
        shared_modules.add(name)
        if name in CALIBRATING:
            module.calibrate = partial(_calibrated, module.calibrate)
        elif name == CHECKER:
            module.SOLVERS |= {solver: _answered_once(answer) for solver, answer in module.SOLVERS.items()}
        else:
            module._bitwuzla, module._z3 = _asked_once(module._bitwuzla), _asked_once(module._z3)


def _calibrated(calibrate: Any, profile: Any, executable: Any, *, progress: Any = None) -> Any:
    key = profile.name, profile.hash()
    if key not in CALIBRATIONS:
        CALIBRATIONS[key] = calibrate(profile, executable, progress=progress)
    return CALIBRATIONS[key]


def _answered_once(answer: Solve) -> Solve:
    answers: dict[str, tuple[str, dict[str, int]]] = {}

    def answered(script: str, values: dict[str, int] | None) -> str:
        if script not in answers:
            found: dict[str, int] = {}
            answers[script] = answer(script, found), found
        word, found = answers[script]
        if values is not None:
            values |= found
        return word

    return answered


def _asked_once(ask: Callable[[Any, float], tuple[str, dict[int, int]]]) -> Any:
    answers: dict[Any, tuple[str, dict[int, int]]] = {}

    def asked(question: Any, seconds: float) -> tuple[str, dict[int, int]]:
        key = question.text, tuple(question.atoms)
        if key not in answers:
            verdict, model = ask(question, seconds)
            if verdict == "unknown":
                return verdict, model
            answers[key] = verdict, model
        verdict, model = answers[key]
        return verdict, dict(model)

    return asked


@pytest.fixture
def calibrated_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calibrate as a user's process does, once a certificate and once a check."""
    from verify.trusted.calibrate import calibrate

    for name in CALIBRATING:
        monkeypatch.setattr(f"{name}.calibrate", calibrate)
