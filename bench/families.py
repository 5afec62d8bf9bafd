"""Which policy to take where, next to six baselines in the suite `families`: `docs/results/families.md`.

    python -m bench.families [POLICY ...] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]

Rules are taken from the last policy one by one, and the values of its start are searched on (bench/start_search.py).
Runs are kept in build/families-page. A cell is won, level, mixed or lost as in the page of `rlcc evaluate --suite`.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.clear_path import trial
from bench.contenders_page import write_page
from bench.family_tables import advice, by_baseline, by_family, lost, tally_text
from bench.presets import paired_tables
from bench.start_search import StartSearch, changes, chosen, with_values
from bench.starts import StartCell
from bench.tuned import Values
from decision.artefact.errors import InputError
from netsim import baselines
from netsim.places import Place, at_place
from netsim.policies import NativePolicy
from netsim.result_store import Kept
from netsim.trials import run
from rlcc.commands.streams import tell
from rlcc.evaluation import grid, suite, summary
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.standing_page import JudgedCell, judge, parts
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "families.md"
KEPT = ROOT / "build" / "families-page"
CONTENDERS = tuple(
    f"{name}={ROOT}/fixtures/teachers/{name}@0.9us"
    for name in ("robust-in-flight", "robust-clear-path", "robust-line-rate")
)
BETA = "observation.features.1.beta"
RULES: Mapping[str, Values] = {
    "a first rate of a quarter of line rate": {"limits.rate_initial": "0.25 line"},
    "thresholds in base RTTs: brake above 3, recovery until 2": {
        "start.brake": (("above", 3.0), ("to", "0.0625 line")),
        "start.recovery.until": 2.0,
    },
    "no row for clear paths": {"start.clear_path": None},
    "bursts of four packets in any network": {"bursts": None},
    "delays in base RTTs of each path": {"observation.rtt_slack": False},
    "no congestion below 1.5 base RTTs (`beta`)": {BETA: 1.5},
    "in flight 1.1 BDP": {"in_flight.bdp": 1.1},
    "a first window of 1 BDP": {"in_flight.first": 1.0},
    "a first window of half a BDP": {"in_flight.first": 0.5},
}
"""Changes of the last policy, each of one rule."""
FABRICS = tuple(StartCell(f"many-to-one:{there}", 30) for there in ("64@leaf-spine:4x16x3", "256@fat-tree:4"))
"""Cells with paths of several lengths."""
CROWDS = (
    *(StartCell(f"many-to-one:{flows}", 50, 0) for flows in (64, 1024, 8192)),
    *(StartCell(f"incast:{flows}", 40, 5) for flows in (16, 64, 256)),
)
"""Flows that begin together."""


def teacher_of(contender: Contender) -> NativePolicy:
    """Returns the contender's policy, which is a teacher's."""
    assert isinstance(contender.policy, NativePolicy), f"{contender.label} is no teacher"
    return contender.policy


def paired(
    before: NativePolicy, after: NativePolicy, cells: Sequence[StartCell | grid.Cell], seeds: Sequence[int]
) -> str:
    """Returns the tables of a policy before and after a change, after the runs not kept yet."""
    trials = [trial(cell, policy, seed) for cell in cells for policy in (before, after) for seed in seeds]
    outcomes = [outcome.metrics for outcome in run(trials, None, Kept(KEPT))]
    return paired_tables([f"`{cell.name}`" for cell in cells], outcomes, len(seeds))


def standing(ours: Sequence[Contender], of: suite.Suite, cells: Sequence[grid.Cell]) -> list[JudgedCell]:
    """Returns how policies stand in some cells of a suite, after the runs that are not kept yet."""
    theirs = [
        Contender(name, name, "baseline", "", baselines.by_name(name), 0) for name in (*of.baselines, of.yardstick)
    ]
    asked = grid.Grid((*ours, *theirs), tuple(cells), tuple(of.seeds))
    results = grid.run(asked, keep=Kept(KEPT), progress=lambda said: tell(f"families: {said}"))
    return judge(summary.rows(results), of)


def without_rules(last: Contender, rules: Mapping[str, Values], of: suite.Suite, cells: Sequence[grid.Cell]) -> str:
    """Returns the table of a policy with one rule changed at a time."""
    policy = teacher_of(last)
    labels = {"as it is": policy} | {rule: with_values(policy, values) for rule, values in rules.items()}
    judged = standing([replace(last, label=label, policy=one) for label, one in labels.items()], of, cells)
    halves = [[cell.name for cell in cells if cell.held_out is held_out] for held_out in (False, True)]
    rows = [[one.label, *(tally_text(one, names) for names in halves)] for one in judged]
    return table([f"`{last.label}` with", "tuning cells", "held-out cells"], rows)


def search_section(label: str, found: StartSearch) -> str:
    """Returns what the search for better values of a policy's start came to."""
    if found.before == found.after:
        return f"""None of {found.tries} sets of values, each one value away, loses fewer pairs in cells that may be
tuned on than `{label}` does ({found.lost}), or as few and wins more.
"""
    return f"""One value after another was set to whichever of its choices loses fewest pairs in cells that may be
tuned on, then wins most: {found.tries} sets of values. All together lose {found.lost} pairs there. The last column
has the lost pairs where one value is as before.

{changes(found)}"""


