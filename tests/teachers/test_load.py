"""Every format gives the same teacher; whatever is wrong with a file is one clear sentence."""

import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from onnx import TensorProto, helper, numpy_helper

import teachers
from spec.errors import InputError
from teachers.save import policy_toml, save
from teachers.teacher import make_teacher, shapes

FORMATS = ["state.pt", "state.pth", "checkpoint.pt", "scripted.pt", "traced.pt", "plain.safetensors", "graph.onnx"]


def write(model: Any, policy: Any, folder: Path, name: str) -> Path:
    path = folder / name
    lstm = policy.architecture.lstm is not None
    example = torch.zeros((3, 1, policy.observation.size) if lstm else (3, policy.observation.size))
    if name.startswith("state"):
        torch.save(model.state_dict(), path)
    elif name == "checkpoint.pt":
        torch.save({"epoch": 3, "model_state_dict": model.state_dict(), "optimizer": {"lr": 0.1}}, path)
    elif name == "scripted.pt":
        torch.jit.script(model).save(str(path))
    elif name == "traced.pt":
        torch.jit.trace(model, example).save(str(path))
    elif name == "plain.safetensors":
        safetensors.torch.save_file(model.state_dict(), str(path))
    else:
        path.write_bytes(as_onnx(model, lstm).SerializeToString())
    (folder / "policy.toml").write_text(policy_toml(policy))
    return path


def as_onnx(model: Any, lstm: bool) -> Any:
    """What exporters write: Gemm with transB, MatMul + Add, LSTM with gates i o f c. By hand, from the standard."""
    state = {k: v.detach().numpy() for k, v in model.state_dict().items()}
    nodes: list[Any] = []
    initializers: list[Any] = []
    here = "x"

    def constant(name: str, array: Any) -> str:
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(op: str, inputs: list[str], **attributes: Any) -> str:
        output = f"n{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def linear(prefix: str, gemm: bool) -> None:
        nonlocal here
        weight, bias = state[f"{prefix}.weight"], state.get(f"{prefix}.bias")
        if gemm:
            inputs = [here, constant(f"{prefix}.w", weight)]
            here = node("Gemm", inputs + ([] if bias is None else [constant(f"{prefix}.b", bias)]), transB=1)
        else:
            here = node("MatMul", [here, constant(f"{prefix}.w", weight.T)])
            if bias is not None:
                here = node("Add", [here, constant(f"{prefix}.b", bias)])

    if lstm:
        count = sum(k.startswith("body") and k.endswith("weight") for k in state)
        for index in range(count):
            linear(f"body.{index}", gemm=index % 2 == 1)
            here = node("Relu", [here])
        units = state["memory.weight_hh_l0"].shape[1]

        def gates(array: Any) -> Any:
            i, f, g, o = np.split(array, 4)
            return np.concatenate([i, o, f, g])

        inputs = [here]
        for part, key in (("W", "weight_ih_l0"), ("R", "weight_hh_l0")):
            inputs.append(constant(part, gates(state[f"memory.{key}"])[None]))
        if "memory.bias_ih_l0" in state:
            both = [gates(state["memory.bias_ih_l0"]), gates(state["memory.bias_hh_l0"])]
            inputs.append(constant("B", np.concatenate(both)[None]))
        here = node("LSTM", inputs, hidden_size=units)
        here = node("Squeeze", [here, constant("axes", np.array([1]))])
        linear("head", gemm=False)
    else:
        keys = [k.removesuffix(".weight") for k in state if k.endswith("weight")]
        for index, prefix in enumerate(keys):
            linear(prefix, gemm=index % 2 == 0)
            if prefix != keys[-1]:
                here = node("Relu", [here])
    nodes.append(helper.make_node("Tanh", [here], ["y"]))
    shape = [None, 1, 2] if lstm else [None, 4]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializers,
    )
    return helper.make_model(graph)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_mlp_of_every_format(tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, bias: bool) -> None:
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
def test_lstm_of_every_format(tmp_path: Path, make_policy: Any, foreign_lstm: Any, name: str, bias: bool) -> None:
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


def test_every_format_has_the_same_hash(tmp_path: Path, make_policy: Any, foreign_lstm: Any) -> None:
    policy = make_policy(hidden=[12], lstm=12, bias=True)
    model = foreign_lstm([12], 12, True)
    found = {teachers.load(write(model, policy, tmp_path, name)).hash for name in FORMATS}
    assert len(found) == 1
    assert teachers.load(tmp_path / FORMATS[0], make_policy(hidden=[12], lstm=12, bias=True)).hash in found


def test_folder_round_trip_is_byte_identical(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
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


def test_folder_that_was_edited_is_refused(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
    teacher = teachers.load(write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "state.pt"))
    save(teacher, tmp_path / "t")
    toml = tmp_path / "t" / "policy.toml"
    toml.write_text(toml.read_text().replace("step = 0.2", "step = 0.3"))
    with pytest.raises(InputError, match=r"policy\.toml was changed"):
        teachers.load(tmp_path / "t")
    (tmp_path / "t" / "manifest.json").unlink()  # a folder made by hand needs none
    assert teachers.load(tmp_path / "t").policy.action.limits_q16()[1] == round(0.3 * 65536)


def test_safetensors_needs_no_torch(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "plain.safetensors")
    code = f"import sys; sys.modules['torch'] = None; import teachers; print(teachers.load({str(path)!r}).hash)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == teachers.load(path).hash, done.stderr


def test_state_dict_without_torch_says_how_to_get_it(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "state.pt")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"pip install 'rlcc\[train\]'"):
        teachers.load(path)


