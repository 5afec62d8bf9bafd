"""Weights in an ONNX graph: a chain of Gemm or MatMul (+ Add), activations and LSTM, read without running it.

ONNX orders an LSTM's gates i, o, f, c; PyTorch i, f, g (= c), o. Operators that only move data about are passed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.ir.activation import LEAK
from decision.policy.policy import PolicyFile
from teachers.layers import Array, Shapes, match_layers

_MOVES = {"Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Slice", "Gather", "Concat", "Shape"}
_MOVES |= {"Expand", "Constant", "ConstantOfShape", "Cast", "Split", "Dropout", "Range"}
_ACTIVATIONS = {
    "Relu": "relu",
    "LeakyRelu": "leaky_relu",
    "Elu": "elu",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "Clip": "clip",
}
_LSTM_DEFAULTS: Mapping[str, Any] = {
    "direction": b"forward",
    "input_forget": 0,
    "activations": [b"Sigmoid", b"Tanh", b"Tanh"],
}


@dataclass(frozen=True)
class _Layer:
    op: str  # "fc" or "lstm"
    tensors: dict[str, Array]


def read_onnx(path: Path, file: PolicyFile, shapes: Shapes) -> dict[str, Array]:
    """Canonically named weights. InputError where the graph is not the network that policy.toml describes."""
    data = read_bytes(path)
    with needed():
        import onnx
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        graph = onnx.load_model_from_string(data).graph
    except (DecodeError, ValueError, TypeError) as error:
        raise InputError(f"{path} is truncated or not an ONNX model ({error}); export it again") from None
    if not graph.node:
        raise InputError(f"{path} is not an ONNX model with a graph; export it again")
    constants = _constants(graph, onnx, path)
    layers, operators = _walk(graph.node, constants, onnx, path)
    expected = _expected(file)
    if operators != expected:
        raise InputError(
            f"{path} computes {' '.join(operators) or 'nothing'}, but the architecture in policy.toml is "
            f"{' '.join(expected)}"
        )
    named = [(f"layer{i}.{part}", a) for i, layer in enumerate(layers) for part, a in layer.tensors.items()]
    return match_layers(shapes, named, str(path))


def _expected(policy: PolicyFile) -> list[str]:
    operators = [name for after in policy.architecture.activations for name in ("fc", after)]
    operators += ["lstm"] if policy.architecture.lstm is not None else []
    return [*operators, "fc", *([policy.output_activation] if policy.action.squashed else [])]


def _constants(graph: Any, onnx: Any, path: Path) -> dict[str, Array]:
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            tensors.update((node.output[0], a.t) for a in node.attribute if a.name == "value")
    constants: dict[str, Array] = {}
    for name, tensor in tensors.items():
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise InputError(f"{path} keeps {name} in another file; export it with the weights inside")
        try:
            constants[name] = np.asarray(onnx.numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{path}: the tensor {name} cannot be read ({error}); export it again") from None
    return constants


def _walk(nodes: Any, constants: dict[str, Array], onnx: Any, path: Path) -> tuple[list[_Layer], list[str]]:
    """The layers in the graph's (topological) order, and the operators between them."""
    layers: list[_Layer] = []
    operators: list[str] = []
    for node in nodes:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        inputs = [constants.get(name) for name in node.input]
        if node.op_type == "Gemm":
            layers.append(_gemm(node, inputs, attributes, path))
            operators.append("fc")
        elif node.op_type == "MatMul":
            if len(inputs) != 2 or inputs[1] is None:
                raise InputError(f"{path}: the MatMul {node.name!r} multiplies by no constant matrix")
            layers.append(_Layer("fc", {"weight": inputs[1].T}))
            operators.append("fc")
        elif node.op_type == "Add" and any(a is not None for a in inputs):
            if not layers or operators[-1] != "fc" or "bias" in layers[-1].tensors:
                raise InputError(f"{path}: the Add {node.name!r} is no bias of a layer")
            bias = next(a for a in inputs if a is not None)
            layers[-1].tensors["bias"] = bias.reshape(-1)
        elif node.op_type == "LSTM":
            layers.append(_lstm(node, inputs, attributes, path))
            operators.append("lstm")
        elif node.op_type in _ACTIVATIONS:
            operators.append(_activation(node, inputs, attributes, path))
        elif node.op_type not in _MOVES:
            raise InputError(
                f"{path} uses the operator {node.op_type}; a teacher is made of Gemm, MatMul, Add, LSTM, "
                f"{', '.join(_ACTIVATIONS)}"
            )
    return layers, operators


