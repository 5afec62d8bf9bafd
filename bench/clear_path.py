"""A start with and without its row on clear paths, and delays in one unit, pair by pair: `docs/results/clear-path.md`.

    python -m bench.clear_path [--seeds N] [--where PLACE]

The teacher `robust-in-flight` as it is, and with `[start.clear_path]` and `rtt_slack`, in the same networks with the
same seeds. First come the cells by which the table's values were chosen, then the suite `families`: what may be tuned
on, and its held-out cells.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.presets import paired_tables
from bench.starts import StartCell
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.places import Place
from netsim.policies import NativePolicy, native
from netsim.result_store import Kept
from netsim.simulation import DECISION_LATENCY_PS
from netsim.trials import Trial, run
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation import grid, suite
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.grid import Cell
from rlcc.origin import made_by
from teachers.load import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "clear-path.md"
KEPT = ROOT / "build" / "clear-path"
TEACHERS = ("robust-in-flight", "robust-clear-path")
"""Without the table and with it."""
CHOSEN_BY = (
    *(StartCell(f"long-short:{n}", 40) for n in (17, 129)),
    StartCell("long-short:257", 40, 5),
    StartCell("incast:48", 40, 5),
    StartCell("incast:128", 40),
    StartCell("many-to-one:16", 30),
    StartCell("many-to-one:512", 40, 20),
    StartCell("many-to-one:256@fat-tree:4", 30),
    StartCell("many-to-one:64@leaf-spine:4x16x3", 30),
    StartCell("all-to-all:4", 20, 5),
    StartCell("websearch:30%", 25, 5),
    StartCell("websearch:60%", 30),
    StartCell("hadoop:50%", 15, 5),
)


def trial(cell: StartCell | Cell, who: NativePolicy, seed: int) -> Trial:
    """Returns the run of a teacher in a cell."""
    if isinstance(cell, StartCell):
        return cell.trial(who, seed)
    return grid.trial(Contender("teacher", "teacher", "teacher", "", who, DECISION_LATENCY_PS), cell, seed)


def section(title: str, cells: Sequence[StartCell | Cell], seeds: Sequence[int], place: Place | None) -> str:
    """Returns the tables of some cells, after the runs that are not kept yet."""
    loaded = [load(ROOT / "fixtures" / "teachers" / teacher) for teacher in TEACHERS]
    policies = [native(each.policy, each.weights) for each in loaded]
    trials = [trial(cell, policy, seed) for cell in cells for policy in policies for seed in seeds]
    outcomes = [outcome.metrics for outcome in run(trials, place, Kept(KEPT))]
    return f"\n## {title}\n" + paired_tables([f"`{cell.name}`" for cell in cells], outcomes, len(seeds))


def page(seeds: Sequence[int], place: Place | None) -> str:
    """Returns the page."""
    families = suite.cells(suite.load("families"))
    text = f"# A rate that doubles where the path is clear\n{made_by('python -m bench.clear_path')}\n\n"
    text += "The teacher `robust-in-flight` -> the same weights with [`[start.clear_path]`]"
    text += "(../reference/policy-toml.md#a-clear-path) (`robust-clear-path`: an RTT below 1.1 base RTTs and no NACK\n"
    text += "double the rate) and [`rtt_slack`](../reference/policy-toml.md#one-unit-for-all-delays), the same\n"
    text += "networks and seeds "
    text += f"({', '.join(map(str, seeds))}). Before -> after; in brackets the difference seed by seed\n"
    text += (
        "with the half-width of its 99 % interval. p99 is the latency's in us; a loss is in % of the data packets.\n"
    )
    text += "Behind one switch all slacks are 0, and the clear path makes the whole difference; with `@` both count.\n"
    text += section("Cells by which the values were chosen", CHOSEN_BY, seeds, place)
    text += section(
        "Cells of the suite families that may be tuned on", [c for c in families if not c.held_out], seeds, place
    )
    return text + section("Held-out cells", [cell for cell in families if cell.held_out], seeds, place)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page. Returns 0, or 2 with a sentence on why it could not."""
    parser = argparse.ArgumentParser(prog="python -m bench.clear_path", description="A start's row on clear paths.")
    parser.add_argument("--seeds", type=int, choices=range(2, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        write_atomically(options.out, page(range(1, options.seeds + 1), place_of(options)))
    except InputError as error:
        print(f"clear_path: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
