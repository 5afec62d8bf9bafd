"""netsim compared with closed loops that laboratories measured on cards and switches.

Each laboratory is one file in `bench/labs`: its network, its algorithms and its scenes, with the figures of its record.
The files were written before the first run and are not fitted to it. A scene passes if netsim's mean over the seeds is
within 5 % of the measured range, and is void where the record leaves open what decides. `bench/labs/reasons` tells why
scenes fail.

    python -m bench.loops [LAB ...] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import argparse
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from decision.artefact.documents import Format1, load_toml, read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.artefact.suggest import choices
from netsim import baselines
from netsim.baselines import BaselineSpec
from netsim.mixes import Mix, Part
from netsim.network import MS, Network
from netsim.network_file import from_table
from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
LABS = ROOT / "bench" / "labs"
PAGE = ROOT / "docs" / "results" / "loops.md"
KEPT = ROOT / "build" / "loops"
WINDOW_PS = (50 * MS, 150 * MS)
MARGIN = 0.05

Metrics = Mapping[str, float]
METRICS: dict[str, tuple[str, Callable[[Metrics, int], float]]] = {
    "goodput_gbps": ("goodput, Gb/s", lambda m, gbps: m["goodput"] * gbps),
    "first_goodput_gbps": ("goodput of the first algorithm, Gb/s", lambda m, gbps: m["a_goodput"] * gbps),
    "wire_gbps": ("on the wire, Gb/s", lambda m, gbps: m["utilisation"] * gbps),
    "jain": ("Jain", lambda m, gbps: m["jain"]),
    "rtt_us": ("RTT, us", lambda m, gbps: m["rtt_mean_us"]),
    "queue_us": ("queueing delay, us", lambda m, gbps: m["queue_mean_us"]),
    "queue_kb": ("queue, KB", lambda m, gbps: m["queue_mean_us"] * gbps / 8),
}
"""Heading of each metric, and its value from those of a run and the ports' Gb/s."""


class _LabTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Measurement(_LabTable):
    """A figure of the record, ``measured`` from its least to its greatest value."""

    metric: str
    measured: Annotated[tuple[float, float], Field(strict=False)]

    @model_validator(mode="after")
    def _range(self) -> "Measurement":
        if self.metric not in METRICS:
            raise ValueError(f"there is no metric {self.metric!r}; choose {choices(self.metric, METRICS)}")
        if self.measured[0] > self.measured[1]:
            raise ValueError("measured must not fall")
        return self


class Scene(_LabTable):
    """``algorithms``: who steers, in equal shares of the flows. ``network``: keys that differ from the lab's. ``void``:
    why nothing is run."""

    name: str
    scenario: str = ""
    algorithms: list[str] = []
    network: dict[str, Any] = {}
    void: str = ""
    figures: Annotated[list[Measurement], Field(min_length=1)]

    @model_validator(mode="after")
    def _runs(self) -> "Scene":
        if bool(self.void) == bool(self.scenario and self.algorithms):
            raise ValueError("a scene has a scenario and algorithms, or a reason why it is void")
        return self


class Lab(_LabTable):
    """A laboratory: what all of its scenes share, and the scenes."""

    format: Format1
    title: str
    source: str
    network: dict[str, Any]
    algorithms: dict[str, dict[str, Any]]
    scenes: Annotated[list[Scene], Field(min_length=1)]


@dataclass(frozen=True)
class LoopRow:
    """A figure of a scene next to netsim's; ``ours``: None where the scene is void."""

    scene: Scene
    figure: Measurement
    ours: float | None

    @property
    def error(self) -> float | None:
        """Returns the relative distance from the measured range, 0 within it."""
        if self.ours is None:
            return None
        least, most = self.figure.measured
        if least <= self.ours <= most:
            return 0.0
        return self.ours / least - 1 if self.ours < least else self.ours / most - 1

    @property
    def verdict(self) -> str:
        if self.error is None:
            return "VOID"
        return "PASS" if isfinite(self.error) and abs(self.error) <= MARGIN + 1e-9 else "FAIL"


def names() -> list[str]:
    """Returns the laboratories, in the order of their names."""
    return sorted(path.stem for path in LABS.glob("*.toml"))


def load_lab(name: str) -> Lab:
    """Returns the laboratory of that name. Raises InputError if it does not exist."""
    if name not in names():
        raise InputError(f"there is no laboratory {name!r}; choose {choices(name, names())}")
    return load_toml(Lab, LABS / f"{name}.toml")


