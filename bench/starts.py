"""Which start values a teacher should have: what they cost in traffic that they are chosen by, and in other traffic.

    python -m bench.starts [--seeds N] [--where PLACE] [--jobs N] [--out FILE]

The weights of `fixtures/teachers/robust` stay as they are. Chosen are the values of `[start]`, the first rate and, if
the device has a second knob for it, the cap on bytes in flight: once by rate alone, once with the cap. From the values
of the fixtures on, one after another is set to whatever of its choices costs least in CHOOSE, until none helps. A
cell's cost is beside Swift in the same network: 20 x loss (of many-to-one: what is lost beyond Swift's), 5 x what
goodput lacks of Swift's (of 95 % of it in many-to-one: probes take 2 %), and where flows end the logarithm of the mean
slowdown over Swift's and half that of the 99th percentile. The page says what the values do in REPORT, by which nothing
was chosen.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, log
from pathlib import Path
from statistics import mean
from typing import Any

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.policy import Policy
from netsim import baselines
from netsim.baselines import BaselineSpec
from netsim.network import MS, Network
from netsim.places import Place
from netsim.policies import PolicySpec, native
from netsim.result_store import Kept, Outcome
from netsim.simulation import DECISION_LATENCY_PS
from netsim.trials import Trial, run
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.reports.pages import table
from teachers.load import load
from teachers.teacher import Teacher

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "starts.md"
KEPT = ROOT / "build" / "starts"
TEACHERS = {"by rate alone": "robust", "with the cap": "robust-in-flight"}
BESIDE = ("swift-htsim", "hpcc-max-stage-5")


@dataclass(frozen=True)
class StartCell:
    """Traffic, how long it runs and from when on it is measured (ms), at which line rate (Gb/s)."""

    scenario: str
    duration_ms: int
    from_ms: int = 10
    link_gbps: int = 100

    @property
    def name(self) -> str:
        early = ", from its start" if self.from_ms == 0 else ""
        return f"{self.scenario}{early}" + (f", {self.link_gbps} Gb/s" if self.link_gbps != 100 else "")

    def trial(self, who: BaselineSpec | PolicySpec, seed: int) -> Trial:
        """Returns the trial of a baseline, which acts at once, or of a policy."""
        return Trial(
            self.scenario,
            who,
            seed=seed,
            duration_ps=self.duration_ms * MS,
            window_ps=(self.from_ms * MS, self.duration_ms * MS),
            decision_latency_ps=0 if isinstance(who, BaselineSpec) else DECISION_LATENCY_PS,
            network=Network(link_gbps=self.link_gbps),
        )


CHOOSE = (
    *(StartCell(f"long-short:{n}", 40) for n in (17, 65)),
    StartCell("long-short:257", 60),
    *(StartCell(f"incast:{n}", 40) for n in (16, 64)),
    StartCell("websearch:40%", 40),
    StartCell("hadoop:50%", 20, 5),
    *(StartCell(f"many-to-one:{n}", 50, 0) for n in (64, 1024)),
)
REPORT = (
    *(StartCell(f"long-short:{n}", 60) for n in (2, 33, 129, 513)),
    StartCell("long-short:129@fat-tree:4", 60),
    *(StartCell(f"incast:{n}", 60) for n in (8, 32, 128)),
    StartCell("incast:32@leaf-spine:4x16x3", 60),
    *(StartCell(f"websearch:{n}%", 40) for n in (30, 60, 90)),
    StartCell("websearch:60%", 80, 10, 25),
    StartCell("websearch:60%", 30, 5, 400),
    StartCell("datamining:60%", 60),
    *(StartCell(f"hadoop:{n}%", 30, 5) for n in (30, 90)),
    StartCell("hadoop:60%@fat-tree:4", 30, 5),
    StartCell("many-to-one:64", 50, 0, 400),
    StartCell("many-to-one:8192", 50, 0),
    StartCell("many-to-one:1024@fat-tree:4:25", 80, 20),
)
CHOICES: Mapping[str, Sequence[float]] = {
    "first rate, 2^-": (0, 1, 2, 3, 4, 5, 6),
    "slow start, factor": (2, 4),
    "slow start, until": (1.5, 2, 3, 4, 6),
    "brake, above": (4, 6, 8, 12, 16, 24, 32, 48),
    "brake, to 2^-": (7, 8, 9, 10),
    "recovery, until": (1.5, 2, 3, 4),
    "cap, BDP": (0.9, 1.0, 1.1, 1.2, 1.4),
}
Values = dict[str, float]
Metrics = Mapping[str, float]


def values_of(policy: Policy) -> Values:
    """Returns the policy's values of CHOICES."""
    start, limits = policy.start, policy.limits
    assert start is not None
    assert limits is not None
    params = policy.params()
    figures = [
        -log(limits.rate_initial / 2**30, 2),
        start.slow_start.factor,
        params["slow_start_until_q10"] / 1024,
        params["brake_above_q10"] / 1024,
        -log(start.brake.to / 2**30, 2),
        params["recover_until_q10"] / 1024,
        *([] if policy.in_flight is None else [policy.in_flight.bdp]),
    ]
    return {name: round(figure, 3) for name, figure in zip(CHOICES, figures, strict=False)}


