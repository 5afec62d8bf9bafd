"""How near students are to their teachers in the network: mean paired differences, beside the teacher's own noise.

Student and teacher decide in the same networks with the same seeds, as late as a recipe's rollouts do, measured when
the gate measures. Beside stand the teacher against itself, deciding 10 ns later with the same seeds, and the spread of
its own figures over the seeds. For the largest crowd, which leaves the flood of its start late, also when they differ.

    python -m bench.fidelity [RUN ...] [--seeds N] [--where PLACE] [--out FILE]  RUN: a folder that `rlcc run` has left
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.student import load_student
from distill.driving import LATER_PS
from netsim.network import MS, Network
from netsim.places import Place
from netsim.policies import PolicySpec, interpreted, native
from netsim.result_store import Kept, Outcome
from netsim.samples import Sampling
from netsim.simulation import DECISION_LATENCY_PS, WINDOW_PS
from netsim.trials import Trial, run
from rlcc.commands.run_location import add_options, place_of
from rlcc.gate.fidelity import ROLES
from rlcc.origin import made_by
from rlcc.recipe import load_recipe, teacher_path
from rlcc.reports.pages import table
from teachers.load import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "fidelity.md"
KEPT = ROOT / "build" / "fidelity"
RECIPES = ("rl-cc", "rl-cc-lstm", "pcc-rl-lstm")

SCENARIOS = (
    *(f"many-to-one:{n}" for n in (2, 8, 64, 128, 512, 1024, 2048, 4096, 8192)),
    "long-short:9",
    "long-short:33",
    "incast:32",
    "websearch:60%",
    "many-to-one:256@leaf-spine:4x4x2",
    "many-to-one:64@fat-tree:4:25",
    "many-to-one:1024@fat-tree:4:25",
)
METRICS = {"goodput": (1.0, 4), "latency_mean_us": (100.0, 2)}
"""By a metric: what its differences are shown in, of line rate or in per cent of the teacher's, and decimals."""

