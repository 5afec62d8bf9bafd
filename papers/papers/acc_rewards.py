"""ACC, figure 17: the reward of a queue in steps and linear, and what networks that learn by either choose.

python -m papers.acc_rewards [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]

A training a reward and seed, some two minutes of CPU each, kept in build/training.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray

from decision.artefact.documents import read_text
from distill.rollout import teacher_policy
from netsim.network import MS
from netsim.places import Place
from netsim.policies import PolicySpec
from netsim.result_store import Kept, Outcome
from netsim.trials import run
from papers.acc import RECIPE, STATIC, TEACHER_LATENCY_PS, TRAINING, setting
from papers.acc_marking import reward_of_queue
from papers.command import add_docs, page_parser, store, written
from papers.contenders import TRAINING_CACHE
from papers.pictures import STYLE, svg
from papers.runs import percent_off, say, spread
from rlcc.commands.run_location import place_of
from rlcc.evaluation.pictures import COLOURS, LINES
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe
from rlcc.reports.pages import NONE, Figure, listed, table, wrapped
from teachers.training_cache import CachedTraining, trained

STEPS, LINEAR = "steps", "linear"
REWARDS = (STEPS, LINEAR)
LONGEST = 10_000_000
"""Bytes: Qmax of the appendix."""
MIB = 1 << 20
LOW = 40_000
"""Of the table's Kmin the two least."""
INCAST, LOADED = "incast:10@leaf-spine:2x8x2:25/100", "websearch:80%@leaf-spine:2x8x2:25/100"
DURATION_PS, SETTLED_PS = 60 * MS, 10 * MS
SHOWN = {
    "fct_mean_us": ("FCT mean us", 0),
    "mice_fct_mean_us": ("mice", 1),
    "mice_fct_p99_us": ("mice p99", 0),
    "elephants_fct_mean_us": ("elephants", 0),
    "queue_mean_us": ("queue us", 1),
    "goodput": ("goodput", 4),
}

Choices = dict[int, float]
"""By Kmin in bytes its share of the decisions at queues that are not empty."""


@dataclass(frozen=True)
class Rewarded:
    """Each seed's training by reward; by who decided and network what came of it, with the decisions of REWARDS."""

    trainings: Mapping[str, Sequence[CachedTraining]]
    outcomes: Mapping[tuple[str, str], Sequence[Outcome]]

    def figure(self, who: str, network: str, metric: str) -> Figure:
        return Figure.of([outcome.metrics[metric] for outcome in self.outcomes[who, network]])

    def against(self, network: str, metric: str) -> str:
        """Linear against steps; nothing where no such flow ended."""
        linear, steps = ([outcome.metrics for outcome in self.outcomes[who, network]] for who in (LINEAR, STEPS))
        off = percent_off(linear, steps, metric)
        return spread(off) if all(isfinite(each) for each in off) else NONE

    def chosen(self, who: str, network: str) -> dict[int, list[float]]:
        """Of each seed the share in %, by Kmin: every one that any training chose in any network."""
        each = [choices(outcome) for outcome in self.outcomes[who, network]]
        return {kmin: [100 * its.get(kmin, 0.0) for its in each] for kmin in self.thresholds}

    def low(self, who: str, network: str) -> float:
        """The share in % of the decisions at queues that set LOW or less."""
        return float(sum(np.mean(shares) for kmin, shares in self.chosen(who, network).items() if kmin <= LOW))

    @cached_property
    def thresholds(self) -> list[int]:
        return sorted(
            {kmin for who in REWARDS for n in (INCAST, LOADED) for o in self.outcomes[who, n] for kmin in choices(o)}
        )


def choices(outcome: Outcome) -> Choices:
    """Of the recorded decisions."""
    records = outcome.records[1]
    settled = np.asarray(records["t_ps"]) >= SETTLED_PS
    queued: NDArray[np.bool_] = settled & (np.asarray(records["queue_bytes"]) > 0)
    values, times = np.unique(np.asarray(records["kmin_bytes"])[queued], return_counts=True)
    return {int(value): float(n / queued.sum()) for value, n in zip(values, times, strict=True)}


def linear_of_queue(queue_bytes: float) -> float:
    """D(L) of the appendix."""
    return max(0.0, 1 - queue_bytes / LONGEST)


def recipe(reward: str) -> dict[str, Any]:
    """The teacher's; linear: the same weight of the queue, all of it at ``LONGEST``."""
    document = tomllib.loads(read_text(TRAINING))
    if reward == LINEAR:
        term = next(r for r in document["ddqn"]["reward"] if r["feature"]["kind"] == "bucket")
        term["weight"] *= MIB / LONGEST
        term["feature"] = {"kind": "level", "signal": "queue_bytes", "unit": MIB, "fraction_bits": 8}
        document["policy"]["name"] = "acc-linear"
        document["policy"]["provenance"] = {}
    return document


def played(seeds: Sequence[int], where: Place, keep: Kept) -> Rewarded:
    """Each seed's training in networks of its seed; beside them what stays as it is."""
    taught = {reward: [trained(recipe(reward), seed, TRAINING_CACHE) for seed in seeds] for reward in REWARDS}
    who: dict[str, list[PolicySpec]] = {
        **{reward: [teacher_policy(teacher) for teacher, _ in its] for reward, its in taught.items()},
        **{name: [setting(*knobs)] * len(seeds) for name, knobs in STATIC.items()},
    }
    deployment = deployment_of(load_recipe(RECIPE), RECIPE)
    places = [(name, network) for name in who for network in (INCAST, LOADED)]
    trials = [
        deployment.trial(
            policy,
            network,
            seed=seed,
            duration_ps=DURATION_PS,
            window_ps=(SETTLED_PS, DURATION_PS),
            record_ps=DURATION_PS if name in REWARDS else 0,
            decision_latency_ps=TEACHER_LATENCY_PS if name in REWARDS else 0,
            name=name,
        )
        for name, network in places
        for seed, policy in zip(seeds, who[name], strict=True)
    ]
    outcomes = iter(run(trials, where, keep, say))
    trainings = {reward: [training for _, training in its] for reward, its in taught.items()}
    return Rewarded(trainings, {place: [next(outcomes) for _ in seeds] for place in places})


