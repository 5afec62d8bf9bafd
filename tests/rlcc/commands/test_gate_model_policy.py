"""`rlcc gate` of a policy that was read from a library's model: it has a network to run in, and no teacher."""

import json

import numpy as np
import pytest

from rlcc.cli import main

POLICY = """format = 1
name = "inflation-forest"
[model]
output = "change"
[observation]
window = 1
base_rtt = "8192 ns"
line_rate = "100 Gb/s"
rtt_max = "4 ms"
[[observation.features]]
kind = "rtt_inflation"
[action]
kind = "multiplier"
low = 0.8
high = 1.1
[limits]
rate_min = "1 ppm"
rate_max = "100 %"
rate_initial = "100 %"
"""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    """Raises the rate below an inflation of about 2, lowers it above."""
    import lightgbm

    folder = tmp_path_factory.mktemp("model")
    inflation = np.linspace(1, 6, 500)[:, None]
    target = np.clip((2 - inflation[:, 0]) / 10, -0.19, 0.05)
    options = {"num_leaves": 8, "verbose": -1, "num_threads": 1, "learning_rate": 0.5}
    lightgbm.train(options, lightgbm.Dataset(inflation, target), 10).save_model(str(folder / "model.txt"))
    (folder / "policy.toml").write_text(POLICY)
    words = ["emit", folder / "model.txt", "--policy", folder / "policy.toml", "--target", "doca-pcc"]
    assert main([*map(str, words), "--out", str(folder / "firmware")]) == 0
    return folder / "firmware"


def gated(firmware, *words: str) -> tuple[int, dict]:
    code = main(["gate", str(firmware), "--budget", "0.9 us", "--no-certificate", *words])
    return code, json.loads((firmware.parent / "verdict" / "verdict.json").read_text())


def test_its_closed_loop_is_judged_by_what_is_required(firmware):
    scenario = ("--scenario", "many-to-one:8")
    code, verdict = gated(firmware, *scenario, "--require", "goodput >= 0.8", "--require", "latency <= 60")
    checks = {check["id"]: check for check in verdict["checks"]}
    assert (code, verdict["verdict"], verdict["not_judged"]) == (0, "QUICK PASS", ["teacher"])
    assert set(verdict["reasons"]) == {"teacher"}
    assert checks["network.required.goodput[many-to-one:8]"]["passed"]
    assert checks["network.measured.loss[many-to-one:8]"]["passed"]
    assert not any(name.startswith("teacher.") for name in checks)
    (loop,) = verdict["measured"]["network"]
    assert loop["metrics"][0]["goodput"] > 0.8
    code, verdict = gated(firmware, *scenario, "--require", "latency <= 1")
    assert (code, verdict["verdict"]) == (1, "FAIL")


def test_a_quick_verdict_leaves_its_network_out(firmware):
    assert main(["gate", str(firmware), "--budget", "0.9 us", "--no-certificate", "--quick"]) == 0
    verdict = json.loads((firmware.parent / "quick-verdict" / "verdict.json").read_text())
    assert verdict["not_judged"] == ["teacher", "network"]
    assert not verdict.get("reasons")


def test_an_edited_folder_says_that_its_network_was_not_judged(firmware, tmp_path):
    import shutil

    from decision.artefact.manifest import opened
    from decision.artefact.output import writing

    copy = tmp_path / "firmware"
    manifest = opened(firmware, "firmware")
    with writing(copy, "firmware", parents=manifest.parents, seed=manifest.seed, details=manifest.details) as work:
        for file in manifest.files:
            shutil.copy(firmware / file, work / file)
        header = work / "rlcc_policy.h"
        header.write_text(header.read_text() + "\n")
    code, verdict = gated(copy)
    failed = {check["id"] for check in verdict["checks"] if not check["passed"]}
    assert code == 1
    assert "network.all" in failed
    assert "teacher.all" not in failed


def test_it_can_be_set_beside_any_teacher_of_the_same_eyes(firmware, capsys):
    """RL-CC's teacher observes otherwise, and the verdict says so."""
    from pathlib import Path

    teacher = Path(__file__).resolve().parents[3] / "fixtures" / "teachers" / "rl-cc-mlp"
    words = ("--scenario", "many-to-one:2", "--teacher", str(teacher), "--no-distance-proof")
    code, verdict = gated(firmware, *words)
    checks = {check["id"]: check for check in verdict["checks"]}
    assert code == 1
    assert not checks["teacher.interface"]["passed"]
    assert "teacher.rmse" in {name.partition("[")[0] for name in checks}
