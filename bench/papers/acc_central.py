"""ACC, figure 14: one agent for all switches of a fabric (C-ACC) beside one a queue (D-ACC) and static settings.

python -m bench.papers.acc_central [--seeds N] [--where PLACE] [--jobs N] [--out FILE] [--work FOLDER]

Three trainings of the central agent, one and a half minutes of CPU each, kept in build/training, and some eight minutes
of runs.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.papers.acc import RECIPE, STATIC, TEACHER_LATENCY_PS, setting
from bench.papers.command import DOCS, page_parser, written
from bench.papers.contenders import ROOT, TEACHERS
from bench.papers.found import Figure, listed, table, wrapped
from bench.papers.runs import percent_off, say
from bench.training.trained import Training, trained
from bench.where.options import place_of
from decision.artefact.documents import read_text, write_atomically
from decision.ir.interfaces import FABRIC_MARKING
from distill.rollout import teacher_policy
from netsim.deployment import Deployment
from netsim.kept import Kept, Outcome
from netsim.network import MS, US
from netsim.places import Place
from netsim.policies import PolicySpec
from netsim.trials import run
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe
from teachers.load import load

CENTRAL = ROOT / "recipes" / "train-acc-central.toml"
TRAININGS = (1, 2, 3)
SEEDS = 9
ONE, LATE, EACH = "C-ACC", "C-ACC, 5 ms late", "D-ACC"
LATE_PS = 5 * MS
"""The paper: a controller takes "several milliseconds" (section 3.2)."""
EVEN, TIGHT = "leaf-spine:4x24x2:3x25/100", "leaf-spine:4x24x2:25/100"
NETWORKS = {
    "60 %": f"websearch:60%>idle*3@{EVEN}",
    "90 %": f"websearch:90%>idle*3@{EVEN}",
    "90 and 30 %": f"websearch:90%+websearch:30%>idle*3@{EVEN}",
    "90 / 20 %": f"{'websearch:90%>websearch:20%>' * 2}idle*12@{EVEN}",
    "30 %, 3 to 1": f"websearch:30%>idle*3@{TIGHT}",
}
MAIN = "90 %"
"""What is held against the paper's figures."""
ARRIVE_PS, DURATION_PS = 40 * MS, 160 * MS
PHASE_PS = ARRIVE_PS // 4
SHOWN = {"fct_mean_us": "FCT mean", "fct_p99_us": "FCT p99", "mice_fct_mean_us": "mice mean", "mice_fct_p99_us": "p99"}
JUDGED = {"fct_mean_us": "mean", "fct_p99_us": "p99"}
PAPER = {"SECN1": {"fct_mean_us": -16.0, "fct_p99_us": -25.0}, "SECN2": {"fct_mean_us": -52.0, "fct_p99_us": -70.0}}
"""C-ACC against these, in %."""
NUMBERS = ("none", "one", "two", "three", "all")
LOW = 40_000
"""Of the table's Kmin the two least."""


@dataclass(frozen=True)
class Central:
    """Each training; of each seed, by who decided and network, what came of it."""

    trainings: Sequence[Training]
    outcomes: Mapping[tuple[str, str], Sequence[Outcome]]

    @property
    def who(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.outcomes))

    def figure(self, who: str, network: str, metric: str) -> Figure:
        return Figure.of([outcome.metrics[metric] for outcome in self.outcomes[who, network]])

    def against(self, who: str, other: str, network: str, metric: str) -> Figure:
        """By how many percent, seed by seed."""
        ours, theirs = ([o.metrics for o in self.outcomes[name, network]] for name in (who, other))
        return Figure.of(percent_off(ours, theirs, metric))

    def ended(self, network: str) -> float:
        """Under who has the fewest flows end their share of the most."""
        each = [self.figure(who, network, "completions").mean for who in self.who]
        return min(each) / max(each)

    def low(self, network: str, layer: str) -> list[float]:
        """The share in % of the central agent's decisions, while flows arrive, that set LOW or less [seeds]."""
        return [low(outcome, layer) for outcome in self.outcomes[ONE, network]]


def low(outcome: Outcome, layer: str) -> float:
    records = outcome.records[1]
    chosen = np.asarray(records[f"{layer}_kmin_bytes"])[np.asarray(records["t_ps"]) <= ARRIVE_PS]
    return 100 * float(np.mean(chosen <= LOW))


