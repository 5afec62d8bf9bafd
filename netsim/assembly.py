"""From a network, a scenario and whoever steers its flows to the simulator's core."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.formats import U32_MAX
from decision.ir.interface import Interface
from decision.ir.interfaces.flow_rate import ACKED, CONTEXT_RATE_BITS, FLOW_RATE
from decision.ir.interfaces.flow_window import FLOW_WINDOW
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.policy.bursts import Bursts
from decision.policy.in_flight import InFlight
from decision.policy.probes import Probes
from netsim import _core, topology
from netsim.baselines import BaselineSpec, MaxMinSpec, NetworkFacts, absolute
from netsim.cohorts import MAX_COHORTS, Cohort, Configs, End, Wire, facts_of_site, whole_ps
from netsim.engines import Engines
from netsim.failures import changes
from netsim.mixes import Mix, Steering, parts_of
from netsim.network import LATEST_PS, MS, NS, SELECTIVE_REPEAT, Network
from netsim.policies import (
    DeciderPolicy,
    NativePolicy,
    has_windows,
    header_of,
    interface_of,
    like_baseline,
)
from netsim.scenarios import Scenario
from netsim.sites import Paths, SiteFacts, WindowPaths
from netsim.splitmix import keys
from netsim.topology import RECEIVER, Topology

MOVING = "spray, entropy_values and failures"
"""Keys of networks where a flow has several paths."""

ECMP_STREAM = 1 << 16
"""Of the seed's random numbers; workloads draw from the lower ones."""

HELD_UP_TIMEOUT_PS = 100 * MS
"""For an ACK where a pause, or a class that goes first, may hold a packet up for ever."""


def place(scenario: Scenario, network: Network) -> tuple[Topology, Network]:
    """Returns the network of a scenario: its fabric or one switch, and the network with the rate of the fabric's
    NICs."""
    if scenario.topology is None:
        return topology.star(scenario.hosts, scenario.receivers, network), network
    return scenario.topology, replace(network, link_gbps=scenario.topology.host_gbps)


def scaled(spec: Steering | Mix | None, fabric: Topology, net: Network) -> Steering | Mix | None:
    """Returns who steers the flows with what scales in a baseline at this network's line rate, base RTT and buffer."""
    if isinstance(spec, Mix):
        return replace(
            spec, parts=tuple(replace(part, policy=_scaled(part.policy, fabric, net)) for part in spec.parts)
        )
    return None if spec is None else _scaled(spec, fabric, net)


def _scaled(spec: Steering, fabric: Topology, net: Network) -> Steering:
    if not isinstance(spec, BaselineSpec):
        return spec
    return spec.at(_facts(fabric, net))


def _facts(fabric: Topology, net: Network) -> NetworkFacts:
    return NetworkFacts(net.link_gbps, fabric.base_rtt_ps, net.buffer_bytes)


