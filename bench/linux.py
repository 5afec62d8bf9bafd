"""A policy on a real kernel's TCP: beside the kernel's own congestion controls, beside netsim's prediction, and in one
queue with cubic.

    python -m bench.linux FIRMWARE [--kept] [--out FILE]

FIRMWARE: a folder of the target linux-bpf. Each run is a guest in virtual time (emulator.linux) and is kept in
build/linux, so an interrupted page goes on where it was; with --kept no guest is booted, and what was not run is left
out. Fifty guests: 40 minutes of CPU.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen.tuning import packed, unpacked, words_of
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, sha256
from decision.artefact.output import write_atomically
from emulator.linux import cell as guest
from emulator.linux import safety
from emulator.linux.bpftool import OBJECT
from emulator.linux.cell import STOCK, Control, TcpFlow
from emulator.linux.machine import boot
from emulator.linux.parts import Parts, agent, machine_parts
from netsim.network import MS
from netsim.result_store import Kept
from rlcc.evaluation import linux, prediction
from rlcc.evaluation.grid import Cell, Grid, Results, Times
from rlcc.evaluation.linux_control import TARGET, control
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "linux.md"
KEPT = ROOT / "build" / "linux" / "finished-runs"
"""Where `rlcc evaluate --stack linux --out build/linux` keeps them too."""
SEED = 11
OURS = "rlcc"
PATH, MARKED = linux.PATH, f"{linux.PATH}, 12.5 KB-25 KB"
"""The second for dctcp, which has the queue's help."""
FLOWS = (1, 8, 32, 128)
ENDING = ("incast:8x50KB", "incast:32x10KB")
"""On and off, and short flows."""
CROWDS = (32, 128)
OTHERS = (
    "20 Mb/s, 10 ms, 50 KB", "50 Mb/s, 4 ms, 60 KB", "100 Mb/s, 10 ms, 250 KB", "200 Mb/s, 2 ms, 100 KB",
    "50 Mb/s, 100 ms, 1250 KB",
)  # fmt: skip


USUAL, SHORT = Times.of(2000 * MS), Times.of(1000 * MS)
LONG = Times(12_000 * MS, (6_000 * MS, 12_000 * MS))
"""Until shares have come."""


@dataclass
class LinuxBed:
    """State that the runs share; ``missing``: runs that were left out."""

    firmware: Path
    parts: Parts
    keep: Kept
    only_kept: bool = False
    missing: int = 0

    def results(self, who: str, cells: Sequence[Cell]) -> list[Results]:
        """A run in each cell."""
        contender = linux.contenders([f"{OURS}={self.firmware}" if who == OURS else who])[0]
        if self.only_kept:
            there = [linux.stored_outcome(contender, cell, SEED, self.parts, self.keep) for cell in cells]
            self.missing += there.count(None)
            cells = [cell for cell, outcome in zip(cells, there, strict=True) if outcome is not None]
        grids = [Grid((contender,), (cell,), (SEED,)) for cell in cells]
        print(f"# {who}: {', '.join(cell.name for cell in cells)}", file=sys.stderr, flush=True)
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda grid: linux.run_grid(grid, self.parts, keep=self.keep), grids))

    def rows(self, name: str, make: Callable[[], list[list[str]]]) -> list[list[str]]:
        """Rows that no grid has, kept by all that they are of."""
        told = [name, opened(self.firmware, "firmware").hash, self.parts.hash]
        told += [sha256(content) for content in agent().values()]
        file = KEPT.parent / f"{name}-{sha256(dump_json(told).encode())[:16]}.json"
        if file.is_file():
            return [list(map(str, row)) for row in json.loads(file.read_text())]
        if self.only_kept:
            self.missing += 1
            return []
        rows = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, dump_json(rows))
        return rows


