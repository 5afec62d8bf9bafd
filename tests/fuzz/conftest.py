"""Real files to damage: a teacher, a student, a firmware folder, its program for the core, a certificate, a verdict."""

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from codegen.emit import emit
from decision.artefact.documents import dump_json
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.policy.model import GridFeature, Model
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from distill import rollout
from distill.options import RolloutOptions
from emulator.compile import compile_policy, link_program, toolchain
from emulator.firmware import ENTRY
from emulator.firmware_folder import built as build_folder
from emulator.profile import load_profile
from rlcc.attestation import attest
from rlcc.gate.names import named
from rlcc.gate.verdict import Verdict
from teachers.save import save
from teachers.teacher import make_teacher
from verify.prover.certify import certify
from verify.prover.output import write_certificate

POLICY: dict[str, Any] = {
    "format": 1,
    "name": "fuzzed",
    "architecture": {"kind": "mlp", "hidden": [2], "bias": False},
    "observation": {
        "window": 2,
        "base_rtt": "8192 ns",
        "line_rate": "100 Gb/s",
        "rtt_max": "4 ms",
        "features": [
            {"kind": "previous_action"},
            {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
        ],
    },
    "action": {"kind": "tanh_map", "step": 0.2},
    "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of them; nobody changes it."""
    root = tmp_path_factory.mktemp("corpus")
    hidden = np.array([[0, 0.17, 0, -0.05], [0, -0.17, 0, 0.05]], np.float32)
    weights = {"fc0.weight": hidden, "out.weight": np.array([[-1, 1]], np.float32)}
    teacher = make_teacher(Policy.model_validate(POLICY), weights, "the corpus")
    save(teacher, root / "teacher")
    options = RolloutOptions.model_validate({"scenarios": ["many-to-one:2"], "duration": "200 us"})
    rollout.write(rollout.collect(rollout.teacher_policy(teacher), options), teacher, root / "rollouts", options)
    policy = teacher.policy
    trees = (
        oblivious(((1, 48_173), (0, 200)), (0, -1800, 300, -1500)),
        oblivious(((1, 5_134_823),), (0, -4000)),
    )
    ensemble = Forest(feature_names(policy.observation), trees, (600,), policy.action.leaf_bits)
    student = Student(policy.name, policy.header, ensemble, teacher.hash)
    with writing(root / "student", "student", parents={"teacher": teacher.hash}) as work:
        student.save(work)
    emit(root / "student", root / "firmware", target="generic")
    engine = load_profile("ibex-small")
    found = certify(build_folder(root / "firmware", profile=engine)).certificate
    assert found is not None
    write_certificate(found, root / "certificate.json", [])
    with tempfile.TemporaryDirectory() as name:
        source = root / "firmware/rlcc_policy.c"
        made = compile_policy(source, toolchain(engine), folder=Path(name), lines=True)
        (root / "policy.o").write_bytes(made.path.read_bytes())
        (root / "program.elf").write_bytes(link_program(made, ENTRY, engine, Path(name)).read_bytes())
    (root / "verdict.json").write_text(dump_json(verdict()))
    Model((GridFeature("load", 0, 0, 63),), (oblivious(((0, 31),), (0, -4000)),), (-70_000,), 0, "regression").save(
        root
    )
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    pem, public = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (root / "signer.pem").write_bytes(key.private_bytes(pem, *secret))
    (root / "signer.pub").write_bytes(key.public_key().public_bytes(pem, public))
    envelope = attest(root / "firmware", root / "certificate.json", root / "signer.pem")
    (root / "envelope.json").write_text(envelope)
    (root / "payload.json").write_bytes(base64.b64decode(json.loads(envelope)["payload"]))
    return root


def verdict() -> dict[str, Any]:
    """A verdict with the figures that a reference needs."""
    check = named("budget.wcet")(value="9 cycles", limit="1 us", passed=True)
    emulation: dict[str, Any] = {
        "profile": "ibex-small",
        "profile_hash": "0" * 64,
        "compiler": "clang",
        "compiler_version": "clang 20",
        "opt": "-O2",
        "cycles": {"max": 9},
        "code_bytes": 8,
        "table_bytes": 0,
        "stack_bytes": 0,
    }
    hashes = dict.fromkeys(("firmware", "student", "teacher"), "0" * 64)
    measured = {"emulation": emulation, "worst_case_cycles": 9}
    made = Verdict(policy="p", profile="ibex-small", checks=[check], measured=measured, **hashes)
    return {"verdict": "PASS", **made.model_dump(mode="json")}
