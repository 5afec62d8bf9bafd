"""The bench of fidelity: differences are paired by seed, and what is no run is one sentence."""

from pathlib import Path

import numpy as np
import pytest

from bench import fidelity
from netsim.result_store import Outcome
from netsim.samples import Samples
from rlcc.recipe import GateOptions


def runs(*latencies: float) -> list[dict[str, float]]:
    return [{"goodput": 0.9, "latency_mean_us": latency} for latency in latencies]


def test_differences_are_of_the_same_seed_and_relative_where_latency_is() -> None:
    """A student that is 1 % above its teacher in each of two very different networks has no spread."""
    teacher, student, later = runs(10.0, 1000.0), runs(10.1, 1010.0), runs(10.2, 1000.0)
    assert fidelity.cells("latency_mean_us", teacher, student, later)[:3] == ["505", "+1.00 ±0.00", "+1.00 ±1.00"]
    assert fidelity.cells("goodput", teacher, student, later) == ["0.9", "+0.0000 ±0.0000", "+0.0000 ±0.0000", "0.0000"]


@pytest.mark.parametrize(("folder", "words"), [("nobody", "of none of"), ("rl-cc", "manifest.json")])
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


def test_when_they_differ_is_read_from_the_queue() -> None:
    t_us = np.arange(1, 171, dtype=np.float32) * 1000
    empty = np.zeros((170, 1), np.float32)
    queue = np.where(t_us > 60_000, 125_000.0, 250_000.0).astype(np.float32)  # 10 and 20 us at 100 Gb/s
    none = np.zeros(0, np.int64)
    kept = Samples(t_us, queue, empty, empty[:, 0], none.astype(np.int32), none, empty[:0, 0])
    us = fidelity.queue_us(Outcome(1, {}, (), kept))
    assert us == pytest.approx([20, 20, 10, 10, 10, 10])
    text = fidelity.settling([[us, us], [[x + 1 for x in us]] * 2, [us, us]])
    assert "| 50 to 60 ms " in text
    assert text.count("+1.00 ±0.00") == len(fidelity.SLICES_MS)
