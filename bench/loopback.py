"""Windows over UDP loopback (docs/example-host) next to the same integers in the simulator: NSCC, and a learnt policy.

    python -m bench.loopback [--learnt RUN] [--runs N] [--seconds N] [--out FILE]

``RUN`` is a folder of `rlcc run recipes/robust-window.toml`, with its student and firmware. The simulator's links
have whole gigabits a second, and learnt policies read RTTs of microseconds. There the path is so many times as fast and
as short, and holds as many bytes. The example needs a C compiler. Its figures do not depend on the machine's load.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import hypot
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.algorithm import load_algorithm
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.student import load_student
from netsim import Network, simulate
from netsim.network import MS, NS, SELECTIVE_REPEAT, US
from netsim.policies import ProgramPolicy, interpreted
from rlcc.commands.console import counted
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "loopback.md"
EXAMPLE = ROOT / "docs" / "example-host"
SETTINGS = EXAMPLE / "loopback.toml"
SOURCES = ("loopback.c", "bottleneck.c", "sender.c", "virtual_time.c")
LINE_MBPS, QUEUE_BYTES, PACKET_BYTES, BASE_RTT_NS = 80, 120_000, 1024, 4_102_400  # of loopback.h
FLOWS = (4, 8, 16)
AIM = 0.05
"""Largest difference of goodput and queue, as a share of the simulator's figure."""
LATE = "late_ms"
BUSY = 4 * (os.cpu_count() or 1)
"""Processes that compute next to a run that is repeated."""

HEADING = (
    "flows",
    *("goodput, loopback", "simulator", "difference"),
    *("queue, loopback", "simulator", "difference"),
    *("Jain's index, loopback", "simulator"),
)


def times_faster(link_gbps: int) -> float:
    """Returns the factor by which the simulated path is faster and shorter."""
    return link_gbps * 1000 / LINE_MBPS


class Integers(NamedTuple):
    """Integers that set a window: what their header is emitted from, and they in the simulator."""

    name: str
    source: Path
    policy: ProgramPolicy
    link_gbps: int

    @property
    def faster(self) -> float:
        """Returns ``times_faster`` of its links."""
        return times_faster(self.link_gbps)


def nscc() -> Integers:
    """Returns NSCC for the path of the example, 12.5 times as fast in the simulator."""
    algorithm, link_gbps = load_algorithm(SETTINGS), 1
    # The document's step grows with the RTT; the simulated path is as much shorter.
    steps = algorithm.proportional_step * times_faster(link_gbps)
    faster = algorithm.model_copy(update={"proportional_step": steps})
    return Integers("NSCC", SETTINGS, interpreted(faster), link_gbps)


def learnt(run: Path) -> Integers:
    """Returns a student that sets a window, in units of 500 ns over loopback and 500 times as fast in the simulator.

    InputError where the folder has no student."""
    student = load_student(run / "student" / STUDENT_NAME)
    return Integers(f"{student.name}, learnt", run / "student", interpreted(student), 40)


