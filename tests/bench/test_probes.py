"""The bench of probe schedules: rarer ones leave room, the rule chooses, and an unknown policy is one sentence."""

import re
from pathlib import Path

import pytest

from bench import probes
from bench.probes import ProbeCell


def test_rarer_probes_leave_room_to_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "CELLS", (ProbeCell("many-to-one:64", 40, 20),))
    monkeypatch.setattr(probes, "KEPT", tmp_path)
    mlp = f"MLP={probes.ROOT / 'fixtures' / 'teachers' / 'rl-cc-mlp'}"
    assert (
        probes.main([mlp, "--only", "16 KiB", "--seeds", "1", "--jobs", "1", "--out", str(tmp_path / "page.md")]) == 0
    )
    text = (tmp_path / "page.md").read_text()
    often, rarely = map(float, re.findall(r" (0\.\d+) / ", text))
    assert 0.90 < often < 0.91 < 0.915 < rarely < 0.926
    assert "**16 KiB**: chosen" in text


@pytest.mark.parametrize(
    ("goodput", "slowdown", "best"), [(0.9200, 9.0, "rare"), (0.9160, 9.0, "often"), (0.9200, 2000.0, "often")]
)
def test_of_those_that_free_the_crowd_the_cheapest_is_chosen(goodput: float, slowdown: float, best: str) -> None:
    def of(goodput: float, slowdown: float) -> dict[str, dict[str, float]]:
        return {
            "many-to-one:64": {"goodput": goodput, "latency_p99_us": 10.0, "loss": 0.0},
            "incast:32": {"slowdown_mean": slowdown, "slowdown_p99": slowdown, "loss": 0.0},
        }

    figures = {"each burst": of(0.9, 10.0), "rare": of(goodput, slowdown), "often": of(0.9180, 11.0)}
    name, costs = probes.chosen(figures)
    assert name == best
    assert costs["each burst"] == 0
    assert (costs["rare"] < 0) == (slowdown < 10)


def test_what_is_lost_and_lacking_costs() -> None:
    often = {"goodput": 0.9, "latency_p99_us": 10.0, "loss": 0.01}
    assert probes.cost(often | {"loss": 0.02}, often) == pytest.approx(0.2)
    assert probes.cost(often | {"loss": 0.0, "goodput": 0.91}, often) == 0
    assert probes.cost(often | {"goodput": 0.81}, often) == pytest.approx(0.5)
    assert probes.cost(often | {"latency_p99_us": 20.0}, often) == pytest.approx(0.3466, abs=1e-3)


@pytest.mark.parametrize("policy", ["nobody", "swift"])
def test_whom_no_probes_are_of_is_one_sentence(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert probes.main([policy]) == 2
    said = capsys.readouterr().err
    assert said.startswith("probes: ")
    assert len(said.splitlines()) == 1
