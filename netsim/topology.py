"""Switches and links between senders and receivers, and the path of each flow.

star                     one switch
leaf-spine:4x16x3        4 leaves of 16 hosts, 3 spines
planes:3x32:1            32 machines with 3 NICs of 1 Gb/s, each NIC on a switch of its own ([AUTO] section 6)
fat-tree:4               three levels of 4-port switches ([FATTREE])
rl-cc-cluster            the large cluster of [RLCC] section 6.1
acc-fabric               the simulated fabric of [ACC] section 5.4

A port is a switch's egress queue and the link behind it. Receiver r hangs on port r; in a fabric it is the machine that
host r sends from. Paths are shortest; among equal next hops a flow's hash decides, and a flow keeps its path (ECMP).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decision.artefact.errors import InputError
from decision.artefact.suggest import meant_word
from netsim.network import US, Network
from netsim.splitmix import splitmix64

LINK = re.compile("([a-z]+[0-9]+)-([a-z]+[0-9]+)(?::([0-9]{1,3}))?")
MAX_HOSTS = 8192
MAX_ENDS = 65_000  # the simulator has an event stream for each end of a link
MAX_HOPS = 5  # ports on a path: three levels of switches
MAX_SWITCHES = 1024
MAX_LINKS = 64  # between one leaf and one spine
MAX_PLANES = 8
PLANE_DELAY_PS = 22_284_000  # each link of a machine: at 1 Gb/s a base RTT of 100 us ([AUTO] section 6)
LINK_DELAY_PS = 1 * US  # each link, the switch's forwarding included: HPCC artefact, topology of its evaluation
RECEIVER = -1
"""Where a port ends that no other switch follows."""


@dataclass(frozen=True)
class Port:
    """A switch's egress port and its link."""

    switch: int  # owner
    gbps: int  # a byte lasts a whole number of ps: 8000 % gbps == 0
    delay_ps: int  # end of transmission here to arrival at the next switch's port or at the receiver
    to: int = RECEIVER  # next switch


