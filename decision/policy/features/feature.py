"""Common interface of the observation features.

A feature is one expression (decision.ir.expression): its float is what a teacher sees, its integer what firmware
computes. Zero is every feature's integer before the first decision, because a zeroed context is a new agent;
``initial`` is the float with the same meaning. ``physical`` translates a threshold back for the reader of the C.
"""

from dataclasses import dataclass

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.strict import Strict
from decision.ir.arrays import Floats
from decision.ir.expression import Elapsed, Expression, InForce, Parameter, Signal
from decision.ir.interface import Interface
from decision.ir.tape import Names, Reading, Tape, TapeBuilder, evaluate


@dataclass(frozen=True)
class Path:
    """Assumptions of a flow's policy about the network: base RTT in ns, line rate in b/s, the largest RTT it tells
    apart."""

    base_rtt_ns: int
    line_rate_bps: float
    rtt_max_ns: int


@dataclass(frozen=True)
class Place:
    """Quantities that can be observed: an interface's signals and parameters, and the knob that its contexts keep.
    ``assumed``: for agents that are flows."""

    interface: Interface
    assumed: Path | None = None

    @property
    def path(self) -> Path:
        """ValueError where nothing is assumed of one."""
        if self.assumed is None:
            raise ValueError("base_rtt, line_rate and rtt_max are needed for features of a flow's path")
        return self.assumed

    def in_force(self, fraction_bits: int) -> Expression:
        """The knob in force. ValueError where contexts keep none."""
        if not self.interface.context:
            raise ValueError(f"agents of {self.interface.name} keep no knob in force")
        return InForce(fraction_bits)

    def source(self, name: str) -> Expression:
        """Returns the expression of this name; raises ValueError if there is none."""
        kept = [field.name for field in self.interface.context]
        spans = {span.name: span for span in self.interface.spans}
        if name in spans:
            return Elapsed(spans[name].later, spans[name].earlier, name)
        if name in self.interface.event_names:
            return Signal(name)
        if name in self.interface.param_names:
            return Parameter(name)
        if name in kept:
            return InForce(0)
        names = ", ".join((*self.interface.event_names, *spans, *self.interface.param_names, *kept))
        raise ValueError(f"agents of {self.interface.name} are not told {name}; they are told {names}")

    def observed(self, name: str) -> Expression:
        """The same of the event alone. ValueError of what a decision sets or an operator tunes: what is carried from
        each decision to the next depends on nothing else."""
        x = self.source(name)
        if not isinstance(x, Signal | Elapsed):
            names = ", ".join((*self.interface.event_names, *(span.name for span in self.interface.spans)))
            raise ValueError(f"{name} is no signal of the event; give one of {names}")
        return x

    def timestamp(self, name: str) -> Signal:
        """A signal that is a point in time. ValueError where it is none."""
        if name not in self.interface.timestamps:
            names = ", ".join(self.interface.timestamps) or "none"
            raise ValueError(f"{name} is no timestamp of {self.interface.name}; its timestamps are {names}")
        return Signal(name)


class Feature(Strict):
    """Base of all kinds."""

    kind: str

    @property
    def name(self) -> str:
        """Name of the integer in the C, with its format."""
        return self.kind

    @property
    def words(self) -> str:
        """Name in a sentence."""
        return self.kind.replace("_", " ")

    def unit_in(self, interface: Interface) -> str:
        """Returns the unit of the value that a policy sees, if ``interface`` has its signals; "1": dimensionless."""
        return "1"

    @property
    def storage(self) -> str:
        """The type that a context keeps a past value in."""
        return "uint32"

    @property
    def decided(self) -> str | None:
        """The value decided before that it looks at, so that its newest is one decision old; None: it looks at now."""
        return None

    @property
    def exact(self) -> bool:
        """Whether the integer is the value itself, not a floor of it."""
        return False

    @property
    def format(self) -> tuple[float, float]:
        """Returns the value of the integer 0, and that of a step."""
        raise NotImplementedError

    @property
    def initial(self) -> float:
        return self._at(0)

    def expression(self, place: Place) -> Expression:
        """ValueError where what it looks at is not there."""
        raise NotImplementedError

    def tape(self, names: Names, place: Place) -> Tape:
        """The float meaning; its only result is the value."""
        t = TapeBuilder(names)
        return t.finish(self.expression(place).floats(t))

    def float_value(self, read: Reading, place: Place) -> Floats:
        """Returns the value that a teacher sees, [N]. InputError of a kind that looks at earlier decisions' signals."""
        tape = self.tape(Names(tuple(read.event), tuple(read.known), tuple(read.decided)), place)
        if tape.kept:
            raise InputError(
                f"the feature {self.kind} needs the decisions before, which are not kept here; leave it out"
            )
        return evaluate(tape, read)[tape.results[0]]

    def float_of(self, integer: Floats) -> Floats:
        """Returns the value that a teacher sees if the firmware computes this integer, [N]. The integer is a floor:
        anything up to ``float_of(integer + 1)`` is possible, and fractions are allowed."""
        origin, step = self.format
        return np.asarray(origin + integer * step, dtype=np.float64)

    def _at(self, integer: int) -> float:
        return float(self.float_of(np.array([float(integer)]))[0])

    def value(self, integer: int) -> str:
        """The integer as a value in physical units."""
        return f"{self.words} {self._at(integer):.4f}"

    def meaning(self) -> str:
        """Returns the meaning of the integer, for the reader of the header."""
        raise NotImplementedError

    def physical(self, threshold: int) -> str:
        """``feature > threshold`` in physical units. The integers are floors: ``k > t`` is ``value >= t + 1`` units."""
        return f"{self.words} >= {self._at(threshold + 1):.4f}"
