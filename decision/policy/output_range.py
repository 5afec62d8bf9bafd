"""The ends of the actions that a network was trained with: `[output]` of policy.toml (folding: teachers/folding.py).

low = -0.2       # a number, or a list of one an output; -1 of the action map stands for it
high = 0.2       # 1 of the action map stands for it

An output that is cut off (`output = "clip"` or `"none"`) is cut off at these ends. One that ends in tanh was spread
from [-1, 1] to them after the network, as Stable-Baselines3 does: nothing of the network changes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from decision.artefact.strict import Strict
from decision.policy.input_layout import Numbers


class OutputRange(Strict):
    """`[output]`; -1 and 1 where it is left out. ValueErrors name a key."""

    low: Numbers = -1.0
    """Lowest output of the network, or a list with one per output."""
    high: Numbers = 1.0
    """Highest output of the network, or a list with one per output."""

    @model_validator(mode="after")
    def _order(self) -> "OutputRange":
        lists = [ends for ends in (self.low, self.high) if isinstance(ends, list)]
        if len({len(ends) for ends in lists}) > 1:
            raise ValueError("output.low and output.high have different lengths; give one number an output")
        if not (np.asarray(self.low) < np.asarray(self.high)).all():
            raise ValueError(f"output.low is {self.low} and output.high {self.high}; low must be below high")
        return self

    def check(self, outputs: int) -> None:
        """ValueError where there are not as many ends as outputs."""
        for key, ends in (("low", self.low), ("high", self.high)):
            if isinstance(ends, list) and len(ends) != outputs:
                raise ValueError(f"output.{key} has {len(ends)} numbers; give one, or {outputs}: one an output")

    def ends(self, outputs: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Low and high ends [outputs]."""
        return np.full(outputs, self.low, dtype=np.float64), np.full(outputs, self.high, dtype=np.float64)
