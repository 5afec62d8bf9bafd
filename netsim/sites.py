"""Which agents live in a network, and what they are told of it. The agents of an interface live in
netsim/core/NAME_site.hpp."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.formats import U32_MAX
from decision.ir.interface import Interface
from decision.ir.interfaces import INTERFACES
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30, RTT_BITS, RTT_SLACK, base_rtt_recip_q42
from decision.policy.algorithm import Algorithm
from decision.policy.in_flight import InFlight, before_the_first_decision
from decision.policy.nscc import NsccPath
from decision.policy.start import Start
from netsim import _core
from netsim.programs import program_config

SITES = tuple(interface.name for interface in INTERFACES.values() if interface.site_name in _core.sites())
"""The interfaces whose agents a simulation has."""


@dataclass(frozen=True)
class Paths:
    """Knowledge of flows about their network, which need not be the one that their policy was made for: as RL-CC's
    equation 5 has it, each its own base RTT [flows]; and the rate of their NICs.

    ``longest_ns``: the longest base RTT of the network, ns. InputError where a base RTT is longer than any that a
    device can be told."""

    base_rtt_ns: NDArray[np.uint32] = field(repr=False)
    link_gbps: int
    longest_ns: int

    def __post_init__(self) -> None:
        longest_ns = max(self.longest_ns, int(self.base_rtt_ns.max(initial=0)))
        if longest_ns >= 1 << RTT_BITS:
            raise InputError(
                f"network: a base RTT is {longest_ns / 1e6:g} ms, and a policy can be told up to "
                f"{(1 << RTT_BITS) / 1e6:.3g} ms; lower base_rtt_ps, or take a baseline"
            )

    def known(self, interface: Interface) -> dict[str, NDArray[np.uint32]]:
        """Returns what a teacher knows of them [flows]: with a slack the base RTT is the network's longest."""
        if RTT_SLACK not in interface.param_names:
            return {"base_rtt_ns": self.base_rtt_ns}
        longest = np.full_like(self.base_rtt_ns, self.longest_ns)
        return {"base_rtt_ns": longest, RTT_SLACK: longest - self.base_rtt_ns}

    def places(self, interface: Interface) -> dict[str, NDArray[np.uint32]]:
        """Returns what a teacher and a student know of them, to read records by (decision.policy.records) [flows]."""
        return self.known(interface) | self.params(interface)

    def params(
        self, interface: Interface, in_flight: InFlight | None = None, start: Start | None = None
    ) -> dict[str, NDArray[np.uint32]]:
        """The operator's parameters that follow [flows]; of a cap of what is in flight and of a start's delays, too."""
        each, back = np.unique(self.base_rtt_ns, return_inverse=True)
        of_each: list[dict[str, int]] = [{"base_rtt_recip_q42": base_rtt_recip_q42(int(ns))} for ns in each]
        if RTT_SLACK in interface.param_names:
            recip = base_rtt_recip_q42(self.longest_ns)
            of_each = [{"base_rtt_recip_q42": recip, RTT_SLACK: self.longest_ns - int(ns)} for ns in each]
        if in_flight is not None:
            of_each = [
                p | in_flight.params(int(ns), self.link_gbps * 10**9) for p, ns in zip(of_each, each, strict=True)
            ]
        if start is not None:
            unit_ns = np.full_like(each, self.longest_ns) if RTT_SLACK in interface.param_names else each
            of_each = [p | start.delays(int(ns)) for p, ns in zip(of_each, unit_ns, strict=True)]
        return {name: np.array([p[name] for p in of_each], np.uint32)[back] for name in of_each[0]}


@dataclass(frozen=True)
class WindowPaths:
    """Knowledge of flows with windows about their network: payload of a packet in bytes and RTT of a full packet and
    its ACK in the empty network [flows]; rate of the NICs; base RTT of the network's longest path."""

    mtu_bytes: NDArray[np.uint32] = field(repr=False)
    path_rtt_ns: NDArray[np.uint32] = field(repr=False)
    link_gbps: int
    network_rtt_ns: int

    def known(self, interface: Interface | None = None) -> dict[str, NDArray[np.uint32]]:
        """Returns what the network says of each [flows]."""
        return {"mtu_bytes": self.mtu_bytes, "path_rtt_ns": self.path_rtt_ns}

    def of(self, interface: Interface) -> "Paths | WindowPaths":
        """Returns the same as flows know it whose window is by a rate."""
        return self if interface.initial is None else Paths(self.path_rtt_ns, self.link_gbps, self.network_rtt_ns)

    def params(self, algorithm: Algorithm | None) -> dict[str, NDArray[np.uint32]]:
        """The operator's parameters that follow [flows]; of a hand-written algorithm all. InputError where one is out
        of its range."""
        if algorithm is None:
            return self.known()
        each, back = np.unique(np.stack([self.mtu_bytes, self.path_rtt_ns]), axis=1, return_inverse=True)
        line_rate = self.link_gbps * 10**9
        of_each = [algorithm.params(NsccPath(int(m), line_rate, int(ns), self.network_rtt_ns)) for m, ns in each.T]
        return {name: np.array([p[name] for p in of_each], np.uint32)[back.ravel()] for name in of_each[0]}


@dataclass(frozen=True)
class SiteFacts:
    """Knowledge of agents that are no flows about a network: how many they are, and the operator's parameters that it
    says, by their names [agents]."""

    agents: int
    values: Mapping[str, NDArray[np.uint32]] = field(repr=False)

    def known(self, interface: Interface | None = None) -> Mapping[str, NDArray[np.uint32]]:
        """Returns what a teacher knows of them [agents]."""
        return self.values


def has_agents(interface: Interface) -> None:
    """InputError where agents of this interface live in no network."""
    if interface.name not in SITES:
        raise InputError(f"a simulation has no agents of the interface {interface.name}; it has {', '.join(SITES)}")


def device(interface: Interface, params: Mapping[str, int], once_per_rtt: bool = False) -> "_core.DeviceConfig":
    """Returns the interface and an operator's parameters for integer firmware.

    ``once_per_rtt``: nothing is decided on a late answer. Raises InputError, which names the wrong parameter.
    """
    if set(params) != set(interface.param_names):
        names = ", ".join(interface.param_names)
        raise InputError(f"the parameters must be {names}; got {', '.join(sorted(params)) or 'none'}")
    for name, value in params.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= U32_MAX:
            raise InputError(f"parameter {name} is {value!r}; it must be a whole number that uint32 holds")
    has_agents(interface)
    first = interface.initial
    if first is not None and not 1 <= params[first] <= LINE_RATE_Q30:
        raise InputError(f"parameter {first} must be 1 to {LINE_RATE_Q30}: of more the context keeps 30 bits")
    initial = -1 if first is None else interface.param_names.index(first)
    values = [int(params[name]) for name in interface.param_names]
    phase = -1 if interface.new_phase is None else interface.new_phase
    first_knobs = before_the_first_decision(interface)
    follows = None if first_knobs is None else program_config(first_knobs)
    finer = [knob.finer for knob in interface.knobs]
    return _core.DeviceConfig(len(interface.event), values, finer, initial, phase, follows, once_per_rtt)
