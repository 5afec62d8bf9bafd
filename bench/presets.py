"""Baselines under two presets, pair by pair: `docs/results/presets.md`.

    python -m bench.presets [--seeds N] [--where PLACE]

Each pair is one algorithm under two presets of netsim/parameters in the same networks with the same seeds. The page
gives goodput, 99th percentile and Jain's index under both, and the difference seed by seed with its 99 % interval.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim import baselines
from netsim.network import MS, US, Network
from netsim.places import Place
from netsim.result_store import Kept
from netsim.statistics import confidence
from netsim.trials import Trial, run
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "presets.md"
KEPT = ROOT / "build" / "presets"
PAIRS = {
    "HPCC": ("hpcc-max-stage-5", "hpcc"),
    "DCTCP": ("dctcp-hpcc-marking", "dctcp"),
    "Swift": ("swift-htsim", "swift"),
    "DCQCN": ("dcqcn-hpcc-marking", "dcqcn"),
    "NSCC": ("nscc-flow", "nscc"),
}
"""The preset as it was, and as it is."""
LEVEL = 0.99
Metrics = Mapping[str, float]


def away(rtt_us: int) -> Network:
    """Returns the default network with a longer base RTT, and a one-way delay in proportion."""
    default = Network()
    rtt_ps = rtt_us * US
    return Network(base_rtt_ps=rtt_ps, one_way_ps=default.one_way_ps * rtt_ps // default.base_rtt_ps)


@dataclass(frozen=True)
class PresetCell:
    """Traffic, its length and the begin of its window in ms, and the network."""

    scenario: str
    duration_ms: int = 40
    from_ms: int = 15
    network: Network = field(default_factory=Network)

    @property
    def name(self) -> str:
        default = Network()
        words = [f"`{self.scenario}`"]
        if self.network.link_gbps != default.link_gbps:
            words.append(f"{self.network.link_gbps} Gb/s")
        if self.network.base_rtt_ps != default.base_rtt_ps:
            words.append(f"{self.network.base_rtt_ps // US} us")
        if self.network.payload_bytes != default.payload_bytes:
            words.append(f"packets of {self.network.payload_bytes} B")
        return ", ".join(words)

    def trial(self, preset: str, seed: int) -> Trial:
        return Trial(
            self.scenario,
            baselines.by_name(preset),
            seed=seed,
            duration_ps=self.duration_ms * MS,
            window_ps=(self.from_ms * MS, self.duration_ms * MS),
            decision_latency_ps=0,
            network=self.network,
        )


CELLS = (
    *(PresetCell(f"many-to-one:{n}") for n in (8, 64, 1024)),
    PresetCell("many-to-one:4", network=Network(link_gbps=10)),
    PresetCell("many-to-one:4", network=Network(link_gbps=10, payload_bytes=128)),
    PresetCell("many-to-one:8", network=Network(link_gbps=25)),
    PresetCell("many-to-one:8", network=Network(link_gbps=400)),
    *(PresetCell("many-to-one:8", network=away(us)) for us in (30, 100)),
    PresetCell("many-to-one:64", network=away(100)),
    PresetCell("many-to-one:256@fat-tree:4"),
    PresetCell("long-short:129"),
    PresetCell("incast:128"),
    PresetCell("ring-all-reduce:8x4MB"),
    PresetCell("websearch:60%", 20, 5),
    PresetCell("hadoop:60%", 15, 5),
)
COLUMNS = {
    "goodput": ("goodput", 3),
    "p99": ("latency_p99_us", 1),
    "Jain": ("jain", 3),
    "slowdown": ("slowdown_mean", 2),
    "slowdown p99": ("slowdown_p99", 2),
    "round us": ("round_mean_us", 0),
    "loss %": ("loss", 2),
}
SHOWN = {
    "goes on": ("goodput", "p99", "Jain", "loss %"),
    "ends": ("goodput", "slowdown", "slowdown p99", "loss %"),
    "waits": ("goodput", "round us", "p99", "loss %"),
}
"""Columns of cells whose flows go on, whose flows end, and whose flows wait for one another."""


def kind_of(metrics: Metrics) -> str:
    """Returns the kind of a cell by what was measured in it."""
    return "waits" if "round_mean_us" in metrics else "ends" if "slowdown_mean" in metrics else "goes on"


def value(metrics: Metrics, column: str) -> float:
    """Returns a figure in the unit of its column; NaN where nothing was measured."""
    found = metrics.get(COLUMNS[column][0], nan)
    return found * 100 if column == "loss %" else found


def change(before: Sequence[Metrics], after: Sequence[Metrics], column: str) -> str:
    """Returns `0.878 -> 0.912 (+0.034 ±0.002)`: both means, and the difference of runs with one seed."""
    digits = COLUMNS[column][1]
    old, new = (np.array([value(m, column) for m in runs]) for runs in (before, after))
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        return " -> ".join(f"{each.mean():.{digits}f}" if np.isfinite(each).all() else "-" for each in (old, new))
    half = confidence(new - old, LEVEL) if len(old) > 1 else nan
    spread = f" ±{half:.{digits}f}" if isfinite(half) else ""
    return f"{old.mean():.{digits}f} -> {new.mean():.{digits}f} ({(new - old).mean():+.{digits}f}{spread})"


def paired_tables(names: Sequence[str], outcomes: Sequence[Metrics], seeds: int) -> str:
    """Returns a table for each kind of cell. ``outcomes``: of each cell in turn the runs before, then those after."""
    text = ""
    for kind, columns in SHOWN.items():
        lines = []
        for at, name in enumerate(names):
            begin = at * 2 * seeds
            before, after = (outcomes[begin + n * seeds : begin + (n + 1) * seeds] for n in (0, 1))
            if kind_of(before[0]) == kind:
                lines.append([name, *(change(before, after, column) for column in columns)])
        if lines:
            text += "\n" + table(["cell", *columns], lines)
    return text


def page(seeds: Sequence[int], place: Place | None, cells: Sequence[PresetCell] = CELLS) -> str:
    """Returns the page, after the runs that are not kept yet."""
    text = "# Baselines under two presets\n"
    text += made_by("python -m bench.presets")
    text += f"\n\nOne algorithm, two presets, the same networks and seeds ({', '.join(map(str, seeds))}).\n"
    text += "Before -> after; in brackets the difference seed by seed with the half-width of its 99 % interval.\n"
    text += "p99 is the latency's in us; a loss is in % of the data packets. "
    text += "[The presets and their sources](../reference/baselines.md).\n"
    for label, presets in PAIRS.items():
        trials = [cell.trial(preset, seed) for cell in cells for preset in presets for seed in seeds]
        outcomes = [outcome.metrics for outcome in run(trials, place, Kept(KEPT))]
        text += f"\n## {label}: `{presets[0]}` -> `{presets[1]}`\n"
        text += paired_tables([cell.name for cell in cells], outcomes, len(seeds))
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page. Returns 0, or 2 with a sentence on why it could not."""
    parser = argparse.ArgumentParser(prog="python -m bench.presets", description="Baselines under two presets.")
    parser.add_argument("--seeds", type=int, choices=range(2, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        write_atomically(options.out, page(range(1, options.seeds + 1), place_of(options)))
    except InputError as error:
        print(f"presets: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
