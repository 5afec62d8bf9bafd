"""A quantised network from its teacher to the verdict: emitted, run on the core, refused by the prover, gated.

Slow: the LSTM; the fast suite takes the MLP the same way.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.emit import Emission
from codegen.networks.body import emit_network
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.deciders import decider_file, load_decider, load_pupil
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from emulator.firmware_folder import built
from rlcc.cli import main
from rlcc.gate.teacher_match import actions, compare, given_rollouts
from teachers.load import load
from teachers.save import save
from teachers.teacher import make_teacher
from verify.prover.certify import unprovable

LSTM = {"kind": "lstm", "hidden": [6], "lstm": 3, "bias": True}
CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
GATE = ("--budget", "60 us", "--scenario", "many-to-one:2", "--seed", "3")
BOTH = {"student.json": b"{}", "model.json": b"{}"}
UNPROVED = ("--no-certificate", "--no-distance-proof")


def lstm_teacher(folder: Path) -> None:
    """An LSTM with drawn weights whose memory counts: its gates are neither open nor shut."""
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    policy = Policy.model_validate(
        {
            "format": 1,
            "name": "drawn-lstm",
            "architecture": LSTM,
            "observation": {"window": 1, **path, "features": [CONGESTION]},
            "action": {"kind": "tanh_map", "step": 0.2},
            "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
        }
    )
    rng = np.random.default_rng(5)
    wide = {"fc0.weight": (6, 1), "fc0.bias": (6,), "lstm.weight_ih": (12, 6), "lstm.weight_hh": (12, 3)}
    wide |= {"lstm.bias_ih": (12,), "lstm.bias_hh": (12,), "out.weight": (1, 3), "out.bias": (1,)}
    weights = {name: rng.uniform(-0.7, 0.7, shape).astype(np.float32) for name, shape in wide.items()}
    save(make_teacher(policy, weights, "the test"), folder)


@pytest.fixture(scope="module", params=["mlp", "lstm"])
def network(request: Any, tmp_path_factory: pytest.TempPathFactory, save_teacher: Callable[..., None]) -> Path:
    """A folder with a teacher, its rollouts and the firmware of its quantised network."""
    place = tmp_path_factory.mktemp(request.param)
    save_teacher(place / "teacher") if request.param == "mlp" else lstm_teacher(place / "teacher")
    scenarios = ["--scenario", "many-to-one:2", "--scenario", "many-to-one:8", "--duration", "3ms"]
    assert main(["rollout", str(place / "teacher"), *scenarios, "--out", str(place / "rollouts")]) == 0
    form = ["--form", f"{request.param}-int8", "--rollouts", str(place / "rollouts"), "--target", "generic"]
    assert main(["emit", str(place / "teacher"), *form, "--out", str(place / "firmware")]) == 0
    return place


def judged(place: Path, *options: str, unproved: tuple[str, ...] = UNPROVED) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the checks by id."""
    rollouts = ("--rollouts", str(place / "rollouts"))
    code = main(
        ["gate", str(place / "firmware"), "--teacher", str(place / "teacher"), *rollouts, *GATE, *unproved, *options]
    )
    verdict = load_json(place / "verdict/verdict.json")
    return code, {check["id"]: check for check in verdict["checks"]}


@pytest.mark.slow_except("mlp")
def test_it_passes_beside_its_teacher_by_a_bound_over_all_inputs(network: Path) -> None:
    code, checks = judged(network)
    assert code == 0, [name for name, check in checks.items() if not check["passed"]]
    groups = list(dict.fromkeys(check["group"] for check in checks.values()))
    assert groups == ["equality", "object code", "size", "proof", "budget", "teacher", "network"]
    assert [name for name in checks if name.startswith("budget")] == ["budget.bound", "budget.slowest_vector"]
    assert checks["budget.slowest_vector"]["limit"].endswith("the bound")
    assert {check["file"] for name, check in checks.items() if name[:7] in ("teacher", "network")} == {"network.json"}
    silent = [check for check in checks.values() if check["limit"] == "not judged" and check["note"]]
    assert [check["id"] for check in silent] == ["teacher.deviation", "teacher.deviation_bound"]
    assert checks["equality.thresholds"]["value"].endswith("an int8 network")
    assert checks["proof.certificate"]["limit"] == "not judged"
    verdict = load_json(network / "verdict/verdict.json")
    assert verdict["teacher"] == opened(network / "firmware", "firmware").parents["teacher"]
    assert verdict["measured"]["teacher"]["rmse"] < 0.005
    assert verdict["measured"]["bound_cycles"] >= verdict["measured"]["emulation"]["cycles"]["max"]
    assert verdict["measured"]["neighbourhood"] is None


