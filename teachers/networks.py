"""The PyTorch module of a policy's architecture, for training. The order of layers is spec'd in teachers/teacher.py."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.policy.policy import Policy
from decision.policy.trigger import OUTPUTS
from decision.policy.weights import TRIGGER
from teachers.determinism import torch
from teachers.teacher import Weights

with needed():
    from torch import nn

__all__ = ["PolicyNetwork", "State", "seeded", "torch"]

State = tuple[torch.Tensor, torch.Tensor]

_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.relu,
    "leaky_relu": nn.functional.leaky_relu,
    "elu": nn.functional.elu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "silu": nn.functional.silu,
    "gelu": nn.functional.gelu,
    "gelu_tanh": partial(nn.functional.gelu, approximate="tanh"),
}


class PolicyNetwork(nn.Module):
    """Fully connected layers, an LSTM where the policy has one, the output, tanh. ``trigger``: the network of the
    policy's trigger in place of its own. InputError for an output that is cut off: it has no gradient there."""

    def __init__(self, policy: Policy, trigger: bool = False) -> None:
        super().__init__()
        architecture = policy.architecture
        if policy.output_activation == "clip":
            raise InputError(
                f'{policy.name}: a policy is trained with architecture.output = "tanh", not "{architecture.output}"'
            )
        if (extra := architecture.teacher_only) is not None:
            raise InputError(f'{policy.name}: a policy is trained with kind = "mlp" or "lstm", without {extra}')
        self.prefix = TRIGGER if trigger else ""
        width = policy.observation.size + (policy.saved_size if trigger else 0)
        hidden, names, outputs = architecture.hidden, architecture.activations, policy.action.outputs
        if trigger:
            assert policy.trigger is not None
            hidden, outputs = policy.trigger.hidden, OUTPUTS
            names = ("relu",) * len(hidden)
        self.activations = [_ACTIVATIONS[name] for name in names]
        layers = []
        for units in hidden:
            layers.append(nn.Linear(width, units, bias=architecture.bias))
            width = units
        self.fc = nn.ModuleList(layers)
        self.lstm = None
        if architecture.lstm is not None:
            self.lstm = nn.LSTM(width, architecture.lstm, bias=architecture.bias)
            width = architecture.lstm
        self.out = nn.Linear(width, outputs, bias=architecture.bias)

    def forward(self, rows: torch.Tensor, state: State | None = None) -> torch.Tensor:
        """Outputs [T, B] of observations [T, B, features]; ``state`` is the LSTM's before the first row, else zero."""
        return torch.tanh(self.logits(rows, state))

    def logits(self, rows: torch.Tensor, state: State | None = None) -> torch.Tensor:
        """Outputs before tanh [T, B]."""
        for layer, activated in zip(self.fc, self.activations, strict=True):
            rows = activated(layer(rows))
        if self.lstm is not None:
            rows, _ = self.lstm(rows, state)
        return self.out(rows).squeeze(-1)  # type: ignore[no-any-return]

    def weights(self) -> Weights:
        """Copies of the weights under their canonical names."""
        named: Weights = {}
        for name, parameter in self.named_parameters():
            named[self.prefix + _canonical(name)] = parameter.detach().numpy().astype(np.float32, copy=True)
        if self.lstm is not None and not self.lstm.bias:
            zeros = np.zeros(4 * self.lstm.hidden_size, dtype=np.float32)
            named |= {"lstm.bias_ih": zeros, "lstm.bias_hh": zeros.copy()}
        return named

    def take(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take over weights with canonical names."""
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(torch.from_numpy(np.array(weights[self.prefix + _canonical(name)])))


def seeded(policy: Policy, seed: int, trigger: bool = False) -> PolicyNetwork:
    """A network with PyTorch's usual initial weights, reproducibly; the output layer is small, so that the first
    actions are near 1 (CleanRL's actors do the same with a gain of 0.01)."""
    generator: Any = torch.random.fork_rng(devices=[])
    with generator:
        torch.manual_seed(seed)
        network = PolicyNetwork(policy, trigger)
    with torch.no_grad():
        network.out.weight.mul_(0.1)
    return network


def _canonical(name: str) -> str:
    return name.replace("fc.", "fc", 1).removesuffix("_l0")
