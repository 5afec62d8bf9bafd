"""Who sends to whom: many-to-one, all-to-all, long-short (RL-CC and PCC-RL), by name or built by hand.

many-to-one:64      64 flows, 64 hosts of one queue pair each, one receiver
all-to-all:8        8 hosts, 2 x 8 flows each
long-short:16       one unlimited flow, 15 short ones that come and go
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netsim import _core
from netsim.network import LATEST_PS, MS
from spec.errors import InputError

MAX_FLOWS = 65536
MAX_HOSTS = 8192

HOSTS_OF_FLOWS = {2: 2, 4: 4, 16: 16, 32: 32, 64: 64, 128: 64, 256: 32, 512: 64, 1024: 32, 2048: 64, 4096: 64, 8192: 64}
"""Hosts of a many-to-one scenario by its number of flows (RL-CC's table, hosts x queue pairs)."""

SHORT_PERIOD_PS = 10 * MS  # RL-CC, published code: every 10 ms
SHORT_BYTES = 6 * 200 * 1024  # a flow sends 6 x 200 KiB ..
SHORT_NODE_BYTES = 4_000_000  # .. or its share of 4 MB a node, whichever is less
SHORT_NODES = 16  # hosts of short flows: 16 x 4 MB take 5.6 ms of the 10 ms at 100 Gb/s

PATTERN = re.compile(r"^(many-to-one|all-to-all|long-short):(0|[1-9][0-9]{0,4})$")


@dataclass(frozen=True)
class Flow:
    """One flow. ``packets`` 0: unlimited. With a period it comes back, as a new flow, every ``period_ps``."""

    host: int
    receiver: int
    packets: int = 0
    start_ps: int = 0
    period_ps: int = 0


@dataclass(frozen=True)
class Scenario:
    """Flows over ``hosts`` senders and ``receivers`` output ports; ``long_flow`` is the one whose recovery counts."""

    name: str
    hosts: int
    receivers: int
    flows: tuple[Flow, ...]
    long_flow: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= MAX_HOSTS or not 1 <= self.receivers <= MAX_HOSTS:
            raise InputError(f"scenario {self.name}: hosts and receivers must be 1 to {MAX_HOSTS}")
        if not 1 <= len(self.flows) <= MAX_FLOWS:
            raise InputError(f"scenario {self.name}: {len(self.flows)} flows; 1 to {MAX_FLOWS} are possible")
        if any(a.host > b.host for a, b in zip(self.flows, self.flows[1:], strict=False)):
            raise InputError(f"scenario {self.name}: flows must be listed host by host")
        for number, f in enumerate(self.flows):
            if not (0 <= f.host < self.hosts and 0 <= f.receiver < self.receivers):
                raise InputError(f"scenario {self.name}: flow {number} names a host or receiver that does not exist")
            if not (0 <= f.packets < 2**31 and 0 <= f.start_ps < LATEST_PS and 0 <= f.period_ps < LATEST_PS):
                raise InputError(f"scenario {self.name}: flow {number} has a negative or too large size or time")
            if f.packets == 0 and f.period_ps > 0:
                raise InputError(f"scenario {self.name}: flow {number} is unlimited and cannot come back")
        if self.long_flow is not None and not 0 <= self.long_flow < len(self.flows):
            raise InputError(f"scenario {self.name}: long_flow {self.long_flow} does not exist")

    def column(self, name: str) -> NDArray[np.int64]:
        """One field of all flows."""
        return np.array([getattr(f, name) for f in self.flows], dtype=np.int64)

    def core(self) -> "_core.ScenarioConfig":
        """The same for the simulator's core."""
        core = _core.ScenarioConfig()
        core.hosts = self.hosts
        core.ports = self.receivers
        core.long_flow = -1 if self.long_flow is None else self.long_flow
        core.set_flows(
            self.column("host").astype(np.uint32),
            self.column("receiver").astype(np.uint32),
            self.column("packets").astype(np.uint32),
            self.column("start_ps"),
            self.column("period_ps"),
        )
        return core


def many_to_one(flows: int) -> Scenario:
    """N flows to one receiver. Where RL-CC's table has no entry: the most hosts, 64 at the most, that divide N."""
    _check("many-to-one", flows, 1, MAX_FLOWS)
    hosts = HOSTS_OF_FLOWS.get(flows) or max(h for h in range(1, min(flows, 64) + 1) if flows % h == 0)
    if flows // hosts > 1024:  # a prime number of flows: as even as it goes
        hosts = 64
    host = sorted(i % hosts for i in range(flows))
    return Scenario(f"many-to-one:{flows}", hosts, 1, tuple(Flow(h, 0) for h in host))


def all_to_all(hosts: int) -> Scenario:
    """2 H flows a host over all OTHER hosts (PCC-RL: flow i to host i mod H). Flow i goes i mod (H - 1) hosts further
    than the next one, so that no host sends to itself and each port still gets 2 H flows."""
    _check("all-to-all", hosts, 2, 181)
    flows = tuple(Flow(h, (h + 1 + i % (hosts - 1)) % hosts) for h in range(hosts) for i in range(2 * hosts))
    return Scenario(f"all-to-all:{hosts}", hosts, hosts, flows)


def long_short(
    flows: int, *, period_ps: int = SHORT_PERIOD_PS, short_bytes: int | None = None, payload_bytes: int = 1024
) -> Scenario:
    """One unlimited flow from a host of its own; N - 1 short ones start together every period, from up to 16 hosts."""
    _check("long-short", flows, 2, MAX_FLOWS)
    hosts = min(flows - 1, SHORT_NODES)
    per_host = -(-(flows - 1) // hosts)
    size = min(SHORT_BYTES, SHORT_NODE_BYTES // per_host) if short_bytes is None else short_bytes
    if size < 1 or period_ps < 1:
        raise InputError(f"long-short: short flows of {size} bytes every {period_ps} ps; both must be positive")
    packets = -(-size // payload_bytes)
    short = tuple(Flow(1 + h, 0, packets, period_ps, period_ps) for h in sorted(i % hosts for i in range(flows - 1)))
    return Scenario(f"long-short:{flows}", hosts + 1, 1, (Flow(0, 0), *short), long_flow=0)


def parse(text: str) -> Scenario:
    """A scenario by its name, as in the module's docstring."""
    match = PATTERN.match(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"unknown scenario {text!r}; write many-to-one:64, all-to-all:8 or long-short:16")
    build = {"many-to-one": many_to_one, "all-to-all": all_to_all, "long-short": long_short}[match[1]]
    return build(int(match[2]))


def _check(name: str, number: int, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise InputError(f"{name}:{number} is not possible; choose {least} to {most}")
