"""A CSV of somebody's own to proved C: import, distill, emit, verify, gate. No network of rlcc's runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from own_log import POLICY, column_options, log_text

from decision.artefact.manifest import opened
from rlcc import cli
from teachers.load import load

TEACHER = Path(__file__).resolve().parents[2] / "fixtures" / "teachers" / "rl-cc-mlp"
BUDGET = ["--budget", "0.9us"]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of such a user, with all artefacts."""
    root = tmp_path_factory.mktemp("own")
    (root / "policy.toml").write_text(POLICY)
    for name, seed in (("log", 1), ("held-out", 2)):
        (root / f"{name}.csv").write_text(log_text(seed))
        asked = ["import", str(root / f"{name}.csv"), "--policy", str(root / "policy.toml"), *column_options()]
        assert cli.main([*asked, "--output", str(root / name)]) == 0
    fit = ["distill", str(root / "log"), "--trees", "4", "--depth", "3", "--out", str(root / "student")]
    assert cli.main(fit) == 0
    assert cli.main(["emit", str(root / "student"), "--target", "generic", "--out", str(root / "firmware")]) == 0
    proof = ["verify", str(root / "firmware"), "--out", str(root / "certificate/certificate.json")]
    assert cli.main(proof) == 0
    return root


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a network of rlcc's runs")

    for name in ("netsim.trials.run", "distill.rollout.run_trials", "rlcc.gate.closed_loop.run_trials"):
        monkeypatch.setattr(name, refuse)


def verdict_of(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "verdict.json").read_text())
    return read


@pytest.mark.usefixtures("no_network")
def test_the_gate_judges_what_it_can_and_says_what_not(own: Path, rlcc: Any, tmp_path: Path) -> None:
    code, out, _ = rlcc("gate", own / "firmware", *BUDGET, "--rollouts", own / "held-out", "--out", tmp_path / "v")
    verdict = verdict_of(tmp_path / "v")
    assert (code, verdict["verdict"], verdict["not_judged"]) == (0, "QUICK PASS", ["network"])
    assert set(verdict["reasons"]) == {"network"}
    groups = {check["group"] for check in verdict["checks"]}
    assert groups == {"equality", "object code", "size", "proof", "budget", "teacher"}
    assert verdict["measured"]["teacher"]["decisions"] > 1000
    assert "not judged" in out
    assert "skipped" in (tmp_path / "v" / "junit.xml").read_text()
    assert "--quick" not in (tmp_path / "v" / "summary.md").read_text()
    assert "--quick" not in (tmp_path / "v" / "report.html").read_text()


@pytest.mark.usefixtures("no_network")
def test_without_held_out_rollouts_actions_are_not_judged_either(own: Path, rlcc: Any, tmp_path: Path) -> None:
    code, _, _ = rlcc("gate", own / "firmware", *BUDGET, "--out", tmp_path / "v")
    verdict = verdict_of(tmp_path / "v")
    assert (code, verdict["not_judged"]) == (0, ["teacher", "network"])
    quick, _, _ = rlcc("gate", own / "firmware", *BUDGET, "--quick", "--out", tmp_path / "q")
    assert (quick, verdict_of(tmp_path / "q").get("reasons")) == (0, None)


def test_a_student_that_does_not_match_fails(own: Path, rlcc: Any, tmp_path: Path) -> None:
    """The held-out labels turned round: the same signals, the opposite decisions."""
    lines = (own / "held-out.csv").read_text().splitlines()
    turned = [lines[0], *(f"{line.rpartition(',')[0]},{2 - float(line.rpartition(',')[2]):.6f}" for line in lines[1:])]
    (tmp_path / "turned.csv").write_text("\n".join(turned) + "\n")
    policy = ["--policy", own / "policy.toml", *column_options()]
    assert rlcc("import", tmp_path / "turned.csv", *policy, "--out", tmp_path / "turned")[0] == 0
    given = ["--rollouts", tmp_path / "turned", "--out", tmp_path / "v"]
    assert rlcc("gate", own / "firmware", *BUDGET, *given)[0] == 1
    failed = [check["id"] for check in verdict_of(tmp_path / "v")["checks"] if not check["passed"]]
    assert "teacher.rmse" in failed


