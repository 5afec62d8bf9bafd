"""The bench of fidelity: differences are paired by seed, and what is no run is one sentence."""

from pathlib import Path

import pytest

from bench import fidelity
from rlcc.recipe import GateOptions


def runs(*latencies: float) -> list[dict[str, float]]:
    return [{"goodput": 0.9, "latency_mean_us": latency} for latency in latencies]


def test_differences_are_of_the_same_seed_and_relative_where_latency_is() -> None:
    """A student that is 1 % above its teacher in each of two very different networks has no spread."""
    teacher, student, later = runs(10.0, 1000.0), runs(10.1, 1010.0), runs(10.2, 1000.0)
    assert fidelity.cells("latency_mean_us", teacher, student, later)[:3] == ["505", "+1.00 ±0.00", "+1.00 ±1.00"]
    assert fidelity.cells("goodput", teacher, student, later) == ["0.9", "+0.0000 ±0.0000", "+0.0000 ±0.0000", "0.0000"]


@pytest.mark.parametrize(("folder", "words"), [("nobody", "is of none of rl-cc"), ("rl-cc", "manifest.json")])
def test_what_is_no_run_is_one_sentence(
    folder: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fidelity.main([str(tmp_path / folder), "--out", str(tmp_path / "page.md")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("fidelity: ")
    assert words in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "page.md").exists()


def test_every_scenario_that_the_gate_judges_is_on_the_page() -> None:
    assert set(GateOptions.model_validate({"budget": "1 us"}).scenarios) <= set(fidelity.SCENARIOS)
