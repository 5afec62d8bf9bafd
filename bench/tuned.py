"""Baselines tuned with the budget of a training: their best beside their defaults, and the flagship beside both.

python -m bench.tuned [--of NAME ..] [--tries N] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
    [--work FOLDER]
"""

import argparse
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from pydantic import ValidationError

from bench.starts import CHOOSE, REPORT, Metrics, StartCell, cost, figures
from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.baselines import PARAMETERS, BaselineSpec, by_name
from netsim.policies import PolicySpec, native
from netsim.result_store import Kept
from netsim.statistics import confidence
from netsim.trials import run
from rlcc.commands.run_location import add_options, place_of
from rlcc.commands.streams import tell
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, listed, table, wrapped
from teachers.load import load

ROOT = Path(__file__).resolve().parents[1]
TEACHERS = ROOT / "fixtures" / "teachers"
PAGE = ROOT / "docs" / "results" / "tuned.md"
TRIES = 64
"""Sets of values a baseline may try: some 70 s of CPU, as a training of RL-CC's MLP."""
REPORTED = (
    "long-short:33",
    "long-short:129",
    "incast:32",
    "incast:128",
    "websearch:30%",
    "websearch:60%",
    "hadoop:30%",
    "hadoop:90%",
)
UNSEEN = (
    *(cell for cell in REPORT if cell.name in REPORTED),
    StartCell("many-to-one:256", 50),
    StartCell("many-to-one:4096", 60),
)
"""By which nothing is chosen, neither here nor for the flagship's start values."""
TUNED = ("dcqcn", "hpcc", "swift")
"""Those of the papers' tables."""
RIVAL = "swift"
"""Beside whose defaults everything's cost is."""
OURS = {"robust-in-flight, teacher": "robust-in-flight", "RL-CC MLP": "rl-cc-mlp"}
CHOICES: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "dcqcn": {
        "ecn.kmin": ("0.028 BDP", "0.25 BDP", "0.5 BDP", "1 BDP", "4 BDP"),
        "ecn.kmax": ("1 BDP", "2 BDP", "4 BDP", "8 BDP", "16 BDP"),
        "ecn.pmax": (0.05, 0.2, 0.3, 0.5, 1.0),
        "increase_period": ("55 us", "100 us", "300 us", "900 us"),
        "additive_step": ("5 Mb/s", "20 Mb/s", "50 Mb/s", "200 Mb/s"),
        "hyper_step": ("50 Mb/s", "200 Mb/s", "1000 Mb/s"),
        "gain": (0.00390625, 0.0048828125, 0.015625, 0.0625),
        "monitor_period": ("4 us", "16 us", "50 us"),
    },
    "hpcc": {
        "eta": (0.85, 0.9, 0.95, 0.98, 0.99),
        "max_stage": (0, 1, 3, 5, 10),
        "additive_step": ("25 ppm", "100 ppm", "200 ppm", "400 ppm", "800 ppm", "1600 ppm"),
        "rate_min": ("1 Mb/s", "10 Mb/s", "100 Mb/s"),
    },
    "swift": {
        "base_target": ("1.2 RTT", "1.4 RTT", "1.75 RTT", "2.44 RTT", "3.5 RTT"),
        "hop_target": ("0.1 RTT", "0.2137 RTT", "0.37 RTT"),
        "scaling_range": ("3 RTT", "7 RTT", "12 RTT", "24 RTT"),
        "additive_step": (0.25, 0.5, 1, 2, 4),
        "decrease": (0.4, 0.8, 1.0),
        "decrease_max": (0.25, 0.5, 0.75),
        "initial_window": (0, 2, 8, 32),
    },
    "timely": {
        "low": ("10 us", "15 us", "25 us", "50 us"),
        "high": ("50 us", "100 us", "200 us", "500 us"),
        "min_rtt": ("8 us", "20 us"),
        "additive_step": ("100 ppm", "300 ppm", "1000 ppm", "3000 ppm"),
        "decrease": (0.2, 0.4, 0.8),
        "weight": (0.3, 0.6, 0.875),
        "rate_min": ("1 Mb/s", "10 Mb/s", "100 Mb/s"),
    },
    "dctcp": {
        "ecn.kmin": ("0.3 BDP", "0.78 BDP", "1.5 BDP", "3 BDP"),
        "ecn.kmax": ("0.78 BDP", "1.5 BDP", "3 BDP", "6 BDP"),
        "gain": (0.015625, 0.0625, 0.25),
        "additive_step": (0.25, 0.5, 1, 2),
        "initial_window": (0, 2, 8, 32),
        "window_min": (0.25, 0.5, 1),
    },
    "nscc": {
        "target": (0.5, 0.75, 1, 1.5),
        "window_max": (1, 1.25, 1.5),
        "ecn.kmin": ("0.1 BDP", "0.2 BDP", "0.4 BDP"),
        "ecn.kmax": ("0.4 BDP", "0.8 BDP", "1.6 BDP"),
        "proportional_step": (1, 2, 4, 8),
        "fair_step": (1, 2.5, 5),
        "decrease": (0.4, 0.8),
        "window_min": (0.25, 0.5, 1),
    },
}
Values = dict[str, Any]