def build(
    scenario: Scenario,
    network: Network,
    spec: Steering | Mix | None,
    *,
    initial_rate: float,
    seed: int,
    decision_latency_ps: int,
    engines: Engines | None = None,
    cohorts: Sequence[Cohort] = (),
    wires: Sequence[Wire] = (),
    starts_q30: NDArray[np.uint32] | None = None,
    outside: Interface = FLOW_RATE,
    initial_in_flight: NDArray[np.uint32] | None = None,
) -> tuple["_core.Simulator", list[Any]]:
    """A simulator and what decides at its flows: a ``_core.Decider``, a ``_core.Baseline``, or None for decisions from
    outside and for the ideal allocator, one a part of a mix; then each cohort's ``_core.Decider``. ``outside``: the
    interface of decisions from outside; ``initial_in_flight``: where they cap what is in flight too, each new flow's
    bytes [flows]."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise InputError(f"the seed is {seed!r}; it must be a whole number from 0 to 2^63 - 1")
    latency_ps = whole_ps("decision latency", decision_latency_ps) + network.actuation_ps
    if engines is not None and isinstance(spec, Mix):
        raise InputError("engines are one policy's; the parts of a mix share none, leave engines out")
    if engines is not None and (spec is None or isinstance(spec, BaselineSpec)):
        raise InputError("engines run policies; baselines and decisions from outside wait for none, leave engines out")
    if len(cohorts) > MAX_COHORTS:
        raise InputError(f"{len(cohorts)} cohorts are too many; {MAX_COHORTS} are possible beside the flows")
    if network.decision_late > 0 and (engines is not None or any(isinstance(s, DeciderPolicy) for s in parts_of(spec))):
        raise InputError("decisions that wait for an engine are late by themselves; leave decision_late out")
    check(scenario, network, spec)
    if starts_q30 is not None:
        check_starts(starts_q30, scenario, spec)
    fabric, net = place(scenario, network)
    spec = scaled(spec, fabric, net)
    asked, net = net, fitted(net, spec, fabric)
    agents = len(scenario.flows)
    capped = [] if initial_in_flight is None else initial_in_flight.tolist()
    latencies = [p.latency_ps for p in spec.parts] if isinstance(spec, Mix) else [None]
    at_flows: list[Any] = []
    steering: list[Any] = []
    flow_ends: list[End] = []
    core = network_config(net, fabric)
    flows_config = _scenario(scenario, fabric, net, int(seed), spec if isinstance(spec, Mix) else None)
    configs = (core, _fabric(fabric, asked), flows_config)
    for part, own_ps in zip(parts_of(spec), latencies, strict=True):
        decider: Any = None
        baseline: Any = None
        if isinstance(part, BaselineSpec):
            baseline = part.build(agents, net.link_gbps)
        elif part is not None:
            windows = _window_paths(configs, fabric, net) if has_windows(part) else None
            where = windows.of(interface_of(part)) if windows else paths(scenario, fabric, net)
            decider = part.build(agents, where)
            if starts_q30 is not None:
                decider.set_initial(starts_q30)
        steered = outside if part is None else flows_interface(part)
        takes_ps = latency_ps if own_ps is None else own_ps + network.actuation_ps
        flows = _core.CohortSpec(steered.site_name, len(steered.event), len(steered.knobs), decider, takes_ps)
        flows.set_steering(baseline, isinstance(part, BaselineSpec) and baseline is None, initial_rate, capped)
        if engines is not None:
            engines.set(flows)
        at_flows.append(flows)
        steering.append(decider if baseline is None else baseline)
        flow_ends.append(End(steered, decider, agents))
    core.set_ends([ends(asked, part, outside, fabric) for part in parts_of(spec)])
    # A FIFO marks a packet that leaves only when it has arrived; thresholds that change meanwhile must not.
    core.scheduled_ports |= net.mark_at_dequeue and len(cohorts) > 0
    built = [cohort.build(configs) for cohort in cohorts]
    if scenario.jobs is not None and scenario.jobs.keeps_contexts:
        refuse_long_flows(scenario.name, [end for _, end in built])
    specs = [*at_flows, *(spec for spec, _ in built)]
    joined = [wire.build([*flow_ends, *(end for _, end in built)]) for wire in wires]
    try:
        simulator = _core.Simulator(*configs, specs, joined, int(seed))
    except ValueError as error:
        raise InputError(f"scenario {scenario.name}: {error}") from None
    for number, port in enumerate(fabric.ports):
        if port.gbps != net.link_gbps:
            simulator.set_red(number, *marking_at(port.gbps, net))
    if isinstance(spec, Mix):
        mark_classes(simulator, spec, asked, fabric)
    return simulator, [*steering, *(end.decider for _, end in built)]


def mark_classes(simulator: "_core.Simulator", mix: Mix, network: Network, fabric: Topology) -> None:
    """Each class's queues mark as who is in it wants."""
    for klass in range(1, len(network.class_weights)):
        net = fitted(network, mix.marking(klass), fabric)
        for number, port in enumerate(fabric.ports):
            simulator.set_red_of(number, klass, *marking_at(port.gbps, net))


