"""Deciders of a network besides its flows: agents at other places, each kind under one decider.

    marking = Cohort(policies.compiled(library, params, interface=QUEUE_MARKING), period_ps=100 * US)
    Simulation("many-to-one:64", baselines.by_name("dcqcn"), seed=1, cohorts=[marking])

The agents are those of the decider's interface. Every period all of them are looked at, and each is asked; with
``level`` only those whose signal has crossed it since the last look, with ``idle`` only those that are busy ([ACC]
section 4.2). A decision takes effect ``latency_ps`` later, or when one of the device's ``engines`` has got to it. A
``Wire`` makes a knob of one cohort a parameter of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.formats import U32_MAX
from decision.ir.interface import PHASE_SHIFT, TRIGGERED, Interface
from decision.policy.records import ACTION, MAKER
from netsim import _core
from netsim.engines import Engines
from netsim.network import LATEST_PS
from netsim.policies import PolicySpec, interface_of
from netsim.sites import SiteFacts

Records = dict[str, NDArray[Any]]
Configs = tuple["_core.NetworkConfig", "_core.FabricConfig", "_core.ScenarioConfig"]
"""A network for the core."""
MAX_COHORTS = 63  # beside the flows'
MAX_LOOKS = 1_000_000
"""In a row, before an agent is idle."""


@dataclass(frozen=True)
class Cohort:
    """``level``: (signal of the interface, value); see above. ``idle``: (signal, knob in force, looks): an agent that
    was asked before, and whose signal has not exceeded the knob at so many looks in a row, is idle until it does.
    ``quiet_ps``: what an engine takes in place of ``latency_ps`` where the decider's trigger does not fire. InputError
    where these do not go together."""

    decider: PolicySpec
    period_ps: int
    latency_ps: int = 0
    engines: Engines | None = None
    level: tuple[str, int] | None = None
    idle: tuple[str, str, int] | None = None
    quiet_ps: int | None = None

    def __post_init__(self) -> None:
        whole_ps("period_ps", self.period_ps, 1)
        whole_ps("latency_ps", self.latency_ps)
        interface = self.interface
        if self.quiet_ps is not None:
            whole_ps("quiet_ps", self.quiet_ps)
            if self.engines is None or TRIGGERED not in interface.knobs:
                raise InputError(
                    "quiet_ps is what an engine takes where a trigger does not fire; give engines and a decider with "
                    f"a trigger: this one is of {interface.name}"
                )
        if interface.trigger != "period":
            raise InputError(
                f"agents of {interface.name} are asked on a {interface.trigger}, not every period: they are the "
                "simulation's own, give their decider as its policy"
            )
        if self.level is not None:
            signal, value = self.level
            if signal not in interface.event_names or not 0 <= value <= U32_MAX:
                raise InputError(
                    f"level is {self.level!r}; give one of {', '.join(interface.event_names)} and a uint32 value"
                )
        if self.idle is not None:
            check_idle(interface, *self.idle)

    @property
    def interface(self) -> Interface:
        return interface_of(self.decider)

    def build(self, configs: "Configs") -> tuple["_core.CohortSpec", "End"]:
        """The cohort for the core, and how wires see it."""
        interface = self.interface
        told = facts_of_site(interface, configs, self.period_ps)
        decider = self.decider.build(told.agents, told)
        shape = len(interface.event), len(interface.knobs)
        core = _core.CohortSpec(interface.site_name, *shape, decider, self.latency_ps, self.period_ps)
        if self.engines is not None:
            self.engines.set(core)
        if self.quiet_ps is not None:
            core.set_quiet(interface.knobs.index(TRIGGERED), self.quiet_ps)
        if self.level is not None:
            core.set_level(interface.event_names.index(self.level[0]), self.level[1])
        if self.idle is not None:
            signal, knob, looks = self.idle
            core.set_idle(interface.event_names.index(signal), interface.knob_names.index(knob), looks)
        return core, End(self.interface, decider, told.agents)


@dataclass(frozen=True)
class End:
    """A cohort as wires see it; ``decider``: a ``_core.Decider``, or None where no decider sets its knobs."""

    interface: Interface
    decider: Any
    agents: int

    @property
    def knobs(self) -> tuple[str, ...]:
        return () if self.decider is None else self.interface.knob_names

    @property
    def params(self) -> tuple[str, ...]:
        """None of a network's or a fixed setting's."""
        return self.interface.param_names if hasattr(self.decider, "set_param") else ()


@dataclass(frozen=True)
class Wire:
    """A knob of one cohort that is an operator's parameter of another, as one level of control sets the next ([HAECN]).

    Cohorts are numbered as in records: 0 the flows', then those beside them. When a decision of ``source`` takes effect
    the parameter of the agent with the same number becomes what the knob was set to, in the knob's own unit, at the
    most and at the least what an operator may set; where ``source`` has one agent only, that of every agent.
    """

    source: int
    knob: str
    target: int
    param: str

    def build(self, ends: Sequence[End]) -> "_core.WireSpec":
        """The wire for the core, between two of ``ends``. InputError where it joins nothing."""
        for number in (self.source, self.target):
            if not 0 <= number < len(ends):
                raise InputError(f"{self}: there is no cohort {number}; the simulation has {len(ends)}, from 0 on")
        if self.source == self.target:
            raise InputError(f"{self}: a wire joins two cohorts; name another target")
        source, target = ends[self.source], ends[self.target]
        if self.knob not in source.knobs:
            raise InputError(f"{self}: its source sets {', '.join(source.knobs) or 'nothing'}; name one of these knobs")
        if self.param not in target.params:
            raise InputError(
                f"{self}: its target reads {', '.join(target.params) or 'no parameter'}; name one of these"
            )
        if source.agents > 1 and source.interface.agent != target.interface.agent:
            raise InputError(
                f"{self}: {source.agents} agents of kind {source.interface.agent} cannot stand for those of kind "
                f"{target.interface.agent}; join agents of one kind, or one agent with all"
            )
        knob, param = source.knobs.index(self.knob), target.params.index(self.param)
        signal = target.interface.params[param]
        least, most = signal.settable or signal.range
        return _core.WireSpec(self.source, knob, source.interface.knobs[knob].finer, self.target, param, least, most)

    def __str__(self) -> str:
        return f"the wire from {self.knob} of cohort {self.source} to {self.param} of cohort {self.target}"


def facts_of_site(interface: Interface, configs: "Configs", period_ps: int) -> SiteFacts:
    """Returns what the interface's agents in a network know of it. InputError where they cannot live there."""
    try:
        return SiteFacts(*_core.site_facts(interface.site_name, *configs, period_ps))
    except ValueError as error:
        raise InputError(f"agents of {interface.name} cannot live in this network: {error}") from None


