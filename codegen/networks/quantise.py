"""Post-training quantisation: from a teacher's weights and recorded decisions to the integer network.

Weights are int8, symmetric, a scale a row ([INT8]). Inputs are int16 with nearly one step for all of them, so
that one row of int8 weights serves them. The congestion feature spans three orders of magnitude, and its last bits
around 0 keep the rate where it should be. It saturates where the teacher's action no longer changes.
Values between layers are int16 or, when asked, int8; the LSTM's hidden values are int8 in the context, its cells int16.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import frexp

import numpy as np
from numpy.typing import NDArray

from codegen.networks.accuracy import errors
from codegen.networks.floats import actions, activations
from codegen.networks.recorded_decisions import Recorded
from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.activation import activated
from decision.ir.arrays import Floats
from decision.ir.formats import ACTION_BITS
from decision.ir.interfaces.flow_rate import INFLATION_BITS, RATE_FRACTION_BITS
from decision.ir.network import ACTION_ENTRIES, GATE_BITS, Int8Network, Layer, Lstm, Matrix
from decision.policy.actions import Choice, Scale, Table, scale_of
from decision.policy.features import AnyFeature, PccRlCongestion, RlCcCongestion
from decision.policy.network_decision import MAX_SHIFT, ROOT_BITS, Input, wants_root
from decision.policy.policy import Policy

SATURATION_ERROR = 1e-4
"""Root mean square of the action that an input's saturation may cost."""
INT8_QUANTILES = (1.0, 0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
CELL_MARGIN = 1.5
"""Cells may grow so much beyond what was recorded before they saturate."""
FRACTION_BITS = {
    "previous_action": ACTION_BITS,
    "rtt_inflation": INFLATION_BITS,
    "queue_inflation": INFLATION_BITS,
    "rate": RATE_FRACTION_BITS,
    "cnp_ratio": 8,
    "nack_ratio": 8,
}


@dataclass(frozen=True)
class Bits:
    """``activations``: of values between layers, 8 or 16; ``hidden``: of the LSTM's hidden values, 8 or 16."""

    activations: int = 16
    hidden: int = 8

    def __post_init__(self) -> None:
        if self.activations not in (8, 16) or self.hidden not in (8, 16):
            raise InputError("values of a network have 8 or 16 bits")


def check(policy: Policy) -> None:
    """InputError where its network is not emitted."""
    chooses = isinstance(policy.action, Choice)
    if not chooses and not isinstance(policy.action, Scale):
        raise InputError(
            f"an int8 network multiplies the rate or chooses rows, and {policy.name} has the action "
            f"{policy.action.kind}; distil it into trees"
        )
    if isinstance(policy.action, Table):
        raise InputError("a policy with a table of actions is not emitted as a network; distil it into trees")
    if chooses and policy.architecture.lstm is not None:
        raise InputError("an LSTM that chooses rows is not emitted as a network; distil it into trees")
    if policy.trigger is not None:
        raise InputError("a policy with a trigger is two networks, and not emitted as one; distil it into trees")
    if (extra := policy.architecture.teacher_only) is not None:
        raise InputError(f"an int8 network has no {extra}, as {policy.name} has; distil it into trees")
    other = next((name for name in policy.architecture.activations if name != "relu"), None)
    if other is not None:
        raise InputError(
            f"an int8 network has ReLU between its layers, and {policy.name} has {other}; distil it into trees"
        )


def quantise(
    policy: Policy, weights: Mapping[str, NDArray[np.floating]], data: Recorded, bits: Bits
) -> tuple[tuple[Input, ...], Int8Network]:
    """The inputs' formats and the integer network of a policy that ``check`` lets pass."""
    w = {name: np.asarray(array, dtype=np.float64) for name, array in weights.items()}
    inputs = _inputs(policy, w, data)
    values = activations(policy, w, data)
    if bits.activations == 16:
        return inputs, _network(policy, w, inputs, values, bits, 1.0)
    # int8 has no room for the greatest value on record: what is cut off is weighed against what is rounded.
    tried = [_network(policy, w, inputs, values, bits, quantile) for quantile in INT8_QUANTILES]
    off = [float(np.mean(errors(policy, w, inputs, network, data) ** 2)) for network in tried]
    return inputs, tried[int(np.argmin(off))]


def _network(
    policy: Policy,
    w: Mapping[str, Floats],
    inputs: tuple[Input, ...],
    values: Mapping[str, Floats],
    bits: Bits,
    q: float,
) -> Int8Network:
    """``q``: the quantile of a layer's values that the greatest integer stands for."""
    features, window = policy.observation.features, policy.observation.window
    step = np.tile([_unit(f, scaling.shift) for f, scaling in zip(features, inputs, strict=True)], window)
    offset = np.tile([f.initial for f in features], window)
    layers = []
    for index in range(len(policy.architecture.hidden)):
        high = 2 ** (bits.activations - 1) - 1
        top = _top(values[f"fc{index}"], q) / high
        weight = w[f"fc{index}.weight"]
        bias = w.get(f"fc{index}.bias", 0.0) + exact.product(weight, offset)
        layers.append(Layer(_matrix(weight, bias, step, top), high))
        step, offset = np.full(len(weight), top), np.zeros(len(weight))
    lstm = None
    if policy.architecture.lstm is not None:
        lstm = _lstm(w, values["cell"], step, offset, bits)
        step, offset = np.full(lstm.units, 2.0**-lstm.hidden_bits), np.zeros(lstm.units)
    weight = w["out.weight"]
    if isinstance(policy.action, Choice):
        output = _choosing(policy.action, weight, w.get("out.bias", 0.0) + exact.product(weight, offset), step)
        return Int8Network(len(features) * window, tuple(layers), None, output, groups=policy.action.sizes)
    output = _matrix(weight, w.get("out.bias", 0.0) + exact.product(weight, offset), step, 2.0**-GATE_BITS)
    action = action_table(scale_of(policy.action, "an int8 network"), policy.output_activation)
    return Int8Network(len(features) * window, tuple(layers), lstm, output, action)


def _choosing(action: Choice, weight: Floats, bias: Floats, step: Floats) -> Matrix:
    """The outputs of a choice, in one unit for all rows, so that they compare: the coarsest that a weight of theirs
    needs. A value common to all rows of a group decides nothing and takes no bits: each row counts relative to their
    mean."""
    apart = [part - part.mean(axis=1, keepdims=True) for part in action.split(weight.T)]
    weight = np.concatenate(apart, axis=1).T
    bias = np.concatenate([part - part.mean() for part in action.split(np.atleast_2d(bias))], axis=1)[0]
    top = 2 * max(float(np.abs(weight * step).max()) / 127, float(np.abs(bias).max()) / 2**24, 2.0**-64)
    return _matrix(weight, bias, step, top)


def action_table(action: Scale, output: str) -> tuple[int, ...]:
    """The action in Q16 at every 1/16 of the output before tanh or clip, from -8 to 8."""
    z = (np.arange(ACTION_ENTRIES) - ACTION_ENTRIES // 2) / 16
    q16 = np.rint((action.multiplier(activated(output, z)) - 1) * 2**ACTION_BITS).astype(np.int64)
    return tuple(int(v) for v in np.clip(q16, *action.limits_q16()))


def _matrix(weight: Floats, bias: Floats, step: Floats, top: float, *, halves: float = 0.5) -> Matrix:
    """int8 weights for inputs of ``step`` a column and results of ``top`` a unit; ``halves``: what of a unit the bias
    takes over so that floors round."""
    scaled = weight * step
    bias = np.broadcast_to(bias, (len(weight),))
    # A row of zeros still has its bias, and the half step: in steps that keep them within 24 bits.
    unit = np.maximum(np.abs(scaled).max(axis=1) / 127, np.maximum(np.abs(bias), top) / 2**24)
    ratio = unit / top
    lift = max(0, frexp(2 * float(ratio.max()) * (1 + 1e-9))[1])
    scale = 2 * np.rint(ratio * 2.0 ** (31 - lift)).astype(np.int64)
    return Matrix(
        tuple(tuple(int(v) for v in row) for row in np.rint(scaled / unit[:, None])),
        tuple(int(v) for v in np.rint(bias / unit + halves / ratio)),
        tuple(int(v) for v in scale),
        lift,
    )


def _lstm(w: Mapping[str, Floats], cells: Floats, step: Floats, offset: Floats, bits: Bits) -> Lstm:
    units = w["lstm.weight_hh"].shape[1]
    # sigmoid(z) = (1 + tanh(z / 2)) / 2: gates i, f and o are computed at half their value.
    half = np.repeat([0.5, 0.5, 1.0, 0.5], units)
    weight, recurrent = w["lstm.weight_ih"] * half[:, None], w["lstm.weight_hh"] * half[:, None]
    bias = (w["lstm.bias_ih"] + w["lstm.bias_hh"]) * half + exact.product(weight, offset)
    hidden_bits = bits.hidden - 1
    most = float(np.abs(cells).max(initial=0.0)) * CELL_MARGIN
    cell_bits = next((b for b in range(GATE_BITS, 0, -1) if most < 2 ** (15 - b)), 1)
    top = 2.0**-GATE_BITS
    return Lstm(
        _matrix(weight, bias, step, top, halves=1.0),  # its own half step and that of the recurrent product
        _matrix(recurrent, np.zeros(4 * units), np.full(units, 2.0**-hidden_bits), top, halves=0.0),
        cell_bits,
        hidden_bits,
    )


def _top(values: Floats, q: float) -> float:
    positive = values[values > 0]
    return float(np.quantile(positive, q)) if positive.size else 1.0


def _inputs(policy: Policy, w: Mapping[str, Floats], data: Recorded) -> tuple[Input, ...]:
    """Formats with nearly one step: the finest that all features can have."""
    features = policy.observation.features
    finest = [_finest(policy, w, data, number) for number in range(len(features))]
    common = max(abs(_unit(f, shift)) for f, shift in zip(features, finest, strict=True))
    inputs = []
    for feature, least in zip(features, finest, strict=True):
        doublings = float(exact.log(common / abs(_unit(feature, 0))) / exact.log(2.0))
        shift = round(doublings * (2 if wants_root(feature) else 1))
        inputs.append(Input(wants_root(feature), min(max(shift, least), MAX_SHIFT)))
    return tuple(inputs)


def _unit(feature: AnyFeature, shift: int) -> float:
    """Returns what one unit of the int16 adds to the teacher's input."""
    if isinstance(feature, RlCcCongestion | PccRlCongestion):
        return float(-feature.factor * 2.0 ** ((shift - feature.fraction_bits) / 2))
    known = FRACTION_BITS.get(feature.kind)
    return float(feature.format[1] * 2.0**shift if known is None else 2.0 ** (shift - known))


def _finest(policy: Policy, w: Mapping[str, Floats], data: Recorded, number: int) -> int:
    """The least shift whose saturation the teacher's actions do not feel."""
    features = policy.observation.features
    feature = features[number]
    columns = [number + lag * len(features) for lag in range(policy.observation.window)]
    apart = np.abs(data.rows[:, columns] - feature.initial)
    plain = None
    for shift in range(-10 if wants_root(feature) else -6, MAX_SHIFT):
        reach = abs(_unit(feature, shift)) * (2**ROOT_BITS - 1)
        if reach >= apart.max():
            return shift
        if not wants_root(feature):
            continue
        if plain is None:
            plain = actions(policy, activations(policy, w, data)["output"])
        rows = data.rows.copy()
        rows[:, columns] = feature.initial + np.clip(rows[:, columns] - feature.initial, -reach, reach)
        change = actions(policy, activations(policy, w, data, rows)["output"]) - plain
        if float(np.sqrt(np.mean(change**2))) <= SATURATION_ERROR:
            return shift
    return MAX_SHIFT
