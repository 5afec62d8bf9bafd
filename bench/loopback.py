"""NSCC over UDP loopback (docs/example-host) next to NSCC with the same settings in the simulator.

    python -m bench.loopback [--runs N] [--seconds N] [--out FILE]

The simulator's links have whole gigabits a second. There the path is ``FASTER`` times as fast and ``FASTER`` times as
short, so that it holds as many bytes. The example runs in real time: it needs a C compiler and an idle machine.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from decision.artefact.output import write_atomically
from decision.policy.algorithm import Algorithm, load_algorithm
from netsim import Network, simulate
from netsim.network import MS, NS, SELECTIVE_REPEAT, US
from netsim.policies import interpreted
from rlcc.commands.console import counted
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "loopback.md"
EXAMPLE = ROOT / "docs" / "example-host"
SETTINGS = EXAMPLE / "loopback.toml"
SOURCES = ("loopback.c", "bottleneck.c", "sender.c")
LINE_MBPS, QUEUE_BYTES = 80, 120_000  # of loopback.h
LINK_GBPS = 1
FASTER = LINK_GBPS * 1000 / LINE_MBPS
FLOWS = (4, 8, 16)
AIM = 0.05
"""Largest difference of goodput and queue, as a share of the simulator's figure."""


HEADING = (
    "flows",
    *("goodput, loopback", "simulator", "difference"),
    *("queue, loopback", "simulator", "difference"),
    *("Jain's index, loopback", "simulator"),
)


def built(folder: Path) -> Path:
    """Emits the header, compiles the example in ``folder``; returns the program."""
    firmware, program = folder / "firmware", folder / "loopback"
    rlcc = [sys.executable, "-m", "rlcc", "emit", str(SETTINGS), "--target", "host", "--out", str(firmware)]
    subprocess.run(rlcc, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    sources = [str(EXAMPLE / name) for name in SOURCES]
    subprocess.run(["cc", "-std=c99", "-O2", f"-I{firmware}", *sources, "-o", str(program)], check=True)
    return program


def measured(program: Path, flows: int, seconds: int) -> dict[str, float]:
    """Goodput as a share of the line, queue in bytes and Jain's index of a run without loss on the way."""
    command = [str(program), "enforce", str(flows), str(seconds), "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 30)
    told = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    return {
        "goodput": told["goodput_mbps"] / LINE_MBPS,
        "queue": told["queue_mean_bytes"],
        "jain": told["jain"],
    }


def simulated(algorithm: Algorithm, flows: int, seconds: int, seed: int) -> dict[str, float]:
    """The same of a run in the simulator."""
    rtt_ps, end_ps = round(algorithm.base_rtt * NS / FASTER), round(seconds * 1000 * MS / FASTER)
    network = Network(
        link_gbps=LINK_GBPS,
        payload_bytes=algorithm.mtu,
        wire_overhead_bytes=0,
        one_way_ps=rtt_ps // 2,
        base_rtt_ps=rtt_ps,
        buffer_bytes=QUEUE_BYTES,
        transport=SELECTIVE_REPEAT,
    )
    # The document's step grows with the RTT; the path here is as much shorter.
    steps = algorithm.model_copy(update={"proportional_step": FASTER * algorithm.proportional_step})
    run = simulate(
        f"many-to-one:{flows}",
        interpreted(steps),
        seed=seed,
        duration_ps=end_ps,
        window_ps=(end_ps // 4, end_ps),
        decision_latency_ps=0,
        network=network,
    )
    queue_bytes = run.metrics["queue_mean_us"] * US / network.ps_per_byte
    return {"goodput": run.metrics["goodput"], "queue": queue_bytes, "jain": run.metrics["jain"]}


def off(real: Sequence[dict[str, float]], made: Sequence[dict[str, float]], metric: str) -> Figure:
    """Difference of the means, as a share of the simulator's, with the half-width of loopback's interval."""
    theirs = mean(run[metric] for run in made)
    return Figure.of([run[metric] / theirs - 1 for run in real])


def page(program: Path, runs: int, seconds: int, command: str) -> str:
    """Returns the page as Markdown."""
    algorithm = load_algorithm(SETTINGS)
    rows, most = [], 0.0
    for flows in FLOWS:
        print(f"{flows} flows", file=sys.stderr, flush=True)
        real = [measured(program, flows, seconds) for _ in range(runs)]
        made = [simulated(algorithm, flows, seconds, seed) for seed in range(1, runs + 1)]
        cells = [str(flows)]
        for metric, decimals in (("goodput", 3), ("queue", 0)):
            differs = off(real, made, metric)
            most = max(most, abs(differs.mean) + differs.half)
            cells += [Figure.of([run[metric] for run in each]).text(decimals) for each in (real, made)]
            cells.append(f"{differs.mean:+.1%} ±{differs.half:.1%}")
        rows.append(cells + [Figure.of([run["jain"] for run in each]).text(3) for each in (real, made)])
    return f"""# NSCC over loopback and in the simulator
{made_by(command)}

The same NSCC in integers, with the settings of `docs/example-host/loopback.toml`: as a header for a host, over
[UDP loopback](../how-to/windows.md#over-udp-loopback), and in the simulator. The bottleneck has {LINE_MBPS} Mb/s and
NSCC's thresholds of marks. {counted(runs, "run")} of {seconds} s each, after the first quarter.
The simulator's path is {FASTER:g} times as fast and as short.
Goodput is a share of the line. The queue is what packets find, in bytes.

{table(HEADING, rows)}
Largest difference of goodput and queue, with its half-width (99 %): {most:.1%}.
The aim is {AIM:.0%}: {"met" if most <= AIM else "not met"}.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.loopback", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10, help="runs of each, by other seeds in the simulator (10)")
    parser.add_argument("--seconds", type=int, default=4, help="length of a run (4)")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        text = page(built(Path(folder)), options.runs, options.seconds, "python -m bench.loopback")
    write_atomically(options.out, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
