"""Policies and PyTorch networks as other projects would bring them: their own names, their own order of layers."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from spec.policy import Policy

torch = pytest.importorskip("torch")

PolicyMaker = Callable[..., Policy]


@pytest.fixture
def make_policy() -> PolicyMaker:
    """A valid policy with the given architecture."""

    def make(*, hidden: list[int], lstm: int | None = None, bias: bool = False, window: int | None = None) -> Policy:
        architecture: dict[str, Any] = {"kind": "mlp" if lstm is None else "lstm", "hidden": hidden, "bias": bias}
        if lstm is not None:
            architecture["lstm"] = lstm
        content = {
            "format": 1,
            "name": "under-test",
            "architecture": architecture,
            "observation": {
                "window": window or (2 if lstm is None else 1),
                "base_rtt": "8192 ns",
                "line_rate": "100 Gb/s",
                "rtt_max": "4 ms",
                "features": [
                    {"kind": "previous_action"},
                    {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
                ],
            },
            "action": {"kind": "tanh_map", "step": 0.2},
            "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
        }
        return Policy.model_validate(content)

    return make


class ForeignMlp(torch.nn.Module):
    """Layers in an nn.Sequential: keys actor.0.weight, actor.2.weight .."""

    def __init__(self, sizes: list[int], bias: bool) -> None:
        super().__init__()
        layers: list[Any] = []
        for wide, narrow in pairwise(sizes):
            layers += [torch.nn.Linear(wide, narrow, bias=bias), torch.nn.ReLU()]
        self.actor = torch.nn.Sequential(*layers[:-1], torch.nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.actor(x)


class ForeignLstm(torch.nn.Module):
    """The output layer is defined BEFORE the others, so that order alone cannot tell the layers apart."""

    def __init__(self, hidden: list[int], units: int, bias: bool) -> None:
        super().__init__()
        self.head = torch.nn.Linear(units, 1, bias=bias)
        sizes = [2, *hidden]
        self.body = torch.nn.ModuleList(torch.nn.Linear(wide, narrow, bias=bias) for wide, narrow in pairwise(sizes))
        self.memory = torch.nn.LSTM(sizes[-1], units, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.body:
            x = torch.relu(layer(x))
        x, _ = self.memory(x)
        return torch.tanh(self.head(x))


@pytest.fixture
def foreign_mlp() -> Callable[..., Any]:
    torch.manual_seed(1)
    return ForeignMlp


@pytest.fixture
def foreign_lstm() -> Callable[..., Any]:
    torch.manual_seed(2)
    return ForeignLstm
