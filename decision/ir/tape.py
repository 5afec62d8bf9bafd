"""Expressions over floats as a flat list of steps: what NumPy here and the simulator's C++ both evaluate.

    register 0 .. n-1      constants
    register n + i         what step i gives: an operator over earlier registers, or a value that is read

A step is one float64 operation, rounded once, so that every evaluator gets the same bits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from decision.ir.arrays import Floats


class FloatOp(IntEnum):
    """Operators. The numbers are known to the simulator (netsim/core/tape.hpp)."""

    SIGNAL = 0  # signal a of the event
    ELAPSED = 1  # signal a - signal b, modulo 2^32
    KNOWN = 2  # value a that is known of the agent's place
    IN_FORCE = 3  # the knob that the context keeps
    DECIDED = 4  # value a of the decision before
    PAST = 5  # value a of those that the tape keeps of earlier decisions
    OUTPUT = 6  # output a of the network
    BEST = 7  # which of b outputs from a on is greatest, the first of equals
    ADD = 8
    SUB = 9
    MUL = 10
    DIV = 11
    MIN = 12
    MAX = 13
    SQRT = 14
    FLOOR = 15
    ROUND = 16  # to the nearest whole number, halves away from zero
    BELOW = 17  # a < b: 1 or 0
    SELECT = 18  # a != 0 ? b : c
    AT = 19  # the constant in register a + (what register b holds)


@dataclass(frozen=True)
class Step:
    op: FloatOp
    a: int = 0
    b: int = 0
    c: int = 0


@dataclass(frozen=True)
class KeptRegister:
    """A register whose value ``back`` decisions ago is read; ``initial`` before there were so many. One that counts
    reads itself: it held min(decisions before, ``most``). One that ``recurs`` reads itself too, and depends on all
    decisions before."""

    register: int
    back: int
    initial: float
    most: int | None = None
    recurs: bool = False


@dataclass(frozen=True)
class Names:
    """Names by place: signals of the event, values known of an agent's place, values decided."""

    event: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tape:
    """``results``: registers."""

    names: Names
    constants: tuple[float, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    kept: tuple[KeptRegister, ...] = ()


@dataclass(frozen=True)
class Reading:
    """Inputs of a tape, one entry per decision [N] or one for all: signals of the event and values known of the agent's
    place by name; the knob in force as the context keeps it; what the decision before gave by name (knobs; a scale's
    ``action``: multiplier - 1, Q16); the network's ``outputs`` [N, outputs]."""

    event: Mapping[str, Floats] = field(default_factory=dict)
    known: Mapping[str, Floats | float] = field(default_factory=dict)
    in_force: Floats | float = 0.0
    decided: Mapping[str, Floats | float] = field(default_factory=dict)
    outputs: Floats | None = None


@dataclass(frozen=True)
class CarriedPast:
    """A value that a tape carries from decision to decision: the register that it is read from, and ``after``, which
    says which register holds it from now on and gives that register back."""

    before: int
    after: Callable[[int], int]


class TapeBuilder:
    """Builds a tape step by step; equal steps are shared. Operands are what the methods return."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._constants: list[float] = []
        self._steps: list[tuple[FloatOp, tuple[int, ...]]] = []
        self._kept: list[KeptRegister] = []

    # Until the tape is closed a constant is -1 - its place, a step its place: constants come first only then.

    def const(self, value: float) -> int:
        """A constant. None are shared, so that expressions of a kind give the same steps whatever their numbers."""
        return self.table([value])

    def table(self, values: Sequence[float]) -> int:
        """Constants one after the other: the first."""
        self._constants += [float(value) for value in values]
        return len(values) - len(self._constants) - 1

    def step(self, op: FloatOp, *operands: int) -> int:
        """Operators over registers."""
        if (op, operands) not in self._steps:
            self._steps.append((op, operands))
        return self._steps.index((op, operands))

    def signal(self, name: str) -> int:
        return self.step(FloatOp.SIGNAL, self.names.event.index(name))

    def elapsed(self, later: str, earlier: str) -> int:
        return self.step(FloatOp.ELAPSED, self.names.event.index(later), self.names.event.index(earlier))

    def known(self, name: str) -> int:
        return self.step(FloatOp.KNOWN, self.names.known.index(name))

    def decided(self, name: str) -> int:
        return self.step(FloatOp.DECIDED, self.names.decided.index(name))

    def past(self, register: int, back: int, initial: float) -> int:
        """Returns a register's value ``back`` decisions ago."""
        self._kept.append(KeptRegister(register, back, initial))
        return self.step(FloatOp.PAST, len(self._kept) - 1)

    def counted(self, most: int) -> int:
        """Decisions that the agent has made before, at most ``most``."""
        place = len(self._kept)
        before = self.step(FloatOp.PAST, place)
        after = self.step(FloatOp.MIN, self.step(FloatOp.ADD, before, self.const(1.0)), self.const(float(most)))
        self._kept.append(KeptRegister(after, 1, 0.0, most))
        return before

    def carried(self, initial: float) -> CarriedPast:
        """A value that is carried from one decision to the next, ``initial`` at an agent's first."""
        place = len(self._kept)
        self._kept.append(KeptRegister(0, 1, initial, recurs=True))

        def after(register: int) -> int:
            self._kept[place] = replace(self._kept[place], register=register)
            return register

        return CarriedPast(self.step(FloatOp.PAST, place), after)

    def finish(self, *results: int) -> Tape:
        constants = len(self._constants)

        def register(place: int) -> int:
            return -1 - place if place < 0 else constants + place

        steps = []
        for op, operands in self._steps:
            a, b, c = [*(operands if op in _LEAVES else map(register, operands)), 0, 0, 0][:3]
            steps.append(Step(op, a, b, c))
        kept = tuple(replace(each, register=register(each.register)) for each in self._kept)
        return Tape(self.names, tuple(self._constants), tuple(steps), tuple(map(register, results)), kept)


_LEAVES = {op for op in FloatOp if op <= FloatOp.BEST}


def evaluate(tape: Tape, read: Reading, past: Sequence[Floats] = ()) -> list[Floats]:
    """Every register, [N] or one for all. ``past``: what the tape keeps, as it was (see ``Tape.kept``)."""
    r: list[Floats] = [np.float64(value) for value in tape.constants]  # type: ignore[misc]
    event, known, decided = tape.names.event, tape.names.known, tape.names.decided
    for step in tape.steps:
        a, b, c = step.a, step.b, step.c
        match step.op:
            case FloatOp.SIGNAL:
                v = read.event[event[a]]
            case FloatOp.ELAPSED:
                v = np.mod(read.event[event[a]] - read.event[event[b]], 2.0**32)
            case FloatOp.KNOWN:
                v = np.asarray(read.known[known[a]], dtype=np.float64)
            case FloatOp.IN_FORCE:
                v = np.asarray(read.in_force, dtype=np.float64)
            case FloatOp.DECIDED:
                v = np.asarray(read.decided[decided[a]], dtype=np.float64)
            case FloatOp.PAST:
                v = past[a]
            case FloatOp.OUTPUT | FloatOp.BEST:
                assert read.outputs is not None
                of = read.outputs[:, a : a + (step.op is FloatOp.OUTPUT or b)]
                v = of[:, 0] if step.op is FloatOp.OUTPUT else np.argmax(of, axis=1).astype(float)
            case FloatOp.ADD:
                v = r[a] + r[b]
            case FloatOp.SUB:
                v = r[a] - r[b]
            case FloatOp.MUL:
                v = r[a] * r[b]
            case FloatOp.DIV:
                v = r[a] / r[b]
            case FloatOp.MIN:
                v = np.minimum(r[a], r[b])
            case FloatOp.MAX:
                v = np.maximum(r[a], r[b])
            case FloatOp.SQRT:
                v = np.sqrt(r[a])
            case FloatOp.FLOOR:
                v = np.floor(r[a])
            case FloatOp.ROUND:
                v = np.trunc(r[a]) + np.trunc(2.0 * (r[a] - np.trunc(r[a])))
            case FloatOp.BELOW:
                v = np.asarray(r[a] < r[b], dtype=np.float64)
            case FloatOp.SELECT:
                v = np.where(r[a] != 0.0, r[b], r[c])
            case FloatOp.AT:
                v = np.asarray(tape.constants)[a + np.asarray(r[b]).astype(np.int64)]
        r.append(np.asarray(v, dtype=np.float64))
    return r
