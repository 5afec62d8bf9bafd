"""Stages: which clock a wire is computed in, so that no clock holds more logic than its period.

As soon as its operands are there; a wire that would end after the clock starts the next one. A wire that is used in a
later stage than its own goes on through registers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.rtl.delays import REGISTER_NS
from codegen.rtl.wires import Wires
from decision.artefact.errors import InputError


@dataclass(frozen=True)
class Schedule:
    """``stage`` of every wire; ``stages``: clocks from valid in to valid out; ``longest_ns``: the estimate for the
    slowest of them, its register included."""

    stage: tuple[int, ...]
    stages: int
    longest_ns: float


def schedule(wires: Wires, outputs: Sequence[int], clock_mhz: float) -> Schedule:
    """Returns the stages for a clock. InputError where one operator takes longer than it."""
    period = round(1000 / clock_mhz - REGISTER_NS, 6)
    _check_clock(wires, period, clock_mhz)
    delays = wires.delay
    early = _placed(wires, delays, period, [0] * len(delays))
    stages = 1 + max((early[n][0] for n in outputs), default=0)
    late = _latest(wires, delays, period, outputs, stages)
    # A wire that is wider than its operands waits for its users: fewer bits go through registers.
    narrow = [bool(w.args) and sum(_bits(wires, a) for a in {*w.args}) <= w.width for w in wires.wires]
    places = _placed(wires, delays, period, [last if n else 0 for n, last in zip(narrow, late, strict=True)])
    longest = max((places[n][1] for n in _needed(wires, outputs)), default=0.0)
    return Schedule(tuple(stage for stage, _ in places), stages, round(longest + REGISTER_NS, 2))


def _check_clock(wires: Wires, period: float, clock_mhz: float) -> None:
    """Raises InputError if an operator, behind what is fixed before it, takes longer than the period in ns."""
    for number, wire in enumerate(wires.wires):
        if (total := _fixed(wires, number) + wires.delay[number]) > period:
            highest = int(1000 / (total + REGISTER_NS))
            raise InputError(
                f"{wire.gate.value} of {wire.width} bits takes {total:.1f} ns in an ECP5, too long for a clock of "
                f"{clock_mhz:g} MHz; give --target rtl@{highest}MHz or slower"
            )


def _fixed(wires: Wires, number: int) -> float:
    """Returns when the operands of a wire that come from parameters are there, in ns."""
    return max((wires.arrival[a] for a in wires[number].args if wires.static[a]), default=0.0)


def _placed(wires: Wires, delays: Sequence[float], period: float, first: Sequence[int]) -> list[tuple[int, float]]:
    """(stage, end in ns after its begin) of every wire, as early as can be but not before the stage ``first``."""
    places: list[tuple[int, float]] = []
    for number, wire in enumerate(wires.wires):
        moving = [places[a] for a in wire.args if not wires.static[a]]
        fixed = _fixed(wires, number)
        at = max([first[number], *(stage for stage, _ in moving)])
        begin = max([fixed, *(end for stage, end in moving if stage == at)])
        if begin + delays[number] > period and not wires.static[number]:
            at, begin = at + 1, fixed
        places.append((at, begin + delays[number]))
    return places


def _latest(wires: Wires, delays: Sequence[float], period: float, outputs: Sequence[int], stages: int) -> list[int]:
    """The last stage of every wire that keeps the outputs in theirs; of one that nobody uses the last of all."""
    ends = [(stages - 1, period)] * len(delays)
    for number in reversed(range(len(delays))):
        stage, end = ends[number]
        if end - delays[number] < 0:
            stage, end = stage - 1, period
        ends[number] = stage, end
        for a in wires[number].args:
            ends[a] = min(ends[a], (stage, end - delays[number]))
    return [max(stage, 0) for stage, _ in ends]


def _bits(wires: Wires, number: int) -> int:
    """Returns the register bits that carry a wire through a stage."""
    return 0 if wires.static[number] else wires[number].width


def _needed(wires: Wires, outputs: Sequence[int]) -> set[int]:
    needed: set[int] = set()
    todo = list(outputs)
    while todo:
        n = todo.pop()
        if n not in needed:
            needed.add(n)
            todo += wires[n].args
    return needed