def marking_at(gbps: float, net: Network) -> tuple[int, int, float]:
    """From where on, up to where and how likely a port of such a rate marks: as deep as the network's in time."""
    scale = gbps / net.link_gbps
    return round(net.ecn_min_bytes * scale), round(net.ecn_max_bytes * scale), net.ecn_max_probability


def ends(network: Network, spec: Steering | None, outside: Interface, fabric: Topology) -> "_core.Ends":
    """Returns what the ends of flows do in a network, as their policy or baseline wants it.

    Each packet is acknowledged for a policy that is told what was acknowledged. ``outside``: interface of decisions
    from outside.
    """
    net = fitted(network, spec, fabric)
    core = _core.Ends()
    core.burst_packets = net.burst_packets
    core.cnp_interval_ps = net.cnp_interval_ps
    core.probe_after_bytes = net.probe_after_bytes
    core.probe_latest_ps = LATEST_PS if net.probe_latest_ps is None else net.probe_latest_ps
    core.probe_first = net.probe_first
    core.selective_repeat = net.selective_repeat
    header = header_of(spec)
    core.first_window_bytes = first_window(None if header is None else header.in_flight, fabric)
    core.probe_a_context = net.probe_a_context and header is not None and header.once_per_rtt
    core.ack_each_packet = ACKED in (outside if spec is None else flows_interface(spec)).event_names
    like = like_baseline(spec)
    if like is not None:
        core.ack_each_packet = like.acknowledge == "packet"
        core.telemetry = like.needs_int
        core.selective_repeat |= like.transport == SELECTIVE_REPEAT
        core.send_cnps = like.cnp_interval_ps is not None
    return core


def refuse_long_flows(name: str, ends: Sequence[End]) -> None:
    """InputError where agents are long flows, which are told apart by their ages, and flows go on after a message."""
    if any(end.interface.site_name == LONG_FLOW.site_name for end in ends):
        raise InputError(f"scenario {name}: with one-qp flows have no age, by which long flows go; leave :one-qp out")


def check_starts(starts_q30: NDArray[np.uint32], scenario: Scenario, spec: Steering | Mix | None) -> None:
    """InputError where these are not the first rates of the scenario's flows, or nobody goes on from them."""
    if not isinstance(spec, NativePolicy):
        raise InputError("first rates of their own are for native policies; others start as their parameters say")
    fits = starts_q30.dtype == np.uint32 and starts_q30.shape == (len(scenario.flows),)
    if not fits or not 1 <= starts_q30.min() <= starts_q30.max() <= 1 << CONTEXT_RATE_BITS:
        raise InputError(f"first rates are {len(scenario.flows)} uint32, one a flow, from 1 to 2^{CONTEXT_RATE_BITS}")


def flows_interface(spec: Steering) -> Interface:
    """Returns the interface of what steers the flows; a baseline's decisions would be those of the usual one."""
    return FLOW_RATE if isinstance(spec, BaselineSpec) else interface_of(spec)


def paths(scenario: Scenario, fabric: Topology, net: Network) -> Paths:
    """Returns what its flows know of their place in the network; one switch gives it as a fabric does. InputError where
    a base RTT is longer than any that a device can be told."""
    rtts_ns = np.rint(fabric.base_rtts_ps(scenario.column("host"), scenario.column("receiver")) / NS)
    longest_ns = int(max(rtts_ns.max(initial=0), np.rint(fabric.base_rtt_ps / NS)))
    return Paths(rtts_ns.astype(np.uint32), net.link_gbps, longest_ns)


def windows_in(scenario: Scenario, fabric: Topology, net: Network, seed: int) -> WindowPaths:
    """Returns what the scenario's flows with windows know of their place in the network."""
    return _window_paths(
        (network_config(net, fabric), _fabric(fabric), _scenario(scenario, fabric, net, seed)), fabric, net
    )


def paths_of(interface: Interface, scenario: Scenario, fabric: Topology, net: Network, seed: int) -> Paths:
    """Returns what flows know whose decider scales a rate, whether they ask for their RTT or have a window."""
    if interface.site_name != FLOW_WINDOW.name:
        return paths(scenario, fabric, net)
    own = windows_in(scenario, fabric, net, seed).of(interface)
    assert isinstance(own, Paths)
    return own