def played(seeds: Sequence[int], where: Place, keep: Kept) -> Central:
    """A seed's central agent is that of one of the trainings, in turn."""
    taught = [trained(tomllib.loads(read_text(CENTRAL)), seed) for seed in TRAININGS]
    queues = deployment_of(load_recipe(RECIPE), RECIPE)
    fabric = Deployment(queues.network, FABRIC_MARKING, queues.flows, (), queues.period_ps)
    turns = [teacher_policy(taught[number % len(taught)][0]) for number in range(len(seeds))]
    alike = len(seeds)
    who: dict[str, tuple[Deployment, Sequence[PolicySpec], int]] = {
        ONE: (fabric, turns, TEACHER_LATENCY_PS),
        LATE: (fabric, turns, LATE_PS),
        EACH: (queues, [teacher_policy(load(TEACHERS / "acc"))] * alike, TEACHER_LATENCY_PS),
        **{name: (queues, [setting(*STATIC[name])] * alike, 0) for name in PAPER},
    }
    places = [(name, network) for name in who for network in NETWORKS]
    trials = [
        who[name][0].trial(
            policy,
            NETWORKS[network],
            seed=seed,
            duration_ps=DURATION_PS,
            window_ps=(0, DURATION_PS),
            record_ps=DURATION_PS if name == ONE else 0,
            decision_latency_ps=who[name][2],
            name=name,
        )
        for name, network in places
        for seed, policy in zip(seeds, who[name][1], strict=True)
    ]
    outcomes = iter(run(trials, where, keep, say))
    return Central([training for _, training in taught], {place: [next(outcomes) for _ in seeds] for place in places})


def page(found: Central, seeds: Sequence[int]) -> str:
    cpu = [training.cpu_seconds for training in found.trainings]
    return wrapped(f"""# ACC as one agent for all switches

{made_by("python -m bench.papers.acc_central")}

[ACC] figure 14 and section 5.4: 96 hosts on 4 leaves and 2 spines. A central agent (C-ACC) gives one setting to all
ports that lead up and one to all that lead down, of "hundreds" of actions; ACC itself (D-ACC) has an agent a queue.
Loads and links are not printed. Here hosts have 25 Gb/s and each leaf three links of 100 Gb/s to each spine, as much up
as down, as in the paper's larger fabric; beside it one link, a third of that (*3 to 1*). Web search arrives for
{ARRIVE_PS // MS} ms and all flows are followed, to {DURATION_PS // MS} ms (the fewest that end under anybody are
{min(map(found.ended, NETWORKS)):.2%} of the most). *90 and 30 %*: half of the leaves send at either
load; *90 / 20 %*: {PHASE_PS // MS} ms each, twice. {len(seeds)} seeds, ± is half of the 99 % interval of the mean,
comparisons are seed by seed.

- **{ONE}**: [train-acc-central](../../recipes/train-acc-central.toml), 20 rows up x 20 rows down, of each layer what
  ACC's queue sees ([the interface](../netsim.md#one-agent-for-all-switches)). Asked every 50 us, it decides as late as
  a switch, {TEACHER_LATENCY_PS // US} us. Trained with seeds {listed([str(seed) for seed in TRAININGS])}
  ({min(cpu):.0f} to {max(cpu):.0f} s of CPU each), which take turns over the seeds of the networks; the intervals take
  these for independent.
- **{LATE}**: the same, with the latency of a controller ("several milliseconds", section 3.2).
- **{EACH}**: the shipped teacher, one training ([five are 2 % apart at most in the mean FCT of web
  search](../train.md#agents-that-choose-a-row-ddqn)), {TEACHER_LATENCY_PS // US} us late. **SECN1**, **SECN2**: static.

## Figure 14: completion times
In us, of all flows and of those to 100 KB.

{table(["", *SHOWN.values()], _times(found))}
In %: {ONE} against the others.

{table(["", *(f"{other}, {name}" for other in (*PAPER, EACH, LATE) for name in JUDGED.values())], _against(found))}
## Beside the paper, web search at {MAIN}
{table(["C-ACC against", "", "paper", "ours", "5 ms late", "found"], _beside(found))}
{_words(found)}

## What it sets
Which share of its decisions while flows arrive sets a Kmin of {LOW // 1000} KB or less, in %, mean of the seeds (least
to greatest):

{table(["", "up", "down"], _set(found))}
{_sets(found)}
""")


def _times(found: Central) -> list[list[str]]:
    return [
        [f"{network}, {who}", *(found.figure(who, network, metric).text(0) for metric in SHOWN)]
        for network in NETWORKS
        for who in found.who
    ]