@pytest.mark.slow_except("mlp")
def test_what_cannot_be_proved_of_it_fails_where_nobody_says_that_it_need_not_be(network: Path) -> None:
    code, checks = judged(network, unproved=())
    failed = [name for name, check in checks.items() if not check["passed"]]
    assert (code, failed) == (
        1,
        ["proof.certificate", "teacher.deviation", "teacher.deviation_bound"],
    )
    assert all(checks[name]["detail"] for name in failed)


@pytest.mark.slow_except("mlp")
def test_the_prover_says_why_not(network: Path, refused: Callable[..., str]) -> None:
    out = network / "certificate/certificate.json"
    assert "loops over the" in refused("verify", network / "firmware", "--out", out)
    assert not out.exists()
    assert "code without loops" in unprovable(built(network / "firmware", profile="ibex-small"))


@pytest.mark.slow_except("mlp")
def test_its_cycles_are_bounded(network: Path, capsys: Any, refused: Callable[..., str]) -> None:
    assert main(["verify", str(network / "firmware"), "--bound"]) == 0
    said = capsys.readouterr()
    assert re.search(r"WCET bound +\d+ cycles", said.out + said.err)
    for more in (("--out", network / "c.json"), ("--properties", "all"), ("--teacher", network / "teacher")):
        assert "--bound says nothing" in refused("verify", network / "firmware", "--bound", *more)
    assert "leave out --bound" in refused("verify", network / "firmware", "--bound", "--check", network / "c.json")


@pytest.mark.slow_except("mlp")
def test_it_runs_on_the_core_and_its_cycles_are_told_to_the_line(network: Path, capsys: Any) -> None:
    assert main(["emulate", str(network / "firmware")]) == 0
    assert main(["cycles", str(network / "firmware")]) == 0
    assert re.search(r"(?m)^rlcc_\w+ +\d", capsys.readouterr().out)


@pytest.mark.slow_except("mlp")
def test_another_network_s_weights_fail_beside_the_teacher(network: Path, tmp_path: Path) -> None:
    """The firmware is as emitted of its network.json, proper in every way but what it decides."""
    policy = load_pupil(network / "firmware")
    layer = policy.network.output  # type: ignore[union-attr]
    turned = replace(layer, weights=tuple(tuple(-w for w in row) for row in layer.weights))
    other = replace(policy, network=replace(policy.network, output=turned))  # type: ignore[union-attr,type-var]
    for name in ("teacher", "rollouts"):
        shutil.copytree(network / name, tmp_path / name)
    named = opened(tmp_path / "rollouts", "rollouts").hash
    emit_network(other, named, tmp_path / "firmware", Emission("generic", 1))  # type: ignore[arg-type]
    code, checks = judged(tmp_path)
    assert code == 1
    failed = {check["group"] for check in checks.values() if not check["passed"]}
    assert "teacher" in failed
    assert not {"equality", "size", "budget"} & failed


@pytest.mark.slow_except("mlp")
def test_over_its_budget_it_fails_by_that_alone(network: Path) -> None:
    code, checks = judged(network, "--budget", "0.5 us")
    assert code == 1
    assert {check["group"] for check in checks.values() if not check["passed"]} == {"budget"}


def test_a_state_that_a_network_keeps_is_its_own_from_decision_to_decision(network: Path) -> None:
    """Played in one go with a forgotten state an LSTM's actions are others; an MLP's inputs are all on record."""
    teacher, policy = load(network / "teacher"), load_pupil(network / "firmware")
    program, observation = policy.program(), policy.observation
    (first, *_) = given_rollouts(network / "rollouts", teacher)
    played = actions(program, observation, policy.params(), first)
    alone = [actions(program, observation, policy.params(), one(first, row)) for row in range(40)]
    differ = [abs(float(played[row, 0] - alone[row][0, 0])) > 1e-3 for row in range(40) if first.position[row] > 1]
    assert any(differ)
    assert compare(program, observation, policy.params(), teacher, [first], "them").rmse < 0.005


def one(states: Any, row: int) -> Any:
    """A single decision as a run of its own."""
    return Trajectories.of({name: column[row : row + 1] for name, column in states.columns.items()})


def test_a_folder_has_one_decider(network: Path) -> None:
    artefact = opened(network / "firmware", "firmware")
    assert decider_file(artefact) == "network.json"
    assert load_decider(artefact) == load_pupil(network / "firmware")
    for held, says in (({}, "none of student.json, network.json, model.json"), (BOTH, "both student.json and model")):
        with pytest.raises(InputError, match=f"holds {says}"):
            load_decider(replace(artefact, contents=held))


def test_its_teacher_is_asked_for(network: Path, refused: Callable[..., str]) -> None:
    assert "needs --teacher" in refused("gate", network / "firmware", "--budget", "9 us")