def built(source: Path, folder: Path) -> Path:
    """Emits the header of ``source``, compiles the example in ``folder``; returns the program."""
    firmware, program = folder / "firmware", folder / "loopback"
    rlcc = [sys.executable, "-m", "rlcc", "emit", str(source.resolve()), "--target", "host", "--out", str(firmware)]
    subprocess.run(rlcc, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    sources = [str(EXAMPLE / name) for name in SOURCES]
    subprocess.run(["cc", "-std=c99", "-O2", f"-I{firmware}", *sources, "-o", str(program)], check=True)
    return program


def measured(program: Path, flows: int, seconds: int, seed: int) -> dict[str, float]:
    """Goodput as a share of the line, queue in bytes, Jain's index and lateness of a run without loss on the way.

    RuntimeError where the system lost datagrams: then the run depends on the machine."""
    command = [str(program), "enforce", str(flows), str(seconds), "0", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10 * seconds + 60)
    told = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    if told["datagrams_lost"] > 0:
        raise RuntimeError(f"{flows} flows: the system lost {told['datagrams_lost']:.0f} datagrams; run it again")
    return {
        "goodput": told["goodput_mbps"] / LINE_MBPS,
        "queue": told["queue_mean_bytes"],
        "jain": told["jain"],
        LATE: told["late_us_max"] / 1000,
    }


def path_of(integers: Integers) -> Network:
    """Returns the example's path in the simulator. Probes, which no flow sends, are as long as packets: the base RTT is
    that of a packet."""
    rtt_ps = round(BASE_RTT_NS * NS / integers.faster)
    return Network(
        link_gbps=integers.link_gbps,
        payload_bytes=PACKET_BYTES,
        wire_overhead_bytes=0,
        probe_wire_bytes=PACKET_BYTES,
        start_jitter_ps=rtt_ps,
        one_way_ps=rtt_ps // 2,
        base_rtt_ps=rtt_ps,
        buffer_bytes=QUEUE_BYTES,
        transport=SELECTIVE_REPEAT,
    )


def simulated(integers: Integers, flows: int, seconds: int, seed: int) -> dict[str, float]:
    """The same of a run in the simulator."""
    end_ps, network = round(seconds * 1000 * MS / integers.faster), path_of(integers)
    run = simulate(
        f"many-to-one:{flows}",
        integers.policy,
        seed=seed,
        duration_ps=end_ps,
        window_ps=(end_ps // 4, end_ps),
        decision_latency_ps=0,
        network=network,
    )
    queue_bytes = run.metrics["queue_mean_us"] * US / network.ps_per_byte
    return {"goodput": run.metrics["goodput"], "queue": queue_bytes, "jain": run.metrics["jain"]}


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keeps the processors busy."""
    each = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in each:
            process.kill()
            process.wait()


def repeated(example: Path, first: Sequence[dict[str, float]], seconds: int) -> str:
    """Returns what the load of the machine changes in the first runs of each number of flows."""
    with busy(BUSY):
        again = [measured(example, flows, seconds, seed=1) for flows in FLOWS]
    same = all(a[name] == b[name] for a, b in zip(first, again, strict=True) for name in a if name != LATE)
    late = [max(run[LATE] for run in runs) for runs in (first, again)]
    return f"""Seed 1 was run again next to {BUSY} processes that compute.
Its figures are {"the same to the digit" if same else "NOT the same"}: goodput, queue and Jain's index.
Events were at most {late[0]:.1f} ms late before and {late[1]:.1f} ms then."""


def off(real: Sequence[dict[str, float]], made: Sequence[dict[str, float]], metric: str) -> Figure:
    """Difference of the means, as a share of the simulator's, with the half-width of both intervals together."""
    ours, theirs = (Figure.of([run[metric] for run in runs]) for runs in (real, made))
    return Figure(ours.mean / theirs.mean - 1, hypot(ours.half, theirs.half) / theirs.mean)


def section(integers: Integers, runs: int, seconds: int) -> str:
    """Returns one algorithm's part of the page."""
    rows, most, first = [], 0.0, []
    with TemporaryDirectory() as folder:
        example = built(integers.source, Path(folder))
        for flows in FLOWS:
            print(f"{integers.name}: {flows} flows", file=sys.stderr, flush=True)
            real = [measured(example, flows, seconds, seed) for seed in range(1, runs + 1)]
            made = [simulated(integers, flows, seconds, seed) for seed in range(1, runs + 1)]
            first.append(real[0])
            cells = [str(flows)]
            for metric, decimals in (("goodput", 3), ("queue", 0)):
                differs = off(real, made, metric)
                most = max(most, abs(differs.mean) + differs.half)
                cells += [Figure.of([run[metric] for run in each]).text(decimals) for each in (real, made)]
                cells.append(f"{differs.mean:+.1%} ±{differs.half:.1%}")
            rows.append(cells + [Figure.of([run["jain"] for run in each]).text(3) for each in (real, made)])
        load = repeated(example, first, seconds)
    return f"""## {integers.name}
The simulator's path is {integers.faster:g} times as fast and as short.

{table(HEADING, rows)}
Largest difference of goodput and queue, with its half-width (99 %): {most:.1%}.
The aim is {AIM:.0%}: {"met" if most <= AIM else "not met"}.

{load}
"""


def page(each: Sequence[Integers], runs: int, seconds: int, command: str) -> str:
    """Returns the page as Markdown."""
    sections = "\n".join(section(integers, runs, seconds) for integers in each)
    return f"""# Windows over loopback and in the simulator
{made_by(command)}

The same integers twice: as a header for a host, over [UDP loopback](../how-to/windows.md#over-udp-loopback), and in the
simulator. Time is virtual: the bottleneck computes when a packet arrives, and sockets carry the packets. No figure is
of the real clock but the lateness, by which a run was delayed.

The bottleneck has {LINE_MBPS} Mb/s and NSCC's thresholds of marks, which a learnt policy does not read.
{counted(runs, "run")} of {seconds} s each, after the first quarter; the seeds draw when flows start, within a base RTT.
Goodput is a share of the line. The queue is what packets find, in bytes.

{sections}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or 2 where a run has no student."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.loopback", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learnt", type=Path, metavar="RUN", help="a finished run of recipes/robust-window.toml")
    parser.add_argument("--runs", type=int, default=10, help="runs of each, by other seeds (10)")
    parser.add_argument("--seconds", type=int, default=4, help="length of a run (4)")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    command = "python -m bench.loopback" + (" --learnt RUN" if options.learnt else "")
    try:
        each = [nscc()] + ([learnt(options.learnt)] if options.learnt else [])
    except InputError as error:
        print(f"loopback: {error}", file=sys.stderr)
        return 2
    write_atomically(options.out, page(each, options.runs, options.seconds, command).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