def with_values(policy: Policy, values: Values) -> Policy:
    """The policy with other values; one that has a cap needs one."""
    first, factor, until, above, to, recovered, *cap = values.values()
    document: dict[str, Any] = policy.model_dump(mode="json", exclude_none=True)
    document["limits"]["rate_initial"] = f"{2.0**-first} line"
    document["start"] = {
        "slow_start": {"factor": int(factor), "until": until},
        "brake": {"above": above, "to": f"{2.0**-to} line"},
        "recovery": {"factor": document["start"]["recovery"]["factor"], "until": recovered},
    }
    if cap:
        document["in_flight"]["bdp"] = cap[0]
    return Policy.model_validate(document)


class StartRuns:
    """Simulations, each made once and kept in build/starts."""

    def __init__(self, seeds: Sequence[int], where: Place) -> None:
        self.seeds, self.place, self.keep = seeds, where, Kept(KEPT)

    def metrics(self, cells: Sequence[StartCell], policy: Policy | str, teacher: Teacher | None) -> list[Metrics]:
        """Returns the metrics of each cell, the mean over the seeds."""
        who: BaselineSpec | PolicySpec
        if isinstance(policy, str):
            who = baselines.by_name(policy)
        else:
            assert teacher is not None
            who = native(policy, teacher.weights)
        trials = [cell.trial(who, seed) for cell in cells for seed in self.seeds]
        outcomes = run(trials, self.place, self.keep)
        each = len(self.seeds)
        return [_mean(outcomes[at : at + each]) for at in range(0, len(outcomes), each)]


def _mean(outcomes: Sequence[Outcome]) -> Metrics:
    return {name: mean(o.metrics[name] for o in outcomes) for name in outcomes[0].metrics}


LOSS, GOODPUT, SLOWEST = 20.0, 5.0, 0.5
"""What the loss, what goodput lacks and the logarithm of the 99th percentile of the slowdown weigh."""
PROBED = 0.95
"""Of Swift's goodput in many-to-one, that is enough: probes take 2 %."""
UNMEASURED = 10.0
"""Where flows end and none did."""


def cost(ours: Metrics, swift: Metrics) -> float:
    """Returns the cost of a cell."""
    if "slowdown_mean" not in ours:
        beyond = max(ours["loss"] - swift["loss"], 0.0)
        return LOSS * beyond + GOODPUT * max(PROBED - ours["goodput"] / swift["goodput"], 0.0)
    if isnan(ours["slowdown_mean"]):
        return UNMEASURED
    slower = log(ours["slowdown_mean"] / swift["slowdown_mean"])
    slowest = log(ours["slowdown_p99"] / swift["slowdown_p99"])
    lacking = max(1 - ours["goodput"] / swift["goodput"], 0.0)
    return LOSS * ours["loss"] + GOODPUT * lacking + slower + SLOWEST * slowest


