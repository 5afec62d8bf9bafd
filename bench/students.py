"""Students of one recipe's variants, each run whole and set beside the others.

    python -m bench.students recipes/acc.toml --variant 'Q-values: distill.labels = "values"'

A variant is a name and keys of the recipe with values as in TOML, parted by `;`. Recipe and variants are taken from the
teacher to the verdict by `rlcc run`; what is in the folder of runs already is kept. How often a student sets what its
teacher sets is counted in states that no training saw, those of the gate's networks; the closed loop and the cycles are
the gate's own. The page is docs/results/students-NAME.md.
"""

import argparse
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.recipes import RELATIVE, verdict_of
from bench.training.__main__ import changed, variant
from decision.artefact.documents import dump_json, read_text
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from decision.artefact.output import write_atomically
from decision.policy.student import NAME as STUDENT
from decision.policy.student import load_student
from distill.rollout import teacher_policy
from netsim.metric_names import METRICS
from rlcc import cli
from rlcc.gate.teacher_match import driven_by, errors_in
from rlcc.gate.verdict import Verdict
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe, teacher_path
from rlcc.reports.pages import table
from rlcc.search.recipe_text import moved, recipe_text
from teachers.load import load

ROOT = Path(__file__).resolve().parents[1]
RUNS, DOCS = ROOT / "build" / "students", ROOT / "docs" / "results"
AS_IT_IS = "as it is"
Changes = dict[str, Any]


@dataclass(frozen=True)
class BuiltStudent:
    """A variant's verdict, and by network the share of decisions in which its student sets what its teacher sets."""

    verdict: Verdict
    agreement: Mapping[str, float]


def made(recipe: Path, changes: Changes, runs: Path) -> BuiltStudent:
    """Run the variant unless it is there. A FAIL is a result; InputError for what could not run."""
    document = changed(tomllib.loads(read_text(recipe)), changes)
    folder = runs / f"{document['name']}-{sha256(dump_json(document).encode())[:12]}"
    file = folder.with_suffix(".toml")
    runs.mkdir(parents=True, exist_ok=True)
    write_atomically(file, recipe_text(moved(document, recipe.parent, runs), f"A variant of {recipe.name}."))
    if not (folder / "verdict").is_dir() and cli.main(["run", str(file), "--out", str(folder)]) > 1:
        raise InputError(f"`rlcc run {file}` could not run; its own sentence stands above")
    return BuiltStudent(verdict_of(folder / "verdict" / "verdict.json"), _agreement(file, folder))


def _agreement(file: Path, folder: Path) -> dict[str, float]:
    recipe = load_recipe(file)
    teacher, student = load(teacher_path(recipe, file)), load_student(folder / "student" / STUDENT)
    runs = driven_by(teacher_policy(teacher), recipe.gate.scenarios, recipe.gate.match, deployment_of(recipe, file))
    errors = [errors_in(student.program(), student.observation, student.params(), teacher, states) for states in runs]
    return {name: fmean(off == 0) for name, off in zip(recipe.gate.scenarios, errors, strict=True)}


def page(recipe: Path, students: Mapping[str, BuiltStudent], command: str) -> str:
    """As Markdown."""
    failed = [
        f"- {name} fails: {check.name}, {check.value} where {check.limit} is allowed"
        for name, one in students.items()
        for check in one.verdict.failures()
    ]
    return "\n".join(
        [
            f"# Students of `recipes/{recipe.name}`, variants beside each other",
            "",
            made_by(command),
            "",
            "Each variant changes the recipe in its keys alone and is run whole: rollouts, student, C, the engine, the "
            "gate. *Cycles* are of the whole decision, over the firmware's vectors.",
            "",
            table(
                ["variant", "verdict", "checks", "cycles, mean", "slowest", "us", "code B", "tables B", "stack B"],
                [[name, *_cost(one.verdict)] for name, one in students.items()],
            ),
            *failed,
            *([""] if failed else []),
            "## Agreement",
            "Decisions in which the student sets exactly what its teacher sets, in states of its teacher's own runs "
            "that no training saw (the seed of `gate.match`).",
            "",
            table(["variant", *_scenarios(students)], [[n, *_shares(one.agreement)] for n, one in students.items()]),
            "## In the network",
            "The student's C beside its teacher, seed by seed: the mean difference over the gate's seeds, from the "
            "least to the greatest.",
            "",
            table(["network", "metric", *students], _differences(students)),
        ]
    )


def _cost(verdict: Verdict) -> list[str]:
    ran = verdict.measured["emulation"]
    cycles = ran["cycles"]
    return [
        verdict.outcome,
        f"{len(verdict.checks) - len(verdict.failures())} of {len(verdict.checks)}",
        f"{cycles['mean']:.0f}",
        str(cycles["max"]),
        f"{cycles['max'] / ran['clock_mhz']:.2f}",
        *(str(ran[key]) for key in ("code_bytes", "table_bytes", "stack_bytes")),
    ]


def _scenarios(students: Mapping[str, BuiltStudent]) -> list[str]:
    return [f"`{name}`" for name in next(iter(students.values())).agreement]


def _shares(agreement: Mapping[str, float]) -> list[str]:
    return [f"{share:.1%}" for share in agreement.values()]


def _differences(students: Mapping[str, BuiltStudent]) -> list[list[str]]:
    """A row a network and metric that the gate judges, a column a variant."""
    each = {
        name: {(c["scenario"], c["metric"]): c for c in one.verdict.measured["fidelity"]}
        for name, one in students.items()
    }
    places = list(next(iter(each.values())))
    return [
        [
            f"`{place[0]}`",
            METRICS[place[1]].heading,
            *(_difference(place[1], beside[place]) for beside in each.values()),
        ]
        for place in places
    ]


def _difference(metric: str, found: Mapping[str, Any]) -> str:
    relative = metric in RELATIVE
    seeds = found["seeds"].values()
    off = (found["difference"], min(seeds), max(seeds))
    mean, *ends = (f"{100 * one:+.1f} %" if relative else f"{one:+.4f}" for one in off)
    return f"{mean} ({' to '.join(ends)})" + ("" if found["passed"] else " **beyond**")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not there and write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.students", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--variant", action="append", default=[], type=variant, metavar="NAME: KEY = VALUE; ..")
    parser.add_argument("--runs", type=Path, default=RUNS, help="runs that are kept")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page goes")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = parser.parse_args(given)
        variants: dict[str, Changes] = {AS_IT_IS: {}, **dict(options.variant)}
        students = {name: made(options.recipe, changes, options.runs) for name, changes in variants.items()}
        text = page(options.recipe, students, shlex.join(["python", "-m", "bench.students", *given]))
        write_atomically(options.docs / f"students-{options.recipe.stem}.md", text)
    except InputError as error:
        print(f"students: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