def _against(found: Central) -> list[list[str]]:
    pairs = [(other, metric) for other in (*PAPER, EACH, LATE) for metric in JUDGED]
    return [[n, *(found.against(ONE, other, n, metric).text(1) for other, metric in pairs)] for n in NETWORKS]


def _beside(found: Central) -> list[list[str]]:
    rows = []
    for other, theirs in PAPER.items():
        for metric, name in JUDGED.items():
            ours, late = (found.against(who, other, MAIN, metric) for who in (ONE, LATE))
            told = verdict(ours, theirs[metric])
            rows.append([other, name, f"{theirs[metric]:+.0f} %", f"{ours.text(1)} %", f"{late.text(1)} %", told])
    for metric, name in JUDGED.items():
        ours, late = (found.against(who, EACH, MAIN, metric) for who in (ONE, LATE))
        rows.append([EACH, name, "higher", f"{ours.text(1)} %", f"{late.text(1)} %", order(ours)])
    return rows


def verdict(ours: Figure, theirs: float) -> str:
    """Whether a gain of the paper, below 0, is there."""
    if abs(ours.mean - theirs) <= ours.half:
        return "as much"
    if ours.mean + ours.half < 0:
        return "more" if ours.mean < theirs else "less"
    return "a loss" if ours.mean - ours.half > 0 else "nothing told from 0"


def order(ours: Figure) -> str:
    """Whether the central agent takes longer, as the paper has it."""
    if abs(ours.mean) <= ours.half:
        return "nothing told from 0"
    return "higher" if ours.mean > 0 else "lower"


def _set(found: Central) -> list[list[str]]:
    rows = []
    for network in NETWORKS:
        shares = [found.low(network, layer) for layer in ("up", "down")]
        rows.append([network, *(f"{np.mean(its):.1f} ({min(its):.1f} to {max(its):.1f})" for its in shares)])
    return rows


def _words(found: Central) -> str:
    """Which of the paper's figures are there, and what the design and the latency cost here."""
    gains = [
        verdict(found.against(ONE, other, MAIN, metric), paper)
        for other, its in PAPER.items()
        for metric, paper in its.items()
    ]
    there = NUMBERS[sum(each in ("as much", "more") for each in gains)]
    are = "is" if there in NUMBERS[:2] else "are"
    mice = [f"{found.against(ONE, other, MAIN, 'mice_fct_mean_us').text(1)} % against {other}" for other in PAPER]
    return f"""Of the paper's gains of C-ACC {there} of the four {are} there. The mean time of flows to 100 KB is
{listed(mice)}. The paper has C-ACC take longer than D-ACC; here its times are told to be
{_apart(found, ONE, EACH)}. With 5 ms of latency they are told to be {_apart(found, LATE, ONE)}. A mean over all flows
is that of the largest, and with either design these pay for the short queues of the others ([ACC on its 288
hosts](papers-acc.md)). The paper's loads, links, reward and table of the central agent are not printed."""


def _apart(found: Central, who: str, other: str) -> str:
    """Where the times, mean or p99, of the first are longer, and where shorter."""
    told: dict[str, list[str]] = {"higher": [], "lower": []}
    for network in NETWORKS:
        for metric, name in JUDGED.items():
            figure = found.against(who, other, network, metric)
            told.setdefault(order(figure), []).append(f"{network} (the {name}, {figure.text(1)} %)")
    return ", ".join(
        f"{each} {f'in {listed(told[each])}' if told[each] else 'nowhere'}" for each in ("higher", "lower")
    )


def _sets(found: Central) -> str:
    """What the settings may have to do with the times."""
    agents = """Agents of queues set so little in nearly all of their decisions where web search queues ([with this
reward](papers-acc-rewards.md#figure-17-what-is-chosen))."""
    longer = any(
        order(found.against(ONE, EACH, network, metric)) == "higher" for network in NETWORKS for metric in JUDGED
    )
    seldom = all(np.mean(found.low(network, "up")) < 50 for network in NETWORKS)
    if longer or not seldom:
        return agents
    return f"""{agents} That the central one seldom does at ports that lead up may be why its flows do not take longer;
it was not looked into."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("acc_central", "ACC, figure 14.")
    parser.set_defaults(seeds=SEEDS)
    parser.add_argument("--out", type=Path, default=DOCS / "papers-acc-central.md")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    write_atomically(options.out, page(played(seeds, place_of(options), Kept(options.work / "runs")), seeds))


if __name__ == "__main__":
    sys.exit(main())