def _activation(node: Any, inputs: list[Array | None], attributes: dict[str, Any], path: Path) -> str:
    """Its name in policy.toml. InputError where its numbers are others than there."""
    expected = {"LeakyRelu": [LEAK], "Elu": [1.0], "Clip": [-1.0, 1.0]}.get(node.op_type, [])
    numbers = [attributes["alpha"]] if "alpha" in attributes else expected
    if node.op_type == "Clip":
        numbers = [float("nan") if a is None or a.size != 1 else a.item() for a in inputs[1:]]
    if len(numbers) != len(expected) or not np.allclose(numbers, expected):
        raise InputError(f"{path}: the {node.op_type} {node.name!r} has {numbers}; a teacher's has {expected}")
    return _ACTIVATIONS[node.op_type]


def _gemm(node: Any, inputs: list[Array | None], attributes: dict[str, Any], path: Path) -> _Layer:
    if len(inputs) < 2 or inputs[1] is None or (len(inputs) > 2 and inputs[2] is None):
        raise InputError(f"{path}: the weights of the Gemm {node.name!r} are not constants of the file")
    plain = attributes.get("alpha", 1.0) == 1.0 and attributes.get("beta", 1.0) == 1.0
    if not plain or attributes.get("transA", 0):
        raise InputError(f"{path}: the Gemm {node.name!r} has alpha, beta or transA; export a plain Linear")
    weight = inputs[1] if attributes.get("transB", 0) else inputs[1].T
    bias = inputs[2] if len(inputs) > 2 else None
    return _Layer("fc", {"weight": weight} | ({} if bias is None else {"bias": bias.reshape(-1)}))


def _lstm(node: Any, inputs: list[Array | None], attributes: dict[str, Any], path: Path) -> _Layer:
    for name, default in _LSTM_DEFAULTS.items():
        if attributes.get(name, default) != default:
            raise InputError(f"{path}: the LSTM has {name} = {attributes[name]!r}; only a plain forward LSTM will do")
    if "clip" in attributes or (len(node.input) > 7 and node.input[7]):
        raise InputError(f"{path}: the LSTM has a clip or peepholes; only a plain forward LSTM will do")
    if len(inputs) < 3 or inputs[1] is None or inputs[2] is None or inputs[1].ndim != 3 or inputs[2].ndim != 3:
        raise InputError(f"{path}: the weights of the LSTM {node.name!r} are not constants of the file")
    if any(a is not None and a.any() for a in inputs[5:7]):
        raise InputError(f"{path}: the LSTM starts from a state that is not zero; a new flow's state is zero")
    units = inputs[2].shape[2]
    parts = {"weight_ih": inputs[1][0], "weight_hh": inputs[2][0]}
    if len(node.input) > 3 and node.input[3]:
        both = inputs[3]
        if both is None or both.size != 8 * units:
            raise InputError(f"{path}: the biases of the LSTM {node.name!r} are not constants of the file")
        parts |= {"bias_ih": both.reshape(-1)[: 4 * units], "bias_hh": both.reshape(-1)[4 * units :]}
    if any(a.shape[0] != 4 * units for a in parts.values()):
        raise InputError(f"{path}: the LSTM's weights do not fit its {units} units")
    order = np.concatenate([np.arange(units) + gate * units for gate in (0, 2, 3, 1)])  # i o f c -> i f c o
    return _Layer("lstm", {part: array[order] for part, array in parts.items()})
