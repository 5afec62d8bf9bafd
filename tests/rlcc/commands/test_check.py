"""`rlcc check`: what a teacher is read as."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import teachers
from rlcc.commands.check import command
from teachers.inference import outputs_of

HEADER = "previous_action_0,rl_cc_congestion_0,previous_action_1,rl_cc_congestion_1,output"
TEACHER = Path(__file__).parents[3] / "fixtures" / "teachers" / "rl-cc-mlp"


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command, [str(TEACHER), *arguments], standalone_mode=False)
    return done.exit_code or done.return_value, done.output + (str(done.exception) if done.exception else "")


def test_every_column_has_its_line_and_a_row_its_multiplier() -> None:
    code, text = run("--row", "1,0.8,1,0.8")
    assert code == 0
    teacher = teachers.load(TEACHER)
    (output,) = outputs_of(teacher, np.array([[1, 0.8, 1, 0.8]], np.float32), np.zeros(1, np.int64))[0]
    multiplier = teacher.policy.action.decided(np.array([[output]], np.float64))[0, 0]
    assert re.search(rf"^1,0\.8,1,0\.8: output {output:.6f}: .* {multiplier:.6f}$", text, re.MULTILINE)
    assert f"{teacher.hash[:12]}: 4 -> 12 relu -> 1 tanh, 60 weights" in text
    lines = [line.split()[:4] for line in text.splitlines() if line[:1].isdigit()]
    assert lines[:2] == [["1", "previous_action_0", "1", "The"], ["2", "rl_cc_congestion_0", "1", "scale"]]
    assert lines[3] == ["4", "rl_cc_congestion_1", "1"]


def test_own_passes_that_differ_are_a_failure(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 4))
    teacher = teachers.load(TEACHER)
    own = outputs_of(teacher, rows.astype(np.float32), np.zeros(1, np.int64))[:, 0]
    for off, code, word in ((0.0, 0, "same: 50 rows"), (0.001, 1, "OTHER: 50 rows")):
        table = np.column_stack([rows, own + off])
        np.savetxt(tmp_path / "own.csv", table, delimiter=",", header=HEADER, comments="")
        assert run("--rows", str(tmp_path / "own.csv"))[0] == code
        assert word in " ".join(run("--rows", str(tmp_path / "own.csv"))[1].split())


def test_a_picture_of_the_two_strongest_columns(tmp_path: Path) -> None:
    code, text = run("--picture", str(tmp_path / "a.png"), "--scenario", "many-to-one:2")
    assert code == 0, text
    with Image.open(tmp_path / "a.png") as picture:
        assert len(set(picture.convert("RGB").resize((64, 48)).getdata())) > 100


def test_agents_of_queues_have_units_and_a_picture_too(tmp_path: Path) -> None:
    """Under senders of their own, in a network that is told."""
    acc = TEACHER.with_name("acc")
    (tmp_path / "network.toml").write_text('buffer = "1 MiB"')
    line = [str(acc), "--scenario", "incast:16", "--network", str(tmp_path / "network.toml"), "--senders", "hpcc"]
    done = CliRunner().invoke(command, [*line, "--period", "50us", "--picture", str(tmp_path / "a.png")])
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "a.png").stat().st_size > 1000
    done = CliRunner().invoke(command, [str(acc), "--senders", "hpc", "--picture", str(tmp_path / "b.png")])
    assert "mean hpcc?" in str(done.exception)
    assert not (tmp_path / "b.png").exists()


@pytest.mark.parametrize(("row", "says"), [("1,2", "has 2 numbers; "), ("a,b,c,d", "numbers with commas")])
def test_a_row_that_is_none(row: str, says: str) -> None:
    code, text = run("--row", row)
    assert code != 0
    assert says in text


def test_a_layout_that_is_left_open(tmp_path: Path) -> None:
    shutil.copy(TEACHER / "policy.safetensors", tmp_path)
    told = (TEACHER / "policy.toml").read_text()
    for line, says in (
        ('activation = "relu"', "architecture.activation is missing"),
        ('order = "newest_first"', "input.order"),
    ):
        (tmp_path / "policy.toml").write_text(told.replace(line, ""))
        done = CliRunner().invoke(command, [str(tmp_path)])
        assert says in str(done.exception)