def _window_paths(configs: Configs, fabric: Topology, net: Network) -> WindowPaths:
    values = facts_of_site(FLOW_WINDOW, configs, 0).values
    return WindowPaths(values["mtu_bytes"], values["path_rtt_ns"], net.link_gbps, round(fabric.base_rtt_ps / NS))


def check(scenario: Scenario, network: Network, spec: Steering | Mix | None) -> None:
    """InputError where these do not go together."""
    if isinstance(spec, Mix):
        _check_mix(network, spec)
    for part in parts_of(spec):
        _check_steering(network, part)
    if not isinstance(spec, BaselineSpec):
        check_contexts(scenario, network)
    fabric, net = place(scenario, network)
    for failure in network.failures:
        fabric.link_ports(failure.link)
    headroom = headroom_bytes(net, fabric)
    if headroom >= net.buffer_bytes:
        raise InputError(
            f"network: a lossless switch of {fabric.name} needs {headroom} bytes of headroom and reserves, and "
            f"buffer_bytes is {net.buffer_bytes}; raise it"
        )


def check_contexts(scenario: Scenario, network: Network) -> None:
    """InputError where the flows that a host has all the time do not fill its contexts."""
    if network.context_flows == 1 or scenario.finite:
        return
    of_host = np.bincount(scenario.column("host"))
    ragged = of_host[(of_host > network.context_flows) & (of_host % network.context_flows > 0)]
    if ragged.size:
        raise InputError(
            f"scenario {scenario.name}: {network.context_flows} flows share a context, which does not divide the "
            f"{ragged[0]} flows of a host; take a scenario or a number of them that does"
        )


def _check_mix(network: Network, mix: Mix) -> None:
    if network.context_flows > 1:
        raise InputError(
            "network: contexts are shared by the flows of one policy; set context_flows to 1 where there is a mix"
        )
    if network.device_limit_for_ps > 0:
        raise InputError("network: device_limit cuts what one policy sets; leave it out where there is a mix")
    highest = max(part.klass or 0 for part in mix.parts)
    if highest >= len(network.class_weights):
        raise InputError(f"a mix with flows of class {highest}: give the network {highest + 1} class_weights")
    if network.class_by != "flow" and any(part.klass is not None for part in mix.parts):
        raise InputError(f'a mix that says its classes, and class_by = "{network.class_by}", which says others')


def _check_steering(network: Network, spec: Steering | None) -> None:
    moving = network.spreads or len(network.failures) > 0
    if moving and isinstance(spec, BaselineSpec) and spec.needs_int:
        raise InputError(f"the baseline {spec.name} reads the hops of one path (INT); leave {MOVING} out")
    if moving and isinstance(spec, MaxMinSpec):
        raise InputError(f"the shares of {spec.name} are of fixed paths; leave {MOVING} out")
    if spec is not None and not isinstance(spec, BaselineSpec) and interface_of(spec).agent != FLOW_RATE.agent:
        raise InputError(f"agents of {interface_of(spec).name} are no flows; give their decider in a cohort")
    if spec is not None and spec.needs_int and not network.telemetry:
        who = f"the baseline {spec.name}" if isinstance(spec, BaselineSpec) else "the policy"
        raise InputError(f"{who} reads queue lengths (INT), and the network has no telemetry; set telemetry = true")
    of_its_own = spec.transport if isinstance(spec, BaselineSpec) else None
    if network.trim_bytes > 0 and not network.selective_repeat and of_its_own != SELECTIVE_REPEAT:
        raise InputError(f'network: trim asks senders to repeat single packets; set transport = "{SELECTIVE_REPEAT}"')
    if has_windows(spec) and (network.context_flows > 1 or network.device_limit_for_ps > 0):
        raise InputError("network: a flow with a window has a context and a rate of its own; leave the device out")
    if network.context_flows > 1 and spec is None:
        raise InputError(
            "network: decisions from outside have no context to share; set context_flows to 1, or take a policy"
        )
    if network.device_limit_for_ps > 0 and isinstance(spec, BaselineSpec):
        raise InputError(f"network: device_limit cuts what a policy sets, and {spec.name} is a baseline; leave it out")


