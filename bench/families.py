"""Which policy to take where: three of ours next to six baselines in the suite `families`: `docs/results/families.md`.

    python -m bench.families [--where PLACE]

Runs are kept in build/families-page, so that a stopped command goes on. Cells that were tuned on and cells held out are
told apart; a cell is won, level, mixed or lost as in the page of `rlcc evaluate --suite`.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.clear_path import trial
from bench.presets import paired_tables
from bench.starts import StartCell
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim import baselines
from netsim.places import at_place, current_place
from netsim.policies import NativePolicy, native
from netsim.result_store import Kept
from netsim.simulation import DECISION_LATENCY_PS
from netsim.trials import run
from rlcc.commands.run_location import add_options, place_of
from rlcc.commands.streams import tell
from rlcc.evaluation import grid, suite, summary
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.standing import STANDINGS
from rlcc.evaluation.standing_page import JudgedCell, judge, parts
from rlcc.origin import made_by
from rlcc.reports.pages import table
from teachers.load import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "families.md"
KEPT = ROOT / "build" / "families-page"
TEACHERS = ROOT / "fixtures" / "teachers"
FAMILIES = {
    "collectives, a new queue pair a message": ("ring", "tree", "exchange", "parameter-server"),
    "collectives, queue pairs that last": (),
    "open loops": ("websearch", "hadoop", "datamining", "storage"),
    "floods": ("incast", "long-short"),
    "long flows": ("many-to-one",),
}
"""Beginnings of the traffic's names; queue pairs that last are told by an ending."""
FABRICS = tuple(StartCell(f"many-to-one:{there}", 30) for there in ("64@leaf-spine:4x16x3", "256@fat-tree:4"))
"""Cells with paths of several lengths."""
TRIED = {
    "the first 16 KB to 31 KB of a flow at line rate, then a quarter of it": (
        "hadoop:30% 1.34 -> 1.32, websearch:30% 1.62 -> 1.54, storage:50% 1.59 -> 1.50, incast:128 84 -> 79",
        "the lost open loops stay lost",
    ),
    "the first 48 KB so": (
        "hadoop:30% 1.24, websearch:30% 1.42",
        "long-short:129 93 -> 104, its p99 148 -> 212; incast:128 loses 2 %",
    ),
    "the first 92 KB so": ("hadoop:30% 1.21, websearch:30% 1.37", "incast:128 and long-short:257 lose 10 %"),
    "line rate, and 32 KB in flight before the first decision": (
        "hadoop:30% 1.28",
        "long-short:129 loses 8 %: the first answer met no queue yet",
    ),
    "slow start by 4": ("ring-all-reduce:8x4MB 911 -> 817 us", "incast:128 loses 3 %"),
    "beta 1.25 for 1.5": (
        "p99 of 8, 16 and 512 flows 11.1 -> 8.4, 10.0 -> 8.7, 22.8 -> 20.6 us",
        "4 flows at 10 Gb/s: goodput .915 -> .888, Jain .95 -> .78",
    ),
    "beta 1.1 and a target of .045": ("p99 of 512 flows 22.8 -> 16.0 us", "8 flows: Jain .99 -> .89"),
}
"""Rules that were measured and are not kept: mean slowdowns and other gains, and the reason."""


def contenders(of: suite.Suite) -> list[Contender]:
    """Returns ours, the suite's baselines and its yardstick."""
    names = ("robust-in-flight", "robust-clear-path")
    ours = {name: native(its.policy, its.weights) for name in names for its in [load(TEACHERS / name)]}
    ours["robust-clear-path, from line rate"] = from_line_rate(ours["robust-clear-path"])
    found = [Contender(label, label, "teacher", "", policy, DECISION_LATENCY_PS) for label, policy in ours.items()]
    for name in (*of.baselines, of.yardstick):
        found.append(Contender(name, name, "baseline", "", baselines.by_name(name), 0))
    return found


def from_line_rate(policy: NativePolicy) -> NativePolicy:
    """Returns the policy whose operator lets new flows begin at line rate (`rate_initial_q30`)."""
    document = policy.policy.model_dump(mode="json")
    document["limits"]["rate_initial"] = "100 %"
    return native(type(policy.policy).model_validate(document), policy.weights)


def with_slack(policy: NativePolicy) -> NativePolicy:
    """Returns the policy with delays in one unit (`rtt_slack`)."""
    document = policy.policy.model_dump(mode="json")
    document["observation"]["rtt_slack"] = True
    return native(type(policy.policy).model_validate(document), policy.weights)


def fabrics(seeds: Sequence[int]) -> str:
    """Returns the table of `robust-in-flight` without and with delays in one unit, after the runs not kept yet."""
    plain = contenders(suite.load("families"))[0].policy
    assert isinstance(plain, NativePolicy)
    trials = [trial(cell, policy, seed) for cell in FABRICS for policy in (plain, with_slack(plain)) for seed in seeds]
    outcomes = [outcome.metrics for outcome in run(trials, None, Kept(KEPT))]
    return paired_tables([f"`{cell.scenario}`" for cell in FABRICS], outcomes, len(seeds))


