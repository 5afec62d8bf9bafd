"""Traffic, senders and receivers, by name (docs/reference/scenarios.md) or built by hand.

many-to-one:64           64 flows, 64 hosts of one queue pair each, one receiver
many-to-one:4x16         the same from 4 hosts of 16 queue pairs each
all-to-all:8             8 hosts, 2 x 8 flows each
long-short:16            one unlimited flow, 15 short ones that come and go
long-short-mild:16       the same, shorter and rarer ones: as hard on HPCC and Swift as [PCCRL] table 8 has it
incast:32                32 hosts send 500 KB each to one receiver, all at once, again and again; incast:32x1MB
websearch:60%            flows arrive at random, with the sizes of a published workload; 16 hosts at 60 % load
messages:60%x2           the same from 2 hosts to one receiver, whose link has 60 % load
websearch>datamining:60% one workload in the first half of the run, another in the second; each may have its own load:
                         websearch:80%>datamining:60%
websearch:60%>idle*2     in the first third of the run; then nothing more arrives, and what is there can end
websearch:60%+websearch:80%  the first half of the machines sends the one, the second half the other, to all

blocks:20%:1KB-64KBx16   flows that wait for one another: requests, a parameter server, collectives (netsim/jobs.py)

Behind an @ the fabric: many-to-one:8192@rl-cc-cluster, websearch:60%@acc-fabric. Without one, a single switch.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decision.artefact.errors import InputError
from decision.artefact.quantity import SIZE_BYTES
from decision.artefact.suggest import meant_word
from netsim import jobs as job_kinds
from netsim import topology, workloads
from netsim.jobs import Jobs
from netsim.network import LATEST_PS, MS, Network
from netsim.splitmix import keys
from netsim.topology import MAX_HOSTS, Topology

MAX_FLOWS = 1 << 20
MAX_QUEUE_PAIRS = 65536  # of a host
MAX_PACKETS = 2**31 - 1
CLASSES = 8

HOSTS_OF_FLOWS = {2: 2, 4: 4, 16: 16, 32: 32, 64: 64, 128: 64, 256: 32, 512: 64, 1024: 32, 2048: 64, 4096: 64, 8192: 64}
"""Hosts of a many-to-one scenario by its number of flows (PCC-RL, appendix A, hosts x flows of each)."""

SHORT_PERIOD_PS = 10 * MS  # RL-CC, published code: every 10 ms
SHORT_BYTES = 6 * 200 * 1024  # a flow sends 6 x 200 KiB ..
SHORT_NODE_BYTES = 4_000_000  # .. or its share of 4 MB a node, whichever is less
SHORT_NODES = 16  # hosts of short flows: 16 x 4 MB take 5.6 ms of the 10 ms at 100 Gb/s

MILD_PERIOD_PS = 180 * MS  # calibrated (papers/papers/calibration.py): HPCC and Swift drop what [PCCRL] table 8 says,
MILD_NODE_BYTES = 320_000  # which gives neither size nor interval
MILD_NODES = 64

INCAST_BYTES = 500_000  # [HPCC] simulations: 60 senders of 500 KB each
INCAST_PERIOD_PS = 10 * MS  # or twice what a round takes, whichever is more
MAX_SIZE_BYTES = 10**12

OPEN_LOOP_HOSTS = 16
MAX_PHASES, MAX_GROUPS, MAX_IDLE = 16, 16, 100
PARSED_FLOWS = 1000


@dataclass(frozen=True)
class Flow:
    """One flow. ``packets`` 0: unlimited. If it has a period, it comes back, as a new flow, every ``period_ps``."""

    host: int
    receiver: int
    packets: int = 0
    start_ps: int = 0
    period_ps: int = 0
    last_bytes: int = 0  # payload of the last packet; 0: full
    klass: int = 0  # traffic class


COLUMNS: dict[str, tuple[Any, int]] = {
    "host": (np.uint32, MAX_HOSTS - 1),
    "receiver": (np.uint32, MAX_HOSTS - 1),
    "packets": (np.uint32, MAX_PACKETS),
    "start_ps": (np.int64, LATEST_PS - 1),
    "period_ps": (np.int64, LATEST_PS - 1),
    "last_bytes": (np.uint32, 9000),
    "klass": (np.uint8, CLASSES - 1),
}
"""Type and largest value of each field of a flow."""


class Flows(Sequence[Flow]):
    """Flows as columns, NumPy arrays of one length that are not to be written to. A column that is not given is 0."""

    def __init__(self, **columns: ArrayLike) -> None:
        length = max((np.size(column) for column in columns.values()), default=0)
        self.columns: dict[str, NDArray[Any]] = {}
        for name, (kind, most) in COLUMNS.items():
            try:
                exact = np.broadcast_to(np.asarray(columns.get(name, 0), np.int64), length)
            except OverflowError:
                raise InputError(f"{name} of a flow is beyond 64 bits; 0 to {most} are possible") from None
            wrong = np.flatnonzero((exact < 0) | (exact > most))
            if wrong.size:
                raise InputError(f"flow {wrong[0]}: {name} is {exact[wrong[0]]}; 0 to {most} are possible")
            column = exact.astype(kind)
            column.flags.writeable = False
            self.columns[name] = column

    @classmethod
    def of(cls, flows: Iterable[Flow]) -> "Flows":
        rows = list(flows)
        return cls(**{name: [getattr(flow, name) for flow in rows] for name in COLUMNS})

    def __len__(self) -> int:
        return int(self.columns["host"].size)

    def content(self) -> dict[str, NDArray[Any]]:
        return self.columns

    @overload
    def __getitem__(self, at: int) -> Flow: ...
    @overload
    def __getitem__(self, at: slice) -> "Flows": ...
    def __getitem__(self, at: int | slice) -> "Flow | Flows":
        if isinstance(at, slice):
            return Flows(**{name: column[at] for name, column in self.columns.items()})
        return Flow(**{name: int(column[at]) for name, column in self.columns.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flows):
            return NotImplemented
        return all(np.array_equal(column, other.columns[name]) for name, column in self.columns.items())

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Scenario:
    """Flows over ``hosts`` senders and ``receivers`` output ports; ``long_flow`` is the one whose recovery counts.

    Without a topology the network of the run decides how fast and far its one switch is.
    """

    name: str
    hosts: int
    receivers: int
    flows: Flows | tuple[Flow, ...]
    long_flow: int | None = None
    topology: Topology | None = None
    jobs: Jobs | None = None  # flows that wait for one another

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= MAX_HOSTS or not 1 <= self.receivers <= MAX_HOSTS:
            raise InputError(f"scenario {self.name}: hosts and receivers must be 1 to {MAX_HOSTS}")
        fabric = self.topology
        if fabric is not None and (fabric.hosts, fabric.receivers) != (self.hosts, self.receivers):
            raise InputError(
                f"scenario {self.name}: {self.hosts} hosts and {self.receivers} receivers do not fit {fabric.name}"
            )
        if not 1 <= len(self.flows) <= MAX_FLOWS:
            raise InputError(f"scenario {self.name}: {len(self.flows)} flows; 1 to {MAX_FLOWS} are possible")
        if not isinstance(self.flows, Flows):
            try:
                object.__setattr__(self, "flows", Flows.of(self.flows))
            except InputError as error:
                raise InputError(f"scenario {self.name}: {error}") from None
        host, packets = self.column("host"), self.column("packets")
        if (host[1:] < host[:-1]).any():
            raise InputError(f"scenario {self.name}: flows must be listed host by host")
        for wrong, why in (
            (host >= self.hosts, f"comes from a host that does not exist; there are {self.hosts}"),
            (self.column("receiver") >= self.receivers, f"has no receiver; there are {self.receivers}"),
            ((packets == 0) & (self.column("period_ps") > 0), "is unlimited and cannot come back"),
            ((packets == 0) & (self.column("last_bytes") > 0), "is unlimited and has no last packet"),
        ):
            if wrong.any():
                raise InputError(f"scenario {self.name}: flow {int(wrong.argmax())} {why}")
        if np.bincount(host).max() > MAX_QUEUE_PAIRS:
            raise InputError(f"scenario {self.name}: a host has more than {MAX_QUEUE_PAIRS} flows")
        if self.jobs is not None:
            free = np.flatnonzero((packets == 0) | (self.column("period_ps") > 0))
            self.jobs.check(self.name, len(self.flows), free.tolist())
        if self.long_flow is not None and not 0 <= self.long_flow < len(self.flows):
            raise InputError(f"scenario {self.name}: long_flow {self.long_flow} does not exist")

    def column(self, name: str) -> NDArray[Any]:
        """One field of all flows [flows], of the type in COLUMNS."""
        assert isinstance(self.flows, Flows)
        return self.flows.columns[name]

    @property
    def finite(self) -> bool:
        """Some flows end."""
        return bool(self.column("packets").any())

    def size_bytes(self, payload_bytes: int) -> NDArray[np.int64]:
        """Payload of each flow [flows], 0: unlimited."""
        last = self.column("last_bytes").astype(np.int64)
        return self.column("packets") * np.int64(payload_bytes) - np.where(last > 0, payload_bytes - last, 0)


@dataclass(frozen=True)
class Load:
    """A workload and its share of the links' capacity."""

    workload: str
    percent: int

    def __str__(self) -> str:
        return f"{self.workload}:{self.percent}%"


