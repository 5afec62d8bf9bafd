"""Bad files of Stable-Baselines3 and PyTorch beside a policy.toml: each is refused in one sentence, nothing written."""

import shutil
from pathlib import Path

import pytest
from refusals import refused

from rlcc import cli

FOLDERS = Path(__file__).resolve().parents[2] / "docs" / "other-libraries"
MODELS = {"aurora": "model.zip", "sac": "model.zip", "gsde": "model.zip", "two-lstms": "model.pt", "gru": "model.pt"}
ACTION = '[[observation.features]]\nkind = "previous_action"\n'
POLICIES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "PPO with tanh": ("aurora", 'output = "clip"', 'output = "tanh"', ("model.zip", 'architecture.output = "clip"')),
    "no statistics": ("aurora", 'vec_normalize = "vec_normalize.pkl"\n', "", ("VecNormalize.save()", "[input]")),
    "statistics denied": ("aurora", '"vec_normalize.pkl"', '"none"', ("model.zip", "VecNormalize.save()")),
    "statistics elsewhere": ("aurora", "vec_normalize.pkl", "nowhere.pkl", ("nowhere.pkl",)),
    "a model as statistics": ("aurora", "vec_normalize.pkl", "model.zip", ("VecNormalize.save()",)),
    "another window": ("aurora", "window = 10", "window = 8", ("30 numbers", "24")),
    "a feature missing": ("aurora", ACTION, "", ("30 numbers", "20")),
    "other units": ("aurora", "[32, 16]", "[32, 32]", ("fc1", "[32, 32]", "[16, 32]")),
    "no order": ("aurora", 'order = "newest_first"\n', "", ("input.order", "oldest_first")),
    "signals not declared": ("aurora", "acks = true\n", "", ("acked_bytes",)),
    "statistics not mentioned": ("sac", 'vec_normalize = "none"\n', "", ("may have been", '"none"')),
    "another activation": ("sac", '"relu"', '"tanh"', ('architecture.activation = "relu"',)),
    "another end": ("sac", "high = 0.2", "high = 0.3", ("-0.2 to 0.2", "[output]")),
    "no ends": ("sac", "[output]\nlow = -0.2\nhigh = 0.2\n", "", ("-0.2 to 0.2", "[output]")),
    "no cut of the mean": ("gsde", "output_clip = 2.0\n", "", ("architecture.output_clip = 2.0",)),
    "another cut of the mean": ("gsde", "output_clip = 2.0", "output_clip = 1.0", ("architecture.output_clip = 2.0",)),
    "a negative cut": ("gsde", "output_clip = 2.0", "output_clip = -1.0", ("architecture.output_clip", "greater")),
    "SAC with clip": ("gsde", 'output = "tanh"', 'output = "clip"', ("output_clip", "tanh")),
    "one layer of two": ("two-lstms", '["lstm 12", "lstm 12"]', '["lstm 12"]', ("memory.l1",)),
    "a GRU for an LSTM": ("two-lstms", '"lstm 12"]', '"gru 12"]', ("layer2", "[36, 12]", "[48, 12]")),
    "recurrent units": ("two-lstms", '"lstm 12"]', '"lstm 13"]', ("layer2", "[52, 13]")),
    "a window of an LSTM": ("two-lstms", "window = 1", "window = 2", ("observation.window", "1")),
    "no epsilon": ("gru", "layer_norm 1e-5", "layer_norm", ("architecture.layers", "layer_norm EPSILON")),
    "an unknown layer": ("gru", '"silu"', '"mish"', ("'mish'", "silu")),
    "a layer of the future": ("gru", "concat 3", "concat 6", ("layer 5", "concat 6")),
}
"""Folder, text of its policy.toml, its replacement, what the sentence names."""


def copied(name: str, folder: Path) -> Path:
    """Returns the model in a copy of the folder."""
    shutil.copytree(FOLDERS / name, folder / name)
    return folder / name / MODELS[name]


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_that_contradicts_its_model(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, was, instead, names = POLICIES[kind]
    model = copied(name, tmp_path)
    text = model.with_name("policy.toml").read_text()
    assert was in text
    model.with_name("policy.toml").write_text(text.replace(was, instead, 1))
    refused(["check", str(model)], names, tmp_path, capsys)
    rollout = ["rollout", str(model), "--scenario", "many-to-one:2", "--duration", "1 ms"]
    refused([*rollout, "--out", str(tmp_path / "out")], names, tmp_path, capsys)


@pytest.mark.parametrize("name", MODELS)
def test_the_models_themselves_are_read(name: str, tmp_path: Path) -> None:
    assert cli.main(["check", str(copied(name, tmp_path))]) == 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("content", [b"", b"not a model"], ids=["empty", "text"])
def test_a_file_that_holds_no_model(
    name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = copied(name, tmp_path)
    model.write_bytes(content)
    refused(["check", str(model)], (model.name,), tmp_path, capsys)