@dataclass(frozen=True)
class Topology:
    """Hosts' uplinks and switches' ports. Times hold for packets of ``data_bytes`` and frames of ``control_bytes``."""

    name: str
    hosts: int  # senders' NICs; host h's uplink
    receivers: int  # ports[r] for r < receivers is the one that receiver r is attached to
    switches: int
    host_gbps: int  # of all NICs
    uplink_switch: tuple[int, ...]  # per host: where its uplink ends
    uplink_delay_ps: int  # end of transmission to arrival in the switch
    ports: tuple[Port, ...]
    answer_ps: int = 0  # what the way back takes beyond its links
    data_bytes: int = 1106  # on the wire
    control_bytes: int = 84  # on the wire: a probe, an ACK, a CNP, a response
    names: tuple[str, ...] = ()  # of the switches, for people; none: switch0, ..
    planes: int = 1  # NICs of a machine, in networks that are alike: machine m's are hosts m * planes and those after

    def __post_init__(self) -> None:
        for what, number, most in (
            ("hosts", self.hosts, MAX_HOSTS),
            ("receivers", self.receivers, MAX_HOSTS),
            ("switches", self.switches, MAX_SWITCHES),
        ):
            if not 1 <= number <= most:
                raise InputError(f"topology {self.name}: {number} {what}; 1 to {most} are possible")
        for gbps in {self.host_gbps, *(port.gbps for port in self.ports)}:
            if gbps < 1 or 8000 % gbps:
                raise InputError(
                    f"topology {self.name}: a link of {gbps} Gb/s; a byte must last whole picoseconds (25, 100, 400)"
                )
        if len(self.uplink_switch) != self.hosts or len(self.ports) < self.receivers:
            raise InputError(f"topology {self.name}: every host needs an uplink and every receiver a port")
        if self.planes < 1 or self.hosts % self.planes or self.receivers % self.planes:
            raise InputError(f"topology {self.name}: a machine has a NIC in each of {self.planes} planes")
        switches = range(self.switches)
        ends = {*self.uplink_switch, *(port.switch for port in self.ports)}
        ends |= {port.to for port in self.ports if port.to != RECEIVER}
        if not all(switch in switches for switch in ends):
            raise InputError(f"topology {self.name}: a link ends at a switch that does not exist")
        if any((port.to == RECEIVER) != (number < self.receivers) for number, port in enumerate(self.ports)):
            raise InputError(f"topology {self.name}: the receivers' ports must be the first, and no other end at one")
        if 2 * (self.hosts + len(self.ports)) > MAX_ENDS:
            number, most = self.hosts + len(self.ports), MAX_ENDS // 2
            raise InputError(f"topology {self.name}: {number} hosts and ports; {most} are possible")
        if min(self.uplink_delay_ps, *(port.delay_ps for port in self.ports)) < 1:
            raise InputError(f"topology {self.name}: a link takes no time; delays are at least 1 ps")
        if any(self._unreached(plane).any() for plane in range(self.planes)):
            raise InputError(f"topology {self.name}: there are hosts from which no path leads to some receiver")
        if self.hops > MAX_HOPS:
            raise InputError(f"topology {self.name}: a path of {self.hops} ports; {MAX_HOPS} are possible")

    def paths(
        self, hosts: ArrayLike, receivers: ArrayLike, keys: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Ports that each flow crosses, the receiver's last: flow i's are ``ports[offsets[i]:offsets[i + 1]]``.

        At each hop the flow's hash, SplitMix64 of its key, is divided by the number of equal ports: the remainder picks
        one, the quotient goes on to the next hop. Choices at different hops are therefore independent.
        """
        r = self._routes
        at = self._uplink[np.asarray(hosts, np.int64)]
        receiver = np.asarray(receivers, np.int64)
        leaf = r.leaf[receiver]
        left = r.distance[at, leaf].astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(left + 1)]).astype(np.uint32)
        ports = np.empty(offsets[-1], np.uint32)
        place = offsets[:-1].astype(np.int64)
        digits = splitmix64(np.asarray(keys, np.uint64))
        moving = np.flatnonzero(left)
        while moving.size:
            cell = at[moving] * r.distance.shape[1] + leaf[moving]
            equal = r.count[cell]
            chosen = r.next_ports[r.first[cell] + (digits[moving] % equal).astype(np.int64)]
            digits[moving] //= equal
            ports[place[moving]] = chosen
            place[moving] += 1
            at[moving] = r.to[chosen]
            left[moving] -= 1
            moving = moving[left[moving] > 0]
        ports[place] = receiver
        return offsets, ports

    def link_ports(self, text: str) -> list[int]:
        """The ports at both ends of a link by its name, leaf0-spine1: of parallel links all, or leaf0-spine1:2 the
        third."""
        names = self.names or tuple(f"switch{n}" for n in range(self.switches))
        match = LINK.fullmatch(text)
        if match is None or match[1] not in names or match[2] not in names:
            near = meant_word(text if match is None or match[1] not in names else match[2], names)
            said = f"write leaf0-spine1; its switches are {names[0]} to {names[-1]}{near}"
            raise InputError(f"topology {self.name}: there is no link {text!r}; {said}")
        here, there = names.index(match[1]), names.index(match[2])
        both = [
            [number for number, port in enumerate(self.ports) if (port.switch, port.to) == ends]
            for ends in ((here, there), (there, here))
        ]
        if not both[0]:
            raise InputError(f"topology {self.name}: no link leads from {match[1]} to {match[2]}")
        if match[3] is None:
            return sorted(both[0] + both[1])
        number = int(match[3])
        if number >= len(both[0]):
            raise InputError(
                f"topology {self.name}: {len(both[0])} links lead from {match[1]} to {match[2]}, from :0 on"
            )
        return sorted(way[number] for way in both if number < len(way))

    @property
    def leaves(self) -> tuple[int, NDArray[np.uint32]]:
        """How many switches have receivers, and which of them each receiver's is [receivers]."""
        return self._routes.distance.shape[1], self._routes.leaf.astype(np.uint32)

    def ways(self, without: Collection[int] = ()) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Equal next ports from each switch to each leaf on shortest paths that avoid some ports: those of cell
        switch * leaves + leaf are ``ports[first[cell]:first[cell + 1]]``."""
        r = self._routes_without(without)
        return np.append(r.first, r.next_ports.size).astype(np.uint32), r.next_ports.astype(np.uint32)

    def control_delay_ps(self, hosts: ArrayLike, receivers: ArrayLike) -> NDArray[np.int64]:
        """From a receiver back to a sender, constant: the links' delays and a control frame's time on each of them."""
        host, receiver = np.asarray(hosts, np.int64), np.asarray(receivers, np.int64)
        last = self._delay + self.control_bytes * self._ps_per_byte
        first = self.uplink_delay_ps + self.control_bytes * (8000 // self.host_gbps)
        between = self._routes.back_ps[self._uplink[host], self._routes.leaf[receiver]]
        return np.asarray(first + between + last[receiver] + self.answer_ps)

    @cached_property
    def base_rtt_ps(self) -> int:
        """The longest base RTT of any two machines."""
        hosts = np.unique(self._uplink, return_index=True)[1]
        receivers = np.unique(self._routes.leaf, return_index=True)[1]
        host, receiver = (pairs.ravel() for pairs in np.meshgrid(hosts, receivers))
        joined = host % self.planes == receiver % self.planes
        host, receiver = host[joined], receiver[joined]
        return int(self.base_rtts_ps(host, receiver).max())

    def base_rtts_ps(self, hosts: ArrayLike, receivers: ArrayLike) -> NDArray[np.int64]:
        """RTT of each flow's probe in the empty network. It follows a data packet of its own flow, and what it waits
        for that packet at the ports is part of it."""
        host, receiver = np.asarray(hosts, np.int64), np.asarray(receivers, np.int64)
        offsets, ports = self.paths(host, receiver, np.zeros(host.size, np.uint64))
        frame_ps = self.control_bytes * self._ps_per_byte
        packet_ps = self.data_bytes * self._ps_per_byte
        packet = np.full(host.size, self.uplink_delay_ps, np.int64)  # arrival of the packet's last bit ..
        probe = packet + self.control_bytes * (8000 // self.host_gbps)  # .. and of the probe's
        for hop in range(self.hops):
            here = np.flatnonzero(offsets[:-1] + hop < offsets[1:])
            port = ports[offsets[here] + hop]
            packet[here] += packet_ps[port]
            probe[here] = np.maximum(packet[here], probe[here]) + frame_ps[port]
            packet[here] += self._delay[port]
            probe[here] += self._delay[port]
        return np.asarray(probe + self.control_delay_ps(host, receiver))

    def _unreached(self, plane: int) -> NDArray[np.bool_]:
        """Whether no path leads [hosts, receivers] from a host of the plane to a receiver of it."""
        switches, leaves = self._uplink[plane :: self.planes], self._routes.leaf[plane : self.receivers : self.planes]
        return np.asarray(self._routes.distance[np.ix_(np.unique(switches), np.unique(leaves))] < 0)

    @cached_property
    def hops(self) -> int:
        """Ports on the longest path."""
        return int(self._routes.distance[self._uplink].max()) + 1

    @cached_property
    def _uplink(self) -> NDArray[np.int64]:
        return np.array(self.uplink_switch, np.int64)

    @cached_property
    def _delay(self) -> NDArray[np.int64]:
        return np.array([port.delay_ps for port in self.ports], np.int64)

    @cached_property
    def _ps_per_byte(self) -> NDArray[np.int64]:
        return 8000 // np.array([port.gbps for port in self.ports], np.int64)

    @cached_property
    def _routes(self) -> "_Routes":
        return self._routes_without(())

    def _routes_without(self, without: Collection[int]) -> "_Routes":
        owner = np.array([port.switch for port in self.ports], np.int64)
        to = np.array([port.to for port in self.ports], np.int64)
        leaves, leaf = np.unique(owner[: self.receivers], return_inverse=True)
        alive = np.ones(owner.size, bool)
        alive[list(without)] = False
        link_ps = self._delay + self.control_bytes * self._ps_per_byte
        return _routes(self.switches, owner, to, leaves, leaf, link_ps, alive)


@dataclass(frozen=True)
class _Routes:
    """Shortest paths from every switch to every leaf (a switch that has receivers); a cell is a (switch, leaf) pair."""

    leaf: NDArray[np.int64]  # of each receiver
    to: NDArray[np.int64]  # of each port
    distance: NDArray[np.int64]  # [switches, leaves], in links; -1: no path
    first: NDArray[np.int64]  # [cells] of next_ports
    count: NDArray[np.uint64]  # [cells] equal next ports
    next_ports: NDArray[np.int64]
    back_ps: NDArray[np.int64]  # [switches, leaves], a control frame's way from leaf to switch, the longest


def _routes(
    switches: int,
    owner: NDArray[np.int64],
    to: NDArray[np.int64],
    leaves: NDArray[np.int64],
    leaf: NDArray[np.int64],
    link_ps: NDArray[np.int64],
    alive: NDArray[np.bool_],
) -> _Routes:
    far = switches  # longer than any path
    distance = np.full((switches, leaves.size), far, np.int64)
    distance[leaves, np.arange(leaves.size)] = 0
    between = np.flatnonzero((to != RECEIVER) & alive)
    out, into = owner[between], to[between]
    while True:
        nearer = distance.copy()
        np.minimum.at(nearer, out, distance[into] + 1)
        if np.array_equal(nearer, distance):
            break
        distance = nearer

    link, column = np.nonzero((distance[into] < far) & (distance[into] + 1 == distance[out]))
    cell = out[link] * leaves.size + column
    order = np.argsort(cell, kind="stable")
    count = np.bincount(cell, minlength=distance.size)

    back_ps = np.zeros(distance.shape, np.int64)
    levels = distance[out[link], column]
    for level in range(1, int(levels.max(initial=0)) + 1):
        here = levels == level
        via = link[here]
        cost = link_ps[between[via]] + back_ps[into[via], column[here]]
        np.maximum.at(back_ps, (out[via], column[here]), cost)
    return _Routes(
        leaf=leaf.astype(np.int64),
        to=to,
        distance=np.where(distance < far, distance, -1),
        first=np.concatenate([[0], np.cumsum(count)[:-1]]),
        count=count.astype(np.uint64),
        next_ports=between[link[order]],
        back_ps=back_ps,
    )


def star(hosts: int, receivers: int, network: Network) -> Topology:
    """One switch; delays and base RTT are the network's."""
    _within(f"star:{hosts}", "hosts", hosts, MAX_HOSTS)
    if min(network.uplink_delay_ps, network.downlink_delay_ps, network.control_delay_ps) < 1:
        raise InputError("network: one_way_ps and base_rtt_ps leave no time for the links; raise them")
    links_ps = network.uplink_delay_ps + network.downlink_delay_ps + 2 * network.probe_wire_bytes * network.ps_per_byte
    return Topology(
        name=f"star:{hosts}" if hosts == receivers else f"star of {hosts} to {receivers}",
        hosts=hosts,
        receivers=receivers,
        switches=1,
        host_gbps=network.link_gbps,
        uplink_switch=(0,) * hosts,
        uplink_delay_ps=network.uplink_delay_ps,
        ports=(Port(0, network.link_gbps, network.downlink_delay_ps),) * receivers,
        answer_ps=network.control_delay_ps - links_ps,
        data_bytes=network.data_wire_bytes,
        control_bytes=network.probe_wire_bytes,
    )


def leaf_spine(
    leaves: int,
    hosts_per_leaf: int,
    spines: int,
    *,
    links: int = 1,
    host_gbps: int = 100,
    spine_gbps: int = 100,
    link_delay_ps: int = LINK_DELAY_PS,
    network: Network | None = None,
    name: str | None = None,
) -> Topology:
    """Two levels: every leaf has ``links`` links to every spine. Switches are the leaves, then the spines."""
    title = name or f"leaf-spine:{leaves}x{hosts_per_leaf}x{spines}:{links}x{host_gbps}/{spine_gbps}"
    _within(title, "leaves", leaves, MAX_SWITCHES)
    _within(title, "hosts a leaf", hosts_per_leaf, MAX_HOSTS)
    _within(title, "spines", spines, MAX_SWITCHES)
    _within(title, "links a leaf and spine", links, MAX_LINKS)
    _within(title, "hosts", leaves * hosts_per_leaf, MAX_HOSTS)
    _within(title, "switches", leaves + spines, MAX_SWITCHES)
    net = network or Network()
    leaf_of = [leaf for leaf in range(leaves) for _ in range(hosts_per_leaf)]
    pairs = [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines) for _ in range(links)]
    ports = [Port(leaf, host_gbps, link_delay_ps) for leaf in leaf_of]
    ports += [Port(leaf, spine_gbps, link_delay_ps, spine) for leaf, spine in pairs]
    ports += [Port(spine, spine_gbps, link_delay_ps, leaf) for leaf, spine in pairs]
    names = _names(leaf=leaves, spine=spines)
    return _fabric(title, leaf_of, leaves + spines, host_gbps, link_delay_ps, ports, net, names)


