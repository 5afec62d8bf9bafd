"""Features over all decisions of an agent: averages, extremes, streaks, counters that decay, time between decisions.

Each is one expression of decision/ir/context_expressions.py over a signal of the event, or over the time between two
timestamps of it (a flow's ``rtt_ns``). The context carries one field for each.
"""

from typing import Annotated, Literal

from pydantic import Field

from decision.ir.arrays import Floats
from decision.ir.context_expressions import Average, Decayed, Greatest, Least, Since, Streak
from decision.ir.expression import Coded, Difference, Expression
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interface import Interface
from decision.ir.shares import AtLeast, ExcessShare
from decision.policy.features.feature import Feature, Place
from decision.policy.features.generic import Named, _OfSignal

Shift = Annotated[int, Field(strict=True, ge=1, le=7)]
"""A power of two: the newest value has a weight of 2^-shift."""
Steps = Annotated[int, Field(strict=True, ge=0, lt=FEATURE_LIMIT)]
MAX_IN_A_ROW = 2**16 - 1
MAX_COUNTED = 2**20


class _Carrying(_OfSignal):
    """A scaled signal of the event, with what the context carries of it."""

    @property
    def own(self) -> str:
        """Returns the part of its field's name that differs from others of this kind."""
        unit = f"_u{self.unit}" if self.unit > 1 else ""
        return f"{self.signal}{unit}" + (f"_q{self.fraction_bits}" if self.fraction_bits else "")

    def level(self, place: Place) -> Coded:
        """The signal in units of ``unit``."""
        return self.coded(place.observed(self.signal), f"{self.own}_now", f"in units of {self.unit}")


class MovingAverage(_Carrying):
    """The exponential average of a signal: the newest value with a weight of 2^-shift, a new agent's first value."""

    kind: Literal["average"]
    shift: Shift
    """Weight of the newest value: 2^-shift."""

    @property
    def name(self) -> str:
        return f"{self.own}_average_{1 << self.shift}"

    @property
    def words(self) -> str:
        return f"average of {self.signal} (weight 1/{1 << self.shift})"

    def expression(self, place: Place) -> Expression:
        return Average(self.name, self.words, self.level(place), self.shift)


class _Least(_Carrying):
    """Feature of the least value so far; ``rise``: steps of the integer by which it is raised at each decision."""

    rise: Steps = 0
    """Steps of the integer by which the minimum rises at each decision."""

    def least(self, x: Expression, of: str) -> Least:
        """The running minimum of ``x``, called ``of``, which features of one signal, unit and rise have in common."""
        return Least(f"{of}_least{self.risen}", f"least {self.signal} so far", x, self.rise)

    @property
    def risen(self) -> str:
        return f"_rise_{self.rise}" if self.rise else ""


class Minimum(_Least):
    """The least value of a signal so far."""

    kind: Literal["minimum"]

    @property
    def name(self) -> str:
        return f"{self.own}_least{self.risen}"

    @property
    def words(self) -> str:
        return f"least {self.signal} so far"

    def expression(self, place: Place) -> Expression:
        return self.least(self.level(place), self.own)


class AboveMinimum(_Least):
    """How far a signal is above its least value so far: of an RTT, the time in queues."""

    kind: Literal["above_minimum"]

    @property
    def name(self) -> str:
        return f"{self.own}_above_least{self.risen}"

    @property
    def words(self) -> str:
        return f"{self.signal} above its least so far"

    @property
    def storage(self) -> str:
        return "int32"

    def expression(self, place: Place) -> Expression:
        x = self.level(place)
        return Difference(x, self.least(x, self.own), self.name, self.words)


