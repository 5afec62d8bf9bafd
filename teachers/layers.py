"""Which tensor of a foreign file is which layer: by shape and order, whatever the keys' prefixes are.

PyTorch names a layer's tensors `<anything>.weight`, `<anything>.bias` and, for an LSTM, `<anything>.weight_ih_l0` and
so on. A layer of the architecture takes the first layer of the file that has its shapes and is not taken yet; layers of
equal shape therefore keep the file's order.
"""

import re
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.policy.weights import Shape
from teachers.teacher import LSTM_BIASES

Array = NDArray[np.generic]
Named = Iterable[tuple[str, Array]]
Shapes = Mapping[str, Shape]

_LSTM_PART = re.compile(r"^(weight_ih|weight_hh|bias_ih|bias_hh)(_l0)?$")
_BESIDE = re.compile(
    r"^(log_std|logstd|actor_logstd|value_net|vf_net|lstm_critic|critics?(_target)?|qf\d+|\w+_target)$"
)
_LINEAR_PARTS = ("weight", "bias")


def match_layers(shapes: Shapes, tensors: Named, where: str) -> dict[str, Array]:
    """Tensors in the file's order, renamed canonically. InputError where they do not make up the architecture."""
    offered = _grouped(((key, array) for key, array in tensors if not beside_the_policy(key)), where)
    weights: dict[str, Array] = {}
    for layer, expected in _layers(shapes).items():
        matching = next((prefix for prefix, parts in offered.items() if _fits(parts, expected)), None)
        if matching is None:
            raise InputError(
                f"{where} has no layer for {layer} ({_told(expected)}) of the architecture in policy.toml; "
                f"{'what is left of it is ' + _all_told(offered) if offered else 'nothing is left of it'}"
            )
        parts = offered.pop(matching)
        for part, shape in expected.items():
            # PyTorch's LSTM(bias=False) has no such tensors; the canonical form always has them.
            weights[f"{layer}.{part}"] = parts.get(part, np.zeros(shape, dtype=np.float32))
    if offered:
        raise InputError(f"{where} has layers that the architecture in policy.toml has not: {_all_told(offered)}")
    return weights


def beside_the_policy(key: str) -> bool:
    """A tensor of what training keeps beside the policy: critics, target networks, the spread of explored actions."""
    return any(_BESIDE.match(part) for part in key.split("."))


def natural_order(tensors: dict[str, Array]) -> list[tuple[str, Array]]:
    """Sorted by key with numbers as numbers, for files that do not keep the layers' order (safetensors)."""

    def key(name: str) -> list[tuple[int, int, str]]:
        pieces = re.split(r"(\d+)", name)
        return [(0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in pieces]

    return sorted(tensors.items(), key=lambda item: key(item[0]))


def _layers(shapes: Shapes) -> dict[str, dict[str, tuple[int, ...]]]:
    layers: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, shape in shapes.items():
        layer, part = name.split(".")
        layers.setdefault(layer, {})[part] = shape
    return layers


def _grouped(tensors: Named, where: str) -> dict[str, dict[str, Array]]:
    layers: dict[str, dict[str, Array]] = {}
    for key, array in tensors:
        prefix, _, last = key.rpartition(".")
        lstm = _LSTM_PART.match(last)
        if last not in _LINEAR_PARTS and lstm is None:
            stacked = re.match(r"^(weight|bias)_(ih|hh|hr)_l\d+(_reverse)?$", last)
            why = "an LSTM has one layer, one direction and no projection" if stacked else "layers are Linear and LSTM"
            raise InputError(f"{where}: {key!r} is no tensor of a supported layer ({why})")
        layers.setdefault(prefix, {})[lstm.group(1) if lstm else last] = array
    return layers


def _fits(parts: dict[str, Array], expected: dict[str, tuple[int, ...]]) -> bool:
    optional = {name.split(".")[1] for name in LSTM_BIASES} if "weight_ih" in expected else set()
    return (expected.keys() - optional) <= parts.keys() <= expected.keys() and all(
        array.shape == expected[part] for part, array in parts.items()
    )


def _told(parts: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{part} {list(shape)}" for part, shape in parts.items())


def _all_told(layers: dict[str, dict[str, Array]]) -> str:
    told = [f"{prefix or '-'} ({_told({p: a.shape for p, a in parts.items()})})" for prefix, parts in layers.items()]
    return "; ".join(told[:4]) + ("; .." if len(told) > 4 else "")
