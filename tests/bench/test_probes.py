"""The bench of probe schedules: rarer ones leave room, and an unknown policy is one sentence."""

import re
from pathlib import Path

import pytest

from bench import probes
from netsim.network import MS


def test_rarer_probes_leave_room_to_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "SCENARIOS", ("many-to-one:64",))
    monkeypatch.setattr(probes, "SCHEDULES", dict(list(probes.SCHEDULES.items())[:2]))
    monkeypatch.setattr(probes, "DURATION_PS", 40 * MS)
    mlp = f"MLP={probes.ROOT / 'fixtures' / 'teachers' / 'rl-cc-mlp'}"
    monkeypatch.setattr(probes, "WINDOW_PS", (20 * MS, 40 * MS))
    assert probes.main([mlp, "--seeds", "1", "--jobs", "1", "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    often, rarely = map(float, re.findall(r"\| (0\.\d+) / ", text))
    assert 0.90 < often < 0.91 < 0.915 < rarely < 0.926


def test_an_unknown_policy_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert probes.main(["nobody"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("probes: ")
    assert len(said.splitlines()) == 1
