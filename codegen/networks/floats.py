"""Values of a teacher on recorded decisions, layer by layer, in doubles: ranges to calibrate on, and its actions.

fc0, fc1, ..    after their activation [N, units]
hidden, cell    of the LSTM after each decision [N, units]
output          before tanh or clip [N]; of a choice what each row is worth [N, rows]
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.networks.recorded_decisions import Recorded
from decision.ir import exact
from decision.ir.activation import activated
from decision.ir.arrays import Floats
from decision.policy.actions import Choice, scale_of
from decision.policy.policy import Policy
from decision.policy.records import in_step

Rows = NDArray[np.int64]
Weights = Mapping[str, NDArray[np.floating]]


def activations(policy: Policy, weights: Weights, data: Recorded, rows: Floats | None = None) -> dict[str, Floats]:
    """Every layer's values on the recorded rows, or on ``rows`` in their place."""
    w = {name: np.asarray(array, dtype=np.float64) for name, array in weights.items()}
    x = data.rows if rows is None else rows
    layers: dict[str, Floats] = {}
    for index, name in enumerate(policy.architecture.activations):
        x = activated(name, exact.product(x, w[f"fc{index}.weight"].T) + w.get(f"fc{index}.bias", 0.0))
        layers[f"fc{index}"] = x
    if policy.architecture.lstm is not None:
        layers["hidden"], layers["cell"] = _lstm(w, x, data.starts)
        x = layers["hidden"]
    outputs = exact.product(x, w["out.weight"].T) + w.get("out.bias", 0.0)
    layers["output"] = outputs if isinstance(policy.action, Choice) else outputs[:, 0]
    return layers


def actions(policy: Policy, output: Floats) -> Floats:
    """Multipliers of the rate minus 1 [N], of outputs before tanh or clip."""
    return scale_of(policy.action, "an int8 network").multiplier(activated(policy.output_activation, output)) - 1.0


def _lstm(w: Mapping[str, Floats], x: Floats, starts: Rows) -> tuple[Floats, Floats]:
    units = w["lstm.weight_hh"].shape[1]
    inputs = exact.product(x, w["lstm.weight_ih"].T) + w["lstm.bias_ih"] + w["lstm.bias_hh"]
    hidden, cell = np.zeros((len(x), units)), np.zeros((len(x), units))
    for now, before in in_step(len(x), starts):
        z = inputs[now] + exact.product(hidden[before], w["lstm.weight_hh"].T) if len(before) else inputs[now]
        i, f, o = ((1.0 + exact.tanh(z[:, k * units : (k + 1) * units] / 2)) / 2 for k in (0, 1, 3))
        cell[now] = f * (cell[before] if len(before) else 0.0) + i * exact.tanh(z[:, 2 * units : 3 * units])
        hidden[now] = o * exact.tanh(cell[now])
    return hidden, cell
