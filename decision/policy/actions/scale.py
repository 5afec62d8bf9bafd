"""scale: the knob in force times a multiplier that one output decides (RL-CC, PCC-RL: the rate).

    tanh_map     1 / (1 - down x) for x < 0, else 1 + step x       RL-CC's published code, where down is step
    multiplier   low + (high - low) (x + 1) / 2                    PCC-RL
    table        one of a few multipliers, the greatest logit's

The decision is the multiplier; in integers it is ``multiplier - 1`` with 16 fraction bits.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from decision.artefact.errors import InputError
from decision.ir.argmax import argmax
from decision.ir.arrays import Floats
from decision.ir.formats import ACTION_BITS
from decision.ir.interface import Interface
from decision.ir.program import Op, ProgramBuilder
from decision.ir.tape import FloatOp, Names, Tape, TapeBuilder
from decision.policy.actions.action import Action, clamp, spanned

ONE = 1 << ACTION_BITS


class Scale(Action):
    """Base of the three."""

    @property
    def sums(self) -> int:
        return 1

    @property
    def leaf_bits(self) -> int:
        return ACTION_BITS

    def limits_q16(self) -> tuple[int, int]:
        """Least and greatest action (multiplier - 1, Q16)."""
        raise NotImplementedError

    @property
    def storage(self) -> str:
        """The narrower type of the context that holds every action of this map."""
        low, high = self.limits_q16()
        return "int16" if low >= -(2**15) and high < 2**15 else "int32"

    def check(self, interface: Interface) -> None:
        if not interface.context:
            raise ValueError(
                f"{self.kind} multiplies one knob in force, and agents of {interface.name} keep none: "
                "give a choice or a level"
            )

    @property
    def values(self) -> tuple[str, ...]:
        return ("action",)

    def multiplier(self, output: Floats) -> Floats:
        """Network outputs [N] after tanh ([N, K] logits for a table) to multipliers [N]."""
        return self.decided(output if self.outputs > 1 else output[:, None])[:, 0]

    def wholes(self, t: TapeBuilder, decided: Sequence[int]) -> tuple[int, ...]:
        less = t.step(FloatOp.SUB, decided[0], t.const(1.0))
        return (t.step(FloatOp.ROUND, t.step(FloatOp.MUL, less, t.const(float(ONE)))),)

    def knob_tape(self, limits: tuple[int, int] | None) -> Tape:
        """The knob in force times the multiplier, rounded and clamped; the part behind the point is to be dropped."""
        assert limits is not None
        t = TapeBuilder(Names(decided=self.values))
        share = t.step(FloatOp.MUL, t.decided("action"), t.const(1.0 / ONE))
        product = t.step(FloatOp.MUL, t.step(FloatOp.IN_FORCE), t.step(FloatOp.ADD, t.const(1.0), share))
        raised = t.step(FloatOp.MAX, t.step(FloatOp.ADD, product, t.const(0.5)), t.const(float(limits[0])))
        return t.finish(t.step(FloatOp.MIN, raised, t.const(float(limits[1]))))

    def label(self, decided: Floats) -> Floats:
        return decided - 1.0

    def integer(self, b: ProgramBuilder, sums: Sequence[int]) -> tuple[int, ...]:
        low, high = self.limits_q16()
        return (clamp(b, sums[0], low, high, "decided_q16", "multiplier of the rate - 1"),)


def scale_of(action: Action, who: str) -> Scale:
    """The map, where it is a scale; InputError says who takes no other."""
    if not isinstance(action, Scale):
        raise InputError(f"{who} needs an action map that multiplies the rate; {action.kind} sets knobs")
    return action


class TanhMap(Scale):
    """x < 0: 1 / (1 - down x); otherwise 1 + step x. RL-CC's published code has 0.2 for both, and ``down`` is ``step``
    where it is left out; 1 halves the rate at the most."""

    kind: Literal["tanh_map"]
    step: float = Field(gt=0, lt=0.5)
    """Step up: the multiplier of a positive output x is 1 + step x."""
    down: float | None = Field(default=None, gt=0, le=7, exclude_if=lambda down: down is None)
    """Step down: the multiplier of a negative output x is 1 / (1 - down x); by default the step up."""

    def limits_q16(self) -> tuple[int, int]:
        down = self.step if self.down is None else self.down
        return round((1 / (1 + down) - 1) * ONE), round(self.step * ONE)

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        x, step = t.step(FloatOp.OUTPUT, 0), t.const(self.step)
        steepest = step if self.down is None else t.const(self.down)
        least = t.step(FloatOp.MUL, steepest, t.step(FloatOp.MIN, x, t.const(0.0)))
        down = t.step(FloatOp.DIV, t.const(1.0), t.step(FloatOp.SUB, t.const(1.0), least))
        up = t.step(FloatOp.ADD, t.const(1.0), t.step(FloatOp.MUL, step, x))
        return (t.step(FloatOp.SELECT, t.step(FloatOp.BELOW, x, t.const(0.0)), down, up),)


class Multiplier(Scale):
    """The output in [-1, 1] spans the multipliers [low, high] linearly (PCC-RL: the action is the multiplier)."""

    kind: Literal["multiplier"]
    low: float = Field(gt=0, lt=1)
    """Multiplier at the output -1."""
    high: float = Field(gt=1, lt=4)
    """Multiplier at the output 1."""

    def limits_q16(self) -> tuple[int, int]:
        return round((self.low - 1) * ONE), round((self.high - 1) * ONE)

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        return (spanned(t, t.step(FloatOp.OUTPUT, 0), self.low, self.high),)


class Table(Scale):
    """One of a few multipliers, ascending; the network has one logit an entry and the greatest wins (first on a tie).
    A student regresses the index, which is rounded to the nearest and clamped, or has a sum an entry."""

    kind: Literal["table"]
    multipliers: list[float] = Field(min_length=2, max_length=256)
    """Multipliers of the rate, ascending; the network has one output per entry."""

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
    def squashed(self) -> bool:
        return False

    @property
    def leaf_bits(self) -> int:
        return 10

    def limits_q16(self) -> tuple[int, int]:
        return round((self.multipliers[0] - 1) * ONE), round((self.multipliers[-1] - 1) * ONE)

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        return (t.step(FloatOp.AT, t.table(self.multipliers), t.step(FloatOp.BEST, 0, len(self.multipliers))),)

    def label(self, decided: Floats) -> Floats:
        entries = np.asarray(self.multipliers)
        nearest = np.abs(decided - entries[None, :]).argmin(axis=1)
        return np.asarray(nearest[:, None], dtype=np.float64)

    def integer(self, b: ProgramBuilder, sums: Sequence[int]) -> tuple[int, ...]:
        index = argmax(b, sums, "index") if len(sums) > 1 else self._nearest(b, sums[0])
        b.tables.append(tuple(round((m - 1) * ONE) for m in self.multipliers))
        return (b.add(Op.TABLE, (index,), len(b.tables) - 1, "decided_q16", "multiplier of the rate - 1"),)

    def _nearest(self, b: ProgramBuilder, total: int) -> int:
        """The entry nearest to a sum."""
        half = b.const(1 << (self.leaf_bits - 1))
        top = ((len(self.multipliers) - 1) << self.leaf_bits) + (1 << self.leaf_bits) - 1
        raised = clamp(b, b.add(Op.ADD, (total, half)), 0, top, "index_q10", "")
        return b.add(Op.SHR, (raised,), self.leaf_bits, "index", "entry of the action table")
