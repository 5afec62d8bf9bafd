"""Behaviour of a kernel with a firmware that comes and goes: thousands of short connections, an unload and a new load
while traffic runs, a map with values that no operator may set. One boot; memory is read between the parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from decision.artefact.errors import InputError
from emulator.linux import bpftool
from emulator.linux.bpftool import OBJECT
from emulator.linux.cell import PORT, Bottleneck, Control, TcpFlow, path_lines, read, register_lines, table
from emulator.linux.machine import boot
from emulator.linux.parts import Parts

PATH = Bottleneck(100 * 10**6, 10**9, 100_000)
SHORT = [TcpFlow(500 * i, 2896, 50_000) for i in range(100)]
"""Two packets each, 2,000 connections a second."""
SHORT_US, LONG_US = 1_500_000, 1_200_000
LONG = [TcpFlow(1000 * i) for i in range(4)]
UNREGISTER = "bpftool struct_ops unregister name rlcc_ops"


@dataclass(frozen=True)
class Safety:
    """``memory_kb``: what is available, by the part after which it was read. ``acknowledged``: bytes of the connections
    that were open when their program was unloaded, then and at their end. ``gone``: what new connections could choose
    while it was. ``hostile_bytes``: acknowledged under a map out of range, in LONG_US."""

    completed: tuple[int, int]
    broken: int
    memory_kb: dict[str, int]
    acknowledged: tuple[int, int]
    gone: str
    back: str
    hostile_bytes: int


def run(parts: Parts, program: bytes, tuning: bytes, hostile: bytes, *, seed: int = 1) -> Safety:
    """``tuning``: the map's content; ``hostile``: one that is out of range. InputError where a part did not end."""
    control = Control("rlcc", program, tuning)
    files = {
        "job/run": script(control, hostile).encode(),
        "job/short": table([control], SHORT),
        "job/long": table([control], LONG),
        f"job/{control.name}/{OBJECT}": program,
    }
    return parsed(boot(parts, files, seed))


def script(control: Control, hostile: bytes) -> str:
    """The guest's job as shell; lines of a part stand behind `P` and its name."""

    def send(flows: str, duration_us: int) -> str:
        return f"within s bed send 10.0.1.1 {PORT} /job/{flows} {duration_us} 100000 100000 r r1"

    def memory(part: str) -> str:
        return f"echo \"P {part} $(awk '/MemAvailable/ {{print $2}}' /proc/meminfo)\""

    lines = [
        *path_lines(PATH),
        "for n in s d; do within $n sysctl -q -w net.ipv4.tcp_max_tw_buckets=64; done",
        *register_lines([control]),
        f"within d bed sink {PORT} cubic &",
        "sleep 1",
        send("short", 200_000) + " > /dev/null",  # what is allocated once
        memory("begin"),
        send("short", SHORT_US),
        memory("short"),
        send("short", SHORT_US),
        memory("again"),
        f"{send('long', LONG_US)} > /tmp/long & sender=$!",
        "sleep 0.4",
        UNREGISTER,
        'echo "G $(within s sysctl -n net.ipv4.tcp_available_congestion_control)"',
        "sleep 0.3",
        *register_lines([control], bpftool.NEWEST),
        'echo "B $(within s sysctl -n net.ipv4.tcp_available_congestion_control)"',
        "wait $sender",
        "cat /tmp/long",
        memory("reload"),
        bpftool.update(hostile, bpftool.NEWEST),
        send("long", LONG_US),
        memory("hostile"),
    ]
    return "\n".join(lines) + "\n"


def parsed(lines: Sequence[str]) -> Safety:
    """The job's lines as figures."""
    parts: dict[str, list[str]] = {}
    memory_kb: dict[str, int] = {}
    gone = back = ""
    part: list[str] = []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "P":
            name, kb = rest.split()
            memory_kb[name], parts[name], part = int(kb), part, []
        elif word == "G":
            gone = rest
        elif word == "B":
            back = rest
        else:
            part.append(line)
    if "hostile" not in parts:
        raise InputError(f"the guest's job failed: {'; '.join(lines[-6:])}")
    seen = {name: read(parts[name]) for name in ("short", "again", "reload", "hostile")}
    at = seen["reload"].flows
    first, last = (int(at[at[:, 0] == t][:, 3].sum()) for t in (at[at[:, 0] <= 600_000][-1, 0], at[-1, 0]))
    hostile = seen["hostile"].flows
    return Safety(
        (len(seen["short"].completed), len(seen["again"].completed)),
        sum(s.failed for s in seen.values()),
        memory_kb,
        (first, last),
        gone,
        back,
        int(hostile[hostile[:, 0] == hostile[-1, 0]][:, 3].sum()),
    )
