"""Adam (Kingma and Ba 2015), the same on every processor.

PyTorch's takes square roots by MKL, which begins with the processor's own approximation of 1 / sqrt(x) and does not end
in the nearest float: Intel's and AMD's differ. Here each operation is one of NumPy's on arrays of float32, by the
standard (IEEE 754) the nearest float, and the powers of beta are running products. PyTorch's also imports its compiler,
which takes longer than many a training's arithmetic.
"""

from collections.abc import Iterable
from math import sqrt
from typing import Any

import numpy as np

from decision.ir.arrays import Floats32
from teachers.curriculum import Kernels
from teachers.determinism import torch

BETAS = (0.9, 0.999)


class RoundedAdam:
    """The part of PyTorch's optimisers that trainings use. ``param_groups``: one, whose rate ``lr`` may be set between
    steps."""

    def __init__(self, parameters: Iterable["torch.nn.Parameter"], lr: float, eps: float) -> None:
        self.parameters = list(parameters)
        self.param_groups: list[dict[str, Any]] = [{"lr": lr, "eps": eps}]
        self.powers = [1.0, 1.0]  # of the betas, the number of steps so far
        self.mean, self.square = ([np.zeros(p.shape, np.float32) for p in self.parameters] for _ in range(2))

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        """Move every parameter; one without a gradient has a gradient of 0."""
        first, second = BETAS
        self.powers = [power * beta for power, beta in zip(self.powers, BETAS, strict=True)]
        rate = self.param_groups[0]["lr"] / (1 - self.powers[0])
        spread, eps = sqrt(1 - self.powers[1]), self.param_groups[0]["eps"]
        for parameter, mean, square in zip(self.parameters, self.mean, self.square, strict=True):
            gradient: Floats32 | float = 0.0 if parameter.grad is None else parameter.grad.numpy()
            mean *= first
            mean += gradient * (1 - first)
            square *= second
            square += gradient * gradient * (1 - second)
            weight = parameter.detach().numpy()
            weight -= mean / (np.sqrt(square) / spread + eps) * rate

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a checkpoint stores."""
        arrays = {"mean": self.mean, "square": self.square}
        tensors = {name: [torch.from_numpy(a.copy()) for a in each] for name, each in arrays.items()}
        return {"param_groups": [dict(group) for group in self.param_groups], "powers": list(self.powers), **tensors}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Back to a checkpoint. KeyError or ValueError where it is of another optimiser, or of other parameters."""
        shapes = [tuple(p.shape) for p in self.parameters]
        mean, square = ([t.numpy().copy() for t in state[name]] for name in ("mean", "square"))
        if any([a.shape for a in each] != shapes for each in (mean, square)):
            raise ValueError("the optimiser's state is of other parameters")
        self.param_groups = [dict(group) for group in state["param_groups"]]
        self.powers, self.mean, self.square = list(state["powers"]), mean, square


Optimizer = torch.optim.Optimizer | RoundedAdam


def adam(parameters: Iterable["torch.nn.Parameter"], kernels: Kernels, lr: float, eps: float = 1e-8) -> Optimizer:
    """Returns the optimiser of a training with these kernels: PyTorch's own, or, of "any" processor, the one that is
    the same on each."""
    return RoundedAdam(parameters, lr, eps) if kernels == "any" else torch.optim.Adam(parameters, lr=lr, eps=eps)
