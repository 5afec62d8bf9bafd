"""A network that was trained over another layout of its input, as the same network over rlcc's own rows.

rlcc's row has the newest decision first and the features of `[observation]` in their order. What `[input]` says of the
network's own goes into the weights of the first layer as they are read, so nothing behind the reader knows of other
layouts. An order alone moves columns: no bit of a weight changes. A constant or an offset becomes a bias.
"""

import numpy as np
from numpy.typing import NDArray

from decision.ir import exact
from decision.policy.input_layout import InputLayout, Numbers
from decision.policy.policy import Architecture, Policy
from decision.policy.weights import Shape, shapes
from teachers.teacher import Weights


def _first_layer(policy: Policy) -> str:
    """Name of the weights that see the row."""
    if policy.architecture.hidden:
        return "fc0.weight"
    return "out.weight" if policy.architecture.lstm is None else "lstm.weight_ih"


def trained_shapes(policy: Policy, layout: InputLayout) -> dict[str, Shape]:
    """Canonical names and shapes as they were trained: the first layer is as wide as the network's own row."""
    named = shapes(policy)
    first = _first_layer(policy)
    width = policy.observation.window * len(layout.columns_of(policy.observation.labels))
    return named | {first: (named[first][0], width)}


def folded(policy: Policy, layout: InputLayout, weights: Weights) -> tuple[Policy, Weights]:
    """The same network over rlcc's rows. ``weights`` have the shapes that it was trained with; the policy has biases
    where a constant or an offset made one."""
    window, columns = policy.observation.window, layout.columns_of(policy.observation.labels)
    first = _first_layer(policy)
    weight = weights[first].astype(np.float64)
    scale, offset = (_spread(values, len(columns), window) for values in (layout.scale, layout.offset))
    constant = np.tile([0.0 if isinstance(column, str) else column for column in columns], window)
    shift = exact.product(weight, scale * (constant - offset))
    changed = weights | {first: (weight * scale)[:, sources(policy, layout)].astype(np.float32)}
    return (policy, changed) if not shift.any() else _with_bias(policy, changed, first, shift)


def sources(policy: Policy, layout: InputLayout) -> list[int]:
    """Of each column of rlcc's row, that of the network's."""
    window, names = policy.observation.window, policy.observation.labels
    columns = layout.columns_of(names)
    age = [window - 1 - n for n in range(window)] if layout.order == "oldest_first" else list(range(window))
    return [age[n] * len(columns) + columns.index(name) for n in range(window) for name in names]


def _spread(values: Numbers, columns: int, window: int) -> NDArray[np.float64]:
    """A number of every column of the network's row."""
    if not isinstance(values, list):
        return np.full(columns * window, values)
    return np.asarray(values if len(values) == columns * window else values * window, dtype=np.float64)


def _with_bias(policy: Policy, weights: Weights, first: str, shift: NDArray[np.float64]) -> tuple[Policy, Weights]:
    """The shift as a bias; a network that had none has zeros elsewhere."""
    architecture = Architecture.model_validate(policy.architecture.model_dump() | {"bias": True})
    policy = policy.model_copy(update={"architecture": architecture})
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes(policy).items()} | weights
    bias = "lstm.bias_ih" if first == "lstm.weight_ih" else first.replace("weight", "bias")
    return policy, weights | {bias: (weights[bias] + shift).astype(np.float32)}
