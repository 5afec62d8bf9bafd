"""All properties of a firmware folder's decision."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from decision.documents import dump_json, read_bytes, write_atomically
from decision.errors import InputError
from decision.manifest import sha256
from decision.ranks import with_values
from decision.rate import multiplied
from decision.student import NAME, load_student
from emulator.firmware import PROGRAM, Firmware
from verify.behaviour import loops, steps
from verify.behaviour.circles import Circles, circles, no_cycle
from verify.behaviour.decided import decided
from verify.behaviour.finding import Finding
from verify.behaviour.loops import Loop
from verify.behaviour.properties import (
    FixedPoint,
    Monotone,
    NoCycle,
    NoRiseAbove,
    Property,
    Recovers,
    Step,
)

FORMAT = 1


@dataclass(frozen=True)
class Behaviour:
    """What was decided of a firmware folder, by its hash; of its program, which a certificate of the machine code names
    by the same hash."""

    firmware: str
    program: str
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether a property does not hold, or is not shown to."""
        return any(finding.verdict in ("fails", "undecided") for finding in self.findings)

    def save(self, path: Path) -> None:
        content: dict[str, Any] = {"format": FORMAT, "firmware": self.firmware, "program": self.program}
        write_atomically(path, dump_json(content | {"findings": [asdict(f) for f in self.findings]}))


def decide(
    firmware: Firmware, properties: Iterable[Property], progress: Callable[[str], None] | None = None
) -> Behaviour:
    """Decide each property. InputError where the folder's decision is none by one forest that scales a rate."""
    if not (firmware.folder / NAME).is_file():
        raise InputError(f"{firmware.folder} holds no {NAME}: properties are of distilled policies")
    student = load_student(firmware.folder / NAME)
    program = with_values(firmware.program)  # what a context keeps of a past value is for properties the value
    scaled = multiplied(program)
    if scaled is None or student.observation.base_rtt is None:
        raise InputError(f"{firmware.folder} sets no rate by a multiplier; properties are of policies that do")
    decision = decided(program, student.params(), scaled.multiplier, scaled.otherwise)
    deciding, findings = _Deciding(Loop(decision, student.observation)), []
    for asked in properties:
        if progress:
            progress(asked.kind)
        findings += deciding(asked)
    return Behaviour(firmware.hash, sha256(read_bytes(firmware.folder / PROGRAM)), tuple(findings))


@dataclass(frozen=True)
class _Deciding:
    loop: Loop

    @cached_property
    def circles(self) -> Circles:
        return circles(self.loop.decision)

    def __call__(self, asked: Property) -> list[Finding]:
        """The findings of one; where it cannot be decided, why."""
        try:
            return self._findings(asked)
        except InputError as error:
            return [Finding(asked.kind, asked.kind, "undecided", str(error))]

    def _findings(self, asked: Property) -> list[Finding]:
        match asked:
            case Monotone():
                return steps.monotone(self.loop.decision, asked)
            case Step():
                return steps.step(self.loop.decision, asked)
            case NoCycle():
                return no_cycle(self.circles, asked)
            case NoRiseAbove():
                return loops.no_rise_above(self.loop, asked)
            case Recovers():
                return loops.recovers(self.loop, asked)
            case FixedPoint():
                return loops.fixed_point(self.loop, self.circles, asked)
        return loops.yields(self.loop, asked)
