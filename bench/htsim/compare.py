"""netsim beside htsim: N flows of Swift into one port, without losses and with them, under both transports.

    python -m bench.htsim.compare SIM [--seeds N] [--out FILE]

SIM is the folder `sim` of csg-htsim (github.com/Broadcom/csg-htsim at 841d9e7), after `make` in it. `swift.cpp` here is
compiled against it. htsim's Swift repeats what duplicate ACKs or its timer show as lost, one packet at a time.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.htsim.driver import compiled, write_page
from bench.shipped import listed
from decision.artefact.errors import InputError
from decision.devices import TRANSPORTS
from netsim.baselines import by_name
from netsim.network import MS, US, Network
from netsim.simulation import simulate
from rlcc.commands.console import counted
from rlcc.evaluation.contenders import opened
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "htsim.md"
BASELINE = "swift-htsim"


@dataclass(frozen=True)
class PortScene:
    """Flows into a port with a buffer, measured from ``begin_ps`` to ``end_ps``."""

    flows: int
    begin_ps: int
    end_ps: int
    buffer_bytes: int = 5 * 2**20


SETTLED = tuple(PortScene(flows, 20 * MS, 60 * MS) for flows in (2, 8, 32, 128))
STARTS = (PortScene(64, 0, 20 * MS), PortScene(128, 0, 20 * MS), PortScene(32, 0, 20 * MS, 2**20))


@dataclass(frozen=True)
class PortFigures:
    """Shares of what the port could send in the window, and delays of the packets that it took, us."""

    packets: float
    drops: float
    mean_us: float
    p99_us: float


def theirs(program: Path, scene: PortScene, seed: int) -> PortFigures:
    """Returns htsim's figures."""
    times = [f"{time / US:g}" for time in (scene.begin_ps, scene.end_ps)]
    command = [str(program), str(scene.flows), str(scene.buffer_bytes), *times, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"htsim ended with {done.returncode} in {scene}: {done.stderr[-500:]}")
    sent, drops, mean_us, p99_us = done.stdout.split()
    network = Network()
    seconds = (scene.end_ps - scene.begin_ps) / 1e12
    bits = seconds * network.link_gbps * 1e9
    wire = 8 * (network.payload_bytes + network.wire_overhead_bytes)
    return PortFigures(
        int(sent) * wire / bits,
        int(drops) / (int(sent) + int(drops)),
        float(mean_us),
        float(p99_us),
    )


def ours(scene: PortScene, transport: str, seed: int) -> PortFigures:
    """Returns netsim's figures."""
    found = simulate(
        f"many-to-one:{scene.flows}",
        by_name(BASELINE),
        seed=seed,
        duration_ps=scene.end_ps,
        window_ps=(scene.begin_ps, scene.end_ps),
        network=Network(transport=transport, buffer_bytes=scene.buffer_bytes),
    ).metrics
    names = ("utilisation", "loss", "latency_mean_us", "latency_p99_us")
    return PortFigures(*(found[name] for name in names))


def row(name: str, found: Sequence[PortFigures], beside: Sequence[PortFigures] = ()) -> list[str]:
    """Returns a row: means over the seeds, and how far they are from those beside."""
    cells = []
    for what, digits in (("packets", 4), ("drops", 4), ("mean_us", 2), ("p99_us", 2)):
        value = mean(getattr(each, what) for each in found)
        other = mean(getattr(each, what) for each in beside) if beside else 0.0
        cells.append(f"{value:.{digits}f}" + (f" ({value / other - 1:+.1%})" if other else ""))
    return [name, *cells]


def page(program: Path, seeds: Sequence[int]) -> str:
    """Returns the page as Markdown."""
    text = f"""# netsim and htsim
{made_by("python -m bench.htsim.compare SIM")}

Swift with htsim's constants in two simulators: csg-htsim at 841d9e7, and netsim. N endless flows of 100 Gb/s start
within 10 us with a window of one bandwidth-delay product and share one port. The base RTT is 8.192 us, packets carry
1024 bytes of payload and take 1106 on the wire. Means over {counted(len(seeds), "seed")}; in brackets the distance of
netsim from htsim.

- **Port**: packets that it sent, as a share of the link.
- **Drops**: share of the packets that came to the port.
- **Mean**, **p99**: one-way delay of the packets that the port took, us.

Both fill the port where nothing is lost, and the delays are within 3 %. The port drops as much within 6 % if a start
loses packets and the buffer has 5 MiB, and netsim's tail is longer. Both transports have that tail, so that repair is
not its cause, which is open. netsim drops 24 to 48 % more if the buffer has 1 MiB. Payload in order is not compared:
htsim's sender fills one hole a round trip, and its receivers wait for the start's losses for more than 60 ms.

"""
    with opened([BASELINE], decision_latency_ps=0, profile="ibex-small") as who:
        text += listed(who)
    for title, scenes in (("Settled, nothing is lost", SETTLED), ("The start, with losses", STARTS)):
        rows = []
        for scene in scenes:
            other = [theirs(program, scene, seed) for seed in seeds]
            name = f"{scene.flows} flows, {scene.begin_ps // MS} to {scene.end_ps // MS} ms, {scene.buffer_bytes:,} B"
            rows.append(row(f"{name}: htsim", other))
            for transport in TRANSPORTS:
                rows.append(row(f"netsim, {transport}", [ours(scene, transport, seed) for seed in seeds], other))
        head = ["flows, window, buffer", "port", "drops", "mean", "p99"]
        text += f"\n## {title}\n" + table(head, rows)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""

    def made(sim: Path, folder: Path, seeds: int) -> str:
        return page(compiled("swift", sim, folder), range(1, seeds + 1))

    return write_page(arguments, "compare", "netsim beside htsim.", made, PAGE, "seeds", 3)


if __name__ == "__main__":
    sys.exit(main())