def share(got: dict[str, float]) -> list[str]:
    """The columns of a cell whose flows do not end."""
    return [
        f"{got['goodput']:.4f}", f"{got['rtt_mean_us']:,.0f}", f"{got['rtt_p99_us']:,.0f}",
        f"{got['queue_mean_bytes']:,.0f}", f"{got['jain']:.3f}", f"{got['retransmits']:.0f}",
        f"{got['start_dropped_packets']:.0f} / {got['dropped_packets']:.0f}",
    ]  # fmt: skip


SHARE = ("goodput", "RTT us", "p99 us", "queue B", "Jain", "retransmits", "dropped before / in the window")


def seen(results: Results) -> dict[str, float]:
    """Returns the figures of a grid of one run."""
    return results.outcomes[0].metrics


def beside(bed: LinuxBed) -> tuple[str, list[prediction.Compared]]:
    """Every count of flows under every control; what netsim says of ours."""
    rows, compared = [], []
    for flows in FLOWS:
        for who in (OURS, *STOCK):
            cells = linux.cells([f"many-to-one:{flows}"], [path_of(who)], USUAL)
            for results in bed.results(who, cells):
                rows.append([str(flows), named(who), *share(seen(results))])
                compared += prediction.compare(results, bed.keep) if who == OURS else []
    return table(("flows", "", *SHARE), rows), compared


def path_of(who: str) -> str:
    """dctcp has the queue's help."""
    return MARKED if who == "dctcp" else PATH


def named(who: str) -> str:
    """As the tables call it."""
    return "dctcp + ECN" if who == "dctcp" else who


def later(bed: LinuxBed) -> tuple[str, list[prediction.Compared]]:
    """Crowds, once shares have come."""
    rows, compared = [], []
    for flows in CROWDS:
        for who in (OURS, "cubic", "dctcp"):
            for results in bed.results(who, linux.cells([f"many-to-one:{flows}"], [path_of(who)], LONG)):
                rows.append([str(flows), named(who), *share(seen(results))])
                predicted = prediction.compare(results, bed.keep) if who == OURS else []
                compared += [replace(c, cell=f"{c.cell}, {span(LONG)}") for c in predicted]
    return table(("flows", "", *SHARE), rows), compared


def span(times: Times) -> str:
    """Returns the span of the window."""
    begin, end = (edge / 10**12 for edge in times.window_ps)
    return f"{begin:g} to {end:g} s"


def elsewhere(bed: LinuxBed) -> tuple[str, list[prediction.Compared]]:
    """Other rates, RTTs and queues, 8 flows."""
    rows, compared = [], []
    for path in OTHERS:
        for results in bed.results(OURS, linux.cells(["many-to-one:8"], [path], LONG)):
            rows.append([path, *share(seen(results))])
            compared += [replace(c, cell=f"8, {path}") for c in prediction.compare(results, bed.keep)]
    return table(("path", *SHARE), rows), compared


def ending(bed: LinuxBed) -> str:
    """Flows that come and go."""
    rows = []
    for scenario in ENDING:
        for who in (OURS, *STOCK):
            for results in bed.results(who, linux.cells([scenario], [path_of(who)], SHORT)):
                got = seen(results)
                told = [f"{got['completions']:.0f}"]
                told += [f"{got['fct_mean_us'] / 1000:.2f}", f"{got['fct_p99_us'] / 1000:.2f}"]
                told += [f"{got['slowdown_mean']:.2f}", f"{got['slowdown_p99']:.2f}"]
                told += [f"{got['start_dropped_packets'] + got['dropped_packets']:.0f}"]
                rows.append([f"`{scenario}`", named(who), *told])
    heading = ("flows", "", "completions", "FCT ms", "p99 ms", "slowdown", "p99", "dropped")
    return table(heading, rows)


def least(bed: LinuxBed) -> str:
    """A decision by the newest RTT, and by the least of its round trip."""
    rows = bed.rows("least-of-trip", partial(_least, bed))
    return table(("a decision sees", "flows", *SHARE), rows)