@dataclass(frozen=True)
class Recipe:
    """A scenario's name, read: what it takes besides a seed, a duration and a network to make the scenario."""

    name: str
    traffic: str
    number: int  # flows, hosts or per cent
    hosts: int | None  # that send, where the name says so
    size_bytes: int  # of an incast's flow
    fabric: str | None  # None: one switch
    phases: tuple[tuple["Load", ...], ...] = ()  # that follow one another in equal parts of the run: what each of so
    # many equal groups of machines sends in it; of an idle one nothing
    job: job_kinds.Named | None = None  # of flows that wait for one another

    @property
    def seeded(self) -> bool:
        """Another seed makes other flows (paths depend on the seed wherever there is a choice)."""
        drawn = self.traffic in workloads.NAMES or self.traffic == "blocks"
        return drawn or (self.traffic == "incast" and self.fabric is not None)

    def scenario(self, seed: int, duration_ps: int | None, network: Network) -> Scenario:
        """The flows of one run; without a duration, some thousand of those that go on arriving."""
        fabric = None if self.fabric is None else topology.by_name(self.fabric, network)
        if self.job is not None:
            made = waiting(self.job, seed, network, fabric)
        elif self.traffic in workloads.NAMES:
            made = open_loop(self.phases, seed, duration_ps, network, fabric, self.hosts)
        elif self.traffic == "incast":
            made = incast(self.number, self.size_bytes, network=network, fabric=fabric, seed=seed)
        elif self.traffic == "long-short":
            made = long_short(self.number, payload_bytes=network.payload_bytes, fabric=fabric)
        elif self.traffic == "long-short-mild":
            made = long_short(
                self.number,
                period_ps=MILD_PERIOD_PS,
                nodes=MILD_NODES,
                node_bytes=MILD_NODE_BYTES,
                payload_bytes=network.payload_bytes,
                fabric=fabric,
            )
        elif self.traffic == "many-to-one":
            made = many_to_one(self.number, fabric, self.hosts)
        else:
            made = all_to_all(self.number, fabric)
        return replace(made, name=self.name)


