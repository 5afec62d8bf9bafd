"""Flows that wait for one another: requests and responses, a parameter server, collectives.

A job is a set of messages. Each begins when all that it waits for have ended (their last ACK has come), the others when
the round begins; the round is over when all have ended, and the next one begins a gap later: a closed loop.

A message is a flow of its own, new each time, unless the traffic says one-qp: then all messages from one machine to
another are of one flow, whose context survives from message to message, as that of a collective's queue pair does.

blocks:20%:1KB-64KBx16      reads and writes of blocks, 20 % of them reads, 16 outstanding a node ([ACC] table 1)
blocks:20%:1KB-64KBx16:3copies      the same; what is written goes on to two more storage nodes before it is answered
parameter-server:8x4MB      8 workers send 4 MB each to a server, which sends 4 MB to each when it has them all
ring-all-reduce:8x4MB       8 machines add up 4 MB: 14 steps of an eighth of it, each to the next machine
tree-all-reduce:8x4MB       the same up a binary tree and down again
exchange:8x4MB              each of 8 machines sends an eighth of 4 MB to each other one
exchange:8x4MB:20ms         between two rounds of any of these four machines compute for 20 ms
exchange:8x4MB:one-qp       any of these four with one queue pair from a machine to another
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from decision.artefact.errors import InputError
from decision.artefact.quantity import SIZE_BYTES
from decision.ir import exact
from netsim.network import MS
from netsim.splitmix import uniform

REQUEST_BYTES = 64  # a request to read, and the response to a write
COMPUTING, STORAGE = 18, 6  # machines on one switch: [ACC] section 5.3.1, three to one
PAUSE_MS = {"parameter-server": 1, "ring-all-reduce": 0, "tree-all-reduce": 0, "exchange": 0}
"""Of each collective, between two rounds, where its name says no other."""
DRAWN = 1 << 18
"""Of the seed's random numbers."""
MAX_MACHINES = 512
SIZE = r"([1-9][0-9]{0,8})(B|KB|MB)"
BLOCKS = re.compile(
    rf"blocks:(0|[1-9][0-9]{{0,2}})%:{SIZE}(?:-{SIZE})?x([1-9][0-9]{{0,5}})(?::([1-9][0-9]{{0,2}})copies)?"
)
COLLECTIVE = re.compile(rf"({'|'.join(PAUSE_MS)}):(0|[1-9][0-9]{{0,5}})x{SIZE}(?::(0|[1-9][0-9]{{0,4}})ms)?(:one-qp)?")
NAMES = ("blocks", *PAUSE_MS)


@dataclass(frozen=True)
class Jobs:
    """Messages of flows, and what they wait for.

    - ``of``: job of each message, -1 for none
    - ``edges``: (message, one that waits for it)
    - ``gap_ps``: time between two rounds of each job
    - ``flow``: flow that sends each message; empty where each flow sends one
    - ``keeps_contexts``: whether a flow of a job keeps its context from message to message
    """

    of: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    gap_ps: tuple[int, ...]
    flow: tuple[int, ...] = ()
    keeps_contexts: bool = False

    def senders(self, flows: int) -> Sequence[int]:
        """Returns the flow of each message."""
        return self.flow or range(flows)

    def check(self, name: str, flows: int, free: Sequence[int]) -> None:
        """InputError where this is no set of jobs of so many flows; ``free``: flows that never end, or come back."""
        flow_of, count = self.senders(flows), len(self.of)
        if count != len(flow_of) or not all(-1 <= job < len(self.gap_ps) for job in self.of):
            raise InputError(
                f"scenario {name}: jobs name {count} messages of {len(flow_of)}, or a job that there is not"
            )
        if set(flow_of) != set(range(flows)):
            raise InputError(f"scenario {name}: jobs have no message of a flow, or one of a flow that there is not")
        never = set(free)
        endless = [flow for flow, job in zip(flow_of, self.of, strict=True) if job >= 0 and flow in never]
        if endless:
            raise InputError(f"scenario {name}: flow {endless[0]} of a job never ends, or comes back by itself")
        waits = [0] * count
        follow: list[list[int]] = [[] for _ in range(count)]
        for one, other in self.edges:
            if not (0 <= one < count and 0 <= other < count) or self.of[one] != self.of[other] or self.of[one] < 0:
                raise InputError(f"scenario {name}: message {other} waits for message {one}, which is not of its job")
            waits[other] += 1
            follow[one].append(other)
        last: dict[int, int] = {}
        for message, flow in enumerate(flow_of):
            before = last.setdefault(flow, message)
            if before != message and message not in follow[before]:
                raise InputError(f"scenario {name}: message {message} does not wait for message {before} of its flow")
            last[flow] = message
        ready = [message for message in range(count) if waits[message] == 0]
        for message in ready:
            for other in follow[message]:
                waits[other] -= 1
                if waits[other] == 0:
                    ready.append(other)
        if len(ready) < count:
            raise InputError(f"scenario {name}: messages of a job wait for one another in a circle")


@dataclass
class Plan:
    """Messages as they are planned: machines, sizes, jobs and what they wait for."""

    machines: int
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)  # from, to, bytes, job
    edges: list[tuple[int, int]] = field(default_factory=list)
    gaps_ps: list[int] = field(default_factory=list)

    def job(self, gap_ps: int = 0) -> int:
        self.gaps_ps.append(gap_ps)
        return len(self.gaps_ps) - 1

    def flow(self, job: int, sender: int, receiver: int, size_bytes: int, after: Sequence[int] = ()) -> int:
        self.rows.append((sender, receiver, size_bytes, job))
        number = len(self.rows) - 1
        self.edges += [(before, number) for before in after]
        return number