def page_of(ours: Sequence[Contender], of: suite.Suite) -> str:
    """Returns the page on a suite."""
    if len(ours) < 2:
        raise InputError("the page compares the last policy with the one before; name two at least")
    cells, last, before = suite.cells(of), ours[-1], ours[-2]
    plain, policy = teacher_of(ours[0]), teacher_of(last)
    judged = standing(ours, of, cells)
    found = chosen(policy, cells, lambda policy, some: standing([replace(last, policy=policy)], of, some)[0])
    return f"""# Which policy where
{made_by("python -m bench.families")}

Teachers in the suite `families`, seeds {", ".join(map(str, of.seeds))}, next to {len(of.baselines)} baselines with
their [presets](../reference/baselines.md). A pair is a cell and a baseline: won / level / mixed / lost, as
[the page of the suite full](standing.md) says what these are.

## Which to take
The policy that loses fewest pairs in cells that may be tuned on, then wins most. Held-out cells choose nothing: they
show what the choice is worth. A *stronger baseline* wins more pairs of all these cells against the policy than it
loses.

{advice(judged, cells)}{sections(judged, of)}
## What each rule gives
`{last.label}` with one rule changed at a time, the weights as they are. The first five rows after the first take a rule
away, the others set a value or [a first window](../reference/policy-toml.md#in_flight).

{without_rules(last, RULES, of, cells)}
## Other values of its start
An operator [sets](../how-to/tune.md) them, or the NIC's bursts; no decision's code differs by them.
{search_section(last.label, found)}
## Pair by pair
`{before.label}` -> `{last.label}`. In brackets the difference seed by seed with the half-width of its
99 % interval. p99 is the latency's in us; a loss is in % of the data packets. Held-out cells:
{paired(teacher_of(before), policy, [cell for cell in cells if cell.held_out], of.seeds)}
Flows that begin together, by which nothing was chosen:
{paired(teacher_of(before), policy, CROWDS, of.seeds)}
## One unit for all delays
`{ours[0].label}` -> the same with [`rtt_slack`](../reference/policy-toml.md#one-unit-for-all-delays), where paths
differ in length. In brackets the difference as above.
{paired(plain, with_values(plain, {"observation.rtt_slack": True}), FABRICS, of.seeds)}"""


def sections(judged: Sequence[JudgedCell], of: suite.Suite) -> str:
    """Returns the sections of the cells that may be tuned on, and of those that are held out."""
    text = ""
    for heading, names in parts(of).items():
        cells = [cell for cell in suite.cells(of) if names is None or cell.name in names]
        text += f"\n## {heading} ({len(cells)})\n\n{by_family(judged, cells)}\n"
        text += f"{by_baseline(judged, cells, of.baselines)}\nLost to:\n\n{lost(judged, cells)}"
    return text


def page(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    of = suite.load("families").model_copy(update={"seeds": list(seeds)})
    with at_place(where):
        return page_of(contenders, of)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    return write_page(arguments, "families", "Which policy to take where.", page, PAGE, CONTENDERS, seeds=5)


if __name__ == "__main__":
    sys.exit(main())
