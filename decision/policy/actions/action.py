"""Common interface of the action maps."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decision.artefact.strict import Strict
from decision.ir.arrays import Floats
from decision.ir.interface import Interface
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.tape import FloatOp, Names, Reading, Tape, TapeBuilder, evaluate


class Action(Strict):
    """Base of all maps. ``kind`` is its name in policy.toml."""

    kind: str

    @property
    def outputs(self) -> int:
        """How many numbers a teacher's network puts out."""
        return 1

    @property
    def squashed(self) -> bool:
        """Whether they go through tanh first."""
        return True

    @property
    def sums(self) -> int:
        """How many sums of trees a student has: K."""
        return self.outputs

    @property
    def leaf_bits(self) -> int:
        """Fraction bits of a sum."""
        raise NotImplementedError

    def check(self, interface: Interface) -> None:
        """ValueError where the map does not fit what agents of this interface set."""
        raise NotImplementedError

    @property
    def values(self) -> tuple[str, ...]:
        """Names of what is decided: a scale's ``action``, or knobs."""
        raise NotImplementedError

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        """From a teacher's outputs to what is decided: a multiplier of the knob in force, or knobs."""
        raise NotImplementedError

    def wholes(self, t: TapeBuilder, decided: Sequence[int]) -> tuple[int, ...]:
        """Returns the decision in the integers that records store (``values``)."""
        return tuple(decided)

    def decided(self, outputs: Floats) -> Floats:
        """Returns the decisions of a teacher's outputs [N, outputs]: multipliers [N, 1] of the knob in force or knobs
        [N, knobs]."""
        t = TapeBuilder(Names())
        tape = t.finish(*self.floats(t))
        registers = evaluate(tape, Reading(outputs=outputs))
        return np.stack([registers[result] for result in tape.results], axis=1)

    def tape(self) -> Tape:
        """Returns the tape of what a record stores as the output (the first; for a choice which are greatest), then
        ``wholes``."""
        t = TapeBuilder(Names())
        return t.finish(self.said(t), *self.wholes(t, self.floats(t)))

    def said(self, t: TapeBuilder) -> int:
        """Returns the node that a record stores as the output."""
        return t.step(FloatOp.OUTPUT, 0) if self.squashed else t.step(FloatOp.BEST, 0, self.outputs)

    def knob_tape(self, limits: tuple[int, int] | None) -> Tape:
        """From what is decided (``values``) to the knobs as a site takes them; ``limits`` of a knob in force."""
        t = TapeBuilder(Names(decided=self.values))
        return t.finish(*(t.decided(name) for name in self.values))

    def label(self, decided: Floats) -> Floats:
        """Returns the regression target of a student's sums [N, sums] for a teacher's decision; sums have ``leaf_bits``
        fraction bits."""
        raise NotImplementedError

    def loss(self, sums: Floats, label: Floats, weight: NDArray[np.float64]) -> float:
        """How far a student with these sums [N, sums] is off the labels, by weight [N]; students are chosen by it. The
        root mean square of what the sums are off, in one unit for all of them."""
        return float(np.sqrt(np.average(np.mean((sums - label) ** 2, axis=1), weights=weight)))

    def integer(self, b: ProgramBuilder, sums: Sequence[int]) -> tuple[int, ...]:
        """From nodes of the sums to those of what is decided, in integers: a multiplier - 1 in Q16, or each knob."""
        raise NotImplementedError

    def check_shown(self, program: Program) -> None:
        """InputError where the nodes of the finished program do not show, by their ranges and operators alone, that
        whatever comes the knobs are ones that this map can set."""


def clamp(b: ProgramBuilder, node: int, low: int, high: int, name: str, note: str) -> int:
    """low <= node <= high; a side that the node's range already keeps costs nothing."""
    if b.nodes[node].low < low:
        node = b.add(Op.MAX, (node, b.const(low)), name=name, note=note)
    if b.nodes[node].high > high:
        node = b.add(Op.MIN, (node, b.const(high)), name=name, note=note)
    return node


def spanned(t: TapeBuilder, output: int, low: float, high: float) -> int:
    """low + (high - low) (x + 1) / 2 of an output x, clipped to [-1, 1]."""
    x = t.step(FloatOp.MIN, t.step(FloatOp.MAX, output, t.const(-1.0)), t.const(1.0))
    share = t.step(FloatOp.MUL, t.const(high - low), t.step(FloatOp.ADD, x, t.const(1.0)))
    return t.step(FloatOp.ADD, t.const(low), t.step(FloatOp.DIV, share, t.const(2.0)))


def sets_knobs(interface: Interface, kind: str) -> None:
    """ValueError where a knob in force is kept, which only a scale knows how to go on from."""
    if interface.context:
        kept = interface.context[0].name
        raise ValueError(
            f"{kind} sets knobs anew, and agents of {interface.name} go on from their {kept}: give a multiplier"
        )
