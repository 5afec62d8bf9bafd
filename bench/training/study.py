"""A study: variants of a training recipe with the same seeds, one page. `bench/training/studies.toml` says which.

    python -m bench.training.study seeds|rl-cc-mlp|ablations|randomised [--seeds N ..] [--no-proof] [--out FILE]

Each training is one of build/training, made once. The page has the following of every variant: the validation's cost of
each seed (0 is perfect), its excess over the recipe as it is with the same seed, and the networks that cause it. If
`places` is given, the variant and the recipe as it is are also measured in networks at the end of what it was trained
over. If `cycles` is given, its first seed is distilled (10 trees of depth 4, no round of DAgger), emitted, compiled and
proved: cycles of the whole decision on ibex-small.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan, nan
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.training.__main__ import TRAINED, JudgedTraining, changed, config_of, judge
from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.documents import dump_json, load_json, read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from distill import distil, rollout
from distill.options import DistillOptions, RolloutOptions
from emulator.firmware_folder import built
from emulator.profile import load_profile
from emulator.run import run_vectors
from netsim.network import MS
from netsim.policies import native
from netsim.trials import Trial
from netsim.trials import run as run_trials
from rlcc.origin import made_by
from rlcc.reports.pages import NONE, table
from teachers.checkpoint import recipe_hash
from teachers.curriculum import TrainConfig
from teachers.load import load
from teachers.randomisation import Randomisation, draw
from teachers.teacher import Teacher
from teachers.validation import Changing, Measured
from verify.prover.certify import certify

ROOT = Path(__file__).parents[2]
STUDIES = Path(__file__).with_name("studies.toml")
PAGES = ROOT / "docs" / "results"
AS_IT_IS = "as it is"
SHOWN = ("many-to-one:8", "many-to-one:128", "long-short:33")
"""In which a variant is measured in other networks."""
TIME_PS, FROM_PS = 60 * MS, 20 * MS
STUDENT = DistillOptions(trees=10, depth=4, rounds=0, uniform_state_samples=0.2, comparison_scenarios=["many-to-one:8"])
ROLLOUT = RolloutOptions.model_validate(
    {
        "scenarios": ["many-to-one:2", "many-to-one:64", "many-to-one:512", "long-short:33", "incast:32"],
        "duration": "20 ms",
    }
)


@dataclass(frozen=True)
class TrainingStudy:
    """``variants``: keys of the recipe by name, the recipe as it is first; ``places``: by variant."""

    title: str
    recipe: dict[str, Any]
    source: str
    seeds: Sequence[int]
    variants: Mapping[str, dict[str, Any]]
    places: Mapping[str, Sequence[str]]
    judged_by: dict[str, Any]
    cycles: bool

    @staticmethod
    def named(name: str) -> "TrainingStudy":
        data = tomllib.loads(read_text(STUDIES))[name]
        recipe = tomllib.loads(read_text(ROOT / data["recipe"]))
        variants: dict[str, dict[str, Any]] = {AS_IT_IS: {}}
        variants |= {each: tomllib.loads(keys) for each, keys in data.get("variants", {}).items()}
        shared = changed(recipe, tomllib.loads(data.get("shared", "")))
        judged_by = changed(shared, tomllib.loads(data.get("judged", "")))
        places = data.get("places", {})
        return TrainingStudy(
            data["title"], shared, data["recipe"], data["seeds"], variants, places, judged_by, bool(data.get("cycles"))
        )

    def config(self, variant: str, seed: int) -> TrainConfig:
        return config_of(self.recipe, self.variants[variant], seed)

    def trained(self, variant: str, seed: int) -> JudgedTraining:
        """Trained and measured, or as it was kept."""
        config, by = self.config(variant, seed), config_of(self.judged_by, {}, seed)
        kept = TRAINED / f"{recipe_hash(config)[:16]}.by.{recipe_hash(by)[:16]}.json"
        if not kept.exists():
            judged = judge(config, by)
            print(f"# {variant}, seed {seed}: {judged.cost:.4f}", file=sys.stderr, flush=True)
            measured = [{"kind": type(m).__name__} | asdict(m) for m in judged.measured]
            write_atomically(kept, json.dumps({"cost": judged.cost, "measured": measured}))
        data = json.loads(read_text(kept))
        kinds: dict[str, Any] = {kind.__name__: kind for kind in (Measured, Changing)}
        return JudgedTraining(data["cost"], tuple(kinds[m.pop("kind")](**m) for m in data["measured"]))

    def teacher(self, variant: str, seed: int) -> Teacher:
        return load(TRAINED / recipe_hash(self.config(variant, seed))[:16])


def parts(judged: JudgedTraining) -> tuple[float, float, float]:
    """The mean cost of many-to-one and of changing traffic, and the greatest loss of either."""
    steady = [m.cost for m in judged.measured if isinstance(m, Measured)]
    changing = [m.cost for m in judged.measured if isinstance(m, Changing)]
    return mean(steady), mean(changing) if changing else nan, max(m.loss for m in judged.measured)


def difference(costs: Sequence[float], base: Sequence[float]) -> str:
    """`+0.041 ±0.012`: the mean of what is more with the same seed, and its standard error."""
    off = [cost - its for cost, its in zip(costs, base, strict=True)]
    error = stdev(off) / len(off) ** 0.5 if len(off) > 1 else nan
    return f"{mean(off):+.3f} ±{error:.3f}"


def elsewhere(teacher: Teacher, place: str, seed: int) -> tuple[float, float, float]:
    """Returns means of SHOWN in a network of that kind: goodput, 99th percentile of the latency in us, loss."""
    what = Randomisation.model_validate(tomllib.loads(place))
    around = [draw(name, what, np.random.default_rng(seed), seed, TIME_PS) for name in SHOWN]
    who = native(teacher.policy, teacher.weights)
    trials = [
        Trial(
            each.scenario,
            who,
            seed=seed,
            duration_ps=TIME_PS,
            window_ps=(FROM_PS, TIME_PS),
            decision_latency_ps=each.decision_latency_ps,
            network=each.network,
        )
        for each in around
    ]
    runs = [outcome.metrics for outcome in run_trials(trials)]
    return (
        mean(m["goodput"] for m in runs),
        float(np.exp(mean(np.log(m["latency_p99_us"]) for m in runs))),
        mean(m["loss"] for m in runs),
    )


@dataclass(frozen=True)
class StudentCycles:
    """Cycles of a variant's student on ibex-small: those of a known input, and a bound that none exceeds; None: not
    proved."""

    seen: int
    bound: int | None = None

    def __str__(self) -> str:
        if self.bound is None:
            return f"{self.seen} or more"
        return f"{self.bound}" if self.seen == self.bound else f"{self.seen} to {self.bound}"


def cycles(teacher: Teacher, prove: bool) -> StudentCycles:
    """Kept beside the trainings, by the teacher's hash; what was kept without a proof is proved where ``prove``."""
    kept = TRAINED / f"{teacher.hash[:16]}.cycles.json"
    if kept.exists() and ((known := StudentCycles(**load_json(kept))).bound is not None or not prove):
        return known
    runs = rollout.collect(rollout.teacher_policy(teacher), ROLLOUT)
    fitted = distil.distil(teacher, runs, STUDENT, ROLLOUT, seed=1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        distil.save(fitted, "0" * 64, folder / "student", seed=1)
        emit(folder / "student", folder / "firmware", target="generic", options=Options())
        build = built(folder / "firmware", profile=load_profile("ibex-small"))
        report = run_vectors(build)
        if report.cycles is None:
            raise InputError(f"the student of {teacher.policy.name} does not run: {report.fault}")
        known = StudentCycles(report.cycles.max)
        write_atomically(kept, dump_json(asdict(known)))
        worst = certify(build).proof.worst if prove else None
    if worst:
        bound = worst.bound if worst.exact is None else worst.exact
        known = StudentCycles(max(known.seen, worst.witness_cycles or 0), bound)
        write_atomically(kept, dump_json(asdict(known)))
    return known


CYCLES = """
Cycles: worst case of the first seed's student, 10 trees of depth 4, on ibex-small with clang -O2, proved: "a to b": an
input that takes a is known, and none takes more than b; "a or more": the slowest of the firmware's vectors, without a
proof."""


def page(name: str, study: TrainingStudy, prove: bool = True) -> str:
    """The page as Markdown."""
    fewer = "" if study.seeds == TrainingStudy.named(name).seeds else " --seeds " + " ".join(map(str, study.seeds))
    judged = {each: [study.trained(each, seed) for seed in study.seeds] for each in study.variants}
    base = [one.cost for one in judged[AS_IT_IS]]
    rows = []
    for each, of_seeds in judged.items():
        costs = [one.cost for one in of_seeds]
        steady, changing, loss = (mean(part) for part in zip(*map(parts, of_seeds), strict=True))
        row = [each, *(f"{cost:.3f}" for cost in costs), f"{mean(costs):.3f}", difference(costs, base)]
        row += [f"{steady:.3f}", NONE if isnan(changing) else f"{changing:.3f}", f"{loss:.2g}"]
        rows.append(row + ([str(cycles(study.teacher(each, study.seeds[0]), prove))] if study.cycles else []))
    training = study.config(AS_IT_IS, study.seeds[0]).training
    heading = ["variant", *(f"seed {seed}" for seed in study.seeds), "mean", "more", "many-to-one", "changing", "loss"]
    text = f"""# {study.title}
{made_by(f"python -m bench.training.study {name}{fewer}")}

Trainings of `{study.source}` and of variants of it (`bench/training/studies.toml`), with the same seeds:
{training.episodes} episodes of {len(training.scenarios)} scenarios, each. Cost of one validation, 0 is perfect, of each
seed; "more": than the recipe as it is with the same seed, ± the standard error of that mean; then the mean cost of
many-to-one and of traffic that comes and goes, and the greatest loss.{CYCLES if study.cycles else ""}

{table([*heading, *(["cycles"] if study.cycles else [])], rows)}"""
    if len(study.variants) == 1:
        best = study.seeds[int(np.argmin(base))]
        spread = f"{min(base):.3f} to {max(base):.3f}"
        if len(base) > 1:
            spread += f", standard deviation {stdev(base):.3f}"
        own = study.recipe["training"]["seed"]
        shipped = "" if own == best else f" The recipe has seed {own}, which was chosen among fewer."
        rule = f"The rule: the seed that costs least is shipped. That is seed {best}."
        text += f"\n{rule}{shipped} Over the seeds: {spread}.\n"
    if study.places:
        text += f"""
## Where it was drawn
Means over {", ".join(f"`{s}`" for s in SHOWN)} and the seeds, {FROM_PS // MS} to {TIME_PS // MS} ms, in one network at
the end of what was drawn: goodput / 99th percentile of the latency in us (geometric mean) / loss. "log p99": of its
latency over that of the recipe as it is, ± the standard error over the seeds; less than 0 is better.

{
            table(
                ["drawn", "in", AS_IT_IS, "with it", "log p99", "goodput"],
                [_place(study, each, place) for each, places in study.places.items() for place in places],
            )
        }"""
    return text


def _place(study: TrainingStudy, variant: str, place: str) -> list[str]:
    both = [[elsewhere(study.teacher(each, seed), place, seed) for seed in study.seeds] for each in (AS_IT_IS, variant)]
    figures = [
        " / ".join((f"{mean(g):.3f}", f"{mean(p):.1f}", f"{mean(lost):.2g}"))
        for g, p, lost in (zip(*each, strict=True) for each in both)
    ]
    logs, goodput = (
        [of(b) - of(a) for a, b in zip(*both, strict=True)] for of in (lambda m: float(np.log(m[1])), lambda m: m[0])
    )
    zero = [0.0] * len(study.seeds)
    return [variant, f"`{place}`", *figures, difference(logs, zero), difference(goodput, zero)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is not there, write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.training.study", description="Variants of a recipe, a page.")
    parser.add_argument("study", choices=tomllib.loads(read_text(STUDIES)))
    parser.add_argument("--seeds", type=int, nargs="+", metavar="N", help="others than the study's")
    parser.add_argument("--no-proof", action="store_true", help="cycles of the vectors where no proof is kept")
    parser.add_argument("--out", type=Path, help="the page")
    options = parser.parse_args(arguments)
    try:
        out = options.out or PAGES / f"training-{options.study}.md"
        study = TrainingStudy.named(options.study)
        study = replace(study, seeds=options.seeds) if options.seeds else study
        write_atomically(out, page(options.study, study, not options.no_proof))
    except InputError as error:
        print(f"study: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