NUMBER = "0|[1-9][0-9]{0,999}"  # any: whoever makes the flows says what the most is
COUNTED = re.compile(rf"(many-to-one|all-to-all|long-short|long-short-mild):({NUMBER})")
BY_HOST = re.compile(rf"many-to-one:({NUMBER})x({NUMBER})")
INCAST = re.compile(rf"incast:({NUMBER})(?:x({NUMBER})(B|KB|MB|GB))?")
WORKLOAD = f"(?:{'|'.join(sorted(workloads.NAMES))})"
PERCENT = f"(?:{NUMBER})%"
IDLE = rf">idle(?:\*({NUMBER}))?"
OPEN_LOOP = re.compile(rf"({WORKLOAD}(?:(?::{PERCENT})?[>+]{WORKLOAD}){{0,63}}:{PERCENT})({IDLE})?(?:x({NUMBER}))?")
TRAFFIC = (
    *("many-to-one", "all-to-all", "long-short", "long-short-mild", "incast"),
    *job_kinds.NAMES,
    *sorted(workloads.NAMES),
)


def read(text: str) -> Recipe:
    """A name of the form TRAFFIC or TRAFFIC@FABRIC, as in the module's docstring."""
    traffic, at, fabric = text.partition("@") if isinstance(text, str) else ("", "", "")
    if match := COUNTED.fullmatch(traffic):
        recipe = Recipe(text, match[1], int(match[2]), None, 0, fabric if at else None)
    elif match := BY_HOST.fullmatch(traffic):
        hosts, pairs = int(match[1]), int(match[2])
        recipe = Recipe(text, "many-to-one", hosts * pairs, hosts, 0, fabric if at else None)
    elif match := INCAST.fullmatch(traffic):
        size = int(match[2]) * SIZE_BYTES[match[3]] if match[2] else INCAST_BYTES
        recipe = Recipe(text, "incast", int(match[1]), None, size, fabric if at else None)
    elif (job := job_kinds.read(traffic)) is not None:
        recipe = Recipe(text, job.kind, job.number, None, job.most_bytes, fabric if at else None, job=job)
    elif match := OPEN_LOOP.fullmatch(traffic):
        phases = _phases(traffic, match[1]) + _idle(traffic, match[2], match[3])
        senders = int(match[4]) if match[4] else None
        if senders is not None and any(len(groups) > 1 for groups in phases):
            raise InputError(f"{traffic}: groups of machines have no single receiver; leave x{senders} out")
        first = phases[0][0]
        recipe = Recipe(text, first.workload, first.percent, senders, 0, fabric if at else None, phases)
    else:
        raise InputError(
            f"unknown scenario {text!r}; write many-to-one:64, all-to-all:8, long-short:16, incast:32 or websearch:60%"
            f", and @acc-fabric or another fabric behind it{meant_word(text, TRAFFIC)}"
        )
    return recipe


