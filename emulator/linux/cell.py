"""One cell: a path with one bottleneck, flows over it under some congestion controls, and what was seen.

s --- r ===> d     s sends, paced by fq; r's port to d is the bottleneck (tbf: rate and limit; red below it where it
  <---------       marks); d delays what goes back (netem): the path's RTT without transmission and the hosts' time
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from emulator.linux import bpftool
from emulator.linux.bpftool import OBJECT
from emulator.linux.machine import boot
from emulator.linux.parts import Parts

STOCK = ("bbr", "cubic", "dctcp", "reno")
"""The kernel's own."""
FRAME_BYTES = 1514
"""Of a full packet, as the queue counts: 14 of Ethernet, 20 of IPv4, 32 of TCP with timestamps."""
PAYLOAD_BYTES = 1448
RATES_BPS = (10**6, 400 * 10**6)
"""What the guest, a thousand million instructions a second, can carry."""
PORT = 5001
MAX_FLOWS = 1024
SAMPLE_US = 1000


@dataclass(frozen=True)
class Bottleneck:
    """``delay_ps``: the RTT of an empty path. A packet that finds tokens leaves the shaper at once, so none of it is a
    packet's transmission. ``marking_bytes``: queue where RED begins to mark and where it marks all; None: it drops
    only, when it is full."""

    rate_bps: int
    delay_ps: int
    queue_bytes: int
    marking_bytes: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not RATES_BPS[0] <= self.rate_bps <= RATES_BPS[1]:
            raise InputError(f"a bottleneck of {self.rate_bps / 1e6:g} Mb/s: the guest carries 1 to 400 Mb/s")
        if not 10**8 <= self.delay_ps <= 10**12:
            raise InputError("a bottleneck's RTT is 0.1 ms to 1 s: the guest's own time for a packet is some 20 us")
        if not 2 * FRAME_BYTES <= self.queue_bytes <= 1 << 30:
            raise InputError(f"a bottleneck's queue holds 2 packets ({2 * FRAME_BYTES} B) to 1 GiB")
        low, high = self.marking_bytes or (0, self.queue_bytes)
        if not 0 <= low <= high <= self.queue_bytes:
            raise InputError("a bottleneck marks between two queue lengths that ascend, within the queue")

    @property
    def packet_ps(self) -> int:
        """A full packet's time on the wire."""
        return FRAME_BYTES * 8 * 10**12 // self.rate_bps


@dataclass(frozen=True)
class Control:
    """A congestion control by the kernel's name. ``program``: the BPF object that brings it, none of a stock one;
    ``tuning``: the content of its map."""

    name: str
    program: bytes | None = None
    tuning: bytes | None = None


@dataclass(frozen=True)
class TcpFlow:
    """``payload_bytes`` 0: unlimited. If it has a period, it comes back as a new connection, every period."""

    start_us: int
    payload_bytes: int = 0
    period_us: int = 0


@dataclass(frozen=True)
class Seen:
    """Arrays by column. ``queue``: t us, backlog B, drops, marks, packets sent so far. ``flows``: t us, flow, smoothed
    RTT us, payload acknowledged B, retransmits of the connection, pacing B/s, window, packets sent, ACKs.
    ``completed``: flow, start us, finish us, bytes. ``failed``: connections that broke. ``said``: lines of the job, for
    people. ``maps``: what was read back of each map that was written, as bpftool shows it."""

    queue: NDArray[np.int64]
    flows: NDArray[np.int64]
    completed: NDArray[np.int64]
    failed: int
    said: tuple[str, ...] = field(repr=False)
    maps: tuple[str, ...] = ()


MAX_INT64 = 2**63 - 1
"""The pacing rate of who is not paced yet is 2^64 - 1."""
COLUMNS = {"Q": 5, "F": 9, "C": 4}


def run(
    parts: Parts,
    path: Bottleneck,
    controls: Sequence[Control],
    flows: Sequence[TcpFlow],
    *,
    seed: int,
    duration_us: int,
) -> Seen:
    """Boot, carry ``flows``, one of ``controls`` each in turn, for ``duration_us``; what was seen."""
    if not 1 <= len(flows) <= MAX_FLOWS:
        raise InputError(f"{len(flows)} flows: the guest carries 1 to {MAX_FLOWS}")
    job = script(path, controls, len(flows), duration_us)
    files = {"job/run": job.encode(), "job/flows": table(controls, flows)}
    for control in controls:
        if control.program is not None:
            files[f"job/{control.name}/{OBJECT}"] = control.program
    seen = read(boot(parts, files, seed))
    check_maps(controls, seen.maps)
    return seen


def check_maps(controls: Sequence[Control], maps: Sequence[str]) -> None:
    """InputError where a map does not hold what was written into it."""
    written = [control.tuning for control in controls if control.program is not None and control.tuning is not None]
    back = [bpftool.content_of(text.encode(), len(content)) for text, content in zip(maps, written, strict=False)]
    if back != written:
        raise InputError("the kernel's map does not hold the parameters that were written; emit the firmware again")


def script(path: Bottleneck, controls: Sequence[Control], flows: int, duration_us: int) -> str:
    """The guest's job as shell."""
    every_us = max(10_000, 500 * flows)
    sink = "dctcp" if {c.name for c in controls} == {"dctcp"} else "cubic"
    lines = [
        *path_lines(path),
        *register_lines(controls),
        f"within d bed sink {PORT} {sink} &",
        "sleep 1",
        f"within s bed send 10.0.1.1 {PORT} /job/flows {duration_us} {SAMPLE_US} {every_us} r r1",
    ]
    return "\n".join(lines) + "\n"


