"""Every teacher's training with five seeds: how far the seeds are apart, and where the shipped one stands among them.

    python -m bench.training.teachers [NAME ..] [--seeds N ..] [--out FILE]

A teacher's recipe is trained with each seed, by whichever method it is for (teachers/methods.py), once, into
build/training. A seed is judged by the validation that its training ends with, and in the networks of the gate through
which the teacher's student goes, by the metrics that count there. Those with pages of their own (bench.training.study)
are left out.
"""

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from bench.training.__main__ import TRAINED
from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.metric_names import METRICS
from netsim.policies import native
from netsim.result_store import Kept
from rlcc.commands.streams import tell
from rlcc.gate.closed_loop import Entry, run
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe
from rlcc.reports.pages import NONE, listed, table
from teachers.load import load
from teachers.methods import method_of
from teachers.teacher import Teacher
from teachers.training_cache import CachedTraining, trained, validated

ROOT = Path(__file__).resolve().parents[2]
TEACHERS = ROOT / "fixtures" / "teachers"
RECIPES = ROOT / "recipes"
TRAININGS = TRAINED / "whole"
GATES = {
    "rl-cc-lstm-small": "rl-cc-lstm",
    "pcc-rl-lstm": "pcc-rl-lstm",
    "acc": "acc",
    "acc-groups": "acc-groups",
    "haecn": "haecn",
    "auto-srla": "auto-srla",
    "auto-lrla": "auto-lrla",
}
"""By teacher the recipe that takes it through a gate."""
SEEDS = (1, 2, 3, 4, 5)
GATE_SEEDS = 2
"""Of the gate's, the first: what is compared meets the same arrivals."""
KEPT = ("trigger_reward", "reward", "fct_mean_us", "cost")
"""What the validation of the weights that were kept is called in a teacher's provenance."""
CHOSEN = {
    "acc-groups": "the most rewarded whose student [passes its gate](training-methods.md#acc-groups)",
}
"""By teacher why another seed than 1 is shipped."""
PAGE = ROOT / "docs" / "results" / "training-teachers.md"


@dataclass(frozen=True)
class Seeds:
    """Seeds of a teacher ``name``: for each its training, and by network of the gate the means of each metric over the
    gate's seeds. ``shipped``: the seed of the one in fixtures/teachers; ``same``: whether its training here ends with
    the same bytes, None where it was not among the seeds; ``told`` and ``here``: its validation when it was trained,
    and now."""

    name: str
    method: str
    trainings: dict[int, CachedTraining]
    loops: dict[int, dict[str, dict[str, float]]]
    shipped: int
    same: bool | None
    told: float
    here: float

    @property
    def best(self) -> int:
        """The best seed by validation; of the shipped one what its weights are worth here counts."""
        worth = {seed: training.value for seed, training in self.trainings.items()} | {self.shipped: self.here}
        return max(worth, key=lambda seed: self.better * worth[seed])

    @property
    def rank(self) -> int:
        """Returns the rank of the shipped weights, as they are here, among the other seeds' trainings."""
        others = [its.value for seed, its in self.trainings.items() if seed != self.shipped]
        return 1 + sum(self.better * value > self.better * self.here for value in others)

    @property
    def better(self) -> int:
        return next(iter(self.trainings.values())).better

    def apart(self, scenario: str, metric: str) -> float:
        """The greatest of the seeds less the least, in % of their mean; 0 where that is 0."""
        values = [loop[scenario][metric] for loop in self.loops.values()]
        return 100 * (max(values) - min(values)) / abs(mean(values)) if mean(values) else 0.0

    @property
    def furthest(self) -> tuple[float, str, str]:
        """Returns the largest difference of the seeds, its metric and its network."""
        first = next(iter(self.loops.values()))
        return max((self.apart(place, m), METRICS[m].heading, place) for place in first for m in first[place])

    def value(self, seed: int) -> str:
        return self.text(self.trainings[seed].value)

    def text(self, value: float) -> str:
        fct = next(iter(self.trainings.values())).yardstick == "fct_us"
        return f"{value:,.0f} us" if fct else f"{value:.4f}"


def document_of(name: str) -> dict[str, Any]:
    return tomllib.loads(read_text(RECIPES / f"train-{name}.toml"))


def looped(name: str, teachers: dict[int, Teacher], keep: Kept) -> dict[int, dict[str, dict[str, float]]]:
    """Every seed's teacher in the networks of the gate."""
    path = RECIPES / f"{GATES[name]}.toml"
    recipe = load_recipe(path)
    gate = recipe.gate
    entries = [
        Entry(str(seed), native(teacher.policy, teacher.weights), recipe.rollout.decision_latency)
        for seed, teacher in teachers.items()
    ]
    networks = replace(gate.networks(deployment_of(recipe, path)), seeds=gate.seeds[:GATE_SEEDS])
    found = run(entries, networks, keep, tell)
    judged = [allowed.metric for allowed in gate.tolerance.values()]
    loops: dict[int, dict[str, dict[str, float]]] = {seed: {} for seed in teachers}
    for each in found:
        loops[int(each.policy)][each.scenario] = {
            metric: mean(of_seed[metric] for of_seed in each.metrics) for metric in judged
        }
    return loops


def seeds_of(name: str, seeds: Sequence[int], keep: Kept) -> Seeds:
    """Trained, or as it was kept."""
    document = document_of(name)
    both = {seed: trained(document, seed, TRAININGS) for seed in seeds}
    fixture = load(TEACHERS / name)
    shipped = int(fixture.policy.provenance["seed"])
    same = None
    if shipped in both:
        mine, theirs = both[shipped][0].weights, fixture.weights
        same = mine.keys() == theirs.keys() and all(mine[part].tobytes() == theirs[part].tobytes() for part in mine)
    loops = looped(name, {seed: teacher for seed, (teacher, _) in both.items()}, keep)
    trainings = {seed: training for seed, (_, training) in both.items()}
    told = next(float(fixture.policy.provenance[key]) for key in KEPT if key in fixture.policy.provenance)
    here = validated(document, fixture, TRAININGS)
    return Seeds(name, method_of(document).name, trainings, loops, shipped, same, told, here)


