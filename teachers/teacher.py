"""A teacher: a checked policy.toml and weights under their canonical names.

    fc0.weight [h, in], fc0.bias [h], fc1.weight ..      fully connected layers, the policy's activation after each
    lstm.weight_ih [4H, in], lstm.weight_hh [4H, H]      LSTM only; gates in torch's order i, f, g, o
    lstm.bias_ih [4H], lstm.bias_hh [4H]                 zeros where the architecture has no bias
    out.weight [K, h], out.bias [K]                      then tanh or clip (nothing for a choice among actions)

Biases of fc and out exist only with ``bias = true``.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.policy.policy import Policy
from decision.policy.weights import Shape, shapes

Weights = dict[str, NDArray[np.float32]]

LSTM_BIASES = ("lstm.bias_ih", "lstm.bias_hh")


@dataclass(frozen=True)
class Teacher:
    """A policy with its weights. ``hash`` covers both, whatever file they came from."""

    policy: Policy
    weights: Weights
    hash: str


def make_teacher(policy: Policy, weights: Mapping[str, NDArray[np.generic]], where: str) -> Teacher:
    """A teacher of weights that already have canonical names; they are copied to float32 and checked."""
    checked = checked_weights(shapes(policy), weights, where)
    if not policy.architecture.bias and any(checked[name].any() for name in LSTM_BIASES if name in checked):
        raise InputError(f"{where}: the LSTM has biases, but policy.toml says bias = false")
    return Teacher(policy, checked, teacher_hash(policy, checked))


def checked_weights(expected: Mapping[str, Shape], weights: Mapping[str, NDArray[np.generic]], where: str) -> Weights:
    """float32 copies of the weights; InputError where they are not those of these names and shapes, or not finite."""
    for name in weights:
        if name not in expected:
            raise InputError(f"{where} has the weights {name}, which the architecture in policy.toml has not")
    checked: Weights = {}
    for name, shape in expected.items():
        if name not in weights:
            raise InputError(f"{where} lacks the weights {name} {list(shape)} of the architecture in policy.toml")
        array = np.asarray(weights[name])
        if array.dtype.kind != "f":
            raise InputError(f"{where}: {name} holds {array.dtype}, not floating-point weights")
        if array.shape != shape:
            raise InputError(
                f"{where}: {name} has the shape {list(array.shape)}, but policy.toml's architecture and "
                f"observation make it {list(shape)}"
            )
        with np.errstate(over="ignore"):
            checked[name] = np.array(array, dtype=np.float32, order="C")
        if not np.isfinite(checked[name]).all():
            raise InputError(f"{where}: {name} holds NaN or infinite weights; the training diverged, train it again")
        checked[name].flags.writeable = False
    return checked


def teacher_hash(policy: Policy, weights: Weights) -> str:
    """SHA-256 over the policy and the weights' names and bytes (little-endian float32)."""
    digest = hashlib.sha256(json.dumps(policy.model_dump(mode="json"), sort_keys=True).encode())
    for name in sorted(weights):
        digest.update(f"\n{name} {weights[name].shape}\n".encode())
        digest.update(weights[name].astype("<f4").tobytes())
    return digest.hexdigest()