def _least(bed: LinuxBed) -> list[list[str]]:
    rows = []
    for flows in FLOWS[1:3]:
        (cell,) = linux.cells([f"many-to-one:{flows}"], [PATH], USUAL)
        scenario, tcp = linux.flows_of(cell, SEED)
        for seen_rtt, word in (("the newest RTT", "no"), ("the least of its round trip", "yes")):
            assert cell.path is not None
            who = control(bed.firmware, cell.path, {"least_of_trip": word})
            ran = guest.run(bed.parts, cell.path, [who], tcp, seed=SEED, duration_us=USUAL.duration_ps // 10**6)
            rows.append([seen_rtt, str(flows), *share(linux.measured(ran, scenario, cell, tcp))])
    return rows


def together(bed: LinuxBed) -> str:
    """Four flows of ours and four of another, by turns, in one queue."""
    rows = [row for other in ("cubic", "bbr") for row in bed.rows(f"beside-{other}", partial(_together, bed, other))]
    return table(("flows", OURS, "other", "queue B", f"Jain of {OURS}'s own"), rows)


def _together(bed: LinuxBed, other: str) -> list[list[str]]:
    path = linux.bottleneck(PATH)
    controls, flows = [control(bed.firmware, path), Control(other)], [TcpFlow(1000 * i) for i in range(8)]
    begin, end = (edge // 10**6 for edge in USUAL.window_ps)
    line = path.rate_bps / 8 * (end - begin) / 1e6
    ran = guest.run(bed.parts, path, controls, flows, seed=SEED, duration_us=USUAL.duration_ps // 10**6)
    got = acknowledged(ran.flows, len(flows), end) - acknowledged(ran.flows, len(flows), begin)
    queue = ran.queue[(ran.queue[:, 0] >= begin) & (ran.queue[:, 0] <= end), 1].mean()
    shares = [f"{got[::2].sum() / line:.4f}", f"{got[1::2].sum() / line:.4f}"]
    return [[f"4 {OURS}, 4 {other}", *shares, f"{queue:,.0f}", f"{jain(got[::2]):.3f}"]]


def acknowledged(samples: NDArray[np.int64], flows: int, at: int) -> NDArray[np.float64]:
    """Bytes of each flow [flows] by its last sample until ``at``."""
    values = np.zeros(flows)
    rows = samples[samples[:, 0] <= at]
    values[rows[:, 1]] = rows[:, 3]
    return values


def jain(shares: NDArray[np.float64]) -> float:
    return float(shares.sum()) ** 2 / (len(shares) * float((shares**2).sum()) or np.nan)


def repeated(bed: LinuxBed) -> str:
    """The same job twice: how many of its lines are the same, and how far the figures are apart."""
    heading = ("flows", "lines before the first that differs", "mean queue B")
    return table(heading, bed.rows("twice", partial(_repeated, bed)))


def _repeated(bed: LinuxBed) -> list[list[str]]:
    path = linux.bottleneck(PATH)
    ours = control(bed.firmware, path)
    assert ours.program is not None
    files = {
        "job/run": guest.script(path, [ours], 8, 1_000_000).encode(),
        "job/flows": guest.table([ours], [TcpFlow(1000 * i) for i in range(8)]),
        f"job/{ours.name}/{OBJECT}": ours.program,
    }
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(boot, 2 * [bed.parts], 2 * [files], 2 * [SEED])
    same = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))
    queues = [float(guest.read(lines).queue[:, 1].mean()) for lines in (first, second)]
    return [[f"8 {OURS}, 1 s", f"{same:,} of {len(first):,}", f"{queues[0]:,.1f}, {queues[1]:,.1f}"]]


def safe(bed: LinuxBed) -> str:
    """Returns the section on a firmware that comes and goes in a kernel."""
    return table(("what", "came out"), bed.rows("comes-and-goes", partial(_safe, bed)))


def _safe(bed: LinuxBed) -> list[list[str]]:
    firm = control(bed.firmware, safety.PATH)
    assert firm.program is not None
    assert firm.tuning is not None
    got = safety.run(bed.parts, firm.program, firm.tuning, hostile(bed.firmware, firm.tuning))
    kb = got.memory_kb
    line = safety.PATH.rate_bps / 8 * safety.LONG_US / 1e6
    return [
        ["short connections, in two rounds", f"{got.completed[0]:,} and {got.completed[1]:,}, {got.broken} broken"],
        ["memory available before, after each round", f"{kb['begin']:,}, {kb['short']:,}, {kb['again']:,} KB"],
        ["unloaded under traffic: bytes acknowledged near then, at the end", ", ".join(map(str, got.acknowledged))],
        ["what a new connection could choose then, and after the new load", f"{got.gone}; {got.back}"],
        ["memory available after it", f"{kb['reload']:,} KB"],
        ["a map out of range: share of the line", f"{got.hostile_bytes / line:.3f}"],
    ]  # fmt: skip


def hostile(firmware: Path, tuning: bytes) -> bytes:
    """The map with every parameter and word of the adapter that has a range beyond it, but the line rate."""
    words = words_of(firmware, TARGET)
    values = unpacked(words, tuning)
    content = bytearray(packed(words, values))
    at = 0
    for word in words:
        at += -at % word.size
        if word.size == 4:
            content[at : at + 4] = b"\xff\xff\xff\xff"
        at += word.size
    return bytes(content)


def page(bed: LinuxBed) -> str:
    """The page as Markdown."""
    manifest = opened(bed.firmware, "firmware")
    main, compared = beside(bed)
    crowds, after = later(bed)
    other, more = elsewhere(bed)
    compared += after + more
    predicted = [line[:1] + line[2:] for line in prediction.lines(compared)]
    last = (ending(bed), least(bed), together(bed), repeated(bed), safe(bed))
    left_out = f" {bed.missing} runs were not made and are left out." if bed.missing else ""
    held = sum(not c.failing for c in compared)
    kernel, qemu = bed.parts.kernel_release, bed.parts.version("qemu-system-x86")
    return f"""# A policy on a real kernel's TCP
{made_by("python -m bench.linux FIRMWARE")}

`{OURS}` is {manifest.details["policy"]} (firmware {manifest.hash[:12]}), only its parameters set: base RTT, line rate,
unit of time. Linux {kernel}, QEMU {qemu}, seed {SEED}, one run each, measured from {span(USUAL)} unless another
time is said.{left_out} What the bed and the metrics are: [TCP on a real kernel](../how-to/linux.md).

## {PATH}
{main}
## The same, later
{PATH}; measured from {span(LONG)}.

{crowds}
## Other paths
8 flows of {OURS}, measured from {span(LONG)}; the unit of time is what the base RTT asks for.

{other}
## Beside netsim
Left netsim's figure, right of it what Linux showed. Goodput may be {prediction.GOODPUT:.0%} off, the RTT
{prediction.RTT:.0%}, the queue two packets: {held} of {len(predicted)} cells hold.

{table(tuple(h for h in prediction.HEADINGS if h != "policy"), predicted)}
## Flows that come and go
{PATH}, {SHORT.duration_ps / 1e12:g} s; from connecting to the sink's close, those that ended in the window.

{last[0]}
## The RTT that a decision sees
{PATH}; `least_of_trip` of the adapter's map.

{last[1]}
## In one queue with others
{PATH}, no marking; goodput of each kind as a share of the line.

{last[2]}
## The same seed twice
{last[3]}
## Coming and going
Short connections of two packets each, four flows while their program is unloaded and loaded anew, a map whose words are
all ones.

{last[4]}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.linux", description="A policy on a real kernel's TCP.")
    parser.add_argument("firmware", type=Path, metavar="FIRMWARE", help="a folder of the target linux-bpf")
    parser.add_argument("--kept", action="store_true", help="boot nothing; leave out what was not run")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        linux.contenders([f"{OURS}={options.firmware}"])
        bed = LinuxBed(
            options.firmware, machine_parts(lambda text: print(f"# {text}", file=sys.stderr)), Kept(KEPT), options.kept
        )
        write_atomically(options.out, page(bed))
    except InputError as error:
        print(f"linux: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
