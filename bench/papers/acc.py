"""ACC's comparison on its 288 hosts, beside the paper's: teacher and tree, static settings, HPCC.

    rlcc run recipes/acc.toml && python -m bench.papers.acc [fabric|messages|change|idle] [--run runs/acc] [--seeds N]

Flow completion times by size; the marking settings of the paper's section 2 (SECN0 of DCTCP, SECN1 of DCQCN, SECN2 of
HPCC) stay as they are under the same DCQCN senders. The tree's C decides as late as it takes on the engine.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.papers import acc_bed, acc_change, acc_idle, contenders
from bench.papers.acc_bed import Deciders
from bench.papers.runs import Metrics, percent_off, say, spread
from bench.where.options import add_options, place_of
from decision.documents import load_toml, write_atomically
from decision.errors import InputError
from decision.interfaces import QUEUE_MARKING
from netsim.baselines import by_name
from netsim.deployment import Deployment
from netsim.kept import Kept
from netsim.network import MS, US
from netsim.places import Place
from netsim.policies import PolicySpec, fixed, native
from netsim.trials import Trial
from netsim.trials import run as run_trials
from rlcc.evaluation.contenders import emulated_latency_ps
from rlcc.origin import made_by
from rlcc.policies import by_path
from rlcc.recipe import deployment_of, load_recipe
from teachers.ddqn_options import DdqnConfig
from teachers.load import load
from teachers.networks import seeded
from teachers.teacher import Teacher, make_teacher

RECIPE = contenders.ROOT / "recipes" / "acc.toml"
TRAINING = contenders.ROOT / "recipes" / "train-acc.toml"
ONLINE = contenders.ROOT / "recipes" / "train-acc-online.toml"
DOCS = contenders.ROOT / "docs" / "generated"
PAGES = {
    "fabric": "papers-acc.md",
    "messages": "papers-acc-messages.md",
    "change": "papers-acc-change.md",
    "idle": "papers-acc-idle.md",
}
LOADS = ("websearch:60%@acc-fabric", "websearch:90%@acc-fabric")
DURATION_PS, SETTLED_PS = 40 * MS, 5 * MS
TEACHER_LATENCY_PS = 10 * US
STATIC = {"SECN0": (18_000, 18_000, 100), "SECN1": (5_000, 200_000, 1), "SECN2": (100_000, 400_000, 1)}
"""Kmin, Kmax in bytes ([ACC] section 2); of Pmax, in %, the paper says nothing: DCQCN's 1 %."""
PAPER = {
    "SECN1": {"fct_mean_us": -5.8, "mice_fct_mean_us": -5.7, "mice_fct_p99_us": -15.8},
    "SECN2": {"fct_mean_us": -16.6, "mice_fct_mean_us": -17.3, "mice_fct_p99_us": -47.5},
}
"""ACC against these, web search at 90 % ([ACC] section 5.4, figure 12), in %."""
SHOWN = {
    "fct_mean_us": "FCT mean us",
    "fct_p99_us": "p99",
    "mice_fct_mean_us": "mice mean",
    "mice_fct_p99_us": "mice p99",
    "elephants_fct_mean_us": "elephants mean",
    "queue_mean_us": "queue us",
    "goodput": "goodput",
}


@dataclass(frozen=True)
class Outcomes:
    """Metrics of each seed by who decided and in which network."""

    seeds: int
    metrics: dict[tuple[str, str], list[Metrics]]

    def mean(self, who: str, load_: str, metric: str) -> float:
        return float(np.mean([m[metric] for m in self.metrics[who, load_]]))

    def against(self, who: str, other: str, load_: str, metric: str) -> str:
        """By how many percent, seed by seed: mean, and from the least to the greatest."""
        return spread(percent_off(self.metrics[who, load_], self.metrics[other, load_], metric))


@contextmanager
def at_queues(run: Path) -> Iterator[Deciders]:
    """Who decides at the queues, and how late: the teacher, its student's C as it is on the engine, what stays."""
    teacher = load(contenders.TEACHERS / "acc")
    with by_path(run / "firmware") as tree:
        latency_ps = emulated_latency_ps(run / "firmware", contenders.ENGINE)
        yield {
            "ACC": (native(teacher.policy, teacher.weights), TEACHER_LATENCY_PS),
            "ACC tree": (tree.policy, latency_ps),  # type: ignore[dict-item]  # no baseline decides at queues
            **{name: (setting(*knobs), 0) for name, knobs in STATIC.items()},
        }


