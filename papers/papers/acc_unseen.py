"""Traffic that ACC never met ([ACC] section 6): when its tree is due to be distilled again, and what that gives.

python -m papers.acc_unseen [--seeds N] [--out FILE] [--work FOLDER]

A teacher learns incasts and web search alone, and its tree is distilled there; then data mining comes, and goes. Who
keeps to what was learnt stands beside who learns on where it is, and beside trees that are distilled again: of the same
network, and of one that has learnt on in the new traffic. Some 10 minutes of CPU; what was trained is kept in
build/training, the rest in the work folder.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decision.artefact.documents import read_text
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically
from decision.policy.student import NAME, load_student
from distill.options import RolloutOptions
from distill.rollout import collect, teacher_policy
from netsim import Cohort
from netsim.deployment import Deployment
from netsim.network import MS, US
from netsim.policies import PolicySpec, interpreted
from papers.acc import ONLINE, RECIPE, STATIC, TEACHER_LATENCY_PS, TRAINING, setting
from papers.acc_change import FABRIC, FLOWS, LOAD, PHASE_PS, PHASES, SCENARIO, Changed, by_phase, course
from papers.command import SEEDS, written
from papers.contenders import PAGES, ROOT, TEACHERS, TRAINING_CACHE
from papers.runs import say
from papers.trained import distilled
from rlcc.commands.drift import DRIFT_LIMIT
from rlcc.drift import Drift, drift, error_in, seen_in
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe
from rlcc.reports.pages import table, wrapped
from teachers.ddqn_options import DdqnConfig
from teachers.load import load
from teachers.teacher import Teacher
from teachers.training_cache import place_of, trained

NEW = PHASES[1]
"""What the teacher does not meet."""
BOTH, NETWORK, TREE, ONLINE_ON, AGAIN, LEARNT = (
    "met both", "network", "tree", "network, learns on", "tree, distilled again", "tree of a network learnt on"
)  # fmt: skip
SEED = 1
WATCHED = 501
"""The seed of traffic that no recipe has, nor the rounds of one."""
ROUNDS = 1
"""Of DAgger, for the recipe's three."""
TRAFFIC = tuple(dict.fromkeys(PHASES))


@dataclass(frozen=True)
class Watched:
    """In one kind of traffic: how far it is from what the tree was made on, and which share of the tree's decisions
    is not its network's."""

    drift: Drift
    differs: float


@dataclass(frozen=True)
class Unseen:
    """The course of each; ``watched``: the tree, and the one distilled again, by traffic; ``learnt``: of learning on
    the round whose weights were kept (0: those before it), and how many there were."""

    changed: Changed
    watched: Mapping[tuple[str, str], Watched]
    learnt: tuple[int, int]


def recipe() -> dict[str, Any]:
    """ACC's training without what comes later."""
    document = tomllib.loads(read_text(TRAINING))
    document["ddqn"]["scenarios"] = [name for name in document["ddqn"]["scenarios"] if NEW not in name]
    document["policy"] |= {"name": "acc-one-workload", "provenance": {}}
    return document


def recipe_on(start: Path, hash: str) -> dict[str, Any]:
    """Learning on in the new traffic, as `recipes/train-acc-online.toml` says, from the teacher of this hash there."""
    document = tomllib.loads(read_text(ONLINE))
    document["policy"] |= {"name": "acc-one-workload-on", "provenance": {"start": hash}}
    document["ddqn"] |= {
        "start": str(start),
        "scenarios": [f"{NEW}:{LOAD}%@{FABRIC}"],
        "validation_scenarios": [f"{NEW}:{load}%@{FABRIC}" for load in (LOAD - 10, LOAD + 10)],
    }
    return document


def made_in(new: bool) -> RolloutOptions:
    """The rollouts of ACC's recipe, with the new traffic or without."""
    options = load_recipe(RECIPE).rollout
    scenarios = [name for name in options.scenarios if new or NEW not in name]
    return options.model_copy(update={"scenarios": scenarios})


def student_of(teacher: Teacher, options: RolloutOptions, work: Path) -> Path:
    """Where it is: distilled as ACC's recipe says, but for ROUNDS."""
    its = load_recipe(RECIPE)
    how = its.distill.model_copy(update={"rounds": ROUNDS})
    return distilled(teacher, options, how, work, SEED, deployment_of(its, RECIPE), its.gate.tolerance)


def watch(folder: Path, teacher: Teacher, options: RolloutOptions, deployment: Deployment) -> dict[str, Watched]:
    """By traffic, the student there, made in these rollouts, where it drives itself."""
    student, hash = load_student(folder / NAME), opened(folder, "student").hash
    policy = interpreted(student)
    made_on = seen_in(hash, student, collect(policy, options, deployment))
    found = {}
    for traffic in TRAFFIC:
        here = options.model_copy(update={"scenarios": [f"{traffic}:{LOAD}%@{FABRIC}"], "seeds": [WATCHED]})
        runs = collect(policy, here, deployment)
        found[traffic] = Watched(
            drift(seen_in(hash, student, runs), made_on), error_in(runs, student, teacher, WATCHED)
        )
    return found


