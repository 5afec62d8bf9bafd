"""The layers of an ONNX graph in the order in which they are computed: a walk along what its first output needs.

Value 0 is the graph's input, value n what layer n gives. Operators that only move data about pass a value on. Products,
sums and functions of one value are collected and recognised as the activation that they equal, whichever way an
exporter wrote it: SiLU is x sigmoid(x), GELU has Erf or Tanh. Every layer must take the value of the layer before;
Add and Concat may take an earlier one too. ONNX orders an LSTM's gates i, o, f, c and a GRU's z, r, h; PyTorch i, f,
g (= c), o and r, z, n.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.activation import LEAK, activated
from decision.ir.arrays import Floats
from decision.policy.layers import ACTIVATIONS
from teachers.layers import Array

MOVES = {"Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Slice", "Gather", "Shape", "Expand"}
MOVES |= {"Constant", "ConstantOfShape", "Cast", "Split", "Dropout", "Range"}
DIRECT = {"Relu": "relu", "LeakyRelu": "leaky_relu", "Elu": "elu", "Tanh": "tanh"}
FUNCTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "Sigmoid": lambda x: activated("sigmoid", x),
    "Tanh": exact.tanh,
    "Erf": exact.erf,
}
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Mul": np.multiply,
    "Div": np.divide,
    "Add": np.add,
    "Sub": np.subtract,
    "Pow": np.power,
}
POINTS = np.concatenate([np.linspace(-12.0, 12.0, 4001), [-200.0, -50.0, 50.0, 200.0]])
CLOSE = 1e-5
"""Difference of an exporter's float32 constants from the activation, of a value or of its size."""
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "LSTM": {"direction": b"forward", "input_forget": 0, "activations": [b"Sigmoid", b"Tanh", b"Tanh"]},
    "GRU": {"direction": b"forward", "activations": [b"Sigmoid", b"Tanh"]},
}
GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2)}
"""Of each of PyTorch's gates, its place in ONNX."""
KNOWN = f"Gemm, MatMul, Add, LSTM, GRU, LayerNormalization, {', '.join(DIRECT)}, Sigmoid, Gelu, Clip, Concat"


@dataclass(frozen=True)
class GraphLayer:
    """A layer as policy.toml names it. ``number``: epsilon of layer_norm, place of the value that add and concat take;
    ``ends``: of clip."""

    kind: str
    tensors: dict[str, Array] = field(default_factory=dict)
    number: float = 0.0
    ends: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class _GraphFunction:
    """A function of one value, not recognised yet."""

    value: int
    of: Callable[[Floats], Floats]


_Value = int | _GraphFunction


def graph_layers(graph: Any, constants: Mapping[str, Array], onnx: Any, path: str) -> list[GraphLayer]:
    """The layers behind the first input. InputError where the graph is no sequence of known layers."""
    walk = _GraphWalk(constants, onnx, path)
    initial = {tensor.name for tensor in graph.initializer}
    inputs = [each.name for each in graph.input if each.name not in initial]
    if inputs:
        walk.values[inputs[0]] = 0
    for node in _needed(graph):
        walk.take(node)
    last = walk.values.get(graph.output[0].name) if graph.output else None
    if last is None or walk.settled(last, "the output") != len(walk.layers):
        raise InputError(f"{path} ends in something else than its last layer; export the policy alone")
    return walk.layers


def _needed(graph: Any) -> list[Any]:
    """Nodes that the first output depends on, in the graph's (topological) order."""
    wanted = {graph.output[0].name} if graph.output else set()
    nodes = []
    for node in reversed(graph.node):
        if wanted & set(node.output):
            wanted |= set(node.input)
            nodes.append(node)
    return nodes[::-1]