def _phases(traffic: str, text: str) -> tuple[tuple[Load, ...], ...]:
    """Phases, > between them, of groups, + between them. A workload without a load has that of the next one with a
    load."""
    phases: list[tuple[Load, ...]] = []
    percent = 0
    for phase in reversed(text.split(">")):
        groups: list[Load] = []
        for each in reversed(phase.split("+")):
            workload, _, load = each.partition(":")
            percent = int(load.removesuffix("%")) if load else percent
            if not 1 <= percent <= 100:
                raise InputError(f"{traffic}: a load of {percent} % is not possible; choose 1 to 100 %")
            groups.insert(0, Load(workload, percent))
        phases.insert(0, tuple(groups))
    if len(phases) > MAX_PHASES or max(map(len, phases)) > MAX_GROUPS:
        raise InputError(f"{traffic}: up to {MAX_PHASES} phases of {MAX_GROUPS} groups of machines are possible")
    return tuple(phases)


def _idle(traffic: str, text: str | None, number: str | None) -> tuple[tuple[Load, ...], ...]:
    """The phases at the end in which nothing arrives."""
    count = 0 if text is None else 1 if number is None else int(number)
    if text is not None and not 1 <= count <= MAX_IDLE:
        raise InputError(f"{traffic}: {count} idle phases are not possible; choose 1 to {MAX_IDLE}")
    return ((),) * count


def parse(text: str) -> Scenario:
    """A scenario by its name, where no run is at hand: as seed 0 and the default network have it."""
    return read(text).scenario(0, None, Network())


@lru_cache(maxsize=1024)
def known(text: str) -> str:
    """Returns the name itself; raises ValueError where it is no scenario's, as pydantic's models want it. A recipe is
    read several times in a process, and an open loop's flows take as long to draw as the rest of its reading."""
    try:
        parse(text)
    except InputError as error:
        raise ValueError(str(error)) from None
    return text