def planes(
    number: int, machines: int, *, gbps: int = 1, link_delay_ps: int | None = None, network: Network | None = None
) -> Topology:
    """``number`` switches, each with a NIC of every machine: so many paths between any two. A path begins and ends in
    the plane of its hosts."""
    title = f"planes:{number}x{machines}:{gbps}"
    _within(title, "planes", number, MAX_PLANES)
    _within(title, "machines", machines, MAX_HOSTS // number)
    net = network or Network()
    delay_ps = PLANE_DELAY_PS if link_delay_ps is None else link_delay_ps
    of_host = [plane for _ in range(machines) for plane in range(number)]
    ports = [Port(plane, gbps, delay_ps) for plane in of_host]
    return _fabric(title, of_host, number, gbps, delay_ps, ports, net, _names(plane=number), number)


def fat_tree(
    k: int, *, gbps: int = 100, link_delay_ps: int = LINK_DELAY_PS, network: Network | None = None
) -> Topology:
    """Three levels of k-port switches: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts.
    Switches are the edges pod by pod, the aggregations pod by pod, the cores."""
    title = f"fat-tree:{k}" if gbps == 100 else f"fat-tree:{k}:{gbps}"
    if k % 2 or not 2 <= k <= 16:
        raise InputError(f"topology {title}: a fat tree needs an even number of ports a switch, 2 to 16")
    net = network or Network()
    half = k // 2
    edges = k * half
    edge_of = [edge for edge in range(edges) for _ in range(half)]
    ports = [Port(edge, gbps, link_delay_ps) for edge in edge_of]
    pod = [(edge, edges + edge // half * half + up) for edge in range(edges) for up in range(half)]
    top = [(edges + above, 2 * edges + above % half * half + up) for above in range(edges) for up in range(half)]
    for low, high in pod + top:
        ports += [Port(low, gbps, link_delay_ps, high), Port(high, gbps, link_delay_ps, low)]
    names = _names(edge=edges, aggregation=edges, core=half * half)
    return _fabric(title, edge_of, 2 * edges + half * half, gbps, link_delay_ps, ports, net, names)


def rl_cc_cluster(network: Network | None = None) -> Topology:
    """[RLCC] section 6.1: three spines, four racks of 16 nodes, 'via four 100 Gbps links', read as four links between
    every spine and every rack: 1.2 Tb/s up for 1.6 Tb/s of hosts."""
    return leaf_spine(4, 16, 3, links=4, network=network, name="rl-cc-cluster")


def acc_fabric(network: Network | None = None) -> Topology:
    """[ACC] section 5.4: 12 leaves of 24 hosts at 25 Gb/s, one 100 Gb/s link to each of 6 spines."""
    return leaf_spine(12, 24, 6, host_gbps=25, network=network, name="acc-fabric")


PRESETS = {"rl-cc-cluster": rl_cc_cluster, "acc-fabric": acc_fabric}
NUMBER = "([1-9][0-9]{0,999})"
SIZE = "(0|[1-9][0-9]{0,999})"  # what is too small or too large is told as such
STAR = re.compile(f"star:{SIZE}")
LEAF_SPINE = re.compile(f"leaf-spine:{SIZE}x{SIZE}x{SIZE}(?::(?:{NUMBER}x)?{NUMBER}/{NUMBER})?")
PLANES = re.compile(f"planes:{SIZE}x{SIZE}(?::{NUMBER})?")
FAT_TREE = re.compile(f"fat-tree:{SIZE}(?::{NUMBER})?")
FABRICS = ("star", "leaf-spine", "planes", "fat-tree")


def by_name(text: str, network: Network | None = None) -> Topology:
    """A fabric by its name. ``leaf-spine:12x24x6:4x25/100`` has 4 links a leaf and spine, hosts at 25 and spines at
    100 Gb/s; without the last part it is 1x100/100. ``fat-tree:4:25`` runs at 25 Gb/s throughout."""
    net = network or Network()
    if text in PRESETS:
        return PRESETS[text](net)
    if match := STAR.fullmatch(text):
        return star(int(match[1]), int(match[1]), net)
    if match := LEAF_SPINE.fullmatch(text):
        leaves, hosts, spines, links, host_gbps, spine_gbps = (int(n or 0) for n in match.groups())
        return leaf_spine(
            leaves,
            hosts,
            spines,
            links=links or 1,
            host_gbps=host_gbps or 100,
            spine_gbps=spine_gbps or 100,
            network=net,
            name=text,
        )
    if match := PLANES.fullmatch(text):
        return planes(int(match[1]), int(match[2]), gbps=int(match[3] or 1), network=net)
    if match := FAT_TREE.fullmatch(text):
        return fat_tree(int(match[1]), gbps=int(match[2] or 100), network=net)
    raise InputError(
        f"unknown fabric {text!r}; write star:16, leaf-spine:4x16x3, planes:3x32:1, fat-tree:4, "
        f"{' or '.join(sorted(PRESETS))}{meant_word(text, (*FABRICS, *PRESETS))}"
    )


def _fabric(
    name: str,
    leaf_of: list[int],
    switches: int,
    gbps: int,
    delay_ps: int,
    ports: list[Port],
    network: Network,
    names: tuple[str, ...],
    planes: int = 1,
) -> Topology:
    return Topology(
        name=name,
        hosts=len(leaf_of),
        receivers=len(leaf_of),
        switches=switches,
        host_gbps=gbps,
        uplink_switch=tuple(leaf_of),
        uplink_delay_ps=delay_ps,
        ports=tuple(ports),
        data_bytes=network.data_wire_bytes,
        control_bytes=network.probe_wire_bytes,
        names=names,
        planes=planes,
    )


def _names(**kinds: int) -> tuple[str, ...]:
    return tuple(f"{kind}{n}" for kind, number in kinds.items() for n in range(number))


def _within(name: str, what: str, number: int, most: int) -> None:
    if not 1 <= number <= most:
        raise InputError(f"topology {name}: {number} {what}; 1 to {most} are possible")
