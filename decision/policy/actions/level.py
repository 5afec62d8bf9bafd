"""level: each knob an output of its own, between two ends (AuTO's thresholds, ACC's without a table).

    knob = low + ((clamp(sum, 0, 1) * (high - low)) >> 16)     sum: 16 fraction bits
    knob = max(knob, the one that it must not lie below)

A student's sum regresses where between its ends the teacher set the knob; half a step more, so that the shift, which
rounds down, gives the teacher's very integer back.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from decision.artefact.errors import InputError
from decision.artefact.strict import Strict
from decision.ir.arrays import Floats
from decision.ir.interface import Interface
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.tape import FloatOp, TapeBuilder
from decision.policy.actions.action import Action, clamp, sets_knobs, spanned

LEAF_BITS = 16
Integer = Annotated[int, Field(strict=True)]


class Ends(Strict):
    """Ends of one knob, in the interface's unit. ``not_below``: another knob, of those before it."""

    low: Integer
    """Lowest value of the knob, in the interface's unit."""
    high: Integer
    """Highest value of the knob, in the interface's unit."""
    not_below: str | None = None
    """An earlier knob, below which this one is never set."""

    @model_validator(mode="after")
    def _order(self) -> "Ends":
        if self.low >= self.high:
            raise ValueError(f"low is {self.low}; it must lie below high, {self.high}")
        return self


class Level(Action):
    """``knobs``: the ends of each, in the order of the interface."""

    kind: Literal["level"]
    knobs: dict[str, Ends] = Field(min_length=1, max_length=64)

    @model_validator(mode="after")
    def _known(self) -> "Level":
        names = list(self.knobs)
        for place, (name, ends) in enumerate(self.knobs.items()):
            if ends.not_below is not None and ends.not_below not in names[:place]:
                raise ValueError(f"{name} must not lie below {ends.not_below}, which is none of the knobs before it")
        return self

    @property
    def outputs(self) -> int:
        return len(self.knobs)

    @property
    def leaf_bits(self) -> int:
        return LEAF_BITS

    def check(self, interface: Interface) -> None:
        sets_knobs(interface, self.kind)
        if tuple(self.knobs) != interface.mapped_names:
            raise ValueError(
                f"level sets {', '.join(self.knobs)}; it must set {', '.join(interface.mapped_names)}, in this order"
            )
        for knob in interface.knobs[: len(self.knobs)]:
            ends = self.knobs[knob.name]
            if not knob.low <= ends.low < ends.high <= knob.high:
                raise ValueError(f"{knob.name} goes from {ends.low} to {ends.high}, not within {knob.low}..{knob.high}")
            if knob.not_below != ends.not_below:
                declared = f'not_below = "{knob.not_below}"' if knob.not_below is not None else "no not_below"
                raise ValueError(f"{knob.name} needs {declared}: so has it the interface {interface.name}")

    def _ends(self) -> tuple[Floats, Floats]:
        ends = [(each.low, each.high) for each in self.knobs.values()]
        low, high = np.array(ends, dtype=np.float64).T
        return low, high

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.knobs)

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        knobs: dict[str, int] = {}
        for place, (name, ends) in enumerate(self.knobs.items()):
            knob = t.step(FloatOp.ROUND, spanned(t, t.step(FloatOp.OUTPUT, place), ends.low, ends.high))
            if ends.not_below is not None:
                knob = t.step(FloatOp.MAX, knob, knobs[ends.not_below])
            knobs[name] = knob
        return tuple(knobs.values())

    def label(self, decided: Floats) -> Floats:
        low, high = self._ends()
        return np.asarray((decided - low + 0.5) / (high - low), dtype=np.float64)

    def integer(self, b: ProgramBuilder, sums: Sequence[int]) -> tuple[int, ...]:
        knobs: dict[str, int] = {}
        for (name, ends), total in zip(self.knobs.items(), sums, strict=True):
            held = clamp(b, total, 0, 1 << LEAF_BITS, f"{name}_share_q{LEAF_BITS}", "where between its ends")
            above = b.add(Op.MUL_SHR, (held, b.const(ends.high - ends.low)), LEAF_BITS, f"{name}_above")
            knob = b.add(Op.ADD, (above, b.const(ends.low)), name=name, note=f"{ends.low} to {ends.high}")
            if ends.not_below is not None:
                floor = knobs[ends.not_below]
                knob = b.add(Op.MAX, (knob, floor), name=f"{name}_raised", note=f"not below {ends.not_below}")
            knobs[name] = knob
        return tuple(knobs.values())

    def check_shown(self, program: Program) -> None:
        """Each knob lies between its ends, or those of what it must not lie below; and does not lie below that: it is
        the greater of the two, or their ranges do not meet."""
        results = dict(zip(self.knobs, program.results, strict=True))
        most = {name: ends.high for name, ends in self.knobs.items()}
        for name, ends in self.knobs.items():
            node, floor = program.nodes[results[name]], ends.not_below
            ascends = floor is None
            if floor is not None:
                most[name] = max(most[name], most[floor])
                greater = node.op is Op.MAX and results[floor] in node.args
                ascends = greater or node.low >= program.nodes[results[floor]].high
            if not ascends:
                raise InputError(f"the decision program does not show that {name} is not below {floor}")
            if node.low < ends.low or node.high > most[name]:
                raise InputError(f"{name} can reach {node.low}..{node.high}, beyond {ends.low}..{most[name]}")