def test_rollouts_of_the_fit_and_of_another_policy_are_refused(
    own: Path, refused: Callable[..., str], tmp_path: Path
) -> None:
    assert "fitted to" in refused("gate", own / "firmware", *BUDGET, "--rollouts", own / "log", "--out", tmp_path / "v")
    (tmp_path / "renamed.csv").write_bytes((own / "log.csv").read_bytes())
    renamed = ["import", str(tmp_path / "renamed.csv"), "--policy", str(own / "policy.toml"), *column_options()]
    assert cli.main([*renamed, "--out", str(tmp_path / "renamed")]) == 0
    assert opened(tmp_path / "renamed", "rollouts").hash != opened(own / "log", "rollouts").hash
    given = ["--rollouts", tmp_path / "renamed", "--out", tmp_path / "v"]
    assert "fitted to" in refused("gate", own / "firmware", *BUDGET, *given)
    (tmp_path / "policy.toml").write_text(POLICY.replace("beta = 1.5", "beta = 1.6"))
    asked = ["import", str(own / "held-out.csv"), "--policy", str(tmp_path / "policy.toml"), *column_options()]
    assert cli.main([*asked, "--out", str(tmp_path / "other")]) == 0
    said = refused("gate", own / "firmware", *BUDGET, "--rollouts", tmp_path / "other", "--out", tmp_path / "v")
    assert "another observation" in said


def test_parents_lead_to_the_record(own: Path) -> None:
    record, student = opened(own / "log", "rollouts"), opened(own / "student", "student")
    firmware = opened(own / "firmware", "firmware")
    assert student.parents == {"teacher": record.parents["teacher"], "rollouts": record.hash}
    assert firmware.parents["teacher"] == record.parents["teacher"]


def test_the_import_takes_less_than_the_log_in_any_order_of_columns(own: Path, tmp_path: Path) -> None:
    rows = [line.split(",") for line in (own / "log.csv").read_text().splitlines()]
    (tmp_path / "log.csv").write_text("\n".join(",".join(reversed(row)) for row in rows) + "\n")
    asked = ["import", str(tmp_path / "log.csv"), "--policy", str(own / "policy.toml"), *column_options()]
    assert cli.main([*asked, "--out", str(tmp_path / "log")]) == 0
    assert opened(tmp_path / "log", "rollouts").parents == opened(own / "log", "rollouts").parents


def test_a_teacher_of_weights_labels_the_log(own: Path, refused: Callable[..., str], tmp_path: Path) -> None:
    applied = [word.replace("label=", "applied=") for word in column_options()]
    asked = ["import", str(own / "log.csv"), "--teacher", str(TEACHER), *applied, "--out", str(tmp_path / "rollouts")]
    assert cli.main([*asked, "--policy", str(TEACHER / "policy.toml")]) == 0
    of = load(TEACHER)
    assert opened(tmp_path / "rollouts", "rollouts").parents == {"teacher": of.hash}
    fit = ["distill", str(tmp_path / "rollouts"), "--trees", "2", "--depth", "2", "--out", str(tmp_path / "student")]
    assert cli.main(fit) == 0
    assert opened(tmp_path / "student", "student").parents["teacher"] == of.hash
    assert cli.main(["emit", str(tmp_path / "student"), "--out", str(tmp_path / "firmware")]) == 0
    judged = ["gate", tmp_path / "firmware", *BUDGET, "--teacher", TEACHER, "--rollouts", tmp_path / "rollouts"]
    assert "fitted to" in refused(*judged, "--scenario", "many-to-one:2", "--out", tmp_path / "verdict")
    other = refused(*asked[:-2], "--policy", own / "policy.toml", "--out", tmp_path / "other")
    assert "observation" in other
    both = refused("distill", TEACHER, tmp_path / "rollouts", "--out", tmp_path / "other")
    assert "without a teacher" in both