def played(seeds: Sequence[int], work: Path) -> Unseen:
    teacher, _ = trained(recipe(), SEED, TRAINING_CACHE)
    going_on = recipe_on(place_of(recipe(), SEED, TRAINING_CACHE), teacher.hash)
    on, learning_on = trained(going_on, SEED, TRAINING_CACHE)
    before, both = made_in(False), made_in(True)
    folders = {
        name: student_of(*how, work)
        for name, how in ((TREE, (teacher, before)), (AGAIN, (teacher, both)), (LEARNT, (on, both)))
    }
    trees = {name: interpreted(load_student(folder / NAME)) for name, folder in folders.items()}
    who: dict[str, PolicySpec] = {
        "SECN1": setting(*STATIC["SECN1"]),
        BOTH: teacher_policy(load(TEACHERS / "acc")),
        NETWORK: teacher_policy(teacher),
        TREE: trees[TREE],
        ONLINE_ON: teacher_policy(teacher),
        AGAIN: trees[AGAIN],
        LEARNT: trees[LEARNT],
    }
    deployment = deployment_of(load_recipe(RECIPE), RECIPE)
    learns = {ONLINE_ON: (teacher, DdqnConfig.model_validate(going_on))}
    slices = {}
    for name, policy in who.items():
        cohort = Cohort(policy, deployment.period_ps, TEACHER_LATENCY_PS if name != "SECN1" else 0)
        slices[name] = [
            course(deployment, cohort, seed, learns.get(name), work / "changes", say, name) for seed in seeds
        ]
    watched = {
        (name, traffic): its
        for name, options in ((TREE, before), (AGAIN, both))
        for traffic, its in watch(folders[name], teacher, options, deployment).items()
    }
    return Unseen(Changed(slices), watched, (learning_on.best, learning_on.steps))


def page(found: Unseen, seeds: Sequence[int]) -> str:
    share = f"{DRIFT_LIMIT:.0%}"
    changed = found.changed
    fct = [by_phase(changed, flows, f"mean FCT of {which}, us") for flows, which in FLOWS.items()]
    against = [
        [name, *(changed.against(name, NETWORK, flows).text(1) for flows in FLOWS)]
        for name in changed.slices
        if name != NETWORK
    ]
    due = [
        [
            f"{name}, {traffic}",
            f"{100 * its.drift.apart:.1f}",
            f"{100 * its.drift.beyond:.2f}",
            f"{100 * its.drift.unseen:.2f}",
            "due" if its.drift.beyond > DRIFT_LIMIT else "not due",
            f"{100 * its.differs:.1f}",
        ]
        for (name, traffic), its in found.watched.items()
    ]
    best, steps = found.learnt
    kept = f"after round {best}" if best else "from before the first"
    return wrapped(f"""# ACC in traffic that it never met

{made_by("python -m papers.acc_unseen")}

[ACC] section 6 changes from web search to data mining and back. [The page of that](acc-change.md) has a teacher
that learnt both; here it learnt incasts and web search alone ([train-acc](../../recipes/train-acc.toml) without data
mining), and so did its tree (rollouts of [acc](../../recipes/acc.toml) without it, {ROUNDS} round of DAgger).
`{SCENARIO}`: phases of {PHASE_PS // MS} ms, {len(seeds)} seeds of the network, one of each training, ± is half of the
99 % interval of the mean. All decide {TEACHER_LATENCY_PS // US} us late.

- **{NETWORK}**, **{TREE}**: keep to what they learnt. **{ONLINE_ON}**: a network a switch, as [learning on
  where it is put](../../docs/reference/training.md#going-on-from-a-teacher).
- **{AGAIN}**: of the same network, with data mining among its rollouts.
- **{LEARNT}**: the network has learnt on in data mining for as long as `recipes/train-acc-online.toml` says (of
  {steps} rounds its validation keeps the weights {kept}), and is distilled in all of it. It stands there from the first
  phase on.
- **{BOTH}**: the shipped teacher. **SECN1**: static.

## What comes of it
{chr(10).join(fct)}
Over all phases, in % of the network that keeps to what it learnt:

{table(["", *FLOWS.values()], against)}
## When it is due
[`rlcc drift`](../../docs/how-to/drift.md) of the tree where it drives itself at {LOAD} %: *apart* from what it was
made on, *beyond* what any of that explains (above {share} it is due), decisions in cells that were never met; beside it
which of its decisions are not its network's. All in %.

{table(["", "apart", "beyond", "unseen", "drift says", "not its network's"], due)}
{_words(found)}
""")


def _words(found: Unseen) -> str:
    """Whether the tree is due in what is new, and whether distilling again gives what the seeds can tell."""
    its, changed = found.watched[TREE, NEW], found.changed
    due = "is due" if its.drift.beyond > DRIFT_LIMIT else "is not due"
    off = {which: changed.against(AGAIN, TREE, flows) for flows, which in FLOWS.items()}
    told = ", ".join(f"{figure.text(1)} % for {which}" for which, figure in off.items())
    gives = any(figure.mean < -figure.half for figure in off.values())
    return f"""The tree {due} in {NEW}: {100 * its.drift.beyond:.1f} % of its decisions are beyond what it was made on,
and {100 * its.differs:.1f} % are not its network's ({100 * found.watched[TREE, PHASES[0]].differs:.1f} % in
{PHASES[0]}, which it was made on). Distilled again it takes, over all phases, against itself: {told} of the mean FCT;
{"some of that" if gives else "none of it a gain that"} the seeds tell from nothing. [Where ACC's tree is
due](../../docs/results/drift.md) is another table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.acc_unseen", description="ACC in traffic it never met.")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=SEEDS, metavar="N", help="runs of each")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "papers", help="kept runs and trees")
    parser.add_argument("--out", type=Path, default=PAGES / "acc-unseen.md")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    write_atomically(options.out, page(played(seeds, options.work), seeds))


if __name__ == "__main__":
    sys.exit(main())
