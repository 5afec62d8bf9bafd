"""Network runs of earlier gates: found again if nothing that decides has changed, and only then."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netsim.baselines import by_name
from netsim.network import MS
from netsim.trials import Trial, run
from rlcc import cli
from rlcc.gate.network_cache import NetworkCache

TRIAL = Trial("many-to-one:4", by_name("dctcp"), seed=1, duration_ps=2 * MS, window_ps=(MS, 2 * MS))


def test_metrics_are_found_again_and_records_are_not_stored(network_cache: Path) -> None:
    recorded = replace(TRIAL, record_ps=MS)
    first = run([TRIAL, recorded], keep=NetworkCache())
    assert [file.stem for file in network_cache.iterdir()] == [TRIAL.key()]
    again = NetworkCache()
    assert [each.metrics for each in run([TRIAL, recorded], keep=again)] == [each.metrics for each in first]
    assert again.reused == 1


@pytest.mark.parametrize("change", [{"seed": 2}, {"policy": by_name("swift")}, {"decision_latency_ps": 1}])
def test_another_run_is_not_taken_for_it(network_cache: Path, change: dict[str, Any]) -> None:
    run([TRIAL], keep=NetworkCache())
    other = NetworkCache()
    run([replace(TRIAL, **change)], keep=other)
    assert other.reused == 0


def test_a_cache_that_cannot_be_written_costs_no_more_than_time(network_cache: Path) -> None:
    network_cache.parent.mkdir()
    network_cache.write_text("a file in the folder's place")
    assert run([TRIAL], keep=NetworkCache())[0].metrics["goodput"] > 0


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that asked for a cache of their own: there they would build the core again, 15 CPU seconds."""
    commands: list[str] = []
    for command in ("gate", "run"):
        monkeypatch.setattr(
            f"rlcc.handlers.{command}.private_cache", lambda name=command: commands.append(name) or nullcontext()
        )
    return commands


def gated(pipeline: Any, out: Path, *more: str) -> tuple[int, dict[str, Any]]:
    code = cli.main(["gate", str(pipeline.firmware), "--recipe", str(pipeline.recipe), "--out", str(out), *more])
    return code, json.loads((out / "verdict.json").read_text())


def test_a_gate_takes_its_networks_from_the_cache_unless_told_not_to(
    pipeline: Any,
    network_cache: Path,
    private: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = gated(pipeline, tmp_path / "first")
    runs = len(list(network_cache.iterdir()))
    assert runs > 0
    capsys.readouterr()
    again = gated(pipeline, tmp_path / "again")
    assert f"{runs} network runs" in capsys.readouterr().out
    assert private == []
    without = gated(pipeline, tmp_path / "without", "--no-cache")
    assert "network run" not in capsys.readouterr().out
    assert private == ["gate"]
    assert first[0] == again[0] == without[0]
    assert first[1]["checks"] == again[1]["checks"] == without[1]["checks"]


def test_a_run_takes_none_of_it_if_told_so(
    pipeline: Any,
    network_cache: Path,
    private: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = Path(shutil.copytree(pipeline.firmware.parent, tmp_path / "out"))
    asked = ["run", str(pipeline.recipe), "--out", str(out), "--from", "gate"]
    assert cli.main(asked) == 0
    runs = len(list(network_cache.iterdir()))
    capsys.readouterr()
    assert cli.main(asked) == 0
    assert f"{runs} network runs" in capsys.readouterr().out
    assert private == []
    assert cli.main([*asked, "--no-cache"]) == 0
    assert "cached" not in capsys.readouterr().out
    assert private == ["run"]
