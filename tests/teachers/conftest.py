"""Policies and PyTorch networks as other projects would bring them: their own names, their own order of layers."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from onnx import TensorProto, helper, numpy_helper

from decision.policy.policy import Policy
from teachers.save import policy_toml

PolicyMaker = Callable[..., Policy]


@pytest.fixture
def make_policy() -> PolicyMaker:
    """A valid policy with the given architecture."""

    def make(
        *, hidden: list[int], lstm: int | None = None, bias: bool = False, window: int | None = None, **more: Any
    ) -> Policy:
        architecture: dict[str, Any] = {
            "kind": "mlp" if lstm is None else "lstm",
            "hidden": hidden,
            "bias": bias,
        } | more
        if "layers" in more:
            architecture["kind"] = "layers"
        if lstm is not None:
            architecture["lstm"] = lstm
        content = {
            "format": 1,
            "name": "under-test",
            "architecture": architecture,
            "observation": {
                "window": window or (2 if lstm is None else 1),
                "base_rtt": "8192 ns",
                "line_rate": "100 Gb/s",
                "rtt_max": "4 ms",
                "features": [
                    {"kind": "previous_action"},
                    {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
                ],
            },
            "action": {"kind": "tanh_map", "step": 0.2},
            "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
        }
        return Policy.model_validate(content)

    return make


class ForeignMlp(torch.nn.Module):
    """Layers in an nn.Sequential: keys actor.0.weight, actor.2.weight .."""

    def __init__(self, sizes: list[int], bias: bool) -> None:
        super().__init__()
        layers: list[Any] = []
        for wide, narrow in pairwise(sizes):
            layers += [torch.nn.Linear(wide, narrow, bias=bias), torch.nn.ReLU()]
        self.actor = torch.nn.Sequential(*layers[:-1], torch.nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.actor(x)


class ForeignLstm(torch.nn.Module):
    """The output layer is defined BEFORE the others, so that order alone cannot tell the layers apart."""

    def __init__(self, hidden: list[int], units: int, bias: bool) -> None:
        super().__init__()
        self.head = torch.nn.Linear(units, 1, bias=bias)
        sizes = [2, *hidden]
        self.body = torch.nn.ModuleList(torch.nn.Linear(wide, narrow, bias=bias) for wide, narrow in pairwise(sizes))
        self.memory = torch.nn.LSTM(sizes[-1], units, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.body:
            x = torch.relu(layer(x))
        x, _ = self.memory(x)
        return torch.tanh(self.head(x))


@pytest.fixture
def foreign_mlp() -> Callable[..., Any]:
    torch.manual_seed(1)
    return ForeignMlp


@pytest.fixture
def foreign_lstm() -> Callable[..., Any]:
    torch.manual_seed(2)
    return ForeignLstm


def write_as(model: Any, policy: Any, folder: Path, name: str) -> Path:
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


@pytest.fixture
def write() -> Callable[..., Path]:
    """Write a model and its policy.toml in the format that the file's name stands for."""
    return write_as


@pytest.fixture
def onnx_model() -> Callable[..., Any]:
    return as_onnx
