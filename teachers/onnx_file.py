"""Weights in an ONNX graph, read without running it, where its layers are those of policy.toml."""

from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.policy.layers import NetworkLayer
from decision.policy.output_range import OutputRange
from decision.policy.policy import PolicyFile
from teachers.layers import Array, Shapes, match_layers
from teachers.onnx_graph import GraphLayer, graph_layers

CLOSE = 1e-5
"""Relative difference between a number of policy.toml and the graph's float32."""


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
    layers = graph_layers(graph, _constants(graph, onnx, path), onnx, str(path))
    expected = _expected(file)
    same = len(layers) == len(expected) and all(map(_fits, layers, expected))
    if not same:
        raise InputError(
            f"{path} computes {' '.join(map(_told, layers)) or 'nothing'}, but the architecture in policy.toml is "
            f"{' '.join(map(_told, expected))}"
        )
    named = [(f"layer{i}.{part}", a) for i, layer in enumerate(layers) for part, a in layer.tensors.items()]
    return match_layers(shapes, named, str(path), computed=True)


def _expected(file: PolicyFile) -> list[GraphLayer]:
    """The layers of policy.toml, the output layer and what follows it in the file."""
    architecture = file.architecture
    layers = [GraphLayer(kind) for after in architecture.activations for kind in ("linear", after)]
    layers += [GraphLayer("lstm")] if architecture.lstm is not None else []
    layers += [_graph_layer(layer) for layer in architecture.sequence]
    layers.append(GraphLayer("linear"))
    if architecture.output_clip is not None:
        layers.append(_graph_layer(NetworkLayer("clip", architecture.output_clip)))
    if file.action.squashed and architecture.output != "none":
        layers.append(_end(architecture.output, file.output))
    return layers


def _end(output: str, ends: OutputRange) -> GraphLayer:
    low, high = (end if isinstance(end, float) else float("nan") for end in (ends.low, ends.high))
    return GraphLayer("clip", ends=(low, high)) if output == "clip" else GraphLayer(output)


def _graph_layer(layer: NetworkLayer) -> GraphLayer:
    if layer.kind == "clip":
        return GraphLayer("clip", ends=(-layer.number, layer.number))
    return GraphLayer(layer.kind, number=0.0 if layer.kind in ("linear", "lstm", "gru") else layer.number)


def _fits(layer: GraphLayer, expected: GraphLayer) -> bool:
    ours, theirs = (layer.number, *layer.ends), (expected.number, *expected.ends)
    return layer.kind == expected.kind and bool(np.allclose(ours, theirs, rtol=CLOSE, atol=0))


def _told(layer: GraphLayer) -> str:
    if layer.kind == "clip":
        return f"clip({layer.ends[0]:g}, {layer.ends[1]:g})"
    return layer.kind + (f"({layer.number:g})" if layer.kind in ("layer_norm", "add", "concat") else "")


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
