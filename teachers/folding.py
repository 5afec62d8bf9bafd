"""A network that was trained over another layout of its input, as the same network over rlcc's own rows.

rlcc's row has the newest decision first and the features of `[observation]` in their order. The layout in `[input]` is
folded into the weights of the first layer as they are read. Nothing behind the reader knows other layouts. An order
alone moves columns: no bit of a weight changes. A constant or an offset becomes a bias. A clip of the inputs, and
layers that see the row later, fit in no weights of a first layer. They become a layer before the others.

The ends in `[output]` go into the weights of the last layer if outputs are cut off at ends other than -1 and 1.
"""

import numpy as np
from numpy.typing import NDArray

from decision.ir import exact
from decision.ir.arrays import Floats
from decision.policy.architecture import Architecture
from decision.policy.input_layout import InputLayout, spread
from decision.policy.layers import NetworkLayer, placed, shifted
from decision.policy.output_range import OutputRange
from decision.policy.policy import Policy
from decision.policy.weights import Shape, shapes
from teachers.teacher import Weights

FIRST = {"linear": "layer1.weight", "lstm": "layer1.weight_ih", "gru": "layer1.weight_ih"}
"""Weights of a first layer that see the row, by its kind."""


def _first_layer(policy: Policy) -> str | None:
    """Name of the only weights that see the row; None where other layers see it too, or one without such weights."""
    architecture = policy.architecture
    if architecture.layers:
        layers = placed(architecture.sequence, policy.observation.size)
        again = any(each.layer.kind in ("add", "concat") and each.layer.place == 0 for each in layers)
        return None if again else FIRST.get(layers[0].layer.kind)
    if architecture.hidden:
        return "fc0.weight"
    return "out.weight" if architecture.lstm is None else "lstm.weight_ih"


def trained_shapes(policy: Policy, layout: InputLayout) -> dict[str, Shape]:
    """Canonical names and shapes as they were trained: the first layer is as wide as the network's own row."""
    return shapes(policy, policy.observation.window * len(layout.columns_of(policy.observation.labels)))


def folded(
    policy: Policy, layout: InputLayout, weights: Weights, ends: OutputRange | None = None
) -> tuple[Policy, Weights]:
    """The same network over rlcc's rows, and with outputs in [-1, 1]. ``weights`` have the shapes that it was trained
    with; the policy has biases where a constant or an offset made one, and kind "layers" where a layer is put before
    the others."""
    if ends is not None:
        policy, weights = _unit_outputs(policy, ends, weights)
    first = _first_layer(policy)
    if layout.clip is not None or (first is None and not _is_own(policy, layout)):
        return _behind_inputs(policy, layout, weights)
    if first is None:
        return policy, weights
    weight = weights[first].astype(np.float64)
    scale, offset, constant = _own_row(policy, layout)
    shift = exact.product(weight, scale * (constant - offset))
    changed = weights | {first: (weight * scale)[:, sources(policy, layout)].astype(np.float32)}
    return (policy, changed) if not shift.any() else _with_bias(policy, changed, first, shift)


def _is_own(policy: Policy, layout: InputLayout) -> bool:
    """Whether the layout is rlcc's own row."""
    same = sources(policy, layout) == list(range(policy.observation.size))
    width = len(layout.columns_of(policy.observation.labels))
    plain = (np.asarray(layout.scale) == 1).all() and (np.asarray(layout.offset) == 0).all()
    return same and bool(plain) and width == len(policy.observation.labels)


def _unit_outputs(policy: Policy, ends: OutputRange, weights: Weights) -> tuple[Policy, Weights]:
    """Outputs that were cut off at ``ends``, spread so that those are -1 and 1."""
    low, high = ends.ends(policy.action.outputs)
    if policy.output_activation != "clip" or ((low == -1).all() and (high == 1).all()):
        return policy, weights
    factor, middle = 2.0 / (high - low), (low + high) / 2.0
    bias = weights.get("out.bias", np.zeros(len(low), dtype=np.float32)).astype(np.float64)
    weight = weights["out.weight"].astype(np.float64) * factor[:, None]
    shift = (bias - middle) * factor
    changed = weights | {"out.weight": weight.astype(np.float32)}
    if policy.architecture.bias:
        return policy, changed | {"out.bias": shift.astype(np.float32)}
    return (policy, changed) if not shift.any() else _with_bias(policy, changed, "out.weight", shift)