def family(scenario: str) -> str:
    """Returns the family of a cell by the name of its traffic."""
    if ":one-qp" in scenario:
        return "collectives, queue pairs that last"
    return next(name for name, begins in FAMILIES.items() if scenario.startswith(begins))


def counted(judged: JudgedCell, names: Sequence[str]) -> str:
    """Returns `12 / 30 / 4 / 2`: pairs of a cell and a baseline that are won, level, mixed and lost."""
    sums = dict.fromkeys(STANDINGS, 0)
    for baseline in next(iter(judged.comparisons.values())):
        for standing, count in judged.tally(baseline, names).items():
            sums[standing] += count
    return " / ".join(map(str, sums.values()))


def by_family(judged: Sequence[JudgedCell], names: Sequence[str]) -> str:
    """Returns the table of families in some of the cells."""
    grouped: Mapping[str, list[str]] = {key: [n for n in names if family(n) == key] for key in FAMILIES}
    rows = [
        [f"{key} ({len(group)})", *(counted(each, group) for each in judged)] for key, group in grouped.items() if group
    ]
    return table(["cells", *(each.label for each in judged)], [*rows, ["all", *(counted(e, names) for e in judged)]])


def by_baseline(judged: Sequence[JudgedCell], names: Sequence[str], against: Sequence[str]) -> str:
    """Returns the table of baselines in some of the cells."""
    rows = [[name, *(" / ".join(map(str, each.tally(name, names).values())) for each in judged)] for name in against]
    return table(["beside", *(each.label for each in judged)], rows)


def lost(judged: Sequence[JudgedCell], names: Sequence[str]) -> str:
    """Returns the table of cells that somebody of ours loses, with the baselines that win them."""
    rows = []
    for name in names:
        losers = [
            ", ".join(by for by, one in each.comparisons[name].items() if one.standing == "loss") for each in judged
        ]
        if any(losers):
            rows.append([f"`{name}`", *(text or "-" for text in losers)])
    return table(["cell", *(each.label for each in judged)], rows) if rows else "None.\n"


def page(of: suite.Suite) -> str:
    """Returns the page, after the runs that are not kept yet."""
    asked = grid.Grid(tuple(contenders(of)), suite.cells(of), tuple(of.seeds))
    results = grid.run(asked, keep=Kept(KEPT), progress=lambda said: tell(f"families: {said}"))
    judged = judge(summary.rows(results), of)
    text = f"# Which policy where\n{made_by('python -m bench.families')}\n\n"
    text += "Teachers in the suite `families`, seeds " + ", ".join(map(str, of.seeds))
    text += ", next to six baselines with their [presets](../reference/baselines.md). A pair is a\n"
    text += "cell and a baseline: won / level / mixed / lost, as "
    text += "[the page of the suite full](standing.md) says what these are.\n"
    text += "*From line rate* is the same firmware, whose operator has set `rate_initial_q30` to line rate.\n\n"
    text += "- Collectives that open a queue pair for each message: begin at line rate.\n"
    text += "- Collectives on queue pairs that last: either is level with all baselines.\n"
    text += "- Crowds that begin together, and small buffers: begin at a quarter of line rate, as shipped.\n"
    text += "- Open loops: either loses a few pairs, to HPCC most often.\n"
    text += "- Long flows at 10 Gb/s or with 100 us of RTT: take Swift, NSCC or DCTCP.\n"
    for heading, names in parts(of).items():
        assert names is not None
        text += f"\n## {heading} ({len(names)})\n\n" + by_family(judged, names)
        text += "\n" + by_baseline(judged, names, of.baselines)
        text += "\nLost to:\n\n" + lost(judged, names)
    text += "\n## One unit for all delays\n`robust-in-flight` -> the same with "
    text += "[`rtt_slack`](../reference/policy-toml.md#one-unit-for-all-delays), where paths differ in length. In "
    text += "brackets the\ndifference seed by seed with the half-width of its 99 % interval.\n" + fabrics(of.seeds)
    text += "\n## What did not pay\nMeasured with the weights unchanged on cells that may be tuned on, with one or two "
    text += "seeds; figures are mean slowdowns\nunless a unit stands there. None of it is in the code.\n\n"
    return text + table(["rule", "gain", "why not"], [[rule, *said] for rule, said in TRIED.items()])


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page. Returns 0, or 2 with a sentence on why it could not."""
    parser = argparse.ArgumentParser(prog="python -m bench.families", description="Which policy to take where.")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        with at_place(place_of(options) or current_place()):
            write_atomically(options.out, page(suite.load("families")))
    except InputError as error:
        print(f"families: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
