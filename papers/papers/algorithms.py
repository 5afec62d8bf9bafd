"""PCC-RL's appendix C, and why it has a gradient of its own: PPO, DDQN, DDPG and Aurora's reward beside ADPG.

python -m papers.algorithms [--train] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import csv
import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from decision.artefact.documents import dump_json, load_toml, read_text
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from decision.artefact.output import write_atomically
from decision.policy.policy import Policy
from netsim.build import simulator_hash
from netsim.network import MS
from netsim.policies import native
from netsim.simulation import DECISION_LATENCY_PS
from papers.command import add_docs, page_parser, store, written
from papers.contenders import ROOT, Contender
from papers.found import Found
from papers.pictures import bands
from papers.runs import Metrics, Run, run_all, say
from papers.sections import INFLATION, LOSS, Column, cell
from papers.traffic import Traffic, named
from rlcc.commands.run_location import place_of
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, listed, table, wrapped
from teachers import adpg, ddpg, ddqn, ppo
from teachers.adam import adam
from teachers.checkpoint import checkpoint_path, read_checkpoint
from teachers.curriculum import TrainConfig
from teachers.ddpg_options import DdpgConfig
from teachers.ddqn_options import DdqnConfig
from teachers.load import load
from teachers.networks import seeded
from teachers.playing import mean_reward
from teachers.ppo_options import PpoConfig
from teachers.teacher import Teacher, Weights
from teachers.training_log import CSV, log_path

RECIPES = ROOT / "recipes"
SEEDS = 5
TARGET = 2.0
"""PCC-RL's standard one, in all of the recipes."""
TIMES = Times(60 * MS, (20 * MS, 60 * MS))
LEARNT, UNSEEN = (2, 4, 8), (16, 64)
TRAFFIC = tuple(named(f"many-to-one:{n}", TIMES) for n in (*LEARNT, *UNSEEN))
UTILISATION = Column("utilisation %", "utilisation", 100, 1, 1)
FAIRNESS = Column("fairness %, min/max", "fairness_min_max", 100, 0, 1)
FULL, FAIR = 0.95, 0.95
"""Utilisation and Jain's index from which on a seed has settled."""
NEAR = 0.1
"""Of the target's RTT inflation: what is called near."""


@dataclass(frozen=True)
class Method:
    """What is trained by which recipe, what the paper says of it, and what its terms of reward are changed by."""

    label: str
    recipe: str
    paper: str
    reward: Mapping[str, float]

    def document(self, seed: int) -> dict[str, Any]:
        """The recipe, with another seed."""
        found = tomllib.loads(read_text(RECIPES / f"train-{self.recipe}.toml"))
        training = found[self.table(found)]
        training["seed"] = seed
        for term in training.get("reward", []):
            term |= self.reward
        found["policy"]["provenance"] = {}
        return found

    @staticmethod
    def table(document: Mapping[str, Any]) -> str:
        return next(name for name in ("training", "ppo", "ddqn", "ddpg") if name in document)


AURORA = "Aurora"
LINE_RATE = 13.7
"""RTT inflation of 8 flows that never slow down: the row "loose" of own-reward.md."""
METHODS = (
    Method("ADPG", "flows-adpg", "figure 8: quickly converges to a region of the fixed point", {}),
    Method("PPO, Gaussian", "flows-ppo", "figure 7a: unable to learn", {}),
    Method("PPO, six actions", "flows-ppo-six", "figure 7b: unable to learn", {}),
    Method("DDQN, six actions", "flows-ddqn", "DQN: did not converge", {}),
    Method("DDPG", "flows-ddpg", "did not converge", {}),
    Method(AURORA, "flows-aurora", "figure 6: no stable equilibrium", {}),
    Method("PPO, Gaussian, held", "flows-ppo", "not tried", {"limit": TARGET}),
)
RAW = load_toml(PpoConfig, RECIPES / "train-flows-ppo.toml")
"""Whose reward and validation all are judged by."""


@dataclass(frozen=True)
class Trained:
    """``curve``: decisions so far, and the mean raw reward where nothing is drawn, of Aurora its own; ``reward``: the
    raw one of the weights that are kept."""

    teacher: Teacher
    curve: Sequence[tuple[int, float]]
    decisions: int
    reward: float


TRAINERS: Mapping[str, ModuleType] = {"training": adpg, "ppo": ppo, "ddqn": ddqn, "ddpg": ddpg}


