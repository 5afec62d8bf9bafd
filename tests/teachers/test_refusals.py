"""Whatever is wrong with a teacher's file is one clear sentence, and nothing of the file runs."""

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch
from onnx import TensorProto, helper

import teachers
from decision.artefact.errors import InputError
from decision.policy.weights import shapes
from teachers.teacher import make_teacher

FORMATS = ["state.pt", "state.pth", "checkpoint.pt", "scripted.pt", "traced.pt", "plain.safetensors", "graph.onnx"]


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.write_text, (self.path, "it ran"))


def test_pickle_that_would_run_code_is_refused(tmp_path: Path, make_policy: Any) -> None:
    mark = tmp_path / "mark"
    for legacy in (False, True):
        torch.save({"a.weight": Bomb(mark)}, tmp_path / "evil.pt", _use_new_zipfile_serialization=not legacy)
        with pytest.raises(InputError, match="would run code"):
            teachers.load(tmp_path / "evil.pt", make_policy(hidden=[12]))
        assert not mark.exists()
    torch.load(tmp_path / "evil.pt", weights_only=False)
    assert mark.exists(), "the bomb is a dud: the test shows nothing"


def test_torchscript_is_read_without_running_it(tmp_path: Path, make_policy: Any, foreign_mlp: Any, write: Any) -> None:
    """Its pickle is replaced by one that would write a file."""
    import pickle
    import zipfile

    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "scripted.pt")
    mark = tmp_path / "mark"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "evil.pt", "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, pickle.dumps(Bomb(mark)) if name.endswith("/data.pkl") else data)
    with pytest.raises(InputError, match=r"no network .*layers"):
        teachers.load(tmp_path / "evil.pt")
    assert not mark.exists()


def test_whole_module_pickle_is_refused(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
    torch.save(torch.nn.Linear(4, 1), tmp_path / "module.pt")
    with pytest.raises(InputError, match=r"torch\.save\(model\.state_dict"):
        teachers.load(tmp_path / "module.pt", make_policy(hidden=[12]))


@pytest.mark.parametrize("name", FORMATS)
def test_truncated_anywhere_is_one_sentence(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, write: Any
) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, name)
    whole = path.read_bytes()
    for length in (0, 1, 7, 8, 9, 64, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError) as error:
            teachers.load(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", FORMATS)
def test_flipped_bytes_never_escape_as_another_error(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, write: Any
) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, name)
    whole = path.read_bytes()
    random = np.random.default_rng(5)
    for _ in range(60):
        broken = bytearray(whole)
        for position in random.integers(0, min(len(whole), 600), size=3):
            broken[position] = int(random.integers(0, 256))
        path.write_bytes(broken)
        try:
            teachers.load(path)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, value: float, write: Any
) -> None:
    model = foreign_mlp([4, 12, 1], False)
    with torch.no_grad():
        model.actor[2].weight[0, 3] = value
    with pytest.raises(InputError, match=r"out\.weight holds NaN or infinite"):
        teachers.load(write(model, make_policy(hidden=[12]), tmp_path, name))


@pytest.mark.parametrize("name", FORMATS)
def test_other_architectures_are_refused(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, write: Any
) -> None:
    model = foreign_mlp([4, 12, 12, 1], True)
    policy = make_policy(hidden=[12, 12], bias=True)
    path = write(model, policy, tmp_path, name)
    teachers.load(path)
    for wrong in (
        make_policy(hidden=[12], bias=True),  # a layer too many in the file
        make_policy(hidden=[12, 12, 12], bias=True),  # one too few
        make_policy(hidden=[12, 13], bias=True),
        make_policy(hidden=[12, 12], bias=False),
        make_policy(hidden=[12, 12], bias=True, window=3),
        make_policy(hidden=[12], lstm=12, bias=True),
    ):
        with pytest.raises(InputError) as error:
            teachers.load(path, wrong)
        assert "policy.toml" in str(error.value)


def test_stacked_and_two_way_lstms_are_refused(tmp_path: Path, make_policy: Any) -> None:
    for model, sentence in (
        (torch.nn.LSTM(12, 12, 2), r"no layer for fc0"),
        (torch.nn.LSTM(12, 12, bidirectional=True), "one direction"),
        (torch.nn.LSTM(12, 12, proj_size=3), "one direction"),
    ):
        torch.save(OrderedDict((f"rnn.{k}", v) for k, v in model.state_dict().items()), tmp_path / "a.pt")
        with pytest.raises(InputError, match=sentence):
            teachers.load(tmp_path / "a.pt", make_policy(hidden=[12], lstm=12, bias=True))


def test_file_over_the_limit_is_not_read(tmp_path: Path, make_policy: Any) -> None:
    for suffix in ("pt", "onnx", "safetensors"):
        path = tmp_path / f"huge.{suffix}"
        with path.open("wb") as file:
            file.truncate(2**40)  # sparse
        with pytest.raises(InputError, match="MiB"):
            teachers.load(path, make_policy(hidden=[12]))


def test_integer_weights_and_missing_files(tmp_path: Path, make_policy: Any) -> None:
    policy = make_policy(hidden=[12])
    weights = {name: np.ones(shape, np.int32) for name, shape in shapes(policy).items()}
    with pytest.raises(InputError, match="int32"):
        make_teacher(policy, weights, "it")
    safetensors.numpy.save_file({k: v.astype(np.float32) for k, v in weights.items()}, tmp_path / "p.safetensors")
    with pytest.raises(InputError, match=r"policy\.toml .*beside"):
        teachers.load(tmp_path / "p.safetensors")
    with pytest.raises(InputError, match="no teacher"):
        teachers.load(tmp_path / "nowhere")
    (tmp_path / "a.bin").write_bytes(b"")
    with pytest.raises(InputError, match="no weights file"):
        teachers.load(tmp_path / "a.bin")


def test_policy_toml_with_an_unknown_feature(tmp_path: Path, make_policy: Any, foreign_mlp: Any, write: Any) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "state.pt")
    toml = tmp_path / "policy.toml"
    toml.write_text(toml.read_text().replace("previous_action", "previous_reaction"))
    with pytest.raises(InputError, match="previous_reaction"):
        teachers.load(path)


# ---- ONNX graphs that are not the network of policy.toml


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: setattr(g.node[1], "op_type", "Sigmoid"), "sigmoid linear tanh"),
        (lambda g: g.node[0].attribute.append(helper.make_attribute("alpha", 2.0)), "alpha"),
        (lambda g: g.node[0].attribute.append(helper.make_attribute("transA", 1)), "transA"),
        (lambda g: setattr(g.node[1], "op_type", "Identity"), "linear linear tanh"),
        (lambda g: setattr(g.initializer[0], "data_location", TensorProto.EXTERNAL), "another file"),
        (lambda g: g.initializer.pop(0), "constants of"),
    ],
)
def test_onnx_graphs_of_other_networks(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, onnx_model: Any, change: Any, message: str
) -> None:
    path = tmp_path / "g.onnx"
    graph = onnx_model(foreign_mlp([4, 12, 1], False), False)
    change(graph.graph)
    path.write_bytes(graph.SerializeToString())
    with pytest.raises(InputError, match=message):
        teachers.load(path, make_policy(hidden=[12]))
