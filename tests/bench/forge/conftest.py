"""A subject of documents by hand: what is edited and sealed needs no proof of anything."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.forge.judges import Files
from bench.forge.subjects import ForgerySubject
from verify.trusted.certificate import ASSUMPTIONS, sealed

CERTIFICATE: dict[str, Any] = {
    "format": 3,
    "subject": {
        "firmware": "a" * 64,
        "files": {"program": "b" * 64, "source": "c" * 64},
        "image": "d" * 64,
        "entry": "rlcc_decide",
        "compiler": "clang",
        "compiler_version": "clang version 22.1.8",
        "flags": ["-march=rv32im", "-O2"],
    },
    "engine": {
        "profile": {"name": "ibex-small", "clock": {"mhz": 330.0}, "limits": {"stack_bytes": 512}},
        "core": "core 0.0",
        "model": "exact",
        "calibration": {"core": "core 0.0", "above": 0, "below": 0, "calls": 1280},
    },
    "claims": {
        "equality": True,
        "safety": True,
        "stack_bytes": 16,
        "worst_case": {
            "bound": 93,
            "exact": 93,
            "witness": {"event.response_ns": 5, "context.rate_q30": 1 << 29},
            "outputs": {"rate_q20": 7},
            "rtl_cycles": 93,
        },
    },
    "assumptions": list(ASSUMPTIONS),
    "tools": {"rlcc": "1", "z3-solver": "4"},
    "cells": 48,
    "cuts": [{"pc": 288, "holds": {"x10": "node.6"}, "bounds": {"node.6": [0, 9]}}],
    "queries": [{"sha256": "e" * 64, "solvers": ["z3"]}],
    "behaviour": [
        {
            "asked": {"kind": "step", "at_least": 0.5, "at_most": None},
            "findings": [{"says": "s", "verdict": "holds", "value": "0.8 to 1.2", "witness": {"action_1": 3}}],
        },
        {
            "asked": {"kind": "yields", "inflation": 16.0, "to": "0.1 line", "decisions": 80},
            "findings": [{"says": "y", "verdict": "fails", "value": "in 90", "witness": {"context.rate_q30": 4}}],
        },
    ],
    "teacher": {
        "teacher": "f" * 64,
        "share": 0.2,
        "action": 0.02,
        "signals": {"congestion_q20": [0, 16777215]},
        "step": 256,
        "bound": 0.185,
        "reached": 0.184,
        "witness": {"congestion_q20": 77, "action_1": -5},
        "student": -0.01,
        "around": [0.17, 0.2],
    },
}


@pytest.fixture(scope="session")
def certificate() -> dict[str, Any]:
    """With every part that a certificate can have."""
    data: dict[str, Any] = json.loads(sealed(CERTIFICATE).model_dump_json())
    return data


@pytest.fixture
def subject(tmp_path: Path, certificate: dict[str, Any]) -> ForgerySubject:
    """With a certificate and a recipe, and no firmware."""
    files = Files(tmp_path / "true")
    files.certificate.parent.mkdir(parents=True)
    files.certificate.write_text(json.dumps(certificate))
    files.recipe.write_text('format = 1\nname = "small"\n[gate]\nbudget = "1 us"\n')
    return ForgerySubject("small", "Student, flow", files)