def sources(trainer: str) -> list[str]:
    """Hashes of a file of teachers/ and of all that it imports there, itself first."""
    todo, seen = [trainer], dict[str, str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            text = read_text(ROOT / "teachers" / f"{name}.py")
            seen[name] = sha256(text.encode())
            todo += re.findall(r"^ *from teachers\.(\w+) import", text, re.MULTILINE)
    return [seen[trainer], *(seen[name] for name in sorted(seen) if name != trainer)]


def judged(policy: Policy, weights: Weights) -> float:
    """The paper's reward, a decision."""
    return mean_reward(RAW.model_copy(update={"policy": policy}), weights, RAW.ppo.validation_duration)


def trained(method: Method, seed: int, work: Path, now: bool) -> Trained | None:
    """What is kept, or where ``now`` what is trained; None where it is neither. Seconds to half a minute."""
    document = method.document(seed)
    made_of = [document, simulator_hash(), *sources(TRAINERS[Method.table(document)].__name__.partition(".")[2])]
    folder = work / "trained" / f"{method.recipe}-{seed}-{sha256(dump_json(made_of).encode())[:16]}"
    kept = log_path(folder) / "curve.json"
    if not kept.exists():
        if not now:
            return None
        say(f"training {method.label}, seed {seed}")
        curve = _train(document, folder)
        teacher = load(folder)
        content = {"curve": curve, "reward": judged(teacher.policy, teacher.weights)}
        write_atomically(kept, json.dumps(content))
    content = json.loads(read_text(kept))
    curve = [(int(n), float(r)) for n, r in content["curve"]]
    return Trained(load(folder), curve, _played(folder)[-1], content["reward"])


def _train(document: dict[str, Any], folder: Path) -> list[tuple[int, float]]:
    kinds: dict[str, tuple[Any, Any]] = {
        "ppo": (PpoConfig, ppo),
        "ddqn": (DdqnConfig, ddqn),
        "ddpg": (DdpgConfig, ddpg),
    }
    name = Method.table(document)
    if name in kinds:
        config, trainer = kinds[name]
        report = trainer.train(config.model_validate(document), folder)
        played = _played(folder)
        return [(played[number - 1], reward) for number, reward in report.curve]
    rewards: list[float] = []
    config = TrainConfig.model_validate(document)
    adpg.train(config, folder, progress=partial(_judge_episode, config, folder, rewards))
    return list(zip(_played(folder), rewards, strict=True))


def _judge_episode(config: TrainConfig, folder: Path, rewards: list[float], _: adpg.EpisodeReport) -> None:
    """ADPG is judged by its own cost; its checkpoint has the weights of every episode."""
    network = seeded(config.policy, 0)
    read_checkpoint(checkpoint_path(folder), config, network, adam(network.parameters(), config.training.kernels, 1.0))
    rewards.append(judged(config.policy, network.weights()))


def _played(folder: Path) -> list[int]:
    """Decisions, or transitions, from the begin to the end of each round."""
    with (log_path(folder) / CSV).open() as file:
        rows = list(csv.DictReader(file))
    name = next(name for name in rows[0] if name in ("decisions/played", "transitions/played"))
    return [int(n) for n in np.cumsum([float(row[name]) for row in rows])]


Trainings = Mapping[str, Sequence[Trained]]


def run_them(
    made: Trainings, seeds: Sequence[int], run: Callable[[Sequence[Run]], Mapping[tuple[str, str, int], Metrics]]
) -> Found:
    """Each seed's training in each network, with that seed."""
    found: dict[tuple[str, str, int], Metrics] = {}
    for number, seed in enumerate(seeds):
        who = [
            Contender(label, native(its[number].teacher.policy, its[number].teacher.weights), DECISION_LATENCY_PS)
            for label, its in made.items()
        ]
        found |= run([Run(each, traffic, seed) for each in who for traffic in TRAFFIC])
    return Found(found, seeds)


def settles(f: Found, label: str, seed: int) -> bool:
    """Whether in all that it has learnt in, links are full, flows are equal and nothing is lost."""
    runs = [f.runs[label, t.name, seed] for t in TRAFFIC if t.flows in LEARNT]
    return all(m["utilisation"] >= FULL and m["jain"] >= FAIR and m["loss"] == 0 for m in runs)


def ideal(traffic: Traffic) -> float:
    """RTT inflation where flows have their fair share and reward is 0."""
    return TARGET * sqrt(traffic.flows)


def furthest(f: Found, label: str, seed: int) -> float:
    """Of the RTT inflation from the target's, in what it has learnt in."""
    learnt = [t for t in TRAFFIC if t.flows in LEARNT]
    return max(abs(f.runs[label, t.name, seed]["rtt_inflation_mean"] / ideal(t) - 1) for t in learnt)


def off(f: Found, label: str) -> Figure:
    """The mean of it over seeds."""
    each = [furthest(f, label, seed) for seed in f.seeds]
    return Figure.of(each)


def near(f: Found, label: str) -> int:
    """How many seeds settle near the target."""
    return sum(settles(f, label, seed) and furthest(f, label, seed) <= NEAR for seed in f.seeds)


def those(made: Trainings) -> list[Method]:
    """Of the methods those that are trained with every seed."""
    return [method for method in METHODS if method.label in made]


def _training_table(f: Found, made: Trainings) -> str:
    rows = []
    for method in those(made):
        its = made[method.label]
        rewards = [each.reward for each in its]
        settled = sum(settles(f, method.label, seed) for seed in f.seeds)
        aurora = method.label == AURORA
        inflation = "-" if aurora else off(f, method.label).times(100).text(0)
        close = "-" if aurora else f"{near(f, method.label)} of {len(its)}"
        decisions = f"{np.mean([each.decisions for each in its]):,.0f}"
        figure = Figure.of(rewards).text(2)
        spread = f"{min(rewards):.2f} to {max(rewards):.2f}"
        count = f"{settled} of {len(its)}"
        rows.append([method.label, decisions, figure, spread, count, close, inflation, method.paper])
    heads = ("", "decisions", "reward", "by seed", "settle", "near the target", "inflation off, %", "the paper")
    return table(heads, rows)


def _loop(f: Found, made: Trainings) -> str:
    parts = []
    for column in (UTILISATION, FAIRNESS, INFLATION, LOSS):
        rows = [[m.label, *(cell(f, m.label, t, column) for t in TRAFFIC)] for m in those(made)]
        if column is INFLATION:
            rows.append(["target x sqrt(N)", *(f"{ideal(t):.2f}" for t in TRAFFIC)])
        parts.append(table([column.heading, *(f"{t.flows} flows" for t in TRAFFIC)], rows))
    return "\n".join(parts)


def words(f: Found, made: Trainings) -> str:
    """Who settles and who leaves links idle, by the figures."""
    settled = {m.label: sum(settles(f, m.label, seed) for seed in f.seeds) for m in those(made)}
    every = [label for label, count in settled.items() if count == len(f.seeds)]
    none = [label for label, count in settled.items() if count == 0]
    some = [f"{label} ({count})" for label, count in settled.items() if 0 < count < len(f.seeds)]
    learnt = [t for t in TRAFFIC if t.flows in LEARNT]
    idle = [m.label for m in those(made) if np.mean([f.mean(m.label, t, "utilisation") for t in learnt]) < 0.5]
    met = [f"{m.label} ({near(f, m.label)})" for m in those(made) if m.label != AURORA]
    return f"""With each of the {len(f.seeds)} seeds settle: {listed(every) or "none"}; with some:
{listed(some) or "none"}; with none: {listed(none) or "none"}. Near the target settle: {listed(met)}. Links that are
less than half full in the mean: {listed(idle) or "none"}. {_aurora(f) if AURORA in settled else ""}"""


def _aurora(f: Found) -> str:
    """What its seeds that settle do."""
    most, crowd = (t for t in TRAFFIC if t.flows in (LEARNT[-1], UNSEEN[-1]))
    seeds = [seed for seed in f.seeds if settles(f, AURORA, seed)]
    if not seeds:
        return ""
    stands = np.mean([f.runs[AURORA, most.name, seed]["rtt_inflation_mean"] for seed in seeds])
    lost = np.mean([f.runs[AURORA, crowd.name, seed]["loss"] for seed in seeds])
    return f"""Aurora's seeds that settle are shared out by the network: {most.flows} flows stand at an inflation of
{stands:.1f} in the mean (flows at line rate, held by the cap on what is in flight alone, at {LINE_RATE:g}), and
{crowd.flows} lose {100 * lost:.0f} % of what they send."""


def page(f: Found, made: Trainings) -> str:
    """The whole page."""
    budget, missing = RAW.ppo.decisions, [m.label for m in METHODS if m.label not in made]
    draft = f" Not trained yet, and so not here: {'; '.join(missing)}." if missing else ""
    text = f"""# PCC-RL's appendix C: other algorithms, and why ADPG

{made_by("python -m papers.algorithms")}

[PCCRL] section 6.1 and appendix C: DQN, DDPG, PPO (a Gaussian, and six actions) and Aurora did not learn what its own
gradient learns at once. Here all of them learn in its training set (2, 4 and 8 flows to one), from its reward
-(target - RTT inflation x sqrt(rate))^2 with its standard target, {TARGET:g}, for about {budget:,} decisions each (a
quarter of the 200,000 steps of its appendix A.2; a round is not cut off), by the recipes that
[`rlcc train`](../../docs/reference/training.md#flows-by-ppo-ddqn-and-ddpg) takes. The network is one for all: an MLP
(32, 16) that sees the last 4 decisions in place of the paper's LSTM, which only ADPG here trains
([so trained](own-reward.md)). The options are CleanRL's and Lillicrap's
where the paper prints none, and were not searched. Aurora here is its kind of features (RTT inflation, losses, its last
actions, of 10 decisions) and its reward a BW - b RTT - c DROPRATE by PPO; a, b and c (10, 1, 20) are ours, and its
intervals are decisions. *Held*: the distance from the target is held within the target before it is squared, as ADPG
does here and the paper does not.{draft}

Of each training what its own validation finds best is kept and judged here. Training seeds
{listed([str(seed) for seed in f.seeds])}; ± is the half-width of the 99 % confidence interval of the mean over them.

![reward over decisions](figures/pcc-rl-appendix-c.svg)

Less the mean reward of a decision, where nothing is drawn, over the decisions that were learnt from: the mean and the
range of the seeds. Flows that send next to nothing cost 4, the square of the target. The flood of the start is in it.
Of Aurora its own reward.

## Training
*Reward*: the paper's, of a decision of the weights that are kept, from an empty network on. *Settles*: utilisation of
at least {FULL:.0%} and Jain's index of at least {FAIR:g} without a loss with each of
{listed([str(n) for n in LEARNT])} flows, from {TIMES.window_ps[0] // MS} to {TIMES.window_ps[1] // MS} ms. *Inflation
off*: from target x sqrt(N), the furthest of the three; *near the target*: it settles, and is off by
{NEAR:.0%} at the most.

{_training_table(f, made)}
{words(f, made)}

## Closed loop
Many-to-one; {listed([str(n) for n in UNSEEN])} flows were in no training. Decisions take effect after 0.9 us.

{_loop(f, made)}
"""
    return wrapped(text)


def picture(made: Trainings) -> bytes:
    """Of each method the mean and the range over seeds, at the decisions of the first."""
    panels: dict[str, dict[str, Any]] = {"less the raw reward": {}, "Aurora: less its own reward": {}}
    for label, its in made.items():
        shortest = min(len(each.curve) for each in its)
        x = np.mean([[n for n, _ in each.curve[:shortest]] for each in its], axis=0)
        y = -np.array([[reward for _, reward in each.curve[:shortest]] for each in its])
        panels["Aurora: less its own reward" if label == AURORA else "less the raw reward"][label] = (x, y)
    return bands({title: lines for title, lines in panels.items() if lines}, "decisions")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("algorithms", "PCC-RL's appendix C.", "kept runs and trainings")
    parser.set_defaults(seeds=SEEDS)
    add_docs(parser)
    parser.add_argument("--train", action="store_true", help="train what is not kept; up to half a minute each")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    made: dict[str, list[Trained]] = {}
    for method in METHODS:
        found = [trained(method, seed, options.work, options.train) for seed in seeds]
        if None not in found:
            made[method.label] = [each for each in found if each is not None]
    if len(made) < 2:
        raise InputError("nothing is trained with every seed; give --train, which takes some minutes")
    f = run_them(made, seeds, lambda runs: run_all(runs, options.work / "runs", place_of(options)))
    store(options.docs / "figures" / "pcc-rl-appendix-c.svg", picture(made))
    store(options.docs / "algorithms.md", page(f, made).encode())


if __name__ == "__main__":
    sys.exit(main())