def reasons(name: str) -> dict[str, str]:
    """Returns why scenes of a laboratory fail, by the scene."""
    return dict(tomllib.loads(read_text(LABS / "reasons" / f"{name}.toml")))


def algorithm(lab: Lab, name: str) -> BaselineSpec:
    """Returns an algorithm of the laboratory: a preset with other values."""
    if name not in lab.algorithms:
        raise InputError(f"{lab.title}: there is no algorithm {name!r}; choose {choices(name, lab.algorithms)}")
    values = dict(lab.algorithms[name])
    return baselines.changed(str(values.pop("preset", "")), values | {"name": name})


def network_of(lab: Lab, scene: Scene) -> Network:
    """Returns the network of a scene."""
    return from_table(lab.network | scene.network, f"{lab.title}, {scene.name}")


def trial(lab: Lab, scene: Scene, seed: int) -> Trial:
    """Returns one run of a scene."""
    specs = [algorithm(lab, name) for name in scene.algorithms]
    share = 100 // len(specs)
    mixed = Mix(tuple(Part(spec, share) for spec in specs)) if len(specs) > 1 else specs[0]
    return Trial(
        scene.scenario,
        mixed,
        seed=seed,
        duration_ps=WINDOW_PS[1],
        window_ps=WINDOW_PS,
        network=network_of(lab, scene),
        name=", ".join(scene.algorithms),
    )


def rows(lab: Lab, seeds: Sequence[int], where: Place) -> list[LoopRow]:
    """Returns a row for each figure, each the mean over the seeds."""
    live = [scene for scene in lab.scenes if not scene.void]
    outcomes = iter(run([trial(lab, scene, seed) for scene in live for seed in seeds], where, Kept(KEPT)))
    found: list[LoopRow] = []
    for scene in lab.scenes:
        runs = [] if scene.void else [next(outcomes).metrics for _ in seeds]
        for figure in scene.figures:
            value = METRICS[figure.metric][1]
            ours = mean(value(each, network_of(lab, scene).link_gbps) for each in runs) if runs else None
            found.append(LoopRow(scene, figure, ours))
    return found


def page(labs: Sequence[str], seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    many = counted(len(seeds), "seed")
    text = f"""# Loops that were measured on cards
{made_by("python -m bench.loops")}

Closed loops of public laboratory records, run in netsim with the record's parameters. The parameters of a laboratory
are one file, written before the first run; its comments name what the record leaves open.

- **Theirs** is the measured value or range, **ours** the mean over {many}, from {WINDOW_PS[0] // MS} to
  {WINDOW_PS[1] // MS} ms of a run.
- **Error** is the relative distance of ours from that range. **PASS** is at most {MARGIN:.0%}, **VOID** is not run.
- A value that is set as a parameter is no scene.
"""
    for name in labs:
        lab = load_lab(name)
        found = rows(lab, seeds, where)
        verdicts = {verdict: sum(row.verdict == verdict for row in found) for verdict in ("PASS", "FAIL", "VOID")}
        cells = [
            [
                row.scene.name,
                METRICS[row.figure.metric][0],
                _range(row.figure.measured),
                "-" if row.ours is None else _number(row.ours),
                "-" if row.error is None else f"{row.error:+.1%}",
                row.verdict,
            ]
            for row in found
        ]
        text += f"\n## {lab.title}\nSource: {lab.source}. Parameters: `bench/labs/{name}.toml`.\n\n"
        text += "Figures: " + ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items()) + ".\n\n"
        text += table(["scene", "figure", "theirs", "ours", "error", "verdict"], cells)
        voids = [f"- {scene.name}: {scene.void}.\n" for scene in lab.scenes if scene.void]
        if voids:
            text += "\nVoid scenes:\n\n" + "".join(voids)
        failed = dict.fromkeys(row.scene.name for row in found if row.verdict == "FAIL")
        if failed:
            known = reasons(name)
            told = "".join(f"- {scene}: {known.get(scene, 'not explained.')}\n" for scene in failed)
            text += "\nWhy scenes fail, and what would have to be known:\n\n" + told
    return text


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _range(measured: tuple[float, float]) -> str:
    least, most = measured
    return _number(least) if least == most else f"{_number(least)} to {_number(most)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    parser = argparse.ArgumentParser(prog="python -m bench.loops", description="Loops measured on cards.")
    parser.add_argument("labs", nargs="*", help=f"laboratories: {', '.join(names())}; by default all")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        text = page(options.labs or names(), range(1, options.seeds + 1), place_of(options))
        write_atomically(options.out, text)
    except InputError as error:
        print(f"loops: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