def instantiate(text: str, seed: int, duration_ps: int, network: Network) -> Scenario:
    """A scenario by its name for one run. The seed draws flows where they are random, and nothing elsewhere."""
    return read(text).scenario(seed, duration_ps, network)


def many_to_one(flows: int, fabric: Topology | None = None, senders: int | None = None) -> Scenario:
    """N flows to one receiver, as even over the senders as it goes.

    One switch: hosts as in PCC-RL, appendix A; where it has no entry, the most hosts, 64 at the most, that divide N.
    In a fabric the receiver is machine 0, and all others send. ``senders``: from so many hosts instead.
    """
    _check("many-to-one", flows, 1, MAX_FLOWS)
    if senders is not None:
        _check("many-to-one: a number of senders", senders, 1, min(flows, MAX_HOSTS))
    if fabric is not None:
        _check_fits("many-to-one", 1 + (senders or 1), fabric)
        sending = spread(senders or fabric.hosts - 1, fabric.hosts - 1) + 1
        return _placed(f"many-to-one:{flows}", sending[spread(flows, sending.size)], 0, fabric)
    if senders is not None:
        return Scenario(f"many-to-one:{flows}", senders, 1, Flows(host=spread(flows, senders)))
    hosts = HOSTS_OF_FLOWS.get(flows) or max(h for h in range(1, min(flows, 64) + 1) if flows % h == 0)
    if flows // hosts > 1024:  # few divisors, a prime number of flows perhaps
        hosts = 64
    return Scenario(f"many-to-one:{flows}", hosts, 1, Flows(host=np.sort(np.arange(flows) % hosts)))


def all_to_all(hosts: int, fabric: Topology | None = None) -> Scenario:
    """2 H flows a host over all OTHER hosts (PCC-RL: flow i to host i mod H). Flow i goes i mod (H - 1) hosts further
    than the next one, so that no host sends to itself and each port still gets 2 H flows. In a fabric the hosts are
    spread over its machines."""
    _check("all-to-all", hosts, 2, 724)
    host, i = np.divmod(np.arange(2 * hosts * hosts), 2 * hosts)
    receiver = (host + 1 + i % (hosts - 1)) % hosts
    if fabric is None:
        return Scenario(f"all-to-all:{hosts}", hosts, hosts, Flows(host=host, receiver=receiver))
    _check_fits("all-to-all", hosts, fabric)
    machine = spread(hosts, fabric.hosts)
    return _placed(f"all-to-all:{hosts}", machine[host], machine[receiver], fabric)