def fitted(network: Network, spec: Steering | Mix | None, fabric: Topology) -> Network:
    """The network as who steers its flows wants it: a policy's probes, a baseline's marking, bursts and CNPs; as a mix
    wants it with the marking of its first class."""
    if isinstance(spec, Mix):
        marked = fitted(network, spec.marking(0), fabric)
        names = ("ecn_min_bytes", "ecn_max_bytes", "ecn_max_probability", "mark_at_dequeue")
        return replace(network, **{name: getattr(marked, name) for name in names})
    like = like_baseline(spec)
    if like is None:
        header = header_of(spec)
        return network if header is None else in_bursts(probed(network, header.probes), header.bursts, fabric)
    like = like.at(_facts(fabric, network))
    changes: dict[str, Any] = {"burst_packets": min(like.burst_packets, network.message_packets)}
    if like.cnp_interval_ps is not None:
        changes["cnp_interval_ps"] = like.cnp_interval_ps
    if like.ecn is not None:
        changes |= {"ecn_min_bytes": absolute(like.ecn.kmin), "ecn_max_bytes": absolute(like.ecn.kmax)}
        changes |= {"ecn_max_probability": like.ecn.pmax, "mark_at_dequeue": like.ecn.marking == "dequeue"}
    return replace(network, **changes)


def probed(network: Network, probes: Probes | None) -> Network:
    """The network with a policy's probes, where it says when they leave."""
    if probes is None:
        return network
    latest_ps = None if probes.latest is None else probes.latest * NS
    return replace(network, probe_after_bytes=probes.after, probe_latest_ps=latest_ps, probe_first=probes.first)