@dataclass(frozen=True)
class Named:
    """A job's name, read: the kind, how many machines (or requests), sizes, the share of reads, on how many storage
    nodes a written block is, the time between two rounds, and whether messages between two machines share a flow."""

    kind: str
    number: int
    least_bytes: int
    most_bytes: int
    reads: int = 0
    copies: int = 1
    gap_ps: int = 0
    one_qp: bool = False

    @property
    def machines(self) -> int:
        if self.kind == "blocks":
            return COMPUTING + STORAGE
        return self.number + (self.kind == "parameter-server")

    def plan(self, seed: int, machines: int) -> Plan:
        """Returns the plan for this number of machines, which must be at least those that it needs."""
        if self.kind == "blocks":
            return blocks(machines, self, seed)
        make = {
            "parameter-server": parameter_server,
            "ring-all-reduce": ring_all_reduce,
            "tree-all-reduce": tree_all_reduce,
            "exchange": exchange,
        }
        return make[self.kind](self.number, self.most_bytes, self.gap_ps)


def read(traffic: str) -> Named | None:
    """None: it is no job's name. InputError where its numbers are not possible."""
    if match := BLOCKS.fullmatch(traffic):
        least = int(match[2]) * SIZE_BYTES[match[3]]
        most = least if match[4] is None else int(match[4]) * SIZE_BYTES[match[5]]
        named = Named("blocks", int(match[6]), least, most, int(match[1]), int(match[7] or 1))
        if named.reads > 100 or least > most or named.number > 1024:
            raise InputError(f"{traffic}: 0 to 100 % of reads, of blocks from the least to the most, up to 1024 a node")
        return named
    match = COLLECTIVE.fullmatch(traffic)
    if match is None:
        return None
    size = int(match[3]) * SIZE_BYTES[match[4]]
    gap_ms = int(match[5] or PAUSE_MS[match[1]])
    named = Named(match[1], int(match[2]), size, size, gap_ps=gap_ms * MS, one_qp=match[6] is not None)
    if not 2 <= named.number <= MAX_MACHINES:
        raise InputError(f"{traffic}: {named.number} machines; 2 to {MAX_MACHINES} are possible")
    return named


def blocks(machines: int, asked: Named, seed: int) -> Plan:
    """Three computing nodes to one storage node; each request is a job of its own: a read is a request and the block
    that answers it, a write the block and a response. The owner, the length (even over the logarithms) and the
    direction of each block are drawn once. Further copies of what is written go to the storage nodes that come next,
    all at once, and the response waits for them."""
    plan = Plan(machines)
    storage = [m for m in range(machines) if m % 4 == 3]
    computing = [m for m in range(machines) if m % 4 != 3]
    if asked.copies > len(storage):
        raise InputError(f"blocks: {asked.copies} copies need as many storage nodes; there are {len(storage)}")
    count = len(computing) * asked.number
    to, length, kind = (uniform(count, seed, DRAWN + stream) for stream in range(3))
    low, high = exact.log([asked.least_bytes, asked.most_bytes])
    sizes = exact.exp(low + length * (high - low))
    for number in range(count):
        node, first = computing[number // asked.number], int(to[number] * len(storage))
        store, *others = (storage[(first + copy) % len(storage)] for copy in range(asked.copies))
        block, job = round(float(sizes[number])), plan.job()
        if kind[number] * 100 < asked.reads:
            there = plan.flow(job, node, store, REQUEST_BYTES)
            plan.flow(job, store, node, block, [there])
            continue
        there = plan.flow(job, node, store, block)
        copied = [plan.flow(job, store, other, block, [there]) for other in others]
        plan.flow(job, store, node, REQUEST_BYTES, copied or [there])
    return plan


def parameter_server(workers: int, size_bytes: int, gap_ps: int) -> Plan:
    plan = Plan(workers + 1)
    job = plan.job(gap_ps)
    pushed = [plan.flow(job, worker, workers, size_bytes) for worker in range(workers)]
    for worker in range(workers):
        plan.flow(job, workers, worker, size_bytes, pushed)
    return plan


def ring_all_reduce(machines: int, size_bytes: int, gap_ps: int) -> Plan:
    """2 (N - 1) steps; a machine's part of a step waits for what it was sent, and for what it sent itself, in the one
    before."""
    plan = Plan(machines)
    job, chunk = plan.job(gap_ps), max(size_bytes // machines, 1)
    before: list[int] = []
    for _ in range(2 * (machines - 1)):
        after = [[before[m], before[m - 1]] if before else [] for m in range(machines)]
        before = [plan.flow(job, m, (m + 1) % machines, chunk, after[m]) for m in range(machines)]
    return plan


def tree_all_reduce(machines: int, size_bytes: int, gap_ps: int) -> Plan:
    """Machine m's parent is (m - 1) / 2. Up when both children's sums have come, down from the root."""
    plan = Plan(machines)
    job = plan.job(gap_ps)
    up: dict[int, int] = {}
    for m in range(machines - 1, 0, -1):
        up[m] = plan.flow(job, m, (m - 1) // 2, size_bytes, [up[c] for c in (2 * m + 1, 2 * m + 2) if c in up])
    down: dict[int, int] = {}
    for m in range(1, machines):
        parent = (m - 1) // 2
        come = [down[parent]] if parent else [up[c] for c in (1, 2) if c in up]
        down[m] = plan.flow(job, parent, m, size_bytes, come)
    return plan


def exchange(machines: int, size_bytes: int, gap_ps: int) -> Plan:
    plan = Plan(machines)
    job = plan.job(gap_ps)
    for m in range(machines):
        for further in range(1, machines):
            plan.flow(job, m, (m + further) % machines, max(size_bytes // machines, 1))
    return plan
