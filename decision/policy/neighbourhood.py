"""Neighbourhood of a state: signals within a share of their integers, past actions within a step.

A teacher is not judged in the very state where a student acts, but in this box around it: where it is steep, an honest
step of a tree is far off it beside the step and yet right a little further on.
"""

from dataclasses import dataclass

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.ir.formats import ACTION_BITS
from decision.policy.features import PreviousAction
from decision.policy.policy import Observation


@dataclass(frozen=True)
class Around:
    """``share``: of every signal, relative, of its integer; ``action``: of every past action, a multiplier."""

    share: float
    action: float

    def __post_init__(self) -> None:
        if not (0 <= self.share < 1 and 0 <= self.action <= 4):
            raise InputError(
                f"around a state are signals within {self.share:g} and actions within {self.action:g}; "
                "give a share of at least 0 and below 1, and an action of 0 to 4"
            )

    def box(self, observation: Observation, rows: Floats) -> tuple[Floats, Floats]:
        """Low and high ends [N, window * features] around states of integers: past actions ± ``action``; an exact
        feature as it is, or a bit that is clear would have one that is set around it; what else is observed ± ``share``
        of its integer, which stands for anything up to the next one. Both rise with the state."""
        width = len(observation.features)
        low, high = np.empty_like(rows), np.empty_like(rows)
        for column in range(rows.shape[1]):
            x = rows[:, column]
            feature = observation.features[column % width]
            if feature.exact:
                low[:, column], high[:, column] = x, x
            elif isinstance(feature, PreviousAction):
                step = self.action * 2**ACTION_BITS
                low[:, column], high[:, column] = x - step, x + step
            else:
                low[:, column] = x - np.abs(x) * self.share
                high[:, column] = x + 1.0 + np.abs(x + 1.0) * self.share
        return low, high