@dataclass(frozen=True)
class Sweep:
    """``chosen`` costs ``least``, the teacher's own values ``own``; ``around``: the cost of each choice of each value,
    the others being as chosen."""

    chosen: Values
    least: float
    own: float
    around: Mapping[str, Mapping[float, float]]


def sweep(teacher: Teacher, runs: StartRuns) -> Sweep:
    """From the teacher's own values to those than which no single choice is better."""
    swift = runs.metrics(CHOOSE, "swift-htsim", None)

    def costs(values: Values) -> float:
        ours = runs.metrics(CHOOSE, with_values(teacher.policy, values), teacher)
        return mean(cost(a, b) for a, b in zip(ours, swift, strict=True))

    chosen = values_of(teacher.policy)
    own = least = costs(chosen)
    better = True
    while better:
        better, around = False, {}
        for name in chosen:
            around[name] = {v: costs(chosen | {name: v}) for v in sorted({*CHOICES[name], chosen[name]})}
            best = min(around[name], key=lambda v: around[name][v])
            if around[name][best] < least:
                chosen, least, better = chosen | {name: best}, around[name][best], True
                print(f"# {name} {best:g}: {least:.4f}", file=sys.stderr, flush=True)
    return Sweep(chosen, least, own, around)


def figures(m: Metrics) -> str:
    """`0.891, 0, 34 / 53`: goodput, loss in per cent, slowdown mean / p99; without an end the latency's p99 in us."""
    loss = f"{100 * m['loss']:.2g}"
    if "slowdown_mean" not in m:
        return f"{m['goodput']:.3f}, {loss}, {m['latency_p99_us']:.0f} us"
    return f"{m['goodput']:.3f}, {loss}, {m['slowdown_mean']:.3g} / {m['slowdown_p99']:.3g}"


def page(teachers: Mapping[str, Teacher], runs: StartRuns) -> str:
    """The page as Markdown."""
    text = f"""# Which start values
{made_by("python -m bench.starts")}

Weights are those of `fixtures/teachers/robust`. Mean over seeds {", ".join(map(str, runs.seeds))}; decisions take
0.9 us. A value's cost is beside Swift, 0 is level (`bench/starts.py` has the weights); each row changes one value and
leaves the others as chosen. Chosen by: {", ".join(f"`{cell.name}`" for cell in CHOOSE)}.
"""
    beside = {name: runs.metrics(REPORT, name, None) for name in BESIDE}
    for label, teacher in teachers.items():
        own, result = values_of(teacher.policy), sweep(teacher, runs)
        text += f"\n## {label[0].upper()}{label[1:]}\n\n"
        rows = [
            [name, *(f"{v:g}: {c:.3f}" + (" **chosen**" if v == result.chosen[name] else "") for v, c in by.items())]
            for name, by in result.around.items()
        ]
        width = max(map(len, rows))
        text += table(["", *[""] * (width - 1)], [row + [""] * (width - len(row)) for row in rows])
        same = own == result.chosen
        text += f"\nChosen cost {result.least:.3f}. " + (
            "The fixture has these values.\n" if same else "The fixture has "
        )
        if not same:
            text += ", ".join(f"{name} {value:g}" for name, value in own.items()) + f", at {result.own:.3f}.\n"
        ours = runs.metrics(REPORT, teacher.policy, teacher)
        text += (
            "\nThe fixture in traffic by which nothing was chosen (goodput, loss in %, mean / 99th percentile of the\n"
        )
        text += "slowdown; where flows go on the latency's 99th percentile):\n\n"
        columns = [[figures(m) for m in each] for each in (ours, *beside.values())]
        cells = [[f"`{cell.name}`", *row] for cell, row in zip(REPORT, zip(*columns, strict=True), strict=True)]
        text += table(["", label, *BESIDE], cells)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.starts", description="Which start values a teacher needs.")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=2, metavar="N", help="runs of each; 2")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        teachers = {label: load(ROOT / "fixtures" / "teachers" / name) for label, name in TEACHERS.items()}
        write_atomically(options.out, page(teachers, StartRuns(range(1, options.seeds + 1), place_of(options))))
    except InputError as error:
        print(f"starts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