def picture(found: Rewarded) -> bytes:
    """Both rewards over the queue; what was chosen in the incast."""
    with rc_context(STYLE):
        canvas = Canvas(figsize=(6.6, 2.6), layout="constrained")
        left, right = canvas.subplots(1, 2)
        kb = np.geomspace(5, 20_000, 800)
        for i, (name, reward) in enumerate({STEPS: reward_of_queue, LINEAR: linear_of_queue}.items()):
            left.plot(kb, [reward(x * 1000) for x in kb], color=COLOURS[i], linestyle=LINES[i], label=name)
        left.set_xscale("log")
        left.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        left.set_xlabel("queue L, KB")
        left.set_title("D(L)", fontsize=8.5)
        at = np.arange(len(found.thresholds))
        for i, name in enumerate(REWARDS):
            shares = [float(np.mean(each)) for each in found.chosen(name, INCAST).values()]
            right.bar(at + 0.4 * (i - 0.5), shares, 0.4, color=COLOURS[i], label=name)
        right.set_xticks(at, [f"{kmin // 1000:g}" for kmin in found.thresholds])
        right.set_xlabel("Kmin, KB")
        right.set_title("decisions at queues in the incast, %", fontsize=8.5)
        for axes in (left, right):
            axes.set_ylim(0)
            axes.grid(linewidth=0.5, color="#DDDDDD")
        left.legend(frameon=False)
        return svg(canvas)


def page(found: Rewarded, seeds: Sequence[int]) -> str:
    shares = [
        [
            f"`{n}`, {who}",
            *(f"{np.mean(its):.1f} ({min(its):.1f} to {max(its):.1f})" for its in found.chosen(who, n).values()),
        ]
        for n in (INCAST, LOADED)
        for who in REWARDS
    ]
    metrics = [
        [f"`{network}`, {who}", *(found.figure(who, network, m).text(places) for m, (_, places) in SHOWN.items())]
        for network in (INCAST, LOADED)
        for who in (*REWARDS, *STATIC)
    ]
    apart_rows = [[f"`{network}`", *(found.against(network, m) for m in SHOWN)] for network in (INCAST, LOADED)]
    rows = [f"{kmin // 1000:g} KB" for kmin in found.thresholds]
    apart = [f"{d(0) - d(10**6):g} ({name})" for name, d in ((STEPS, reward_of_queue), (LINEAR, linear_of_queue))]
    cpu = [training.cpu_seconds for its in found.trainings.values() for training in its]
    return wrapped(f"""# ACC's two rewards

{made_by("python -m papers.acc_rewards")}

[ACC] appendix and figure 17: of a queue L the step function D(L) of its figure 4, or D(L) = 1 - L / Qmax with Qmax 10
MB. [train-acc](../../recipes/train-acc.toml) with either, all else alike, seeds {listed([str(s) for s in seeds])}, each
training in networks of its own seed ({min(cpu):.0f} to {max(cpu):.0f} s of CPU a training); ± is the half-width of the
99 % confidence interval of the mean.

![both rewards, and what is chosen](figures/acc-figure-17.svg)

## Figure 17: what is chosen
An empty queue and one of 1 MB are apart by {listed(apart)}. Decisions at queues that are not empty, in % by the Kmin
that they set, mean of the trainings (least to greatest):

{table(["", *rows], shares)}
The paper: with the linear reward actions earn alike, and the agent does not find the expected one; with steps it does.
Its picture has ten levels of high thresholds; the rows here are [the teacher's
20](../../docs/reference/training.md#agents-that-choose-a-row-ddqn). Of {LOW // 1000} KB and less are, with steps and
with the linear one, {_low(found)}.

## What comes of it
{DURATION_PS // MS} ms of which {SETTLED_PS // MS} are left out, beside the paper's static settings. Times in us.

{table(["", *(heading for heading, _ in SHOWN.values())], metrics)}
Linear against steps, in %, seed by seed (least to greatest); {LOADED.split("@")[0]} is, with other seeds, what the
weights of both are kept by:

{table(["", *(heading for heading, _ in SHOWN.values())], apart_rows)}
""")


def _low(found: Rewarded) -> str:
    """Which share of the decisions sets a low threshold, and whether the paper's order is there."""
    shares = {network: [found.low(reward, network) for reward in REWARDS] for network in (INCAST, LOADED)}
    told = [
        f"{steps:.0f} and {linear:.0f} % of the decisions (`{network.split('@')[0]}`)"
        for network, (steps, linear) in shares.items()
    ]
    there = all(linear < steps for steps, linear in shares.values())
    return f"{listed(told)}: " + (
        "the linear reward lets thresholds rise, as the paper has it" if there else "the paper's order is not there"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("acc_rewards", "ACC, figure 17.")
    add_docs(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    found = played(seeds, place_of(options), Kept(options.work / "runs"))
    store(options.docs / "figures" / "acc-figure-17.svg", picture(found))
    store(options.docs / "acc-rewards.md", page(found, seeds).encode())


if __name__ == "__main__":
    sys.exit(main())
