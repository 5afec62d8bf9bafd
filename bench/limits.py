"""Limits of the trained policies: crowds that start together, flows that come and go, fabrics of slower links.

Every cell is goodput and the share of sent packets that was lost, mean over the seeds; a policy's decisions take 0.9 us
to have effect, which is longer than the firmware takes. 100 Gb/s and one switch, unless the name of a network says
otherwise. The table is the one in docs/results/measured.md.

    python -m bench.limits [POLICY ...] [--seeds N] [--where PLACE] [--jobs N]
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from decision.artefact.errors import InputError
from netsim.network import MS
from netsim.places import Place as Where
from netsim.trials import Trial, run
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import Contender, opened
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
STUDENT = ROOT / "runs" / "rl-cc" / "student"
TEACHERS = {"MLP": "rl-cc-mlp", "LSTM": "rl-cc-lstm-small", "PCC-RL": "pcc-rl-lstm"}
BASELINES = ("hpcc", "swift")

START = (0, 50 * MS)
SETTLED = (50 * MS, 170 * MS)
"""RL-CC's published code measures there."""


@dataclass(frozen=True)
class LimitNetwork:
    """A network, and when in its run it is measured."""

    scenario: str
    window_ps: tuple[int, int]

    @property
    def name(self) -> str:
        return f"`{self.scenario}`" + (", first 50 ms" if self.window_ps == START else "")


PLACES = (
    *(LimitNetwork(f"many-to-one:{n}", START) for n in (64, 1024, 8192)),
    *(LimitNetwork(f"many-to-one:{n}@fat-tree:4:25", SETTLED) for n in (64, 256, 1024)),
    LimitNetwork("many-to-one:1024@fat-tree:4", SETTLED),
    *(LimitNetwork(f"long-short:{n}", SETTLED) for n in (33, 129)),
    LimitNetwork("incast:32", SETTLED),
)


def measured(
    contenders: Sequence[Contender], places: Sequence[LimitNetwork], seeds: Sequence[int], where: Where
) -> dict[tuple[str, LimitNetwork], list[tuple[float, float]]]:
    """Goodput and loss of every seed, by the contender's label and place."""
    runs = [(c, place, seed) for place in places for c in contenders for seed in seeds]
    trials = [
        Trial(
            place.scenario,
            c.simulated,
            seed=seed,
            duration_ps=place.window_ps[1],
            window_ps=place.window_ps,
            decision_latency_ps=c.decision_latency_ps,
            name=c.label,
        )
        for c, place, seed in runs
    ]
    by_cell: dict[tuple[str, LimitNetwork], list[tuple[float, float]]] = {}
    for (c, place, _), outcome in zip(runs, run(trials, where), strict=True):
        by_cell.setdefault((c.label, place), []).append((outcome.metrics["goodput"], outcome.metrics["loss"]))
    return by_cell


def cell(runs: Sequence[tuple[float, float]]) -> str:
    """`0.91, 17 %`; a loss that would round to nothing keeps a digit that says it is none."""
    goodput, loss = (mean(figures) for figures in zip(*runs, strict=True))
    percent = 100 * loss
    shown = "0" if percent == 0 else f"{percent:.0f}" if percent >= 9.5 else f"{percent:.2g}"
    return f"{goodput:.2f}, {shown} %"


def default_policies() -> list[str]:
    """The teachers, the demo's student where it is there, two baselines."""
    teachers = [f"{label}={ROOT / 'fixtures' / 'teachers' / name}" for label, name in TEACHERS.items()]
    return [*teachers, *([f"tree={STUDENT}"] if STUDENT.is_dir() else []), *BASELINES]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.limits", description="Goodput and loss where the trained policies do not hold."
    )
    parser.add_argument("policies", nargs="*", help="as `rlcc evaluate` takes them; teachers, student, hpcc and swift")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        texts = options.policies or default_policies()
        with opened(texts, decision_latency_ps=None, profile="ibex-small") as who:
            found = measured(who, PLACES, range(1, options.seeds + 1), place_of(options))
    except InputError as error:
        print(f"limits: {error}", file=sys.stderr)
        return 2
    rows = [[place.name, *(cell(found[c.label, place]) for c in who)] for place in PLACES]
    print(table(["goodput, loss", *(c.label for c in who)], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
