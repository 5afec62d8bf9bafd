"""All properties of a firmware folder's decision."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from decision.artefact.errors import InputError
from decision.ir.ranks import with_values
from decision.policy.deciders import student_of
from decision.policy.once_per_rtt import answers_of, decides_once
from decision.policy.rate import multiplied
from decision.policy.student import NAME
from emulator.firmware import PROGRAM, Firmware
from emulator.vectors import vectors_of
from verify.behaviour import loops, steps
from verify.behaviour.circles import Circles, circles, no_cycle
from verify.behaviour.finding import Finding
from verify.behaviour.loops import Loop
from verify.behaviour.order import ascending
from verify.behaviour.split_decision import decided
from verify.trusted.certificate import FindingClaim, PropertyClaim
from verify.trusted.properties import (
    Ascending,
    FixedPoint,
    Monotone,
    NoCycle,
    NoRiseAbove,
    Property,
    Recovers,
    Step,
    Yields,
)


@dataclass(frozen=True)
class Behaviour:
    """Answers about a program, one for each requested property. A certificate of the machine code names the program by
    the same hash."""

    program: str
    answers: tuple[tuple[Property, tuple[Finding, ...]], ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for _, findings in self.answers for finding in findings)

    @property
    def failed(self) -> bool:
        """Whether a property does not hold, or is not shown to."""
        return any(finding.verdict in ("fails", "undecided") for finding in self.findings)

    def claims(self) -> list[PropertyClaim]:
        """As they stand in a certificate: those of which every finding is decided."""
        return [claim_of(asked, findings) for asked, findings in self.answers if _is_decided(findings)]


def claim_of(asked: Property, findings: Iterable[Finding]) -> PropertyClaim:
    """A property as it stands in a certificate. ValueError where a finding is undecided, which is no claim."""
    told = [
        FindingClaim.model_validate({"says": f.says, "verdict": f.verdict, "value": f.value, "witness": f.witness})
        for f in findings
    ]
    return PropertyClaim(asked=asked.model_dump(mode="json"), findings=told)


def _is_decided(findings: Iterable[Finding]) -> bool:
    return all(finding.verdict != "undecided" for finding in findings)


def decide(
    firmware: Firmware, properties: Iterable[Property], progress: Callable[[str], None] | None = None
) -> Behaviour:
    """Decide each property. InputError where the folder's decision is none by one forest that scales a rate, of
    ``ascending`` where its interface asks for no order."""
    if NAME not in firmware.manifest.files:
        raise InputError(f"{firmware.folder} holds no {NAME}: properties are of distilled policies")
    deciding: _Deciding | None = None
    answers: list[tuple[Property, tuple[Finding, ...]]] = []
    for asked in properties:
        if progress:
            progress(asked.kind)
        if isinstance(asked, Ascending):
            findings = ascending(firmware.program, vectors_of(firmware).columns())
        else:
            deciding = deciding or _Deciding(_loop(firmware))
            findings = deciding(asked)
        answers.append((asked, tuple(findings)))
    return Behaviour(firmware.manifest.files[PROGRAM], tuple(answers))


def _loop(firmware: Firmware) -> Loop:
    student = student_of(firmware.manifest)
    program = firmware.program
    if decides_once(program):  # properties are of decisions: answers that are due
        program = answers_of(program).due
    program = with_values(program)  # what a context keeps of a past value is for properties the value
    scaled = multiplied(program)
    if scaled is None or student.observation.base_rtt is None:
        raise InputError(
            f"{firmware.folder} sets no rate by a multiplier; properties but ascending are of policies that do"
        )
    decision = decided(program, student.params(), scaled.multiplier, scaled.otherwise)
    return Loop(decision, student.observation)


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
            case Yields():
                return loops.yields(self.loop, asked)
        raise InputError(f"{asked.kind} is not about a multiplier")