def path_lines(path: Bottleneck) -> list[str]:
    """Shell that lays the path."""
    devices = [("s", "s0"), ("r", "r0"), ("r", "r1"), ("d", "d0")]
    lines = [
        "set -e",
        'ip() { /bin/ip "$@"; }; tc() { /sbin/tc "$@"; }; within() { ip netns exec "$@"; }',  # not busybox's
        "sysctl -q -w net.core.wmem_max=16777216 net.core.somaxconn=8192",
        "for n in s r d; do ip netns add $n; ip -n $n link set lo up; done",
        "ip link add s0 netns s type veth peer name r0 netns r",
        "ip link add d0 netns d type veth peer name r1 netns r",
        # One segment a packet: what waits in the queue are packets, not bundles of them.
        *(f"ip -n {name} link set {device} gso_max_segs 1 up" for name, device in devices),
        "ip -n s addr add 10.0.0.1/24 dev s0; ip -n r addr add 10.0.0.2/24 dev r0",
        "ip -n d addr add 10.0.1.1/24 dev d0; ip -n r addr add 10.0.1.2/24 dev r1",
        "ip -n s route add default via 10.0.0.2; ip -n d route add default via 10.0.1.2",
        "within r sysctl -q -w net.ipv4.ip_forward=1",
        "for n in s d; do within $n sysctl -q -w net.ipv4.tcp_no_metrics_save=1; done",
        "within s sysctl -q -w net.ipv4.ip_local_port_range='1024 65000'",
        "within s sysctl -q -w net.ipv4.tcp_wmem='4096 262144 16777216'",
        "tc -n s qdisc replace dev s0 root fq limit 100000 flow_limit 10000",
        f"tc -n r qdisc add dev r1 root handle 1: tbf rate {path.rate_bps} burst 1600 limit {path.queue_bytes}",
        f"tc -n d qdisc add dev d0 root netem delay {path.delay_ps // 10**6}us limit 1000000",
    ]
    if path.marking_bytes is not None:
        low, high = path.marking_bytes[0], max(path.marking_bytes[1], path.marking_bytes[0] + 1)
        lines += [
            "for n in s d; do within $n sysctl -q -w net.ipv4.tcp_ecn=1; done",
            f"tc -n r qdisc add dev r1 parent 1:1 handle 10: red limit {path.queue_bytes} min {low} max {high} ecn "
            f"avpkt {FRAME_BYTES} burst {low // FRAME_BYTES + 2} probability 1 bandwidth {path.rate_bps}",
        ]
    return lines


def register_lines(controls: Sequence[Control], which: str = bpftool.BY_NAME) -> list[str]:
    """Shell that loads the programs and writes their maps, which are shown again as they are then."""
    lines = []
    for control in controls:
        if control.program is not None:
            place = f"/job/{control.name}/{OBJECT}"
            lines.append(f"bpftool struct_ops register {place} || {{ echo E register {control.name}; exit 1; }}")
            if control.tuning is not None:
                lines += [bpftool.update(control.tuning, which), f'echo "M $({bpftool.lookup(which)})"']
    return lines


def read(lines: Sequence[str]) -> Seen:
    """The agent's lines as columns. InputError where the guest says that something failed, or the agent did not end."""
    rows: dict[str, list[list[int]]] = {kind: [] for kind in COLUMNS}
    failed, said, maps = 0, [], []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind in rows:
            rows[kind].append(_row(line, rest, COLUMNS[kind]))
        elif kind == "X":
            failed += 1
        elif kind == "M":
            maps.append(rest)
        elif kind != "D":
            said.append(line)
    if any(line.startswith("E ") for line in said) or "D" not in lines:
        if (refused := refusal(said)) is not None:
            raise InputError(refused)
        told = "; ".join(line.strip() for line in said[-12:] if line.strip())
        raise InputError(f"the guest's job failed: {told or 'it says nothing'}")
    columns = {kind: np.array(rows[kind], np.int64).reshape(-1, width) for kind, width in COLUMNS.items()}
    return Seen(columns["Q"], columns["F"], columns["C"], failed, tuple(said), tuple(maps))


def _row(line: str, rest: str, width: int) -> list[int]:
    words = rest.split()
    if len(words) != width or not all(word.isascii() and word.isdigit() for word in words):
        raise InputError(f"the guest's line {line[:60]!r} is not what its program prints; run it again")
    return [min(int(word), MAX_INT64) for word in words]


def refusal(said: Sequence[str]) -> str | None:
    """Which program the kernel's verifier refuses and why, from its log; None where it refused none."""
    program = next((m[1] for line in said if (m := re.search(r"prog '(\w+)': failed to load", line))), None)
    ends = [i for i, line in enumerate(said) if line.startswith("processed ") and " insns " in line]
    if program is None or not ends or ends[-1] == 0:
        return None
    return f"the kernel refuses {program}: {said[ends[-1] - 1].strip()} (the end of its verifier's log; emit it again)"


def table(controls: Sequence[Control], flows: Sequence[TcpFlow]) -> bytes:
    """The flows as the guest reads them, one of ``controls`` each in turn."""
    rows = [
        f"{f.start_us} {f.payload_bytes} {f.period_us} {controls[i % len(controls)].name}\n"
        for i, f in enumerate(flows)
    ]
    return "".join(rows).encode()