def summary(all_seeds: Sequence[Seeds]) -> str:
    """A row a teacher."""
    rows = []
    for each in all_seeds:
        values = [training.value for training in each.trainings.values()]
        cpu = [training.cpu_seconds for training in each.trainings.values()]
        rank = f"{each.rank} of {len(values)}" if each.same is not None else NONE
        rows.append(
            [
                each.name,
                each.method,
                *(each.value(seed) for seed in each.trainings),
                f"{100 * stdev(values) / abs(mean(values)):.1f}" if len(values) > 1 else NONE,
                f"{each.shipped}: {rank}",
                f"{each.text(each.told)} / {each.text(each.here)}",
                {True: "yes", False: "no", None: NONE}[each.same],
                "{:.1f}: {}".format(*each.furthest[:2]),
                f"{min(cpu):.0f} to {max(cpu):.0f}",
            ]
        )
    head = ["teacher", "method", *(f"seed {seed}" for seed in all_seeds[0].trainings), "deviation %", "shipped: rank"]
    head += ["then / here", "the same bytes", "closed loop apart %", "CPU s a training"]
    return table(head, rows)


def loop(each: Seeds) -> str:
    """A row a network and metric, a column a seed."""
    rows = []
    seeds = list(each.trainings)
    for scenario, metrics in each.loops[seeds[0]].items():
        for metric in metrics:
            shown = METRICS[metric]
            values = [each.loops[seed][scenario][metric] for seed in seeds]
            cells = [f"{value:.{shown.decimals}f}" for value in values]
            rows.append([f"`{scenario}`", shown.heading, *cells, f"{each.apart(scenario, metric):.1f}"])
    kept = [f"{each.trainings[seed].best} of {each.trainings[seed].steps}" for seed in seeds]
    rows.append(["weights kept after", "", *kept, ""])
    return table(["network", "metric", *(f"seed {seed}" for seed in seeds), "apart %"], rows)


def page(all_seeds: Sequence[Seeds], command: str) -> str:
    """The page as Markdown."""
    not_best = [each for each in all_seeds if each.same is not None and each.rank > 1]
    said = (
        "The best of these seeds is shipped of every teacher here."
        if not not_best
        else f"Another seed than the shipped one is better here of {listed([each.name for each in not_best])}: by "
        + listed([f"{_by(each)} (seed {each.best})" for each in not_best])
        + " of the validation."
    )
    chosen = [each for each in all_seeds if each.shipped != 1]
    others = [f", of {each.name} {each.shipped}, {CHOSEN[each.name]}" for each in chosen]
    sections = [f"## {each.name}\n{loop(each)}" for each in all_seeds]
    return f"""# Seeds of the teachers' trainings
{made_by(command)}

Every recipe `recipes/train-NAME.toml` trained with seeds {listed([str(s) for s in all_seeds[0].trainings])}. First the
validation that a training ends with, of the weights that it keeps: a cost of ADPG, 0 is perfect; of DDQN the mean
reward of a decision, more is better; of DDPG and the policy gradient the mean completion time of flows. "deviation":
of the seeds, in % of their mean. "then / here": the validation of the shipped weights when they were trained, and now;
where both are one, the network is as it was. "the same bytes": whether the training with the shipped one's seed ends
with the weights that are shipped, on this processor; "rank" is that of the shipped weights, as they are here, among the
trainings of the other seeds. "closed loop apart": the most that any metric of any network below
is apart between two seeds. CPU seconds are of all threads.

{summary(all_seeds)}
What is shipped has the seed that its recipe says: 1{"".join(others)}. Of teachers with 1 nothing that is kept
says that another was tried before. RL-CC's MLP ([seed 2](training-rl-cc-mlp.md)) and the flagship
([seed 1](training-seeds.md)) are the least cost of five. {said}{_left(all_seeds)}

Below, what each seed makes in the networks of the gate that judges its student: means over the first {GATE_SEEDS} of
the gate's seeds, the same arrivals for all, of the metrics that count there. "apart": the greatest less the least, in %
of the mean. Where the bytes are not the same, the shipped seed's column is of its training here, too.

{chr(10).join(sections)}"""


def _left(all_seeds: Sequence[Seeds]) -> str:
    """Which teachers the page does not have."""
    left = [name for name in GATES if name not in {each.name for each in all_seeds}]
    return f" Not trained with other seeds yet: {listed(left)}." if left else ""


def _by(each: Seeds) -> str:
    percent = 100 * abs(each.trainings[each.best].value - each.here) / abs(each.here)
    return f"{percent:.1f} %" if percent >= 0.1 else f"{percent:.2f} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is not there, write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.training.teachers", description="Seeds of every teacher.")
    parser.add_argument(
        "names", nargs="*", choices=[[], *GATES], metavar="NAME", help="by default all of " + listed(list(GATES))
    )
    parser.add_argument("--seeds", type=int, nargs="+", metavar="N", default=list(SEEDS))
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        keep = Kept(TRAINED / "runs")
        names = options.names or list(GATES)
        command = " ".join(["python -m bench.training.teachers", *options.names])
        if options.seeds != list(SEEDS):
            command += " --seeds " + " ".join(map(str, options.seeds))
        write_atomically(options.out, page([seeds_of(name, options.seeds, keep) for name in names], command))
    except InputError as error:
        print(f"teachers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
