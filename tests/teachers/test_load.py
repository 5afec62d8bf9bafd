"""Every format gives the same teacher."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

import teachers
from decision.artefact.errors import InputError
from teachers.save import save

FORMATS = ["state.pt", "state.pth", "checkpoint.pt", "scripted.pt", "traced.pt", "plain.safetensors", "graph.onnx"]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_mlp_of_every_format(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, bias: bool, write: Any
) -> None:
    policy = make_policy(hidden=[12, 12], bias=bias)  # layers of equal shape keep the file's order
    model = foreign_mlp([4, 12, 12, 1], bias)
    teacher = teachers.load(write(model, policy, tmp_path, name))
    state = model.state_dict()
    for layer, index in (("fc0", 0), ("fc1", 2), ("out", 4)):
        assert np.array_equal(teacher.weights[f"{layer}.weight"], state[f"actor.{index}.weight"].numpy())
        assert (f"{layer}.bias" in teacher.weights) == bias
        if bias:
            assert np.array_equal(teacher.weights[f"{layer}.bias"], state[f"actor.{index}.bias"].numpy())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_lstm_of_every_format(
    tmp_path: Path, make_policy: Any, foreign_lstm: Any, name: str, bias: bool, write: Any
) -> None:
    policy = make_policy(hidden=[32, 16], lstm=16, bias=bias)
    model = foreign_lstm([32, 16], 16, bias)
    teacher = teachers.load(write(model, policy, tmp_path, name))
    state = model.state_dict()
    assert np.array_equal(teacher.weights["fc1.weight"], state["body.1.weight"].numpy())
    assert np.array_equal(teacher.weights["out.weight"], state["head.weight"].numpy())
    for part in ("weight_ih", "weight_hh"):
        assert np.array_equal(teacher.weights[f"lstm.{part}"], state[f"memory.{part}_l0"].numpy())
    for part in ("bias_ih", "bias_hh"):
        expected = state[f"memory.{part}_l0"].numpy() if bias else np.zeros(64, np.float32)
        assert np.array_equal(teacher.weights[f"lstm.{part}"], expected)


def test_every_format_has_the_same_hash(tmp_path: Path, make_policy: Any, foreign_lstm: Any, write: Any) -> None:
    policy = make_policy(hidden=[12], lstm=12, bias=True)
    model = foreign_lstm([12], 12, True)
    found = {teachers.load(write(model, policy, tmp_path, name)).hash for name in FORMATS}
    assert len(found) == 1
    assert teachers.load(tmp_path / FORMATS[0], make_policy(hidden=[12], lstm=12, bias=True)).hash in found


def test_folder_round_trip_is_byte_identical(tmp_path: Path, make_policy: Any, foreign_mlp: Any, write: Any) -> None:
    policy = make_policy(hidden=[12]).model_copy(
        update={"provenance": {"command": 'a "b"\n', "seed": 7, "x": {"y": 0.1}}}
    )
    teacher = teachers.load(write(foreign_mlp([4, 12, 1], False), policy, tmp_path, "state.pt"))
    save(teacher, tmp_path / "one", seed=7)
    again = teachers.load(tmp_path / "one")
    assert again.hash == teacher.hash
    assert again.policy == policy
    save(again, tmp_path / "two", seed=7)
    for file in ("policy.safetensors", "policy.toml", "manifest.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_folder_that_was_edited_is_refused(tmp_path: Path, make_policy: Any, foreign_mlp: Any, write: Any) -> None:
    teacher = teachers.load(write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "state.pt"))
    save(teacher, tmp_path / "t")
    toml = tmp_path / "t" / "policy.toml"
    toml.write_text(toml.read_text().replace("step = 0.2", "step = 0.3"))
    with pytest.raises(InputError, match=r"policy\.toml was changed"):
        teachers.load(tmp_path / "t")
    (tmp_path / "t" / "manifest.json").unlink()  # a folder made by hand needs none
    assert teachers.load(tmp_path / "t").policy.action.limits_q16()[1] == round(0.3 * 65536)


def test_safetensors_needs_no_torch(tmp_path: Path, make_policy: Any, foreign_mlp: Any, write: Any) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "plain.safetensors")
    code = f"import sys; sys.modules['torch'] = None; import teachers; print(teachers.load({str(path)!r}).hash)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == teachers.load(path).hash, done.stderr


def test_state_dict_without_torch_says_how_to_get_it(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "state.pt")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"pip install 'rlcc\[train\]'"):
        teachers.load(path)


def test_onnx_by_hand_computes_what_torch_does(onnx_model: Any, foreign_lstm: Any) -> None:
    """The graphs of these tests are right: ONNX's own reference evaluator agrees with PyTorch on them."""
    from onnx.reference import ReferenceEvaluator

    model = foreign_lstm([32, 16], 16, True)
    x = np.random.default_rng(0).normal(size=(7, 1, 2)).astype(np.float32)
    (y,) = ReferenceEvaluator(onnx.load_model_from_string(onnx_model(model, True).SerializeToString())).run(
        None, {"x": x}
    )
    assert np.allclose(y.reshape(-1), model(torch.from_numpy(x)).detach().numpy().reshape(-1), atol=1e-6)