# ---- refusals


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


def test_torchscript_is_read_without_running_it(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
    """Its pickle is replaced by one that would write a file."""
    import pickle
    import zipfile

    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "scripted.pt")
    mark = tmp_path / "mark"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "evil.pt", "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, pickle.dumps(Bomb(mark)) if name.endswith("/data.pkl") else data)
    with pytest.raises(InputError, match="no network of layers needs"):
        teachers.load(tmp_path / "evil.pt")
    assert not mark.exists()


def test_whole_module_pickle_is_refused(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
    torch.save(torch.nn.Linear(4, 1), tmp_path / "module.pt")
    with pytest.raises(InputError, match=r"save the weights alone with torch\.save\(model\.state_dict"):
        teachers.load(tmp_path / "module.pt", make_policy(hidden=[12]))


@pytest.mark.parametrize("name", FORMATS)
def test_truncated_anywhere_is_one_sentence(tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str) -> None:
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
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str
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
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str, value: float
) -> None:
    model = foreign_mlp([4, 12, 1], False)
    with torch.no_grad():
        model.actor[2].weight[0, 3] = value
    with pytest.raises(InputError, match=r"out\.weight holds NaN or infinite"):
        teachers.load(write(model, make_policy(hidden=[12]), tmp_path, name))


@pytest.mark.parametrize("name", FORMATS)
def test_other_architectures_are_refused(tmp_path: Path, make_policy: Any, foreign_mlp: Any, name: str) -> None:
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
    for model in (
        torch.nn.LSTM(12, 12, 2),
        torch.nn.LSTM(12, 12, bidirectional=True),
        torch.nn.LSTM(12, 12, proj_size=3),
    ):
        torch.save(OrderedDict((f"rnn.{k}", v) for k, v in model.state_dict().items()), tmp_path / "a.pt")
        with pytest.raises(InputError, match="one layer, one direction and no projection"):
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
    with pytest.raises(InputError, match=r"need a policy\.toml beside them"):
        teachers.load(tmp_path / "p.safetensors")
    with pytest.raises(InputError, match="there is no teacher"):
        teachers.load(tmp_path / "nowhere")
    (tmp_path / "a.bin").write_bytes(b"")
    with pytest.raises(InputError, match="is no weights file"):
        teachers.load(tmp_path / "a.bin")


def test_policy_toml_with_an_unknown_feature(tmp_path: Path, make_policy: Any, foreign_mlp: Any) -> None:
    path = write(foreign_mlp([4, 12, 1], False), make_policy(hidden=[12]), tmp_path, "state.pt")
    toml = tmp_path / "policy.toml"
    toml.write_text(toml.read_text().replace("previous_action", "previous_reaction"))
    with pytest.raises(InputError, match="previous_reaction"):
        teachers.load(path)


# ---- ONNX graphs that are not the network of policy.toml


def edited(model: Any, change: Any) -> bytes:
    graph = as_onnx(model, False)
    change(graph.graph)
    return graph.SerializeToString()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: setattr(g.node[1], "op_type", "Sigmoid"), "operator Sigmoid"),
        (lambda g: g.node[0].attribute.append(helper.make_attribute("alpha", 2.0)), "alpha"),
        (lambda g: g.node[0].attribute.append(helper.make_attribute("transA", 1)), "transA"),
        (lambda g: setattr(g.node[1], "op_type", "Identity"), "computes fc fc tanh"),
        (lambda g: setattr(g.initializer[0], "data_location", TensorProto.EXTERNAL), "another file"),
        (lambda g: g.initializer.pop(0), "constants of the file"),
    ],
)
def test_onnx_graphs_of_other_networks(
    tmp_path: Path, make_policy: Any, foreign_mlp: Any, change: Any, message: str
) -> None:
    path = tmp_path / "g.onnx"
    path.write_bytes(edited(foreign_mlp([4, 12, 1], False), change))
    with pytest.raises(InputError, match=message):
        teachers.load(path, make_policy(hidden=[12]))


def test_onnx_by_hand_computes_what_torch_does(make_policy: Any, foreign_lstm: Any) -> None:
    """The graphs of these tests are right: ONNX's own reference evaluator agrees with PyTorch on them."""
    from onnx.reference import ReferenceEvaluator

    model = foreign_lstm([32, 16], 16, True)
    x = np.random.default_rng(0).normal(size=(7, 1, 2)).astype(np.float32)
    (y,) = ReferenceEvaluator(onnx.load_model_from_string(as_onnx(model, True).SerializeToString())).run(None, {"x": x})
    assert np.allclose(y.reshape(-1), model(torch.from_numpy(x)).detach().numpy().reshape(-1), atol=1e-6)
