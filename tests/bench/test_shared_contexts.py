"""The bench of shared contexts: what sharing costs, what the rule gives back, and an unknown device is one sentence."""

import re
from pathlib import Path

import pytest

from bench import shared_contexts
from bench.shared_contexts import OWN, Way, within

SIXTEEN, ONCE = Way("16 a context", 16, False), Way("16, once a RTT", 16, True)


def test_the_table_shows_the_cost_and_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_contexts, "SCENARIOS", ("many-to-one:4x16",))
    monkeypatch.setattr(shared_contexts, "WAYS", (OWN, SIXTEEN, ONCE))
    monkeypatch.setattr(shared_contexts, "KEPT", tmp_path)
    mlp = f"MLP={shared_contexts.ROOT / 'fixtures' / 'teachers' / 'rl-cc-mlp'}"
    assert shared_contexts.main([mlp, "--seeds", "1", "--jobs", "1", "--out", str(tmp_path / "page.md")]) == 0
    rows = re.findall(r"^\| MLP .*$", (tmp_path / "page.md").read_text(), re.MULTILINE)
    alone, on_card = (
        [tuple(map(float, cell)) for cell in re.findall(r"(0\.\d+) / ([\d.]+) / ([\d.]+)", r)] for r in rows
    )
    for own, shared, ruled in (alone, on_card):
        assert shared[0] < 0.9 * own[0]
        assert ruled[0] > 0.99 * own[0]
        assert ruled[1] < 1.5 * own[1] < shared[1]
    assert on_card[0] != alone[0]


def test_the_aim_is_of_both_figures() -> None:
    own = {"goodput": 0.9, "latency_p99_us": 10.0}
    assert within({"goodput": 0.896, "latency_p99_us": 15.0}, own)
    assert not within({"goodput": 0.895, "latency_p99_us": 15.0}, own)
    assert not within({"goodput": 0.9, "latency_p99_us": 15.1}, own)


def test_what_cannot_be_run_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.md"
    for arguments in (["--device", "bluefield9"], ["dcqcn"]):
        assert shared_contexts.main([*arguments, "--seeds", "1", "--jobs", "1", "--out", str(out)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert not out.exists()
