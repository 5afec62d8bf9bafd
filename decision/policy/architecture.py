"""`[architecture]` of policy.toml: a teacher's layers and what follows them.

kind = "mlp"                # fully connected layers, then the output
hidden = [12]
kind = "lstm"               # hidden layers, one LSTM, then the output
lstm = 16
kind = "layers"             # any layers in order (decision/policy/layers.py), then the output
layers = ["linear 64", "layer_norm 1e-5", "silu", "gru 32", "concat 0"]
"""

from functools import cached_property
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from decision.artefact.strict import Strict
from decision.ir.activation import Hidden, Output
from decision.policy.layers import GATES, NetworkLayer, PlacedLayer, parse_layer, placed

Activations = Hidden | list[Hidden]


class Architecture(Strict):
    """Layer sizes, and what follows each layer. ``lstm`` is the number of LSTM units, given for kind "lstm" and for it
    alone; ``layers`` are of kind "layers". ``activation``: of all hidden layers, or of each; ``output``: of an output
    that an action map wants in [-1, 1]; ``output_clip``: where the output is cut off before tanh."""

    kind: Literal["mlp", "lstm", "layers"]
    hidden: list[int] = Field(default_factory=list, max_length=8)
    """Sizes of the hidden layers."""
    activation: Activations = Field(default="relu", exclude_if=lambda name: name == "relu")
    """Activation of all hidden layers, or a list with one per layer."""
    output: Output = Field(default="tanh", exclude_if=lambda name: name == "tanh")
    """Activation of an output that the action map takes in [-1, 1]."""
    output_clip: float | None = Field(default=None, gt=0, le=1e6, exclude_if=lambda limit: limit is None)
    """Limit of the output before tanh, on both sides."""
    lstm: int | None = Field(default=None, ge=1, le=256)
    """Number of LSTM units; for the kind "lstm" only."""
    layers: list[str] = Field(default_factory=list, max_length=64, exclude_if=lambda layers: not layers)
    """Layers in order; for the kind "layers" only."""
    bias: bool
    """Biases in the network."""

    @field_validator("activation")
    @classmethod
    def _said_once(cls, names: Activations, info: ValidationInfo) -> Activations:
        """Layers that are all alike have one name: the same network has one hash."""
        layers = info.data.get("hidden", [])
        if isinstance(names, list) and (len(names) != len(layers) or not names):
            raise ValueError(f"{len(names)} activations for {len(layers)} hidden layers; give one a layer, or one name")
        return names[0] if isinstance(names, list) and len(set(names)) == 1 else names

    @field_validator("layers")
    @classmethod
    def _written_once(cls, layers: list[str]) -> list[str]:
        """A layer has one text: the same network has one hash."""
        return [parse_layer(text).text for text in layers]

    @model_validator(mode="after")
    def _sizes(self) -> "Architecture":
        if (self.kind == "lstm") != (self.lstm is not None):
            raise ValueError('lstm = <units> belongs to kind = "lstm", and only there')
        if any(not 1 <= units <= 1024 for units in self.hidden):
            raise ValueError("a hidden layer has 1 to 1024 units")
        if (self.kind == "layers") != bool(self.layers):
            raise ValueError('layers = ["linear 64", ..] belongs to kind = "layers", and only there')
        if self.kind == "layers" and (self.hidden or "activation" in self.model_fields_set):
            raise ValueError('hidden and activation are of "mlp" and "lstm"; write them into layers, in their order')
        if self.kind != "layers" and "hidden" not in self.model_fields_set:
            raise ValueError("hidden is missing; give the sizes of the hidden layers, [] where there is none")
        if self.output_clip is not None and self.output != "tanh":
            raise ValueError(f'output_clip cuts off what goes into tanh, and output is "{self.output}"; leave it out')
        return self

    @property
    def activations(self) -> tuple[str, ...]:
        """Returns the activation behind each hidden layer."""
        return tuple(self.activation) if isinstance(self.activation, list) else (self.activation,) * len(self.hidden)

    @cached_property
    def sequence(self) -> tuple[NetworkLayer, ...]:
        """The layers of kind "layers"."""
        return tuple(parse_layer(text) for text in self.layers)

    def behind_hidden(self, inputs: int) -> list[PlacedLayer]:
        """The LSTM, or the layers of kind "layers", behind ``inputs`` numbers. ValueError where widths do not fit."""
        if self.lstm is not None:
            return [PlacedLayer("lstm", NetworkLayer("lstm", self.lstm), inputs, self.lstm)]
        return placed(self.sequence, inputs)

    @property
    def recurrent(self) -> bool:
        """Whether the network has a memory of earlier decisions."""
        return self.lstm is not None or any(layer.kind in GATES for layer in self.sequence)

    @property
    def teacher_only(self) -> str | None:
        """Returns a key with its value that no int8 network and no proof of the deviation supports; None: they support
        all."""
        if self.layers:
            return 'kind = "layers"'
        return None if self.output_clip is None else f"output_clip = {self.output_clip!r}"