class _GraphWalk:
    def __init__(self, constants: Mapping[str, Array], onnx: Any, path: str) -> None:
        self.constants, self.onnx, self.path = constants, onnx, path
        self.layers: list[GraphLayer] = []
        self.values: dict[str, _Value] = {}

    def take(self, node: Any) -> None:
        """One node: its outputs get the value that it gives."""
        attributes = {a.name: self.onnx.helper.get_attribute_value(a) for a in node.attribute}
        inputs = [self.constants.get(name) for name in node.input]
        values = [self.values[name] for name in node.input if name in self.values]
        given: _Value | None = None
        if node.op_type in MOVES or (node.op_type == "Concat" and not values):
            given = values[0] if values and node.op_type != "Shape" else None
        elif not values:
            if node.op_type not in BINARY:
                raise InputError(f"{self.path}: the {node.op_type} {node.name!r} takes nothing of the network's input")
        elif node.op_type in BINARY:
            given = self._binary(node, inputs)
        elif node.op_type in FUNCTIONS and (node.op_type not in DIRECT or isinstance(values[0], _GraphFunction)):
            given = self._function(values[0], FUNCTIONS[node.op_type])
        elif node.op_type == "Concat":
            given = self._joined(node, values, attributes)
        else:
            layer = self._layer(node, inputs, attributes)
            given = self._push(layer, self.settled(values[0], node.name), node.name)
        if given is not None:
            self.values.update((name, given) for name in node.output if name)

    def settled(self, value: _Value, where: str) -> int:
        """The number of a value; a function of one becomes the activation that it equals."""
        if isinstance(value, int):
            return value
        name = _activation(value)
        if name is None:
            raise InputError(
                f"{self.path}: what goes into {where!r} is none of the activations {', '.join(ACTIVATIONS)}"
            )
        number = self._push(GraphLayer(name), value.value, where)
        self.values = {key: number if each is value else each for key, each in self.values.items()}
        return number

    def _push(self, layer: GraphLayer, value: int, where: str) -> int:
        if value != len(self.layers):
            raise InputError(
                f"{self.path}: {where!r} takes what layer {value} gives, not the layer before; a teacher is a sequence "
                f"of layers, with Add and Concat of earlier ones"
            )
        self.layers.append(layer)
        return len(self.layers)

    def _function(self, value: _Value, of: Callable[[Floats], Floats]) -> _GraphFunction:
        if isinstance(value, int):
            return _GraphFunction(value, of)
        return _GraphFunction(value.value, lambda x: of(value.of(x)))

    def _binary(self, node: Any, inputs: Sequence[Array | None]) -> _Value:
        """A bias, a skip connection, or a part of an activation."""
        first, second = (self.values.get(name) for name in node.input)
        if first is None or second is None:
            value = first if first is not None else second
            constant = next((a for a in inputs if a is not None), None)
            if value is None or constant is None:
                raise InputError(f"{self.path}: the {node.op_type} {node.name!r} takes what is no constant of the file")
            last = self.layers[-1] if self.layers else None
            is_last = value == len(self.layers)
            if node.op_type == "Add" and is_last and last and last.kind == "linear" and "bias" not in last.tensors:
                last.tensors["bias"] = constant.reshape(-1)
                return value
            if constant.size != 1:
                raise InputError(f"{self.path}: the {node.op_type} {node.name!r} is no bias of a layer")
            number, of = float(constant.reshape(())), BINARY[node.op_type]
            if first is None:
                return self._function(value, lambda x: of(number, x))
            return self._function(value, lambda x: of(x, number))
        parts = [
            value if isinstance(value, _GraphFunction) else _GraphFunction(value, lambda x: x)
            for value in (first, second)
        ]
        if parts[0].value == parts[1].value and not (node.op_type == "Add" and _is_skip(first, second)):
            one, other, combine = parts[0].of, parts[1].of, BINARY[node.op_type]
            return _GraphFunction(parts[0].value, lambda x: combine(one(x), other(x)))
        if node.op_type != "Add":
            raise InputError(
                f"{self.path}: the {node.op_type} {node.name!r} of two layers is in no teacher; only Add is"
            )
        numbers = [self.settled(value, node.name) for value in (first, second)]
        return self._push(GraphLayer("add", number=min(numbers)), max(numbers), node.name)

    def _joined(self, node: Any, values: Sequence[_Value], attributes: Mapping[str, Any]) -> int:
        numbers = [self.settled(value, node.name) for value in values]
        if len(numbers) != 2 or len(node.input) != 2 or numbers[0] < numbers[1] or attributes.get("axis") == 0:
            raise InputError(
                f"{self.path}: the Concat {node.name!r} joins other values than a layer's and then an earlier one's; "
                f"write torch.cat([x, earlier], -1)"
            )
        return self._push(GraphLayer("concat", number=numbers[1]), numbers[0], node.name)

    def _layer(self, node: Any, inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> GraphLayer:
        if node.op_type == "Gemm":
            return _gemm(node, inputs, attributes, self.path)
        if node.op_type == "MatMul":
            if len(inputs) != 2 or inputs[1] is None:
                raise InputError(f"{self.path}: the MatMul {node.name!r} multiplies by no constant matrix")
            return GraphLayer("linear", {"weight": inputs[1].T})
        if node.op_type in DEFAULTS:
            return _recurrent(node, inputs, attributes, self.path)
        if node.op_type == "LayerNormalization":
            return _layer_norm(node, inputs, attributes, self.path)
        if node.op_type == "Clip":
            ends = [float("nan") if a is None or a.size != 1 else float(a.reshape(())) for a in inputs[1:]]
            if len(ends) != 2 or not np.isfinite(ends).all():
                raise InputError(f"{self.path}: the Clip {node.name!r} has {ends}; a teacher's has two constants")
            return GraphLayer("clip", ends=(ends[0], ends[1]))
        if node.op_type == "Gelu":
            return GraphLayer("gelu_tanh" if attributes.get("approximate", b"none") == b"tanh" else "gelu")
        if node.op_type not in DIRECT:
            raise InputError(f"{self.path} uses the operator {node.op_type}; a teacher is made of {KNOWN}")
        expected = {"LeakyRelu": LEAK, "Elu": 1.0}.get(node.op_type)
        if expected is not None and not np.isclose(attributes.get("alpha", expected), expected):
            raise InputError(
                f"{self.path}: the {node.op_type} {node.name!r} has alpha = {attributes['alpha']}; a teacher's has "
                f"{expected}"
            )
        return GraphLayer(DIRECT[node.op_type])


def _activation(function: _GraphFunction) -> str | None:
    """The activation that a function equals; None where it is none."""
    with np.errstate(all="ignore"):
        computed = function.of(POINTS)
        equal = (n for n in ACTIVATIONS if np.allclose(computed, activated(n, POINTS), rtol=CLOSE, atol=CLOSE))
        return next(equal, None)


def _is_skip(first: _Value, second: _Value) -> bool:
    """Whether a sum is one of a value and an activation of it: x + silu(x)."""
    functions = [value for value in (first, second) if isinstance(value, _GraphFunction)]
    return len(functions) == 1 and _activation(functions[0]) is not None


def _gemm(node: Any, inputs: Sequence[Array | None], attributes: Mapping[str, Any], path: str) -> GraphLayer:
    if len(inputs) < 2 or inputs[1] is None or (len(inputs) > 2 and inputs[2] is None):
        raise InputError(f"{path}: the weights of the Gemm {node.name!r} are not constants of the file")
    plain = attributes.get("alpha", 1.0) == 1.0 and attributes.get("beta", 1.0) == 1.0
    if not plain or attributes.get("transA", 0):
        raise InputError(f"{path}: the Gemm {node.name!r} has alpha, beta or transA; export a plain Linear")
    weight = inputs[1] if attributes.get("transB", 0) else inputs[1].T
    bias = inputs[2] if len(inputs) > 2 else None
    return GraphLayer("linear", {"weight": weight} | ({} if bias is None else {"bias": bias.reshape(-1)}))


def _layer_norm(node: Any, inputs: Sequence[Array | None], attributes: Mapping[str, Any], path: str) -> GraphLayer:
    if len(inputs) != 3 or inputs[1] is None or inputs[2] is None or inputs[1].ndim != 1:
        raise InputError(
            f"{path}: the LayerNormalization {node.name!r} has no weights and biases of the last axis alone"
        )
    return GraphLayer("layer_norm", {"weight": inputs[1], "bias": inputs[2]}, float(attributes.get("epsilon", 1e-5)))


def _recurrent(node: Any, inputs: Sequence[Array | None], attributes: Mapping[str, Any], path: str) -> GraphLayer:
    what, gates = node.op_type, len(GATES[node.op_type])
    for name, default in DEFAULTS[what].items():
        if attributes.get(name, default) != default:
            raise InputError(
                f"{path}: the {what} has {name} = {attributes[name]!r}; only a plain forward {what} will do"
            )
    if what == "GRU" and attributes.get("linear_before_reset", 0) != 1:
        raise InputError(
            f"{path}: the GRU resets before its product, as PyTorch's does not: linear_before_reset must be 1"
        )
    if "clip" in attributes or (len(node.input) > 7 and node.input[7]):
        raise InputError(f"{path}: the {what} has a clip or peepholes; only a plain forward {what} will do")
    if len(inputs) < 3 or inputs[1] is None or inputs[2] is None or inputs[1].ndim != 3 or inputs[2].ndim != 3:
        raise InputError(f"{path}: the weights of the {what} {node.name!r} are not constants of the file")
    if any(a is not None and a.any() for a in inputs[5:7]):
        raise InputError(f"{path}: the {what} starts from a state that is not zero; a new flow's state is zero")
    units = inputs[2].shape[2]
    parts = {"weight_ih": inputs[1][0], "weight_hh": inputs[2][0]}
    if len(node.input) > 3 and node.input[3]:
        both = inputs[3]
        if both is None or both.size != 2 * gates * units:
            raise InputError(f"{path}: the biases of the {what} {node.name!r} are not constants of the file")
        parts |= {"bias_ih": both.reshape(-1)[: gates * units], "bias_hh": both.reshape(-1)[gates * units :]}
    if any(a.shape[0] != gates * units for a in parts.values()):
        raise InputError(f"{path}: the {what}'s weights do not fit its {units} units")
    order = np.concatenate([np.arange(units) + gate * units for gate in GATES[what]])
    return GraphLayer(what.lower(), {part: array[order] for part, array in parts.items()})
