"""Action maps: from a teacher's output to the multiplier of the rate, and what the student learns of it.

The firmware never computes tanh or a quotient: the student is trained on the value AFTER the map, so its leaves are
already steps of the multiplier (or of the table's index).
"""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from decision.program import Op, ProgramBuilder
from decision.signals import ACTION_BITS

Floats = NDArray[np.float64]
ONE = 1 << ACTION_BITS


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @property
    def outputs(self) -> int:
        """How many numbers the network puts out."""
        return 1

    @property
    def leaf_bits(self) -> int:
        """Fraction bits of the student's value."""
        return ACTION_BITS

    def limits_q16(self) -> tuple[int, int]:
        """Least and greatest action (multiplier - 1, Q16)."""
        raise NotImplementedError

    @property
    def storage(self) -> str:
        """The narrower type of the flow context that holds every action of this map."""
        low, high = self.limits_q16()
        return "int16" if low >= -(2**15) and high < 2**15 else "int32"

    def multiplier(self, output: Floats) -> Floats:
        """Network outputs [N] after tanh ([N, K] logits for a table) to multipliers [N]."""
        raise NotImplementedError

    def label(self, multiplier: Floats) -> Floats:
        """What a student regresses for teacher's multipliers [N]; its value has ``leaf_bits`` fraction bits."""
        return multiplier - 1.0

    def integer(self, b: ProgramBuilder, trees: int) -> int:
        """From the ensemble's value to the action in Q16."""
        low, high = self.limits_q16()
        return clamp(b, trees, low, high, "decided_q16", "multiplier of the rate - 1")


class TanhMap(_Action):
    """x < 0: 1 / (1 - step x); otherwise 1 + step x (RL-CC's published code, step 0.2)."""

    kind: Literal["tanh_map"]
    step: float = Field(gt=0, lt=0.5)

    def limits_q16(self) -> tuple[int, int]:
        return round((1 / (1 + self.step) - 1) * ONE), round(self.step * ONE)

    def multiplier(self, output: Floats) -> Floats:
        down = 1.0 / (1.0 - self.step * np.minimum(output, 0.0))
        return np.asarray(np.where(output < 0, down, 1.0 + self.step * output), dtype=np.float64)


class Multiplier(_Action):
    """The output in [-1, 1] spans the multipliers [low, high] linearly (PCC-RL: the action is the multiplier)."""

    kind: Literal["multiplier"]
    low: float = Field(gt=0, lt=1)
    high: float = Field(gt=1, lt=4)

    def limits_q16(self) -> tuple[int, int]:
        return round((self.low - 1) * ONE), round((self.high - 1) * ONE)

    def multiplier(self, output: Floats) -> Floats:
        return np.asarray(self.low + (self.high - self.low) * (np.clip(output, -1.0, 1.0) + 1.0) / 2.0)


class Table(_Action):
    """One of a few multipliers, ascending; the network has one logit an entry and the greatest wins (first on a tie).
    The student regresses the index, which is rounded to the nearest and clamped."""

    kind: Literal["table"]
    multipliers: list[float] = Field(min_length=2, max_length=256)

    @model_validator(mode="after")
    def _ascending(self) -> "Table":
        if any(a >= b for a, b in zip(self.multipliers, self.multipliers[1:], strict=False)):
            raise ValueError("the multipliers must ascend")
        if self.multipliers[0] <= 0 or self.multipliers[-1] >= 4:
            raise ValueError("the multipliers must lie between 0 and 4")
        return self

    @property
    def outputs(self) -> int:
        return len(self.multipliers)

    @property
    def leaf_bits(self) -> int:
        return 10

    def limits_q16(self) -> tuple[int, int]:
        return round((self.multipliers[0] - 1) * ONE), round((self.multipliers[-1] - 1) * ONE)

    def multiplier(self, output: Floats) -> Floats:
        entries: Floats = np.asarray(self.multipliers, dtype=np.float64)
        return np.asarray(entries[np.argmax(output, axis=1)], dtype=np.float64)

    def label(self, multiplier: Floats) -> Floats:
        entries = np.asarray(self.multipliers)
        nearest = np.abs(multiplier[:, None] - entries[None, :]).argmin(axis=1)
        return np.asarray(nearest, dtype=np.float64)

    def integer(self, b: ProgramBuilder, trees: int) -> int:
        half = b.const(1 << (self.leaf_bits - 1))
        top = ((len(self.multipliers) - 1) << self.leaf_bits) + (1 << self.leaf_bits) - 1
        raised = clamp(b, b.add(Op.ADD, (trees, half)), 0, top, "index_q10", "")
        index = b.add(Op.SHR, (raised,), self.leaf_bits, "index", "entry of the action table")
        b.tables.append(tuple(round((m - 1) * ONE) for m in self.multipliers))
        return b.add(Op.TABLE, (index,), len(b.tables) - 1, "decided_q16", "multiplier of the rate - 1")


AnyAction = Annotated[TanhMap | Multiplier | Table, Field(discriminator="kind")]


def clamp(b: ProgramBuilder, node: int, low: int, high: int, name: str, note: str) -> int:
    """low <= node <= high; a side that the node's range already keeps costs nothing."""
    if b.nodes[node].low < low:
        node = b.add(Op.MAX, (node, b.const(low)), name=name, note=note)
    if b.nodes[node].high > high:
        node = b.add(Op.MIN, (node, b.const(high)), name=name, note=note)
    return node