def document_of(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The preset with other values; `ecn.kmin` is the key kmin of the table ecn."""
    found = tomllib.loads(read_text(PARAMETERS / f"{name}.toml"))
    for key, value in values.items():
        *tables, last = key.split(".")
        place = found
        for each in tables:
            place = place[each]
        place[last] = value
    return found


def spec_of(name: str, values: Mapping[str, Any]) -> BaselineSpec | None:
    """None where the values do not go together, as a threshold above the next one."""
    try:
        return type(by_name(name)).model_validate(document_of(name, values))
    except ValidationError:
        return None


def defaults(name: str) -> Values:
    """Returns the preset's values of CHOICES."""
    found: Values = {}
    for key in CHOICES[name]:
        place: Any = document_of(name, {})
        for each in key.split("."):
            place = place[each]
        found[key] = place
    return found


@dataclass(frozen=True)
class TuningSearch:
    """``values`` cost ``least``, the preset's ``first``; ``tries``: sets of values that were run; ``ended``: no single
    other choice is better."""

    values: Values
    least: float
    first: float
    tries: int
    ended: bool


def search(
    start: Values, choices: Mapping[str, Sequence[Any]], price: Callable[[Values], float], most: int
) -> TuningSearch:
    """One value after another set to whichever of its choices costs least, until none helps or ``most`` sets of values
    have been tried; such as cost ``inf`` do not count."""
    seen: dict[tuple[Any, ...], float] = {}

    def known(values: Values) -> float:
        key = tuple(values.values())
        if key not in seen:
            seen[key] = price(values)
        return seen[key]

    def tried() -> int:
        return sum(costs < inf for costs in seen.values())

    chosen, least = start, known(start)
    first, since = least, 0
    while since < len(choices):
        for name, those in choices.items():
            since += 1
            for value in those:
                if tried() >= most:
                    return TuningSearch(chosen, least, first, tried(), ended=False)
                costs = known(chosen | {name: value})
                if costs < least:
                    chosen, least, since = chosen | {name: value}, costs, 0
            if since >= len(choices):
                break
    return TuningSearch(chosen, least, first, tried(), ended=True)


class TuningRuns:
    """Simulations, each made once."""

    def __init__(self, work: Path, place: Any) -> None:
        self.keep, self.place = Kept(work), place

    def metrics(
        self, cells: Sequence[StartCell], seeds: Sequence[int], who: BaselineSpec | PolicySpec
    ) -> list[list[Metrics]]:
        """Returns for each seed the metrics of each cell."""
        trials = [cell.trial(who, seed) for seed in seeds for cell in cells]
        outcomes: list[Metrics] = [outcome.metrics for outcome in run(trials, self.place, self.keep)]
        return [outcomes[at : at + len(cells)] for at in range(0, len(outcomes), len(cells))]


def mean_cost(found: Sequence[Metrics], rival: Sequence[Metrics]) -> float:
    return mean(cost(a, b) for a, b in zip(found, rival, strict=True))


def tune(name: str, runs: TuningRuns, most: int) -> TuningSearch:
    """Tunes by the first seed's runs in the cells that the flagship's start values were chosen by."""
    (rival,) = runs.metrics(CHOOSE, (1,), by_name(RIVAL))

    def price(values: Values) -> float:
        spec = spec_of(name, values)
        if spec is None:
            return inf
        (found,) = runs.metrics(CHOOSE, (1,), spec)
        return mean_cost(found, rival)

    found = search(defaults(name), CHOICES[name], price, most)
    tell(f"tuned: {name}: {found.first:.3f} to {found.least:.3f} in {found.tries} tries")
    return found


@dataclass(frozen=True)
class Reported:
    """Report on one contender in UNSEEN: the cost of each seed, and each cell's figures of the mean over seeds."""

    costs: Sequence[float]
    cells: Sequence[str]

    @property
    def figure(self) -> str:
        return Figure(mean(self.costs), confidence(self.costs)).text(3)


def reported(runs: TuningRuns, seeds: Sequence[int], who: BaselineSpec | PolicySpec) -> Reported:
    found, rival = (runs.metrics(UNSEEN, seeds, each) for each in (who, by_name(RIVAL)))
    costs = [mean_cost(a, b) for a, b in zip(found, rival, strict=True)]
    means = [{name: float(np.mean([m[name] for m in each])) for name in each[0]} for each in zip(*found, strict=True)]
    return Reported(costs, [figures(m) for m in means])


def changes(name: str, found: TuningSearch) -> str:
    """`eta 0.95 to 0.9; ..`"""
    own = defaults(name)
    return "; ".join(f"{key} {own[key]} to {value}" for key, value in found.values.items() if value != own[key]) or "-"


def told(label: str, before: Reported, after: Reported) -> str:
    """`swift -0.321 ±0.064`: what is more after, seed by seed."""
    off = [b - a for a, b in zip(before.costs, after.costs, strict=True)]
    return f"{label} {Figure(mean(off), confidence(off)).text(3)}"


def page(tunings: Mapping[str, TuningSearch], told_of: Mapping[str, Reported], seeds: Sequence[int], most: int) -> str:
    """The whole page; ``told_of``: by label, a baseline's tuned values as `NAME, tuned`."""
    rows = [
        [name, f"{its.first:.3f}", f"{its.least:.3f}", f"{its.tries}", "yes" if its.ended else "no", changes(name, its)]
        for name, its in tunings.items()
    ]
    by_cost = sorted(told_of, key=lambda label: mean(told_of[label].costs))
    costs = table(["", "cost"], [[label, told_of[label].figure] for label in by_cost])
    cells = [[f"`{c.name}`", *(told_of[label].cells[i] for label in told_of)] for i, c in enumerate(UNSEEN)]
    gained = "; ".join(told(name, told_of[name], told_of[f"{name}, tuned"]) for name in tunings)
    ours, best = next(iter(told_of)), by_cost[0]
    beside = "; ".join(told(f"{name}, tuned", told_of[f"{name}, tuned"], told_of[ours]) for name in tunings)
    text = f"""# Baselines tuned beside ours

{made_by("python -m bench.tuned")}

The papers set their policies beside baselines with defaults, and train the policies. Here each of
{listed(list(tunings))} (`--of` takes others) may try {most}
sets of values, one value after another, in the networks and by the cost by which the flagship's
[start values](starts.md) were chosen ({len(CHOOSE)} networks, one seed): 20 x loss, 5 x what goodput lacks, and where
flows end the logarithm of the mean slowdown and half that of its 99th percentile, beside {RIVAL} with its defaults.
{TRIES} tries are some 70 s of CPU, as a training of RL-CC's MLP; the flagship had its training's five
seeds of two minutes besides, and its start values two seeds. Switches' thresholds are the baselines' to set
too; switches drop when full, for which DCQCN is not made.

## What was tuned
{table(["", "cost, defaults", "cost, tuned", "tries", "no choice is better", "changed"], rows)}

## Where nothing was chosen
{len(UNSEEN)} other networks, seeds {listed([str(seed) for seed in seeds])}: the same cost beside {RIVAL}'s defaults,
less is better; ± is the half-width of the 99 % confidence interval of the mean.

{costs}
Tuned less defaults, seed by seed: {gained}. {ours} less, seed by seed: {beside}. The least cost
here: {best}.

Goodput, loss in %, mean / 99th percentile of the slowdown (where flows go on, the latency's 99th percentile), means
over seeds:

{table(["", *told_of], cells)}"""
    return wrapped(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.tuned", description="Baselines tuned.")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=3, metavar="N", help="runs of each")
    add_options(parser)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "tuned", help="kept runs")
    parser.add_argument(
        "--tries", type=int, choices=range(1, 1000), default=TRIES, metavar="N", help="of each baseline"
    )
    parser.add_argument("--of", choices=CHOICES, nargs="+", default=TUNED, metavar="NAME", help="baselines")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        _write(options)
    except InputError as error:
        print(f"tuned: {error}", file=sys.stderr)
        return 2
    return 0


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    runs = TuningRuns(options.work, place_of(options))
    tunings = {name: tune(name, runs, options.tries) for name in options.of}
    who: dict[str, BaselineSpec | PolicySpec] = {}
    for label, teacher in OURS.items():
        ours = load(TEACHERS / teacher)
        who[label] = native(ours.policy, ours.weights)
    for name, its in tunings.items():
        best = spec_of(name, its.values)
        assert best is not None
        who |= {name: by_name(name), f"{name}, tuned": best}
    told_of = {label: reported(runs, seeds, each) for label, each in who.items()}
    write_atomically(options.out, page(tunings, told_of, seeds, options.tries))


if __name__ == "__main__":
    sys.exit(main())