class OverMinimum(_Least):
    """A signal over its least value so far, at least 1: Aurora's latency ratio, where the signal is an RTT. Both count
    as 1 where they are less. The integer is the share of the signal that is above the minimum, which has its order."""

    kind: Literal["over_minimum"]
    share_bits: int = Field(default=8, strict=True, ge=1, le=16)
    """Fraction bits of the integer."""

    def unit_in(self, interface: Interface) -> str:
        return "1"

    @property
    def name(self) -> str:
        return f"{self.own}_excess{self.risen}_q{self.share_bits}"

    @property
    def words(self) -> str:
        return f"{self.signal} over its least so far"

    @property
    def storage(self) -> str:
        return "uint16" if self.share_bits < 16 else "uint32"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 2.0**-self.share_bits

    def float_of(self, integer: Floats) -> Floats:
        share = super().float_of(integer)
        most = 1.0 - 2.0**-self.share_bits
        return 1.0 / (1.0 - share.clip(0.0, most))

    def expression(self, place: Place) -> Expression:
        x = AtLeast(self.level(place), 1, f"{self.own}_at_least_one")
        if x.highest << self.share_bits >= 2**32:
            room = 32 - x.highest.bit_length()
            raise ValueError(f"share_bits is {self.share_bits}; {self.signal} in units of {self.unit} leaves {room}")
        return ExcessShare(x, self.least(x, f"{self.own}_at_least_one"), self.share_bits, self.name, self.words)

    def meaning(self) -> str:
        return f"{self.name}: 1 - 1 / ({self.words}), Q{self.share_bits}"


class Maximum(_Carrying):
    """The greatest value of a signal so far; ``fall``: steps of the integer by which it is lowered at each decision."""

    kind: Literal["maximum"]
    fall: Steps = 0
    """Steps of the integer by which the maximum falls at each decision."""

    @property
    def name(self) -> str:
        return f"{self.own}_greatest" + (f"_fall_{self.fall}" if self.fall else "")

    @property
    def words(self) -> str:
        return f"greatest {self.signal} so far"

    def expression(self, place: Place) -> Expression:
        return Greatest(self.name, self.words, self.level(place), self.fall)


class _Whole(Feature):
    """A whole number, as it is."""

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 1.0

    def value(self, integer: int) -> str:
        return f"{self.words} {integer}"

    def meaning(self) -> str:
        return f"{self.name}: {self.words}"

    def physical(self, threshold: int) -> str:
        return f"{self.words} > {threshold}"


class InARow(_Whole):
    """Decisions in a row up to this one in which a signal is above ``above``, at most ``most``."""

    kind: Literal["streak"]
    signal: Named
    """Signal of the event."""
    above: Annotated[int, Field(strict=True, ge=0, lt=2**32)] = 0
    """Value that the signal must exceed, in its unit."""
    most: Annotated[int, Field(strict=True, ge=1, le=MAX_IN_A_ROW)] = 255
    """Highest count."""

    @property
    def exact(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"{self.signal}_streak" + (f"_above_{self.above}" if self.above else "") + f"_of_{self.most}"

    @property
    def words(self) -> str:
        return f"decisions in a row with {self.signal} above {self.above}, at most {self.most}"

    @property
    def storage(self) -> str:
        return "uint16"

    def expression(self, place: Place) -> Expression:
        return Streak(self.name, self.words, place.observed(self.signal), self.above, self.most)


class DecayingCount(_Whole):
    """The sum of a count over all decisions, each 2^-shift smaller than the one after it, at most ``most``."""

    kind: Literal["decaying_count"]
    signal: Named
    """Signal that is counted."""
    shift: Shift
    """Decay: each decision weighs 2^-shift of the one after it."""
    most: Annotated[int, Field(strict=True, ge=1, le=MAX_COUNTED)] = 65535
    """Highest count."""

    @property
    def name(self) -> str:
        return f"{self.signal}_decaying_{1 << self.shift}_of_{self.most}"

    @property
    def words(self) -> str:
        return f"{self.signal} over all decisions, 1/{1 << self.shift} less at each, at most {self.most}"

    @property
    def storage(self) -> str:
        return "uint16" if self.most < 2**16 else "uint32"

    def expression(self, place: Place) -> Expression:
        return Decayed(self.name, f"{self.signal}, decaying", place.observed(self.signal), self.shift, self.most)


class Interval(_OfSignal):
    """The time since the decision before, by a timestamp of the event, which wraps; 0 of a new agent."""

    kind: Literal["interval"]

    def unit_in(self, interface: Interface) -> str:
        own = interface.unit_of(self.signal).partition(",")[0]
        return own if self.unit == 1 else f"{self.unit} {own}"

    @property
    def name(self) -> str:
        return f"{self.signal}_interval" + (f"_q{self.fraction_bits}" if self.fraction_bits else "")

    @property
    def words(self) -> str:
        return f"{self.signal} since the decision before"

    def expression(self, place: Place) -> Expression:
        note = f"{self.signal} of the decision before"
        since = Since(f"{self.signal}_before", note, place.timestamp(self.signal))
        return self.coded(since, self.name, f"in units of {self.unit}")
