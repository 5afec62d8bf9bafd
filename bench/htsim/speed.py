"""How many packets of HPCC a second of CPU netsim and htsim simulate, in pairs.

    python -m bench.htsim.speed SIM [--pairs N] [--out FILE]

SIM is the folder `sim` of csg-htsim (github.com/Broadcom/csg-htsim at 841d9e7), after `make` in it. `hpcc.cpp` here is
compiled against it, without the line that htsim prints of each ACK.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.cpu import children_s
from bench.htsim.driver import compiled, write_page
from decision.artefact.errors import InputError
from netsim import Network, Simulation
from netsim.baselines import by_name
from netsim.network import MS
from rlcc.commands.console import counted
from rlcc.origin import made_by
from rlcc.reports.pages import table

PAGE = Path(__file__).parents[2] / "docs" / "results" / "htsim-speed.md"
BASELINE = "hpcc-max-stage-5"
UNTIL_MS = 200
SCENES = ((64, 1024), (1024, 1024), (64, 4096), (1024, 4096))
"""Numbers of flows, and bytes of a packet's payload."""


def theirs(program: Path, flows: int, payload_bytes: int) -> float:
    """Returns htsim's millions of data packets a second of CPU."""
    before = children_s()
    command = [str(program), str(flows), str(payload_bytes), str(UNTIL_MS * 1000)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"htsim ended with {done.returncode} at {flows} flows: {done.stderr[-500:]}")
    return int(done.stdout) / (children_s() - before) / 1e6


def ours(flows: int, payload_bytes: int) -> float:
    """Returns netsim's."""
    begin = time.process_time()
    network = Network(payload_bytes=payload_bytes)
    run = Simulation(f"many-to-one:{flows}", by_name(BASELINE), seed=1, network=network)
    run.run(UNTIL_MS * MS)
    return int(run.window()["counts"]["data_arrived"]) / (time.process_time() - begin) / 1e6


def spread(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f} ({median(values):.2f})"


def page(program: Path, pairs: int) -> str:
    """Returns the page as Markdown."""
    rows = []
    for flows, payload_bytes in SCENES:
        found = [(theirs(program, flows, payload_bytes), ours(flows, payload_bytes)) for _ in range(pairs)]
        ratios = [mine / other for other, mine in found]
        columns = [[other for other, _ in found], [mine for _, mine in found], ratios]
        rows.append([str(flows), str(payload_bytes), *map(spread, columns)])
    return f"""# The speed of netsim and htsim
{made_by("python -m bench.htsim.speed SIM")}

N endless flows of HPCC from an empty network into one port of 100 Gb/s, {UNTIL_MS} ms, RTT 8.192 us, an ACK a packet,
in csg-htsim at 841d9e7 and in netsim. Figures are millions of data packets that arrived a second of CPU, of
{counted(pairs, "alternating pair")}: least to greatest (median). htsim as published prints a line of each ACK, which
takes most of its time; here it does not.

The work is not quite equal. In htsim the sources wait for the port (PFC, nothing is lost) and have no link of their own
to it. In netsim they start into a buffer of 5 MiB and send go-back-N.

{table(["flows", "payload, B", "htsim", "netsim", "netsim / htsim"], rows)}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""

    def made(sim: Path, folder: Path, pairs: int) -> str:
        return page(compiled("hpcc", sim, folder, quiet=True), pairs)

    return write_page(arguments, "speed", "netsim's and htsim's speed.", made, PAGE, "pairs", 6)


if __name__ == "__main__":
    sys.exit(main())
