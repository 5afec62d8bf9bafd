"""`rlcc emit` of a teacher's network: without torch, and with the options of networks only."""

import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.policy.deciders import load_pupil
from rlcc.commands.emit import command

ROOT = Path(__file__).resolve().parents[3]


def test_the_command_emits_without_torch(tmp_path):
    """Rollouts of a small network, then the fixture's MLP as firmware, in a process of its own."""
    teacher = ROOT / "fixtures" / "teachers" / "rl-cc-mlp"
    script = f"""
import sys
from rlcc.commands.emit import command
from rlcc.commands.rollout import command as rollout
teacher, place = {str(teacher)!r}, {str(tmp_path)!r}
watch = [teacher, "--scenario", "many-to-one:4", "--duration", "3ms", "--out", place + "/r"]
rollout.main(watch, standalone_mode=False)
emit = [teacher, "--form", "mlp-int8", "--rollouts", place + "/r", "--out", place + "/f"]
command.main(emit, standalone_mode=False)
print([m for m in ("torch", "catboost", "matplotlib") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("[]")
    assert load_pupil(tmp_path / "f").report["held_out"]["p99"] < 0.02
    assert load_json(tmp_path / "f" / "manifest.json")["parents"].keys() == {"teacher", "rollouts"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--form", "mlp-int8"], "calibrated on recorded"),
        (["--form", "mlp-int8", "--rollouts", ".", "--constants", "x"], "--constants is of trees"),
        (["--form", "mlp-int8", "--rollouts", ".", "--grid", "x"], "--grid is of trees"),
        (["--context-bytes", "48"], "--context-bytes is of networks"),
    ],
)
def test_options_of_the_other_kind_are_one_sentence(tmp_path, arguments, says):
    teacher = str(ROOT / "fixtures" / "teachers" / "rl-cc-mlp")
    with pytest.raises(InputError, match=says):
        command.main([teacher, *arguments, "--out", str(tmp_path / "out")], standalone_mode=False)
    assert not (tmp_path / "out").exists()
