"""Models made elsewhere through the gate: equality, proof, worst case, budget and sizes; no teacher and no network.

Slow: a model that decides always the same.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from catboost import CatBoostClassifier

from codegen.model_body import emit_model
from decision.artefact.documents import load_json
from decision.artefact.output import writing
from decision.policy.model import GridFeature, Model
from rlcc.cli import main


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The firmware of a CatBoost classifier of three classes, and its certificate."""
    place = tmp_path_factory.mktemp("model")
    rows = [[a, b] for a in range(0, 64, 3) for b in range(0, 64, 3)]
    classes = [0 if a * b < 700 else 1 if a > b else 2 for a, b in rows]
    options = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    fitted = CatBoostClassifier(loss_function="MultiClass", **options).fit(rows, classes)
    fitted.save_model(str(place / "model.cbm"))
    grid = "".join(f'[features."{f}"]\nlow = 0\nhigh = 63\nfraction_bits = 0\n' for f in (0, 1))
    (place / "grid.toml").write_text(grid)
    emit = ["emit", str(place / "model.cbm"), "--grid", str(place / "grid.toml"), "--out", str(place / "firmware")]
    assert main(emit) == 0
    assert main(["verify", str(place / "firmware"), "--out", str(place / "certificate/certificate.json")]) == 0
    return place


def judged(firmware: Path, *options: str) -> tuple[int, dict[str, bool]]:
    """The exit code, and by id whether each check passed."""
    code = main(["gate", str(firmware), *options])
    verdict = load_json(firmware.parent / "verdict/verdict.json")
    return code, {check["id"]: check["passed"] for check in verdict["checks"]}


def test_it_passes_on_its_proof_without_a_teacher(model: Path) -> None:
    code, checks = judged(model / "firmware", "--budget", "1 us")
    assert code == 0
    assert all(checks.values())
    assert list(checks) == [
        *(f"equality.{what}" for what in ("core", "emitted", "parents", "thresholds")),
        "object_code.forbidden",
        *(f"size.{part}" for part in ("code", "table", "context", "stack")),
        "proof.certificate",
        *("budget.wcet", "budget.slowest_vector"),
    ]
    verdict = load_json(model / "verdict/verdict.json")
    assert (verdict["verdict"], verdict["not_judged"]) == ("QUICK PASS", ["teacher", "network"])
    assert set(verdict["reasons"]) == {"teacher", "network"}


def test_it_fails_over_its_budget(model: Path) -> None:
    code, checks = judged(model / "firmware", "--budget", "0.01 us")
    assert code == 1
    assert {name.partition(".")[0] for name, passed in checks.items() if not passed} == {"budget"}


def test_a_changed_comparison_is_judged_by_that_alone(model: Path, tmp_path: Path) -> None:
    manifest = json.loads((model / "firmware/manifest.json").read_text())
    known = {key: manifest[key] for key in ("parents", "seed", "details")}
    with writing(tmp_path / "firmware", "firmware", **known) as work:
        for path in (model / "firmware").iterdir():
            if path.name != "manifest.json":
                shutil.copy(path, work)
        source = (work / "rlcc_policy.c").read_text()
        (work / "rlcc_policy.c").write_text(source.replace(" > ", " >= ", 1))
    code, checks = judged(tmp_path / "firmware", "--budget", "1 us")
    assert code == 1
    assert [name for name, passed in checks.items() if passed] == ["equality.parents"]


def test_a_teacher_is_refused_with_a_model(model: Path, capsys) -> None:
    assert main(["gate", str(model / "firmware"), "--budget", "1 us", "--teacher", str(model)]) == 2
    assert "has no teacher" in capsys.readouterr().err


@pytest.mark.slow
def test_a_model_that_decides_always_the_same_goes_all_the_way(tmp_path: Path, capsys) -> None:
    """Its trees ask for nothing; every input is the slowest one."""
    emit_model(Model((GridFeature("load", 0, 0, 63),), (), (-70_000,), 0, "regression"), tmp_path / "firmware")
    assert main(["emulate", str(tmp_path / "firmware")]) == 0
    assert main(["verify", str(tmp_path / "firmware"), "--out", str(tmp_path / "certificate/certificate.json")]) == 0
    assert re.search(r"WCET +\d+ cycles exactly\n", capsys.readouterr().out)
    code, checks = judged(tmp_path / "firmware", "--budget", "1 us")
    assert code == 0
    assert all(checks.values())