def long_short(
    flows: int,
    *,
    period_ps: int = SHORT_PERIOD_PS,
    nodes: int = SHORT_NODES,
    node_bytes: int = SHORT_NODE_BYTES,
    short_bytes: int | None = None,
    payload_bytes: int = 1024,
    fabric: Topology | None = None,
) -> Scenario:
    """One unlimited flow from a host of its own; N - 1 short ones start together every period, from up to ``nodes``
    hosts, which send ``node_bytes`` each at the most. In a fabric the receiver is machine 0, and the senders are spread
    over the others."""
    _check("long-short", flows, 2, MAX_FLOWS)
    if fabric is not None:
        _check_fits("long-short", 3, fabric)
    nodes = min(flows - 1, nodes, flows if fabric is None else fabric.hosts - 2)
    a_node = -(-(flows - 1) // nodes)
    size = min(SHORT_BYTES, node_bytes // a_node) if short_bytes is None else short_bytes
    if size < 1 or period_ps < 1:
        raise InputError(f"long-short: short flows of {size} bytes every {period_ps} ps; both must be positive")
    host = np.concatenate([[0], 1 + np.sort(np.arange(flows - 1) % nodes)])
    times = np.where(host > 0, period_ps, 0)
    packets = np.where(host > 0, -(-size // payload_bytes), 0)
    if fabric is None:
        short = Flows(host=host, packets=packets, start_ps=times, period_ps=times)
        return Scenario(f"long-short:{flows}", nodes + 1, 1, short, long_flow=0)
    machine = spread(nodes + 1, fabric.hosts - 1) + 1
    columns: dict[str, Any] = {"packets": packets, "start_ps": times, "period_ps": times}
    return _placed(f"long-short:{flows}", machine[host], 0, fabric, long_flow=0, **columns)


def incast(
    senders: int,
    size_bytes: int = INCAST_BYTES,
    *,
    network: Network | None = None,
    fabric: Topology | None = None,
    seed: int = 0,
) -> Scenario:
    """Every sender sends ``size_bytes`` to the one receiver, all at once; the next round begins 10 ms later, or after
    twice what the receiver's link takes for a round. In a fabric the receiver and its senders are machines drawn by the
    seed."""
    _check("incast", senders, 1, MAX_HOSTS if fabric is None else fabric.hosts - 1)
    _check_size("incast", size_bytes)
    net = network or Network()
    packets, last_bytes = _packets(np.array(size_bytes), net.payload_bytes)
    wire_bytes = senders * (size_bytes + int(packets) * net.wire_overhead_bytes)
    round_ps = wire_bytes * 8000 // (net.link_gbps if fabric is None else fabric.host_gbps)
    period_ps = max(INCAST_PERIOD_PS, 2 * round_ps)
    if period_ps >= LATEST_PS:
        raise InputError(f"incast:{senders}: a round of {senders} x {size_bytes} bytes takes too long; send less")
    sizes: dict[str, Any] = {"packets": packets, "last_bytes": last_bytes, "period_ps": period_ps}
    if fabric is None:
        return Scenario(f"incast:{senders}", senders, 1, Flows(host=np.arange(senders), **sizes))
    drawn = np.argsort(keys(fabric.hosts, seed), kind="stable")
    return _placed(f"incast:{senders}", np.sort(drawn[1 : senders + 1]), drawn[0], fabric, **sizes)


def open_loop(
    phases: Sequence[Sequence[Load]],
    seed: int,
    duration_ps: int | None,
    network: Network,
    fabric: Topology | None = None,
    senders: int | None = None,
) -> Scenario:
    """Flows that arrive at random before ``duration_ps`` (netsim/workloads.py); by default, 16 hosts and one switch.

    Each phase has an equal part of the time, each of its loads an equal part of the machines. ``senders``: so many
    hosts send to one receiver, whose link is loaded; in a fabric these are machines drawn by the seed."""
    busy = [groups for groups in phases if groups]
    idle = len(phases) - len(busy)
    name = ">".join("+".join(map(str, groups)) for groups in busy) + (f">idle*{idle}" if idle else "")
    planes = 1 if fabric is None else fabric.planes
    hosts = OPEN_LOOP_HOSTS if fabric is None else fabric.hosts // planes
    most = max(map(len, phases))
    if hosts < most:
        raise InputError(f"{name}: {most} groups of machines, and there are {hosts}; take a larger fabric")
    if senders is not None:
        _check(f"{name}: a number of senders", senders, 1, MAX_HOSTS if fabric is None else hosts - 1)
        if planes > 1:
            raise InputError(f"{name}: one receiver in {planes} planes is not drawn; take a fabric of one")
    gbps = network.link_gbps if fabric is None else fabric.host_gbps
    if duration_ps is None:
        links = 1 if senders else hosts * planes
        gaps = [workloads.gap_ps(load.workload, load.percent, links, gbps) for groups in phases for load in groups]
        duration_ps = min(len(phases) * round(PARSED_FLOWS * max(gaps)), LATEST_PS)
    begins = [duration_ps * number // len(phases) for number in range(len(phases) + 1)]
    parts = [
        (load, begin, end, range(hosts * group // len(groups), hosts * (group + 1) // len(groups)))
        for groups, begin, end in zip(phases, begins[:-1], begins[1:], strict=True)
        for group, load in enumerate(groups)
    ]
    drawn = [
        workloads.poisson(
            load.workload,
            load.percent,
            hosts=hosts,
            host_gbps=gbps,
            seed=seed,
            duration_ps=end - begin,
            most=MAX_FLOWS,
            senders=senders,
            phase=number,
            sources=sources,
            planes=planes,
        )
        for number, (load, begin, end, sources) in enumerate(parts)
    ]
    begins, hosts = [begin for _, begin, _, _ in parts], hosts * planes
    start = np.concatenate([part.start_ps + begin for part, begin in zip(drawn, begins, strict=True)])
    host = np.concatenate([part.host for part in drawn])
    receiver = np.concatenate([part.receiver for part in drawn])
    size = np.concatenate([part.size_bytes for part in drawn])
    receivers = hosts
    if senders is not None and fabric is None:
        hosts, receivers = senders, 1
    elif senders is not None:
        machine = np.argsort(keys(hosts, seed), kind="stable")
        host, receiver = np.sort(machine[1 : senders + 1])[host], machine[receiver]
    order = np.argsort(host, kind="stable")
    packets, last_bytes = _packets(size[order], network.payload_bytes)
    flows = Flows(
        host=host[order], receiver=receiver[order], packets=packets, last_bytes=last_bytes, start_ps=start[order]
    )
    title = name + (f"x{senders}" if senders is not None else "")
    return Scenario(title, hosts, receivers, flows, topology=fabric)


def waiting(job: job_kinds.Named, seed: int, network: Network, fabric: Topology | None = None) -> Scenario:
    """Flows that wait for one another (netsim/jobs.py). In a fabric the machines are spread over its own; `blocks`
    takes all of them."""
    if fabric is not None:
        _check_fits(job.kind, job.machines, fabric)
    whole = fabric is not None and job.kind == "blocks"
    plan = job.plan(seed, fabric.hosts if fabric is not None and whole else job.machines)
    machine = np.arange(plan.machines) if fabric is None else spread(plan.machines, fabric.hosts)
    sender, receiver, size, of = (np.array(column, np.int64) for column in zip(*plan.rows, strict=True))
    if job.one_qp:
        _, first, flow = np.unique(sender * plan.machines + receiver, return_index=True, return_inverse=True)
        jobs = Jobs(tuple(of.tolist()), tuple(plan.edges), tuple(plan.gaps_ps), tuple(flow.tolist()), True)
    else:
        first = np.argsort(sender, kind="stable")
        place = np.empty(first.size, np.int64)
        place[first] = np.arange(first.size)
        edges = tuple((int(place[one]), int(place[other])) for one, other in plan.edges)
        jobs = Jobs(tuple(of[first].tolist()), edges, tuple(plan.gaps_ps))
    packets, last_bytes = _packets(size[first], network.payload_bytes)
    flows = Flows(
        host=machine[sender][first], receiver=machine[receiver][first], packets=packets, last_bytes=last_bytes
    )
    hosts = plan.machines if fabric is None else fabric.hosts
    return Scenario(job.kind, hosts, hosts, flows, topology=fabric, jobs=jobs)


def spread(count: int, machines: int) -> NDArray[np.int64]:
    """A machine for each of ``count`` in ascending order, as even over all machines as it goes."""
    return np.arange(count) * machines // count


def _placed(
    name: str, host: ArrayLike, receiver: ArrayLike, fabric: Topology, long_flow: int | None = None, **columns: Any
) -> Scenario:
    return Scenario(
        name, fabric.hosts, fabric.receivers, Flows(host=host, receiver=receiver, **columns), long_flow, fabric
    )


def _packets(size_bytes: NDArray[np.int64], payload_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Packets of each flow and the payload of its last, 0 for a full one."""
    return -(-size_bytes // payload_bytes), size_bytes % payload_bytes


def _check(name: str, number: int, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise InputError(f"{name}:{number} is not possible; choose {least} to {most}")


def _check_size(name: str, size_bytes: int) -> None:
    if not 1 <= size_bytes <= MAX_SIZE_BYTES:
        raise InputError(f"{name}: flows of {size_bytes} bytes; 1 B to 1000 GB are possible")


def _check_fits(name: str, machines: int, fabric: Topology) -> None:
    if fabric.hosts < machines:
        raise InputError(f"{name} needs {machines} machines; {fabric.name} has {fabric.hosts}")
