"""Models of other libraries that are not what policy.toml says: one sentence, exit code 2, nothing written."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlcc.cli import main

MODELS = Path(__file__).parents[2] / "teachers" / "sb3_models"


def text(before: str, after: str) -> Callable[[Path], None]:
    """Replaces a text of policy.toml."""

    def change(folder: Path) -> None:
        said = (folder / "policy.toml").read_text()
        assert before in said
        (folder / "policy.toml").write_text(said.replace(before, after, 1))

    return change


def data(**changed: Any) -> Callable[[Path], None]:
    """Replaces what `data` of the model says."""

    def change(folder: Path) -> None:
        with zipfile.ZipFile(folder / "model.zip") as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        files["data"] = json.dumps(json.loads(files["data"]) | changed).encode()
        with zipfile.ZipFile(folder / "model.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)

    return change


def statistics(content: bytes | None) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = next(folder.glob("*.pkl"))
        path.unlink()
        if content is not None:
            path.write_bytes(content)

    return change


PPO, NORMALIZED, GSDE, LSTM = "ppo-small-box", "ppo-vec-normalize", "sac-gsde-clip", "recurrent-ppo"
MLP = 'kind = "mlp"\nhidden = [12]\nactivation = "tanh"'
BAD: dict[str, tuple[str, Callable[[Path], None]]] = {
    "ends left out": (PPO, text("[output]\nlow = -0.2\nhigh = 0.2", "")),
    "ends of others": (PPO, text("high = 0.2", "high = 1.0")),
    "ends reversed": (PPO, text("low = -0.2", "low = 0.3")),
    "ends that are no numbers": (PPO, text("low = -0.2", "low = nan")),
    "too many ends": (PPO, text("low = -0.2\nhigh = 0.2", "low = [-0.2, -0.2]\nhigh = [0.2, 0.2]")),
    "tanh for clip": (PPO, text('output = "clip"', 'output = "tanh"')),
    "another activation": (PPO, text('activation = "tanh"', 'activation = "gelu"')),
    "an activation that is none": (PPO, text('activation = "tanh"', 'activation = "mish"')),
    "a layer more": (PPO, text("hidden = [12]", "hidden = [12, 12]")),
    "a policy class of one's own": (
        PPO,
        data(policy_class={"__module__": "mine", "__init__": "<function Mine.__init__"}),
    ),
    "an option that is not known": (PPO, data(policy_kwargs={"features_extractor_class": "<class 'mine.Net'>"})),
    "a space of a dictionary": (PPO, data(observation_space={":type:": "<class 'gymnasium.spaces.dict.Dict'>"})),
    "no statistics named": (NORMALIZED, text(f'vec_normalize = "{NORMALIZED}.pkl"', "")),
    "statistics denied": (NORMALIZED, text(f'"{NORMALIZED}.pkl"', '"none"')),
    "statistics said twice": (NORMALIZED, text("vec_normalize", "clip = 3.0\nvec_normalize")),
    "no file of statistics": (NORMALIZED, statistics(None)),
    "statistics that would run code": (NORMALIZED, statistics(b"cos\nsystem\n(S'touch ran'\ntR.")),
    "a negative clip": (NORMALIZED, text(f'vec_normalize = "{NORMALIZED}.pkl"', "clip = -1.0")),
    "a mean that is not cut off": (GSDE, text("output_clip = 0.5", "")),
    "a mean cut off elsewhere": (GSDE, text("output_clip = 0.5", "output_clip = 0.25")),
    "a mean cut off and no tanh": (GSDE, text('output = "tanh"', 'output = "clip"')),
    "a flag that is none": (GSDE, data(use_sde="perhaps", policy_kwargs={"net_arch": [12]})),
    "layers in another order": (LSTM, text('"lstm 8", "lstm 8", "linear 12", "tanh"', '"linear 12", "tanh", "lstm 8"')),
    "a layer that is none": (LSTM, text('"lstm 8", "lstm 8"', '"rnn 8", "lstm 8"')),
    "a GRU for an LSTM": (LSTM, text('"lstm 8", "lstm 8"', '"gru 8", "gru 8"')),
    "a window for a memory": (LSTM, text("window = 1", "window = 2")),
    "a recurrent model as an mlp": (
        LSTM,
        text('kind = "layers"\nlayers = ["lstm 8", "lstm 8", "linear 12", "tanh"]', MLP),
    ),
    "a skip to nowhere": (LSTM, text('"tanh"]', '"tanh", "add 9"]')),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_model_is_one_sentence(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, change = BAD[case]
    for source in MODELS.glob(f"{name}.*"):
        target = {".zip": "model.zip", ".toml": "policy.toml"}.get(source.suffix, source.name)
        shutil.copy(source, tmp_path / target)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "model.zip"]) == 0, "the model is bad before it is changed"
    change(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    capsys.readouterr()
    for command in (
        ["check", "model.zip", "--picture", "picture.png"],
        ["rollout", "model.zip", "--scenario", "many-to-one:2", "--out", "rollouts"],
    ):
        assert main(command) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1, err
        assert any(name in err for name in ("model.zip", "policy.toml", ".pkl"))
    assert sorted(path.name for path in tmp_path.iterdir()) == before
