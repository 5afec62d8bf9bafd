"""Which tensor of a foreign file is which layer: by shape and order, whatever the keys' prefixes are.

PyTorch names a layer's tensors `<anything>.weight`, `<anything>.bias` and, for an LSTM, `<anything>.weight_ih_l0` and
so on; of an LSTM or GRU of several layers `_l1` is the second. A layer of the architecture takes the first layer of the
file that has its shapes and is not taken yet; layers of equal shape therefore keep the file's order. A reader that
knows the order in which layers are computed asks for that order.
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

_RECURRENT_PART = re.compile(r"^(weight_ih|weight_hh|bias_ih|bias_hh)(?:_l(\d+))?$")
_BESIDE = re.compile(
    r"^(log_std|logstd|actor_logstd|value_net|vf_net|lstm_critic|critics?(_target)?|qf\d+|\w+_target)$"
)
_LINEAR_PARTS = ("weight", "bias")
KNOWN = "layers are Linear, LayerNorm, LSTM and GRU"


def match_layers(shapes: Shapes, tensors: Named, where: str, *, computed: bool = False) -> dict[str, Array]:
    """Tensors in the file's order, renamed canonically. ``computed``: that is the order in which layers are computed,
    so each must be the next of the architecture. InputError where they do not make up the architecture."""
    offered = _grouped(((key, array) for key, array in tensors if not beside_the_policy(key)), where)
    weights: dict[str, Array] = {}
    for layer, expected in _layers(shapes).items():
        candidates = list(offered)[: 1 if computed else None]
        matching = next((prefix for prefix in candidates if _fits(offered[prefix], expected)), None)
        if matching is None:
            raise InputError(
                f"{where} has no layer for {layer} ({_told(expected)}) of the architecture in policy.toml; "
                f"{'what is left of it is ' + _all_told(offered) if offered else 'nothing is left of it'}"
            )
        parts = offered.pop(matching)
        for part, shape in expected.items():
            # PyTorch's LSTM(bias=False) and GRU(bias=False) have no such tensors; the canonical form always has them.
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
        recurrent = _RECURRENT_PART.match(last)
        if last not in _LINEAR_PARTS and recurrent is None:
            turned = re.match(r"^(weight|bias)_(ih|hh|hr)_l\d+(_reverse)?$", last)
            why = "recurrent layers have one direction and no projection" if turned else KNOWN
            raise InputError(f"{where}: {key!r} is no tensor of a supported layer ({why})")
        number = int(recurrent.group(2) or 0) if recurrent else 0
        layers.setdefault(f"{prefix}.l{number}" if number else prefix, {})[
            recurrent.group(1) if recurrent else last
        ] = array
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
