"""Features of any interface: they name its signals, its parameters, the knob it keeps in force, its knobs."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from decision.ir.expression import (
    AtMost,
    Coded,
    Count,
    Decided,
    Difference,
    Doublings,
    Expression,
    Past,
    Per,
    Quotient,
    Signal,
    Whole,
)
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interface import Interface
from decision.ir.shares import AtLeast
from decision.policy.features.feature import Feature, Place

NAME = r"^[a-z][a-z0-9_]{0,47}$"
MAX_BACK = 16
MAX_RATIO = 256
MAX_COUNTED = 2**16 - 2
"""With the decision itself 16 bits hold it."""


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError(f"{value} is no power of two")
    return value


Named = Annotated[str, Field(pattern=NAME)]
Unit = Annotated[int, Field(strict=True, ge=1, le=2**31)]
Power = Annotated[Unit, AfterValidator(_power_of_two)]
Clip = Annotated[float, Field(ge=0, lt=FEATURE_LIMIT)]
Bits = Annotated[int, Field(strict=True, ge=0, le=16)]


class _Scaled(Feature):
    """Feature that is measured in ``unit`` of its own unit, with ``fraction_bits`` in integers."""

    unit: Unit = 1
    """Unit of the feature, in units of the signal or knob."""
    fraction_bits: Bits = 0
    """Fraction bits of the integer."""

    @property
    def what(self) -> str:
        raise NotImplementedError

    def unit_in(self, interface: Interface) -> str:
        own = interface.unit_of(self.what)
        return own if self.unit == 1 else f"{self.unit} {own}"

    @property
    def name(self) -> str:
        return f"{self.what}_{self.kind}" + (f"_q{self.fraction_bits}" if self.fraction_bits else "")

    @property
    def words(self) -> str:
        return f"{self.kind.replace('_', ' ')} of {self.what}"

    @property
    def storage(self) -> str:
        return self.coded(Signal(""), "", "").storage

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 2.0**-self.fraction_bits

    def coded(self, x: Expression, name: str, note: str) -> Coded:
        return Coded(Per(x, self.unit, self.fraction_bits, f"{name}_raw"), self.fraction_bits, 0.0, name, note)

    def meaning(self) -> str:
        return f"{self.name}: {self.words}, in units of {self.unit}, Q{self.fraction_bits}"


class _OfSignal(_Scaled):
    """A scaled signal."""

    signal: Named
    """Signal of the event."""

    @property
    def what(self) -> str:
        return self.signal


class Level(_OfSignal):
    """A signal, a parameter, or the knob that the context keeps in force. ``at_least``, ``at_most``: what is less or
    more counts as this, in units of ``unit`` (the clip of normalised observations)."""

    kind: Literal["level"]
    at_least: Clip | None = Field(default=None, exclude_if=lambda end: end is None)
    """Lower clip, in units of ``unit``."""
    at_most: Clip | None = Field(default=None, exclude_if=lambda end: end is None)
    """Upper clip, in units of ``unit``."""

    @model_validator(mode="after")
    def _steps(self) -> "Level":
        for key, end in (("at_least", self.at_least), ("at_most", self.at_most)):
            if end is not None and end * 2**self.fraction_bits % 1:
                raise ValueError(
                    f"{key} is {end:g}, between two integers; {self.fraction_bits} fraction bits hold steps of "
                    f"{2.0**-self.fraction_bits:g}"
                )
        if self.at_least is not None and self.at_most is not None and self.at_least >= self.at_most:
            raise ValueError(f"at_least is {self.at_least:g}; it must lie below at_most, {self.at_most:g}")
        return self

    def expression(self, place: Place) -> Coded:
        note = f"in units of {self.unit}"
        if self.at_least is None and self.at_most is None:
            return self.coded(place.source(self.signal), self.name, note)
        x: Expression = Per(place.source(self.signal), self.unit, self.fraction_bits, f"{self.name}_raw")
        if self.at_most is not None:
            x = AtMost(x, self.at_most, f"{self.name}_cut", f"at most {self.at_most:g}")
        if self.at_least is not None:
            x = AtLeast(x, round(self.at_least * 2**self.fraction_bits), f"{self.name}_raised")
        return Coded(x, self.fraction_bits, 0.0, self.name, note)


class PreviousKnob(_Scaled):
    """A knob as the decision before set it."""

    kind: Literal["previous_knob"]
    knob: Named
    """Knob of the interface."""

    @property
    def what(self) -> str:
        return self.knob

    @property
    def name(self) -> str:
        return f"{self.knob}_set" + (f"_q{self.fraction_bits}" if self.fraction_bits else "")

    @property
    def words(self) -> str:
        return f"previous {self.knob}"

    @property
    def decided(self) -> str:
        return self.knob

    def expression(self, place: Place) -> Coded:
        return self.coded(Decided(self.knob), self.name, f"in units of {self.unit}")


class Change(_OfSignal):
    """A signal now less ``back`` decisions ago."""

    kind: Literal["difference"]
    back: int = Field(default=1, strict=True, ge=1, le=MAX_BACK)
    """Number of decisions between the two values."""

    @property
    def name(self) -> str:
        return f"{super().name}_over_{self.back}"

    @property
    def words(self) -> str:
        return f"{self.signal} less {self.back} decisions ago"

    @property
    def storage(self) -> str:
        return "int32"

    def expression(self, place: Place) -> Expression:
        level = Level(kind="level", signal=self.signal, unit=self.unit, fraction_bits=self.fraction_bits)
        now = level.expression(place)
        return Difference(now, Past(now, self.back), self.name, self.words)


class Ratio(Feature):
    """One signal over another signal or parameter, at most ``at_most``; both in whole multiples of powers of two, fewer
    than one of ``over`` counting as one. Sent over acknowledged bytes is Aurora's send ratio; marked over acknowledged
    bytes the ECN fraction of ACKs."""

    kind: Literal["ratio"]
    of: Named
    """Numerator: a signal."""
    over: Named
    """Denominator: a signal or a parameter."""
    of_unit: Power = 256
    """Step of the numerator, in its unit; a power of two."""
    over_unit: Power = 256
    """Step of the denominator, in its unit; a power of two."""
    fraction_bits: int = Field(default=8, strict=True, ge=1, le=16)
    """Fraction bits of the integer."""
    at_most: Annotated[Power, Field(le=MAX_RATIO)] = Field(default=1, exclude_if=lambda most: most == 1)
    """Largest value; a greater ratio is clipped to it."""

    @model_validator(mode="after")
    def _room(self) -> "Ratio":
        least = self.at_most << self.fraction_bits
        if self.over_unit < least:
            up_to = f" up to {self.at_most}" if self.at_most > 1 else ""
            raise ValueError(
                f"over_unit is {self.over_unit}; {self.fraction_bits} fraction bits{up_to} need {least} or more"
            )
        return self

    @property
    def whole_bits(self) -> int:
        return self.at_most.bit_length() - 1

    @property
    def name(self) -> str:
        return f"{self.of}_over_{self.over}_q{self.fraction_bits}"

    @property
    def words(self) -> str:
        return f"{self.of} / {self.over}"

    @property
    def storage(self) -> str:
        return "uint16" if self.fraction_bits + self.whole_bits < 16 else "uint32"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 2.0**-self.fraction_bits

    def expression(self, place: Place) -> Expression:
        of = Whole(place.source(self.of), self.of_unit.bit_length() - 1)
        over = Whole(place.source(self.over), self.over_unit.bit_length() - 1)
        names = (f"{self.over}_units", f"{self.of}_held", self.name)
        return Quotient(of, over, self.fraction_bits, names, self.words, self.whole_bits)

    def meaning(self) -> str:
        return f"{self.name}: {self.words}, at most {self.at_most}, Q{self.fraction_bits}"


class Present(Feature):
    """Whether a signal is above 0: of a count, that there was one at all. A bit where a ratio would take a division."""

    kind: Literal["present"]
    signal: Named
    """Signal of the event."""

    @property
    def exact(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"{self.signal}_present"

    @property
    def words(self) -> str:
        return f"{self.signal} above 0"

    @property
    def storage(self) -> str:
        return "uint16"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 1.0

    def expression(self, place: Place) -> Expression:
        return Doublings(place.source(self.signal), 0, 1, self.name, self.words)

    def meaning(self) -> str:
        return f"{self.name}: 1 where {self.signal} is above 0"

    def physical(self, threshold: int) -> str:
        return self.words if threshold == 0 else f"{self.name} > {threshold}"


class Decisions(Feature):
    """How many decisions the agent has made before, at most ``most``: what is new can be told from what has settled. A
    teacher sees the share of ``most``."""

    kind: Literal["decisions"]
    most: int = Field(strict=True, ge=1, le=MAX_COUNTED)
    """Highest count."""

    @property
    def exact(self) -> bool:
        return True

    @property
    def words(self) -> str:
        return "decisions before this one"

    @property
    def storage(self) -> str:
        return "uint16"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.most

    def expression(self, place: Place) -> Expression:
        return Count(self.most, self.name, f"{self.words}, at most {self.most}")

    def value(self, integer: int) -> str:
        return f"{integer} {self.words}"

    def meaning(self) -> str:
        return f"{self.name}: {self.words}, at most {self.most}"

    def physical(self, threshold: int) -> str:
        return f"more than {threshold} {self.words}"


class Bucket(Feature):
    """How many of first, 2 first, 4 first, .. a signal exceeds (ACC's discretised queue length: 20 KB x 2^n); a teacher
    sees the share of all."""

    kind: Literal["bucket"]
    signal: Named
    """Signal of the event."""
    first: Unit
    """First threshold, in the signal's unit; each further one is twice the one before."""
    count: int = Field(strict=True, ge=2, le=24)
    """Number of thresholds."""

    @model_validator(mode="after")
    def _reached(self) -> "Bucket":
        if self.first << (self.count - 1) >= 2**32:
            raise ValueError(f"no signal reaches the last bucket, {self.first} x 2^{self.count - 1}")
        return self

    @property
    def exact(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"{self.signal}_bucket"

    @property
    def words(self) -> str:
        return f"bucket of {self.signal}"

    @property
    def storage(self) -> str:
        return "uint16"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.count

    def expression(self, place: Place) -> Expression:
        return Doublings(
            place.source(self.signal), self.first, self.count, self.name, f"doublings of {self.first} below it"
        )

    def value(self, integer: int) -> str:
        return f"{self.signal} up to {self.first << min(max(integer, 0), self.count)}"

    def meaning(self) -> str:
        return f"{self.name}: how many of {self.first} x 2^n, n < {self.count}, {self.signal} exceeds"

    def physical(self, threshold: int) -> str:
        if threshold >= self.count:  # which no signal exceeds, and a file may name any
            return f"{self.name} > {threshold}"
        return f"{self.signal} > {self.first << max(threshold, 0)}"
