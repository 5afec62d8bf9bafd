"""The networks that a run simulates ahead are those that its gate asks for, and the gate takes them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from netsim.result_store import Outcome
from rlcc import cli
from rlcc.gate import comparison, gate, networks_ahead
from rlcc.gate.network_cache import NetworkCache
from rlcc.recipe import load_recipe

SAVE, JUDGE, LATENCY = NetworkCache.save, gate.judge, gate.decision_latency_ps


@pytest.fixture
def performed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the networks that were simulated, and "gate" where the gate began."""
    keys: list[str] = []

    def save(cache: NetworkCache, key: str, outcome: Outcome) -> None:
        keys.append(key)
        SAVE(cache, key, outcome)

    def judge(*arguments: Any, **options: Any) -> Any:
        keys.append("gate")
        return JUDGE(*arguments, **options)

    monkeypatch.setattr(NetworkCache, "save", save)
    monkeypatch.setattr(gate, "judge", judge)
    monkeypatch.setenv("PYTHON_CPU_COUNT", "2")
    return keys


def checks(pipeline: Any, out: Path) -> list[dict[str, Any]]:
    """Runs the stages after emission; returns the checks of the verdict."""
    shutil.copytree(pipeline.firmware.parent, out, ignore=shutil.ignore_patterns("verdict"))
    assert cli.main(["run", str(pipeline.recipe), "--out", str(out), "--from", "emulate"]) == 0
    verdict: dict[str, Any] = json.loads((out / "verdict" / "verdict.json").read_text())
    return list(verdict["checks"])


def asked_for(pipeline: Any) -> int:
    options = load_recipe(pipeline.recipe).gate
    return 3 * len(options.scenarios) * len(options.seeds)


def test_the_gate_simulates_the_others_alone(
    pipeline: Any, performed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_them = checks(pipeline, tmp_path / "with")
    assert performed.index("gate") > 0
    assert len(set(performed)) == len(performed) == 1 + asked_for(pipeline)
    performed.clear()
    monkeypatch.setattr(comparison, "run_ahead", lambda trials, keep: pytest.MonkeyPatch.context())
    assert checks(pipeline, tmp_path / "without") == with_them
    assert performed[0] == "gate"


def test_outcomes_of_another_network_are_not_taken(
    pipeline: Any, performed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decisions that take longer: each of the gate's networks is simulated all the same."""
    monkeypatch.setattr(networks_ahead, "decision_latency_ps", lambda report: 2 * LATENCY(report))
    checks(pipeline, tmp_path / "out")
    begin = performed.index("gate")
    assert begin > 0
    assert len(performed) == begin + 1 + asked_for(pipeline)
