"""Layers of a teacher's network in the order in which they are computed: ``layers`` of ``kind = "layers"``.

linear 64         W x + b
lstm 64           LSTM of 64 units; gates in PyTorch's order i, f, g, o
gru 64            GRU of 64 units; gates r, z, n; r multiplies the product V h + b, as PyTorch has it
layer_norm 1e-5   (x - mean) / sqrt(variance + 1e-5) w + b
clip 10           cut off at -10 and 10
silu              an activation by its name (decision/ir/activation.py)
add 2             plus the values of layer 2; layer 0 is the network's input
concat 0          followed by the values of layer 0

The output layer, ``out``, follows the last of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from decision.ir.activation import Hidden

Shape = tuple[int, ...]
GATES = {"lstm": 4, "gru": 3}
STATES = {"lstm": 2, "gru": 1}
"""Vectors that a recurrent layer keeps from one decision to the next."""
MAX_UNITS = {"linear": 1024, "lstm": 256, "gru": 256}
MAX_WIDTH = 4096
"""Values between two layers."""
ACTIVATIONS = get_args(Hidden)
FORMS = (
    "linear UNITS, lstm UNITS, gru UNITS, layer_norm EPSILON, clip LIMIT, add LAYER, concat LAYER or an activation "
    f"({', '.join(ACTIVATIONS)})"
)


@dataclass(frozen=True)
class NetworkLayer:
    """One layer. ``number``: units of linear, lstm and gru, epsilon of layer_norm, limit of clip, place of the layer
    that add and concat take, else 0."""

    kind: str
    number: float = 0.0

    @property
    def place(self) -> int:
        """The layer that add and concat take."""
        return int(self.number)

    @property
    def text(self) -> str:
        """The layer as policy.toml has it."""
        if self.kind in ACTIVATIONS:
            return self.kind
        whole = self.kind not in ("layer_norm", "clip")
        return f"{self.kind} {int(self.number) if whole else repr(float(self.number))}"


@dataclass(frozen=True)
class PlacedLayer:
    """A layer with the number of its ``inputs`` and ``outputs``; ``name`` begins the names of its weights."""

    name: str
    layer: NetworkLayer
    inputs: int
    outputs: int

    def shapes(self, bias: bool) -> dict[str, Shape]:
        """Canonical names and shapes of its weights; ``bias`` of linear layers."""
        kind, wide, narrow = self.layer.kind, self.inputs, self.outputs
        parts: dict[str, Shape] = {}
        if kind == "linear":
            parts = {"weight": (narrow, wide)} | ({"bias": (narrow,)} if bias else {})
        elif kind == "layer_norm":
            parts = {"weight": (wide,), "bias": (wide,)}
        elif kind in GATES:
            rows = GATES[kind] * narrow
            parts = {"weight_ih": (rows, wide), "weight_hh": (rows, narrow), "bias_ih": (rows,), "bias_hh": (rows,)}
        return {f"{self.name}.{part}": shape for part, shape in parts.items()}


def parse_layer(text: str) -> NetworkLayer:
    """The layer that a text of policy.toml means. ValueError where it means none."""
    kind, *rest = text.split()
    if kind in ACTIVATIONS and not rest:
        return NetworkLayer(kind)
    try:
        number = float(rest[0]) if len(rest) == 1 else float("nan")
    except ValueError:
        number = float("nan")
    if kind in (*MAX_UNITS, "add", "concat") and number.is_integer():
        least, most = (0, 64) if kind not in MAX_UNITS else (1, MAX_UNITS[kind])
        if not least <= number <= most:
            raise ValueError(f"the layer {text!r} has {int(number)}; {kind} takes {least} to {most}")
        return NetworkLayer(kind, number)
    if kind in ("layer_norm", "clip") and 0 < number < 1e9:
        return NetworkLayer(kind, number)
    raise ValueError(f"there is no layer {text!r}; write {FORMS}")


def placed(layers: Sequence[NetworkLayer], inputs: int) -> list[PlacedLayer]:
    """The layers behind a row of ``inputs`` numbers. ValueError where widths do not fit."""
    widths = [inputs]
    result = []
    for number, layer in enumerate(layers, start=1):
        wide = widths[-1]
        if layer.kind in ("add", "concat") and layer.place >= number - (layer.kind == "add"):
            raise ValueError(f"layer {number}, {layer.text!r}, takes a layer that is not before it; 0 is the input")
        narrow = wide
        if layer.kind in MAX_UNITS:
            narrow = int(layer.number)
        elif layer.kind == "concat":
            narrow = wide + widths[layer.place]
        elif layer.kind == "add" and widths[layer.place] != wide:
            raise ValueError(
                f"layer {number}, {layer.text!r}, adds {widths[layer.place]} values to {wide}; add layers of one width"
            )
        if narrow > MAX_WIDTH:
            raise ValueError(f"layer {number}, {layer.text!r}, gives {narrow} values; at most {MAX_WIDTH} are possible")
        result.append(PlacedLayer(f"layer{number}", layer, wide, narrow))
        widths.append(narrow)
    return result


def shifted(layers: Sequence[NetworkLayer], by: int) -> list[NetworkLayer]:
    """The same layers behind ``by`` others, whose last gives what was the network's input."""
    return [
        NetworkLayer(layer.kind, layer.number + by) if layer.kind in ("add", "concat") else layer for layer in layers
    ]
