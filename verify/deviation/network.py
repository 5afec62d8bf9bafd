"""A teacher's network as numbers that are sure: what it puts out at a point, and how far rounding can be from that.

An error bound covers the network of real numbers with these float32 weights, and its evaluation in float32 with sums in
any order ([HIGHAM] section 3.1): of an affine layer of n inputs

    |computed - exact| <= |W| e + gamma (|W| (|x| + e) + |b|),   gamma = (n + 2) u / (1 - (n + 2) u),  u = 2^-24

where e bounds the error of the inputs. A ReLU adds none. The rounding of float64 here is 2^-29 of that, and covered by
the 2 in n + 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.policy.actions import Multiplier, TanhMap
from decision.policy.policy import Observation, Policy

UNIT = 2.0**-24
"""Unit roundoff of float32."""
FEATURE = 1e-12
"""What a feature's float64 arithmetic can be off beside its rounding to float32: differences of numbers below 2^12."""
SQUASHED = 2.0**-20
"""What a float32 tanh can be off: 16 units of its last place."""
SEARCHED = "rlcc gate searches for the largest deviation instead"


@dataclass(frozen=True)
class RoundedLayer:
    """``weight`` [outputs, inputs], ``bias`` [outputs]."""

    weight: Floats
    bias: Floats

    def values(self, x: Floats, error: Floats) -> tuple[Floats, Floats]:
        """Outputs [N, outputs] and their errors."""
        n = self.weight.shape[1] + 2
        gamma, size = n * UNIT / (1 - n * UNIT), np.abs(self.weight)
        off: Floats = error @ size.T + gamma * ((np.abs(x) + error) @ size.T + np.abs(self.bias))
        return x @ self.weight.T + self.bias, off

    def interval(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Least and greatest outputs [N, outputs] over boxes."""
        middle, half = (low + high) / 2, (high - low) / 2
        centre, spread = middle @ self.weight.T + self.bias, half @ np.abs(self.weight).T
        return centre - spread, centre + spread


MAX_RISE = 1e30
"""Of an output with a feature: far above any that a float32 network with 32-bit features can use."""


@dataclass(frozen=True)
class Network:
    """A multilayer perceptron of one output, ReLU between its layers, that sets a multiplier which never falls as the
    output rises. ``observation`` is its own."""

    observation: Observation
    action: TanhMap | Multiplier
    layers: tuple[RoundedLayer, ...]

    @staticmethod
    def of(policy: Policy, weights: Mapping[str, NDArray[np.float32]]) -> "Network":
        """InputError where a teacher is none of these, with the reason."""
        named = f'no proof: the policy "{policy.name}"'
        if policy.architecture.lstm is not None:
            raise InputError(f"{named} is an LSTM, whose memory depends on its whole past; {SEARCHED}")
        if not isinstance(policy.action, TanhMap | Multiplier):
            raise InputError(
                f"{named} has the action map {policy.action.kind}, and the proof needs tanh_map or multiplier, "
                "which rise with one output"
            )
        if (extra := policy.architecture.teacher_only) is not None:
            raise InputError(f"{named} has {extra}, and the proof needs fully connected layers with ReLU; {SEARCHED}")
        other = next((name for name in policy.architecture.activations if name != "relu"), None)
        if other is not None:
            raise InputError(f"{named} has {other} after a hidden layer, and the proof needs ReLU there; {SEARCHED}")
        if (last := policy.output_activation) != "tanh":
            raise InputError(f"{named} has {last} after the last layer, and the proof needs tanh there; {SEARCHED}")
        layers = []
        for name in [*(f"fc{n}" for n in range(len(policy.architecture.hidden))), "out"]:
            weight = weights[f"{name}.weight"].astype(np.float64)
            bias = weights.get(f"{name}.bias")
            layers.append(RoundedLayer(weight, np.zeros(len(weight)) if bias is None else bias.astype(np.float64)))
        network = Network(policy.observation, policy.action, tuple(layers))
        if not (network.rise < MAX_RISE).all():
            raise InputError(f"{policy.name} has weights so large that its outputs overflow; train or export it again")
        return network

    @property
    def size(self) -> int:
        """Numbers that it looks at."""
        return self.observation.size

    @cached_property
    def rise(self) -> Floats:
        """Returns the largest change of the output [size] if a feature changes by 1."""
        rise = np.ones((1, 1))
        for layer in reversed(self.layers):
            rise = rise @ np.abs(layer.weight)
        return np.asarray(rise[0], dtype=np.float64)

    def outputs(self, features: Floats) -> tuple[Floats, Floats]:
        """Outputs [N] before tanh at features [N, size], and their errors."""
        x, error = features, 2 * UNIT * np.abs(features) + FEATURE
        for layer in self.layers[:-1]:
            x, error = layer.values(x, error)
            x = np.maximum(x, 0.0)
        x, error = self.layers[-1].values(x, error)
        return x[:, 0], error[:, 0]

    def rises(self, features: Floats) -> Floats:
        """How the output changes with each INTEGER around features [N, size]: only the sign is told."""
        x, active = features, []
        for layer in self.layers[:-1]:
            x = x @ layer.weight.T + layer.bias
            active.append(x > 0)
            x = np.maximum(x, 0.0)
        slope = np.repeat(self.layers[-1].weight, len(features), axis=0)
        for layer, on in zip(reversed(self.layers[:-1]), reversed(active), strict=True):
            slope = (slope * on) @ layer.weight
        zero, one = (self.features(np.full((1, self.size), x)) for x in (0.0, 1.0))
        return slope * np.sign(one - zero)

    def least(self, low: Floats, high: Floats, sign: Floats) -> Floats:
        """Returns a lower bound of ``sign`` [N] times the output over boxes of features [N, size], errors included.
        Each ReLU lies above a line through 0 and below the line through its ends. From the last layer to the first, the
        output therefore stays above a linear function, whose least value is at a corner ([CROWN] section 3)."""
        largest = np.maximum(np.abs(low), np.abs(high))
        error, bounds, size = 2 * UNIT * largest + FEATURE, [], largest
        least, most = low, high
        for layer in self.layers[:-1]:
            error = layer.values(size, error)[1]
            least, most = layer.interval(least, most)
            bounds.append((least, most))
            least, most = np.maximum(least, 0.0), np.maximum(most, 0.0)
            size = np.maximum(most, 0.0)
        error = self.layers[-1].values(size, error)[1][:, 0]
        slope = sign[:, None] * self.layers[-1].weight
        constant = sign * self.layers[-1].bias[0]
        for layer, (least, most) in zip(reversed(self.layers[:-1]), reversed(bounds), strict=True):
            chord = np.where(least >= 0, 1.0, np.where(most <= 0, 0.0, most / np.maximum(most - least, 1e-300)))
            shift = np.where((least < 0) & (most > 0), -chord * least, 0.0)
            steep = np.where(slope >= 0, np.where(most > -least, 1.0, 0.0), chord)
            constant = constant + np.where(slope < 0, slope * shift, 0.0).sum(axis=1)
            slope = slope * steep
            constant = constant + slope @ layer.bias
            slope = slope @ layer.weight
        reached = constant + np.where(slope >= 0, slope * low, slope * high).sum(axis=1)
        return np.asarray(reached - error, dtype=np.float64)

    def actions(self, outputs: Floats) -> tuple[Floats, Floats]:
        """Actions (multiplier - 1) [N] that outputs can come to: not below, not above."""
        x = np.tanh(outputs)
        low, high = (self._multiplier(np.clip(x + off, -1.0, 1.0)) for off in (-SQUASHED, SQUASHED))
        return low - 1.0, high - 1.0

    def signed(self, outputs: Floats, sign: float | Floats) -> tuple[Floats, Floats]:
        """``sign`` times the actions [N] where ``sign`` times the output is this: not below, not above."""
        low, high = self.actions(sign * outputs)
        return np.minimum(sign * low, sign * high), np.maximum(sign * low, sign * high)

    def _multiplier(self, squashed: Floats) -> Floats:
        return self.action.decided(squashed[:, None])[:, 0]

    def features(self, rows: Floats) -> Floats:
        """Returns the network's inputs [N, size] if the firmware computes ``rows`` [N, size]; each rises or falls with
        its own."""
        width = len(self.observation.features)
        seen = [self.observation.features[c % width].float_of(rows[:, c]) for c in range(self.size)]
        return np.stack(seen, axis=1)