def named(columns: Mapping[str, Any], interface: Interface) -> Records:
    """Records as the core has them, by the names of their interface: an agent whose context keeps the knob in force has
    that, the action and the knobs that follow (columns: decision.policy.records), any other the knobs that were set.
    If it stores a phase too: its phase before the decision, and who made the step."""
    event = dict(zip(interface.event_names, columns["event"], strict=True))
    records = {"t_ps": columns["t_ps"], interface.agent: columns["agent"], "step": columns["step"], **event}
    if not interface.context:
        return records | dict(zip(interface.knob_names, columns["knobs"], strict=True))
    kept, before = interface.context[0].name, columns["before"]
    records |= {kept: before, ACTION: columns["action"], "output": columns["output"]}
    records |= dict(zip(interface.knob_names[1:], columns["knobs"][1:], strict=True))
    if interface.new_phase is None:
        return records
    phase = (before >> PHASE_SHIFT).astype(np.uint8)
    return records | {kept: before & np.uint32((1 << PHASE_SHIFT) - 1), "phase": phase, MAKER: columns["maker"]}


def check_idle(interface: Interface, signal: str, knob: str, looks: int) -> None:
    """InputError where an agent of this interface cannot be idle by that."""
    units = {s.name: s.unit for s in interface.event}
    comparable = [(s, k.name) for s in units for k in interface.knobs if k.unit == units[s]]
    if (signal, knob) not in comparable:
        pairs = ", ".join(f"{s} and {k}" for s, k in comparable) or f"agents of {interface.name} have none"
        raise InputError(f"idle is by {signal} and {knob}; give a signal and a knob of its unit: {pairs}")
    if isinstance(looks, bool) or not isinstance(looks, int) or not 1 <= looks <= MAX_LOOKS:
        raise InputError(f"idle after {looks!r} looks is not possible; give 1 to {MAX_LOOKS}")


def whole_ps(name: str, value: object, least: int = 0) -> int:
    """A time in whole picoseconds, up to 100 s."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"the {name} is {value!r}; give whole picoseconds")
    if not least <= value <= LATEST_PS:
        raise InputError(f"the {name} is {value} ps; it must be {least} to 100 s")
    return int(value)
