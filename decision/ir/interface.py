"""Inputs and outputs of an agent's decision: an interface is data.

    event (signals) + params (signals) + context (the agent's memory)  ->  knobs + context

An interface says nothing of how a decision is made (that is a decider's) nor of how its agents live in a network (that
is a site's). Structs, headers, test vectors, argument blocks and records are laid out from it; nothing else knows its
fields by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

STORAGE_RANGE = {
    "uint32": (0, 2**32 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint16": (0, 2**16 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint8": (0, 2**8 - 1),
    "int8": (-(2**7), 2**7 - 1),
}
"""What a field of a structure can hold, by its storage type."""

STORAGE_BYTES = {"uint32": 4, "int32": 4, "uint16": 2, "int16": 2, "uint8": 1, "int8": 1}

GROUPS = ("context", "event", "params", "action")
"""The structures of a decision in the order of its arguments: the agent's memory, what happened, what the operator may
tune, and the knobs where there are several. The first half of the keys of vectors, manifests and certificates."""

PHASE_SHIFT = 30
"""Bits of a context's first field below the phase, where it holds one."""

AgentKind = Literal["flow", "queue", "host", "network", "none"]
TriggerKind = Literal["response", "period", "level", "call"]


@dataclass(frozen=True)
class Uniform:
    """Whole numbers, each as likely: ``low <= value <= high``."""

    low: int
    high: int


@dataclass(frozen=True)
class LogUniform:
    """Each octave as likely, ``low <= value < high``, moved down by ``less`` afterwards (so that 0 can be among them).
    ``zero``: how often it is 0 instead."""

    low: float
    high: float
    less: int = 0
    zero: float = 0.0


@dataclass(frozen=True)
class Geometric:
    """How often something rare happened: 0 with ``probability``, each further one by the odds left."""

    probability: float


@dataclass(frozen=True)
class After:
    """A wrapping timestamp that lies ``delay`` after another signal of the same structure."""

    signal: str
    delay: LogUniform


Plausible = Uniform | LogUniform | Geometric | After


@dataclass(frozen=True)
class Signal:
    """One integer that a decision is given. Any value of its storage may come; ``plausible``: what a network shows.

    ``grows``: raw values ``low..high`` over which the features that look at it grow with it (for a timestamp that is
    ``After`` another: the time between them); None where no feature is moved by it alone. ``beside``: values of other
    signals ("event.x", "context.x") between which a step of this one is coarse and fine: vectors that move this one are
    tried among them. ``levels``: values over its whole range that vectors for the clamps are tried among.
    """

    name: str
    unit: str
    meaning: str
    plausible: Plausible | None = None
    """None: a parameter, which vectors leave at the decider's own value."""
    storage: str = "uint32"
    grows: tuple[int, int] | None = None
    beside: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    levels: tuple[int, ...] = ()
    factors: tuple[int, ...] = ()
    """Values that make a shift of a product with it, or nearly: with these a solver finds slow inputs."""
    settable: tuple[int, int] | None = None
    """Of a parameter: what an operator may set."""

    @property
    def range(self) -> tuple[int, int]:
        return STORAGE_RANGE[self.storage]

    @property
    def plausible_range(self) -> tuple[int, int]:
        """Returns the declared range, if values between two are declared; else the storage's."""
        return (self.plausible.low, self.plausible.high) if isinstance(self.plausible, Uniform) else self.range


@dataclass(frozen=True)
class Span:
    """The time from one timestamp of the event to another, which features name like a signal. Both wrap at 2^32."""

    name: str
    unit: str
    meaning: str
    later: str
    earlier: str


@dataclass(frozen=True)
class Knob:
    """One integer that a decision sets. ``low..high``: what the device takes. ``not_below``: a knob before it that must
    not be greater. ``finer``: fraction bits beyond these that the context and the network keep of it. ``tells``: it
    says something of the decision itself, and no action map sets it; those stand last."""

    name: str
    unit: str
    meaning: str
    low: int
    high: int
    storage: str = "uint32"
    not_below: str | None = None
    finer: int = 0
    tells: bool = False


TRIGGERED = Knob("triggered", "0 or 1", "whether the knobs were chosen anew, or stay", 0, 1, tells=True)


@dataclass(frozen=True)
class Interface:
    """The structures of one kind of decision. ``context``: fields that every decider of it remembers, before its own
    (a knob in force); a context that is all zero is a new agent's. ``mixes``: groups of signals that are independent of
    each other; vectors that are exact in one feature meet those of another by shuffling the groups. ``new_phase``: of a
    new agent, where the first field of the context holds a phase above the ``PHASE_SHIFT`` bits of its knob in force;
    None where it holds the knob alone; ``phases``: their names and numbers. ``initial``: the parameter that says what
    is in force in a new agent. ``spans``: times between timestamps of the event. ``site``: where its agents live in a
    network (netsim/core/SITE_site.cpp); None: at the site of its own name."""

    name: str
    agent: AgentKind
    trigger: TriggerKind
    event: tuple[Signal, ...]
    params: tuple[Signal, ...]
    knobs: tuple[Knob, ...]
    context: tuple[Signal, ...] = ()
    mixes: tuple[tuple[tuple[str, ...], ...], ...] = ()
    new_phase: int | None = None
    phases: tuple[tuple[str, int], ...] = ()
    initial: str | None = None
    site: str | None = None
    spans: tuple[Span, ...] = ()

    @property
    def site_name(self) -> str:
        return self.site or self.name

    @property
    def event_names(self) -> tuple[str, ...]:
        return tuple(signal.name for signal in self.event)

    @property
    def param_names(self) -> tuple[str, ...]:
        return tuple(signal.name for signal in self.params)

    @property
    def knob_names(self) -> tuple[str, ...]:
        return tuple(knob.name for knob in self.knobs)

    @property
    def mapped_names(self) -> tuple[str, ...]:
        """Returns the names of the knobs that an action map sets."""
        return tuple(knob.name for knob in self.knobs if not knob.tells)

    def signals(self) -> dict[str, Signal]:
        """Returns the signals by their keys in vectors and certificates; those of the context first, parameters
        last."""
        groups = (("context", self.context), ("event", self.event), ("params", self.params))
        return {f"{group}.{signal.name}": signal for group, signals in groups for signal in signals}

    @property
    def timestamps(self) -> tuple[str, ...]:
        """The signals of the event that are points in time, and wrap."""
        return tuple(dict.fromkeys(name for span in self.spans for name in (span.earlier, span.later)))

    def unit_of(self, name: str) -> str:
        """Returns the unit of a signal, a span or a knob. KeyError where there is none of them."""
        units = {signal.name: signal.unit for signal in self.signals().values()}
        units |= {span.name: span.unit for span in self.spans}
        return (units | {knob.name: knob.unit for knob in self.knobs})[name]

    def since(self, key: str) -> str | None:
        """The key of the timestamp that a signal comes after; None where it is none that does."""
        values = self.signals()[key].plausible
        return f"event.{values.signal}" if isinstance(values, After) else None