def played(deployment: Deployment, deciders: Deciders, seeds: Sequence[int], where: Place, keep: Kept) -> Outcomes:
    """All networks of the fabric with everybody."""
    trials: dict[tuple[str, str], list[Trial]] = {}
    window_ps = (SETTLED_PS, DURATION_PS)
    for load_ in LOADS:
        for name, (policy, late_ps) in deciders.items():
            trials[name, load_] = [
                deployment.trial(
                    policy,
                    load_,
                    seed=seed,
                    duration_ps=DURATION_PS,
                    window_ps=window_ps,
                    decision_latency_ps=late_ps,
                    name=name,
                )
                for seed in seeds
            ]
        trials["HPCC", load_] = [
            Trial(load_, by_name("hpcc"), seed, DURATION_PS, window_ps, network=deployment.network, name="HPCC")
            for seed in seeds
        ]
    flat = [trial for each in trials.values() for trial in each]
    outcomes = iter(run_trials(flat, where, keep, say))
    return Outcomes(len(seeds), {place: [next(outcomes).metrics for _ in each] for place, each in trials.items()})


def learners(config: DdqnConfig) -> tuple[Teacher, Teacher, DdqnConfig]:
    """The trained teacher, one with the weights that training began with, and how both learn."""
    teacher = load(contenders.TEACHERS / "acc")
    weights = seeded(teacher.policy, config.ddqn.seed).weights()
    return teacher, make_teacher(teacher.policy, weights, "not trained"), config


def setting(kmin: int, kmax: int, percent: int) -> PolicySpec:
    return fixed(QUEUE_MARKING, {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_q16": round(percent * 655.36)})


def page(o: Outcomes) -> str:
    who = list(dict.fromkeys(name for name, _ in o.metrics))
    lines = [
        "# ACC beside its paper",
        made_by("rlcc run recipes/acc.toml && python -m bench.papers.acc"),
        "",
        f"[ACC] section 5.4: 12 leaves of 24 hosts at 25 Gb/s, 6 spines at 100 Gb/s, DCQCN at the hosts. Runs of "
        f"{DURATION_PS // MS} ms, the first {SETTLED_PS // MS} ms left out, {o.seeds} seeds; mice are flows to 100 KB, "
        "elephants over 10 MB. *ACC* is the teacher that [`rlcc train recipes/train-acc.toml`](../train.md) makes "
        "(DDQN, trained on two leaves of 8 or 16 hosts), *ACC tree* the C of its student. SECN0, 1 and 2 are "
        "the static settings of the paper's section 2; HPCC stands beside them as a yardstick.",
        "",
    ]
    for load_ in LOADS:
        lines += [f"## {load_}", "", "| | " + " | ".join(SHOWN.values()) + " |", "|---|" + "---|" * len(SHOWN)]
        for name in who:
            figures = [o.mean(name, load_, m) for m in SHOWN]
            lines.append(f"| {name} | " + " | ".join(f"{f:.4f}" if f < 1 else f"{f:.1f}" for f in figures) + " |")
        lines.append("")
    lines += [
        "## Against the static settings, web search at 90 %",
        "In %, mean of the seeds (least to greatest).",
        "",
        "| | metric | paper | ACC | ACC tree |",
        "|---|---|---|---|---|",
    ]
    for other, metrics in PAPER.items():
        for metric, theirs in metrics.items():
            ours = [o.against(name, other, LOADS[1], metric) for name in ("ACC", "ACC tree")]
            lines.append(f"| {other} | {SHOWN[metric]} | {theirs:+.1f} | " + " | ".join(ours) + " |")
    elephants = [o.against("ACC", name, LOADS[1], "elephants_fct_mean_us") for name in PAPER]
    lines += [
        "",
        f"What elephants wait longer stands against what mice gain: ACC's take {elephants[0]} % of SECN1's time more "
        f"and {elephants[1]} % of SECN2's. A table of other rows, longer runs and learning on this fabric's "
        "switches, which the paper has, were not tried; of SECN's Pmax it says nothing, and DCQCN's 1 % is taken.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.papers.acc", description="ACC's comparison beside ours.")
    parser.add_argument("pages", nargs="*", choices=[[], *PAGES], metavar="|".join(PAGES), help="by default all")
    parser.add_argument("--run", type=Path, default=Path("runs/acc"), help="what rlcc run recipes/acc.toml wrote")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), metavar="N", default=3)
    add_options(parser)
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the pages go")
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    try:
        seeds, where, keep = range(1, options.seeds + 1), place_of(options), Kept(options.work / "runs")
        deployment = deployment_of(load_recipe(RECIPE), RECIPE)
        with at_queues(options.run) as deciders:
            for name in options.pages or PAGES:
                if name == "fabric":
                    text = page(played(deployment, deciders, seeds, where, keep))
                elif name == "messages":
                    text = acc_bed.page(acc_bed.played(deployment, deciders, seeds, where, keep, say), options.seeds)
                elif name == "idle":
                    config = load_toml(DdqnConfig, TRAINING)
                    idled = acc_idle.played(deployment, deciders, config, seeds, where, keep, say)
                    text = acc_idle.page(idled, options.seeds)
                else:
                    config = load_toml(DdqnConfig, ONLINE)
                    kept = options.work / "changes"
                    changed = acc_change.played(deployment, deciders, *learners(config), seeds, kept, say)
                    text = acc_change.page(changed, options.seeds, config)
                write_atomically(options.docs / PAGES[name], text)
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
