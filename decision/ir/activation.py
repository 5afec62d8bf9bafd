"""Activations behind a network's layers, by name: the firmware computes none of them, and a teacher may have been
trained with them.

relu            max(x, 0)
leaky_relu      x where x > 0, else 0.01 x        (PyTorch's default slope)
elu             x where x > 0, else e^x - 1       (alpha 1)
tanh, sigmoid   1 / (1 + e^-x)
silu            x sigmoid(x)                      (swish)
gelu            x (1 + erf(x / sqrt 2)) / 2       (PyTorch's default)
gelu_tanh       the same with erf by tanh         (PyTorch's approximate="tanh", JAX's default)
clip            -1 to 1: an output that a training framework cut off where its actions end, in place of tanh
identity        x

netsim/core/activation.hpp has the same in float32.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from decision.ir import exact

Hidden = Literal["relu", "leaky_relu", "elu", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh"]
"""After a hidden layer."""
Output = Literal["tanh", "clip", "none"]
"""After an output that an action map wants in [-1, 1]; "none": nothing in the file, the action map cuts it off."""
LEAK = 0.01
ROOT_HALF = 0.7071067811865476
GELU_SCALE, GELU_CUBE = 0.7978845608028654, 0.044715
"""sqrt(2 / pi), and the factor of x^3 in GELU's approximation ([GELU] section 2)."""

Floats = NDArray[Any]


def activated(name: str, x: Floats) -> Floats:
    """``x`` after the activation of this name, in its own precision. KeyError where there is none."""
    return _FUNCTIONS[name](x).astype(x.dtype, copy=False)


def _sigmoid(x: Floats) -> Floats:
    values: Floats = (1 + exact.tanh(x / 2)) / 2  # which cannot overflow
    return values


_FUNCTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, x.dtype.type(LEAK) * x),
    "elu": lambda x: np.where(x > 0, x, exact.expm1(np.minimum(x, 0))),
    "tanh": exact.tanh,
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: x * ((1 + exact.erf(x * ROOT_HALF)) / 2),
    "gelu_tanh": lambda x: x * ((1 + exact.tanh(GELU_SCALE * (x + GELU_CUBE * (x * x * x)))) / 2),
    "clip": lambda x: np.clip(x, -1, 1),
    "identity": lambda x: x,
}
