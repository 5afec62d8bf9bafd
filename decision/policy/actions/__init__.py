"""Action maps: from a teacher's outputs to knobs, what a student learns of them, and the integers that firmware sets.

scale    the knob in force times a multiplier: tanh_map, multiplier, table
choice   the greatest of K sums chooses a row of a table of knobs
level    each knob a sum of its own: affine, clamped, ascending where the knobs must be

The firmware never computes tanh or a quotient: a student is trained on the value AFTER the map, so its leaves are
already steps of the multiplier, votes for a row, levels of a knob.
"""

from typing import Annotated

from pydantic import Field

from decision.policy.actions.action import Action, clamp
from decision.policy.actions.choice import Choice
from decision.policy.actions.level import Level
from decision.policy.actions.scale import Multiplier, Scale, Table, TanhMap, scale_of

__all__ = ["Action", "AnyAction", "Choice", "Level", "Multiplier", "Scale", "Table", "TanhMap", "clamp", "scale_of"]

AnyAction = Annotated[TanhMap | Multiplier | Table | Choice | Level, Field(discriminator="kind")]