def first_window(in_flight: InFlight | None, fabric: Topology) -> int:
    """Returns the most bytes in flight of a new flow before its first decision; all that 32 bits hold where its first
    rate says how many."""
    first = None if in_flight is None else in_flight.first_bytes(fabric.base_rtt_ps // NS, fabric.host_gbps * 10**9)
    return U32_MAX if first is None else first


def in_bursts(network: Network, bursts: Bursts | None, fabric: Topology) -> Network:
    """Returns the network with a policy's bursts, where it says how long they are: never longer than the NIC's."""
    if bursts is None:
        return network
    most = bursts.bytes(fabric.base_rtt_ps // NS, network.link_gbps * 10**9) // network.data_wire_bytes
    return replace(network, burst_packets=max(min(most, network.burst_packets), 1))


def facts_in(scenario: Scenario, network: Network, interface: Interface, period_ps: int, seed: int) -> SiteFacts:
    """Returns what agents that are no flows know of the scenario's network."""
    fabric, net = place(scenario, network)
    configs = (network_config(net, fabric), _fabric(fabric), _scenario(scenario, fabric, net, seed))
    return facts_of_site(interface, configs, period_ps)


def switches_of_queues(scenario: Scenario, network: Network) -> NDArray[np.uint32]:
    """The switch of each queue [ports x classes], as agents of `queue_marking` are numbered."""
    fabric, net = place(scenario, network)
    return np.repeat(np.array([port.switch for port in fabric.ports], np.uint32), len(net.class_weights))


def network_config(net: Network, fabric: Topology) -> "_core.NetworkConfig":
    """Switches, NICs and transport for the core, but for what `ends` says. Timeouts are just above the longest RTT
    there can be."""
    slowest = max(8000 // port.gbps for port in fabric.ports)
    weights = net.class_weights
    share = Fraction(sum(weights), min(weights)) if min(weights) > 0 else 1  # of a port, what the least class gets
    longest_rtt_ps = fabric.base_rtt_ps + ceil(fabric.hops * net.buffer_bytes * slowest * share)
    message_ps = net.message_packets * net.data_wire_bytes * net.ps_per_byte
    held_up = net.lossless or (len(weights) > 1 and min(weights) == 0)
    probe_ps, retransmit_ps = longest_rtt_ps, longest_rtt_ps + message_ps
    if held_up:
        probe_ps = retransmit_ps = max(HELD_UP_TIMEOUT_PS, retransmit_ps)
    core = _core.NetworkConfig()
    core.ps_per_byte = net.ps_per_byte
    core.payload_bytes = net.payload_bytes
    core.data_wire_bytes = net.data_wire_bytes
    core.probe_wire_bytes = net.probe_wire_bytes
    core.buffer_bytes = net.buffer_bytes
    core.dynamic_threshold = net.dynamic_threshold
    core.set_red(net.ecn_min_bytes, net.ecn_max_bytes, net.ecn_max_probability)
    core.mark_at_dequeue = net.mark_at_dequeue
    core.set_classes(list(net.class_weights))
    core.nic_priorities = net.nic_priorities
    core.class_by = getattr(_core.ClassBy, net.class_by)
    core.set_limits([list(row) for row in net.demotion])
    core.trim_bytes = net.trim_bytes
    core.scheduled_ports = net.scheduled_ports
    core.queue_in_probes = net.telemetry
    core.lossless = net.lossless
    core.pfc_headroom_bytes = headroom_bytes(net, fabric)
    core.pfc_reserve_bytes = net.pfc_reserve_bytes
    core.pfc_resume_bytes = net.pfc_resume_bytes
    core.message_packets = net.message_packets
    core.inflight_packets = net.inflight_packets(fabric.base_rtt_ps)
    core.probe_gap_ps = net.probe_gap_ps
    core.probe_timeout_ps = net.probe_timeout_ps or probe_ps
    core.retransmit_timeout_ps = net.retransmit_timeout_ps or retransmit_ps
    core.reorder_packets = net.reorder_packets
    core.message_cost_ps = net.message_cost_ps
    core.policer_ps_per_byte = 0 if net.policer_gbps is None else 8000 // net.policer_gbps
    core.policer_burst_bytes = net.policer_burst_bytes
    core.start_jitter_ps = net.start_jitter_ps
    core.decision_loss = net.decision_loss
    core.decision_late = net.decision_late
    core.decision_late_by_ps = net.decision_late_by_ps
    core.rtt_noise_ps = net.rtt_noise_ps
    core.event_reorder = net.event_reorder
    core.event_reorder_by_ps = net.event_reorder_by_ps
    core.context_flows = net.context_flows
    core.rate_scale = net.rate_scale
    core.rate_step_q30 = net.rate_step_q30
    core.rate_least_q30 = net.rate_least_q30
    core.device_limit = net.device_limit
    core.device_limit_from_ps = net.device_limit_from_ps
    core.device_limit_for_ps = net.device_limit_for_ps
    core.device_limit_every_ps = net.device_limit_every_ps or LATEST_PS
    return core


def headroom_bytes(net: Network, fabric: Topology) -> int:
    """Returns the bytes that the switch with the most links reserves for packets that arrive after it has sent a pause;
    0 in a lossy network."""
    if not net.lossless:
        return 0
    of_switch = np.zeros(fabric.switches)
    classes = len(net.class_weights)
    burst = net.burst_packets * net.data_wire_bytes + net.probe_wire_bytes
    for switch in fabric.uplink_switch:
        carried = net.pfc_headroom * fabric.uplink_delay_ps / net.ps_per_byte
        of_switch[switch] += classes * (net.pfc_reserve_bytes + carried + burst)
    for port in fabric.ports:
        if port.to != RECEIVER:
            carried = net.pfc_headroom * port.delay_ps / (8000 // port.gbps)
            of_switch[port.to] += classes * (net.pfc_reserve_bytes + carried + net.data_wire_bytes)
    return int(of_switch.max())


def _fabric(fabric: Topology, network: Network | None = None) -> "_core.FabricConfig":
    core = _core.FabricConfig()
    core.switches = fabric.switches
    core.uplink_delay_ps = fabric.uplink_delay_ps
    core.set_uplinks(np.array(fabric.uplink_switch, np.uint32))
    core.set_ports(
        np.array([port.switch for port in fabric.ports], np.uint32),
        np.array([8000 // port.gbps for port in fabric.ports], np.int64),
        np.array([port.delay_ps for port in fabric.ports], np.int64),
        np.array([max(port.to, 0) for port in fabric.ports], np.uint32),
    )
    if network is not None and (network.spreads or network.failures):
        _routing(core, fabric, network)
    return core


def _routing(core: "_core.FabricConfig", fabric: Topology, network: Network) -> None:
    """Routes that change, or choices that each packet has."""
    core.set_routing(network.spray, network.entropy_values, *fabric.leaves)
    core.add_ways(*fabric.ways())
    known: dict[frozenset[int], int] = {frozenset(): 0}
    for change in changes(network.failures, fabric, network.reroute_ps):
        if change.avoided is not None and change.avoided not in known:
            known[change.avoided] = len(known)
            core.add_ways(*fabric.ways(change.avoided))
        core.add_change(change.at_ps, change.down, change.up, -1 if change.avoided is None else known[change.avoided])


def _routes(
    fabric: Topology, host: NDArray[np.uint32], receiver: NDArray[np.uint32], hashed: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Ports of each flow's paths: where there are planes, that of each in turn."""
    planes = np.arange(fabric.planes)
    ways = [((end.astype(np.int64) // fabric.planes * fabric.planes)[:, None] + planes) for end in (host, receiver)]
    offsets, ports = fabric.paths(ways[0].ravel(), ways[1].ravel(), np.repeat(hashed, fabric.planes))
    return offsets[:: fabric.planes], ports


def _scenario(
    scenario: Scenario, fabric: Topology, net: Network, seed: int, mix: Mix | None = None
) -> "_core.ScenarioConfig":
    host, receiver, last = (scenario.column(name) for name in ("host", "receiver", "last_bytes"))
    if last.max(initial=0) > net.payload_bytes:
        raise InputError(
            f"scenario {scenario.name}: a last packet of {last.max()} bytes; a packet carries {net.payload_bytes}"
        )
    klass = scenario.column("klass").astype(np.uint32)
    whose = None if mix is None else mix.of_flows(host.size, seed)
    if mix is not None and whose is not None:
        klass = mix.classes(whose, klass)
    highest = int(klass.max())
    if highest >= len(net.class_weights):
        raise InputError(
            f"scenario {scenario.name}: flows of class {highest}; give the network {highest + 1} class_weights"
        )
    offsets, ports = _routes(fabric, host, receiver, keys(host.size, seed, ECMP_STREAM))
    delays, way_back = np.unique(fabric.control_delay_ps(host, receiver), return_inverse=True)
    wire = np.where(last > 0, last, net.payload_bytes) + net.wire_overhead_bytes
    core = _core.ScenarioConfig()
    core.hosts = scenario.hosts
    core.receivers = scenario.receivers
    core.planes = fabric.planes
    core.long_flow = -1 if scenario.long_flow is None else scenario.long_flow
    core.set_ways_back(delays.astype(np.int64))
    core.set_routes(ports)
    core.set_flows(
        host=host,
        packets=scenario.column("packets"),
        last_wire_bytes=wire.astype(np.uint32),
        start_ps=scenario.column("start_ps"),
        period_ps=scenario.column("period_ps"),
        klass=klass,
        way_back=way_back.astype(np.uint32),
        route_offset=offsets,
    )
    if whose is not None:
        core.set_cohorts(whose)
    if scenario.jobs is not None:
        before, after = np.array(scenario.jobs.edges, np.uint32).reshape(-1, 2).T.copy()
        jobs, senders = scenario.jobs, np.array(scenario.jobs.senders(len(scenario.flows)), np.uint32)
        of, gaps_ps = np.array(jobs.of, np.int64), np.array(jobs.gap_ps, np.int64)
        core.set_jobs(senders, of, before, after, gaps_ps, jobs.keeps_contexts)
    return core
