"""Where the agents of an interface live in a network, and how the network's numbers stand to theirs.

flow_rate       a flow at its NIC, asked when the response to its RTT probe comes; with any options the same
queue_marking   a queue of a switch port (port x traffic class), asked every period
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from decision.errors import InputError
from decision.in_flight import InFlight, in_flight_program
from decision.interface import Interface
from decision.interfaces.flow_rate import FLOWS
from decision.interfaces.queue_marking import QUEUE_MARKING
from decision.signals import CONTEXT_RATE_BITS, LINE_RATE_Q30, RATE_FRACTION_BITS, U32_MAX, base_rtt_recip_q32
from netsim import _core
from netsim.programs import program_config


@dataclass(frozen=True)
class Site:
    """``knob_shift``: fraction bits that the simulator has beyond the device's, of each knob. ``initial``: the
    parameter that says what is in force in a new agent."""

    kind: "_core.SiteKind"
    knob_shift: tuple[int, ...]
    initial: str | None = None


_FINER = {"rate_q20": CONTEXT_RATE_BITS - RATE_FRACTION_BITS, "in_flight_bytes": 0}
SITES: dict[str, Site] = {
    flow.name: Site(_core.SiteKind.flows, tuple(_FINER[name] for name in flow.knob_names), "rate_initial_q30")
    for flow in FLOWS
} | {
    QUEUE_MARKING.name: Site(_core.SiteKind.queues, (0, 0, 0)),
}


@dataclass(frozen=True)
class Paths:
    """What flows are told of a network that is not the one that their policy was made for: as RL-CC's equation 5 has
    it, each its own base RTT [flows]; and the rate of their NICs."""

    base_rtt_ns: NDArray[np.uint32] = field(repr=False)
    link_gbps: int

    def known(self) -> dict[str, NDArray[np.uint32]]:
        """What a teacher is told of them [flows]."""
        return {"base_rtt_ns": self.base_rtt_ns}

    def params(self, in_flight: InFlight | None = None) -> dict[str, NDArray[np.uint32]]:
        """The operator's parameters that follow [flows]; of a cap of what is in flight, too."""
        each, back = np.unique(self.base_rtt_ns, return_inverse=True)
        of_each: list[dict[str, int]] = [{"base_rtt_recip_q32": base_rtt_recip_q32(int(ns))} for ns in each]
        if in_flight is not None:
            of_each = [
                p | in_flight.params(int(ns), self.link_gbps * 10**9) for p, ns in zip(of_each, each, strict=True)
            ]
        return {name: np.array([p[name] for p in of_each], np.uint32)[back] for name in of_each[0]}


@dataclass(frozen=True)
class Ports:
    """What the queues of switch ports are told: what each port can send in a period [queues]."""

    capacity_bytes: NDArray[np.uint32] = field(repr=False)

    def known(self) -> dict[str, NDArray[np.uint32]]:
        """What a teacher is told of them [queues]."""
        return self.params()

    def params(self, _: InFlight | None = None) -> dict[str, NDArray[np.uint32]]:
        """The operator's parameters that follow [queues]."""
        return {"capacity_bytes": self.capacity_bytes}


def site_of(interface: Interface) -> Site:
    """InputError where agents of this interface live in no network."""
    if interface.name not in SITES:
        raise InputError(f"a simulation has no agents of the interface {interface.name}; it has {', '.join(SITES)}")
    return SITES[interface.name]


def device(interface: Interface, params: Mapping[str, int]) -> "_core.DeviceConfig":
    """The interface and an operator's parameters for integer firmware. InputError names the parameter that is wrong."""
    if set(params) != set(interface.param_names):
        names = ", ".join(interface.param_names)
        raise InputError(f"the parameters must be {names}; got {', '.join(sorted(params)) or 'none'}")
    for name, value in params.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= U32_MAX:
            raise InputError(f"parameter {name} is {value!r}; it must be a whole number that uint32 holds")
    site = site_of(interface)
    initial = -1 if site.initial is None else interface.param_names.index(site.initial)
    if site.initial is not None and not 1 <= params[site.initial] <= 1 << CONTEXT_RATE_BITS:
        raise InputError(f"parameter {site.initial} must be 1 to 2^{CONTEXT_RATE_BITS}")
    if interface.new_phase is not None and site.initial is not None and params[site.initial] > LINE_RATE_Q30:
        raise InputError(f"parameter {site.initial} must be 1 to {LINE_RATE_Q30}, below the bits of a flow's phase")
    values = [int(params[name]) for name in interface.param_names]
    phase = -1 if interface.new_phase is None else interface.new_phase
    follows = None
    if site.initial is not None and len(interface.knobs) > 1:
        follows = program_config(in_flight_program(interface))
    return _core.DeviceConfig(len(interface.event), values, list(site.knob_shift), initial, phase, follows)