SETTLING = "many-to-one:8192"
SLICES_MS = ((40, 50), (50, 60), (60, 80), (80, 110), (110, 140), (140, 170))
"""Where it is looked when student and teacher differ; what is before the first stands in a full buffer."""
SAMPLING = Sampling(points=WINDOW_PS[1] // MS, flows=1)

Metrics = Mapping[str, float]


@dataclass(frozen=True)
class FidelityPair:
    """A student and the teacher that it was distilled from."""

    name: str
    hash: str
    student: PolicySpec
    teacher: PolicySpec

    @staticmethod
    def of(folder: Path) -> "FidelityPair":
        """Returns the pair that `rlcc run` has left. InputError where it is of no recipe here, or of another
        teacher."""
        if folder.name not in RECIPES:
            raise InputError(f"{folder} is of none of {', '.join(RECIPES)}; give the folder of such a run")
        recipe = ROOT / "recipes" / f"{folder.name}.toml"
        teacher, manifest = load(teacher_path(load_recipe(recipe), recipe)), opened(folder / "student", "student")
        if manifest.parents.get("teacher") != teacher.hash:
            raise InputError(f"{folder} holds a student of another teacher; run recipes/{recipe.name} again")
        student = load_student(folder / "student" / STUDENT_NAME)
        decided = interpreted(student)
        return FidelityPair(folder.name, manifest.hash, decided, native(teacher.policy, teacher.weights))

    def roles(self) -> Sequence[tuple[PolicySpec, int]]:
        """Returns the deciders, and how much later than usual they decide, in ps: teacher, student, and the teacher a
        little later."""
        return (self.teacher, 0), (self.student, 0), (self.teacher, LATER_PS)


def page(pairs: Sequence[FidelityPair], seeds: Sequence[int], where: Place, kept: Kept) -> str:
    """The tables as Markdown, one a recipe."""
    places = [(s, pair.name, role) for pair in pairs for s in SCENARIOS for role in ROLES]
    trials = [
        Trial(
            scenario,
            decider,
            seed=seed,
            duration_ps=WINDOW_PS[1],
            window_ps=WINDOW_PS,
            decision_latency_ps=DECISION_LATENCY_PS + later_ps,
            sampling=SAMPLING if scenario == SETTLING else None,
        )
        for pair in pairs
        for scenario in SCENARIOS
        for decider, later_ps in pair.roles()
        for seed in seeds
    ]
    each = iter(run(trials, where, kept))
    outcomes = {place: [next(each) for _ in seeds] for place in places}
    runs = {place: [one.metrics for one in of_place] for place, of_place in outcomes.items()}
    text = f"""# How near students are to their teachers
{made_by("python -m bench.fidelity")}

Means over {len(seeds)} seeds, of what is measured from {WINDOW_PS[0] // MS} to {WINDOW_PS[1] // MS} ms. "student":
what the student has more than its teacher with the same seed, ± the standard error of that mean; goodput of line rate,
mean latency in per cent. "itself": the same of the teacher that decides 10 ns later: what is no larger than that cannot
be told from chance. "seeds": standard deviation of the teacher's own figure from seed to seed.
"""
    columns = ["student", "itself", "seeds"]
    heading = ["scenario", "goodput", *columns, "latency us", *(f"{name} %" for name in columns)]
    for pair in pairs:
        rows = [
            [s, *(cell for metric in METRICS for cell in cells(metric, *(runs[s, pair.name, role] for role in ROLES)))]
            for s in SCENARIOS
        ]
        text += f"\n## {pair.name}\nStudent `{pair.hash[:12]}`.\n\n{table(heading, rows)}"
        text += "\n" + settling([[queue_us(one) for one in outcomes[SETTLING, pair.name, role]] for role in ROLES])
    return text


def queue_us(outcome: Outcome) -> list[float]:
    """The mean queue in each of SLICES_MS, as the time that it takes to send."""
    assert outcome.samples is not None
    ms, queue = outcome.samples.t_us / 1000, outcome.samples.queue_bytes
    us = float(Network().ps_per_byte) / 1e6
    return [float(queue[(ms > begin) & (ms <= end)].mean()) * us for begin, end in SLICES_MS]


def settling(queues: Sequence[Sequence[Sequence[float]]]) -> str:
    """A table of the queue over time: the teacher's, and what student and later teacher have more, of queues by role,
    seed and slice."""
    teacher, *others = (np.array(each) for each in queues)
    rows = [
        [
            f"{begin} to {end} ms",
            f"{teacher[:, i].mean():.1f}",
            *(
                f"{off.mean():+.2f} ±{off.std(ddof=1) / len(off) ** 0.5:.2f}"
                for off in (o[:, i] - teacher[:, i] for o in others)
            ),
        ]
        for i, (begin, end) in enumerate(SLICES_MS)
    ]
    return table([f"{SETTLING}: queue, us", "teacher", "student", "itself"], rows)


def cells(metric: str, teacher: Sequence[Metrics], student: Sequence[Metrics], later: Sequence[Metrics]) -> list[str]:
    """Returns the cells of a metric: the teacher's, the two differences, and the spread of the first."""
    unit, decimals = METRICS[metric]
    base = np.array([m[metric] for m in teacher])
    scale = unit / base if unit != 1 else np.ones_like(base)
    apart = [(np.array([m[metric] for m in runs]) - base) * scale for runs in (student, later)]
    shown = [f"{off.mean():+.{decimals}f} ±{off.std(ddof=1) / len(off) ** 0.5:.{decimals}f}" for off in apart]
    return [f"{base.mean():.4g}", *shown, f"{base.std(ddof=1) * scale.mean():.{decimals}f}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.fidelity", description="How near students are to teachers.")
    parser.add_argument("runs", nargs="*", type=Path, help="folders of `rlcc run`; by default those of the recipes")
    parser.add_argument("--seeds", type=int, choices=range(2, 100), default=4, metavar="N", help="runs of each; 4")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        pairs = [FidelityPair.of(folder) for folder in options.runs or [ROOT / "runs" / name for name in RECIPES]]
        write_atomically(options.out, page(pairs, range(11, 11 + options.seeds), place_of(options), Kept(KEPT)))
    except InputError as error:
        print(f"fidelity: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
