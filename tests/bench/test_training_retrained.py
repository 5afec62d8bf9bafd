"""The shipped teachers, trained again: what is compared, and that a byte more is seen."""

import shutil
from pathlib import Path

import pytest

from bench.training import retrained as command
from bench.training.retrained import NAMES, RECIPES, TEACHERS, Retrained, differing, page

FLAGSHIP = "robust-in-flight"


def test_every_shipped_teacher_has_a_recipe() -> None:
    assert len(NAMES) == 14
    assert all((RECIPES / f"train-{name}.toml").exists() for name in NAMES)


def test_a_byte_more_is_seen(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(TEACHERS / FLAGSHIP, mine)
    assert differing(mine, TEACHERS / FLAGSHIP) == ()
    weights = mine / "policy.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + bytes([weights.read_bytes()[-1] ^ 1]))
    assert differing(mine, TEACHERS / FLAGSHIP) == ("policy.safetensors",)
    (mine / "policy.toml").unlink()
    assert differing(mine, TEACHERS / FLAGSHIP) == ("policy.safetensors", "policy.toml")


@pytest.mark.slow
def test_the_flagship_comes_out_as_it_is_shipped(tmp_path: Path) -> None:
    """One that takes seconds: its weights are another's, its validation is played."""
    assert command.main([FLAGSHIP, "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "**1 of 1** end" in text
    row = next(line for line in text.splitlines() if FLAGSHIP in line and line.startswith("|"))
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["ADPG", "1", "intel", "the same"]


def test_other_bytes_are_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = Retrained("acc", "DDQN", 1, "intel", ("policy.safetensors",), 60.0, 61.0)
    monkeypatch.setattr(command, "retrained", lambda name: other)
    assert command.main(["acc", "--out", str(tmp_path / "page.md")]) == 1
    assert "others: policy.safetensors" in (tmp_path / "page.md").read_text()
    assert "**0 of 1** end" in page([other], "c")


def test_a_recipe_that_is_not_trained_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (RECIPES / "train-acc.toml").read_text().replace('kernels = "intel"', 'kernels = "via"')
    (tmp_path / "train-acc.toml").write_text(text)
    monkeypatch.setattr(command, "RECIPES", tmp_path)
    assert command.main(["acc", "--out", str(tmp_path / "page.md")]) == 2
    assert "kernels" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