def _behind_inputs(policy: Policy, layout: InputLayout, weights: Weights) -> tuple[Policy, Weights]:
    """The network behind a layer that makes its own row of rlcc's, and a clip of it."""
    scale, offset, constant = _own_row(policy, layout)
    weight = np.zeros((len(scale), policy.observation.size))
    weight[sources(policy, layout), np.arange(policy.observation.size)] = scale[sources(policy, layout)]
    before = [NetworkLayer("linear", len(scale))]
    before += [] if layout.clip is None else [NetworkLayer("clip", layout.clip)]
    behind, names = _as_layers(policy)
    layers = [*before, *shifted(behind, len(before))]
    content = policy.architecture.model_dump(exclude={"hidden", "activation", "lstm", "layers"}, exclude_unset=False)
    content |= {"kind": "layers", "layers": [layer.text for layer in layers], "bias": True}
    policy = policy.model_copy(update={"architecture": Architecture.model_validate(content)})
    renamed = {}
    for name, array in weights.items():
        layer, part = name.split(".")
        renamed[f"layer{names[layer] + len(before)}.{part}" if layer in names else name] = array
    first = {"layer1.weight": weight, "layer1.bias": (constant - offset) * scale}
    zeros = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes(policy).items()}
    return policy, zeros | renamed | {name: array.astype(np.float32) for name, array in first.items()}


def _as_layers(policy: Policy) -> tuple[list[NetworkLayer], dict[str, int]]:
    """The network as layers of kind "layers", and the place of each that has weights by its name."""
    architecture = policy.architecture
    if architecture.layers:
        layers = list(architecture.sequence)
        return layers, {f"layer{number}": number for number in range(1, len(layers) + 1)}
    layers, names = [], {}
    for number, (units, activation) in enumerate(zip(architecture.hidden, architecture.activations, strict=True)):
        layers += [NetworkLayer("linear", units), NetworkLayer(activation)]
        names[f"fc{number}"] = len(layers) - 1
    if architecture.lstm is not None:
        layers.append(NetworkLayer("lstm", architecture.lstm))
        names["lstm"] = len(layers)
    return layers, names


def sources(policy: Policy, layout: InputLayout) -> list[int]:
    """Returns for each column of rlcc's row the network's column."""
    window, names = policy.observation.window, policy.observation.labels
    columns = layout.columns_of(names)
    age = [window - 1 - n for n in range(window)] if layout.order == "oldest_first" else list(range(window))
    return [age[n] * len(columns) + columns.index(name) for n in range(window) for name in names]


def _own_row(policy: Policy, layout: InputLayout) -> tuple[Floats, Floats, Floats]:
    """Scale, offset and constant of every column of the network's row."""
    window, columns = policy.observation.window, layout.columns_of(policy.observation.labels)
    scale, offset = (
        np.asarray(spread(values, len(columns), window), dtype=np.float64) for values in (layout.scale, layout.offset)
    )
    return scale, offset, np.tile([0.0 if isinstance(column, str) else column for column in columns], window)


def _with_bias(policy: Policy, weights: Weights, first: str, shift: NDArray[np.float64]) -> tuple[Policy, Weights]:
    """The shift as a bias; a network that had none has zeros elsewhere."""
    architecture = Architecture.model_validate(policy.architecture.model_dump() | {"bias": True})
    policy = policy.model_copy(update={"architecture": architecture})
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes(policy).items()} | weights
    bias = first.replace("weight", "bias")
    return policy, weights | {bias: (weights[bias] + shift).astype(np.float32)}
