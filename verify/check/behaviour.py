"""The properties of a certificate, each decided again by means of the checker's own; or refused.

A claim holds where the property is one of the vocabulary, every finding is the checker's own word for word, and its
witness, looked up or run, shows it. A property that the checker cannot decide is refused: it relies on no other
program.
"""

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError

from decision.ir.ranks import with_values
from decision.policy.student import Student
from emulator.firmware import Firmware
from verify.check import loops, multiplier
from verify.check.cells import Table
from verify.check.circles import Turns, circling, no_cycle
from verify.check.due import due_program
from verify.check.history import History
from verify.check.loops import recovery, yielding
from verify.check.order import order_again
from verify.check.path import Path
from verify.check.refused import Refused
from verify.check.subject import student_of
from verify.trusted import wording
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

VOCABULARY: TypeAdapter[Property] = TypeAdapter(Property)


def behaviour_again(claims: Iterable[PropertyClaim], firmware: Firmware) -> None:
    """Refused where a claim is not so, or cannot be seen to be."""
    policy = Policy(firmware)
    for claim in claims:
        policy.decide(claim)


def property_of(table: dict[str, Any]) -> Property:
    """The property that a claim's table asks for, every key written out. Refused where it is none of the vocabulary."""
    try:
        asked = VOCABULARY.validate_python(table)
    except (ValidationError, ValueError, TypeError, OverflowError):
        raise Refused(f"{str(table.get('kind'))[:80]!r} is no property, or asks for what none does") from None
    if json.dumps(asked.model_dump(mode="json"), sort_keys=True) != json.dumps(table, sort_keys=True):
        raise Refused(f"the table of the property {asked.kind} is not as rlcc writes it")
    return asked


def _same(told: list[FindingClaim], ours: list[FindingClaim]) -> None:
    if len(told) != len(ours):
        raise Refused(f"a property has {len(ours)} findings, the certificate {len(told)}")
    for there, here in zip(told, ours, strict=True):
        if there.says != here.says:
            raise Refused(f"the certificate says {there.says!r} where {here.says!r} is asked for")
        if (there.verdict, there.value) != (here.verdict, here.value):
            found, said = f"it {here.verdict}, {here.value}", f"{there.verdict}, {there.value}"
            raise Refused(f"{here.says}: {found}; the certificate says {said}")


class Policy:
    """A firmware's policy, and what is found of it as far as a property needs it."""

    def __init__(self, firmware: Firmware) -> None:
        self.firmware = firmware
        self._yielding: dict[tuple[float, int], loops.Journey] = {}

    def decide(self, claim: PropertyClaim) -> None:
        """Refused where the claim is not so, or cannot be seen to be."""
        asked = property_of(claim.asked)
        if isinstance(asked, Ascending):
            order_again(claim, self.firmware.program)
            return
        _same(claim.findings, self.findings(asked, claim.findings))
        for finding in claim.findings:
            self.show(asked, finding)

    @cached_property
    def student(self) -> Student:
        return student_of(self.firmware)

    @cached_property
    def table(self) -> Table:
        return Table.of(with_values(due_program(self.firmware.program)), self.student)

    @cached_property
    def history(self) -> History:
        return History.of(self.table)

    @cached_property
    def path(self) -> Path:
        return Path.of(self.history, self.student.observation)

    @cached_property
    def turns(self) -> Turns:
        return Turns.of(self.history)

    @cached_property
    def recovery(self) -> loops.Journey:
        return recovery(self.path)

    def yielding(self, asked: Yields) -> loops.Journey:
        key = asked.inflation, asked.to
        if key not in self._yielding:
            self._yielding[key] = yielding(self.path, *key)
        return self._yielding[key]

    def findings(self, asked: Property, told: list[FindingClaim]) -> list[FindingClaim]:
        """The checker's own, without witnesses. ``told``: the certificate's."""
        match asked:
            case Monotone():
                return multiplier.monotone(self.table, self.student, asked)
            case Step():
                return multiplier.step(self.table, asked)
            case NoCycle():
                return [no_cycle(self.turns, asked)]
            case NoRiseAbove():
                return [loops.no_rise_above(self.path, asked)]
            case Recovers():
                journey = self.recovery
                return [journey.finding(_arrives(None, journey, asked.decisions), asked.decisions, told)]
            case Yields():
                journey = self.yielding(asked)
                return [journey.finding(_arrives(asked.inflation, journey, asked.decisions), asked.decisions, told)]
            case FixedPoint():
                return [loops.fixed_point(self.path, self.turns, self.student.observation, asked)]
        raise Refused(f"{asked.kind} is not about a multiplier")

    def show(self, asked: Property, claim: FindingClaim) -> None:
        """Refused where the witness of a finding, already the checker's own in words, does not show it."""
        match asked:
            case Monotone():
                multiplier.raising(self.table, claim)
            case Step():
                multiplier.extreme(self.table, asked, claim)
            case NoCycle():
                circling(self.turns, asked, claim)
            case NoRiseAbove():
                loops.rises(self.path, asked, claim)
            case Recovers():
                self.recovery.shown(claim)
            case Yields():
                self.yielding(asked).shown(claim)
            case FixedPoint():
                if claim.witness:
                    raise Refused(f"{claim.says}: a fixed point has no witness")


def _arrives(inflation: float | None, journey: loops.Journey, decisions: int | None) -> str:
    return wording.arrives(inflation, journey.path.base_rtt_ns, journey.start, journey.end, decisions)
