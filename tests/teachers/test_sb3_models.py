"""Files that Stable-Baselines3 wrote: the teacher's outputs are what `model.predict` gave (sb3_models/make.py)."""

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teachers
from decision.artefact.errors import InputError
from decision.policy.policy import load_policy
from teachers.inference import outputs_of

MODELS = Path(__file__).parent / "sb3_models"
NAMES = sorted(path.stem for path in MODELS.glob("*.zip"))
PREDICTED = np.load(io.BytesIO((MODELS / "predicted.npz").read_bytes()))
TOLERANCE = 5e-6


def difference(name: str, path: Path, policy: Path) -> float:
    """The largest between what the teacher decides and what was predicted, in units of the teacher's output."""
    teacher = teachers.load(path, policy)
    x = outputs_of(teacher, PREDICTED[f"{name}.rows"], np.zeros(1, dtype=np.int64))[:, 0].astype(np.float64)
    ends = load_policy(policy).output
    low, high = (float(end[0]) for end in ends.ends(1))
    actions = PREDICTED[f"{name}.actions"]
    return float(np.abs(low + (high - low) * (x + 1) / 2 - actions).max()) / ((high - low) / 2)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_read_as_it_predicts(name: str) -> None:
    assert difference(name, MODELS / f"{name}.zip", MODELS / f"{name}.toml") < TOLERANCE


WRONG = {
    "ppo": ('output = "clip"', 'output = "tanh"'),
    "ppo-small-box": ("[output]\nlow = -0.2\nhigh = 0.2", ""),
    "ppo-vec-normalize": ('vec_normalize = "ppo-vec-normalize.pkl"', ""),
    "ppo-squashed": ('output = "tanh"', 'output = "clip"'),
    "a2c": ("high = 2.0", "high = 1.0"),
    "sac-small-box": ("high = 0.2", "high = 0.3"),
    "sac-gsde": ("output_clip = 2.0", ""),
    "sac-gsde-clip": ("output_clip = 0.5", "output_clip = 2.0"),
    "td3": ('vec_normalize = "none"', ""),
    "ddpg-vec-normalize": ('vec_normalize = "ddpg-vec-normalize.pkl"', ""),
    "recurrent-ppo": ('layers = ["lstm 8", "lstm 8", "linear 12", "tanh"]', 'layers = ["linear 12", "tanh", "lstm 8"]'),
}


def test_every_model_has_a_wrong_reading() -> None:
    assert sorted(WRONG) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_reading_is_refused(name: str, tmp_path: Path) -> None:
    for file in (f"{name}.zip", f"{name}.pkl"):
        if (MODELS / file).exists():
            shutil.copy(MODELS / file, tmp_path)
    text, (right, wrong) = (MODELS / f"{name}.toml").read_text(), WRONG[name]
    assert right in text
    (tmp_path / "policy.toml").write_text(text.replace(right, wrong))
    with pytest.raises(InputError) as error:
        teachers.load(tmp_path / f"{name}.zip")
    assert f"{name}.zip" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["ppo-vec-normalize", "ddpg-vec-normalize"])
def test_statistics_change_the_actions(name: str, tmp_path: Path) -> None:
    """Those of a file count, each of them: with others the actions are others."""
    text = (MODELS / f"{name}.toml").read_text()
    named = f'vec_normalize = "{name}.pkl"'
    for numbers in ("clip = 1.5", "clip = 1e6", "clip = 1.5\noffset = 0.5"):
        (tmp_path / "policy.toml").write_text(text.replace(named, numbers))
        assert difference(name, MODELS / f"{name}.zip", tmp_path / "policy.toml") > 0.01
    teacher = teachers.load(MODELS / f"{name}.zip", MODELS / f"{name}.toml")
    architecture: Any = teacher.policy.architecture
    assert [layer.kind for layer in architecture.sequence][:2] == ["linear", "clip"]


@pytest.mark.parametrize(
    "content",
    [b"", b"no pickle", b"\x80\x04N.", b"\x80\x04}\x94.", b"c__builtin__\nprint\n(S'it ran'\ntR."],
    ids=["empty", "text", "none", "dict", "call"],
)
def test_what_is_no_file_of_vec_normalize(tmp_path: Path, content: bytes, capsys: Any) -> None:
    name = "ppo-vec-normalize"
    shutil.copy(MODELS / f"{name}.toml", tmp_path / "policy.toml")
    (tmp_path / f"{name}.pkl").write_bytes(content)
    with pytest.raises(InputError, match=r"VecNormalize"):
        teachers.load(MODELS / f"{name}.zip", tmp_path / "policy.toml")
    assert capsys.readouterr().out == ""


def test_flipped_bytes_of_statistics_never_escape_as_another_error(tmp_path: Path) -> None:
    name = "ppo-vec-normalize"
    shutil.copy(MODELS / f"{name}.toml", tmp_path / "policy.toml")
    whole = (MODELS / f"{name}.pkl").read_bytes()
    random = np.random.default_rng(5)
    refused = 0
    for _ in range(150):
        broken = bytearray(whole)
        for position in random.integers(0, len(whole), size=3):
            broken[position] = int(random.integers(0, 256))
        (tmp_path / f"{name}.pkl").write_bytes(broken)
        try:
            teachers.load(MODELS / f"{name}.zip", tmp_path / "policy.toml")
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017
    assert refused > 20
