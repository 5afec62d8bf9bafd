"""How far `rlcc drift` tells new traffic, beside the error that the student makes there: docs/results/drift.md.

    python -m bench.drift [--runs FOLDER] [--out FILE]

takes the students of finished runs of the recipes (FOLDER/NAME/student), drives each in networks that it was made on
and in others, counts where its features are, and sets its actions beside its teacher's in the very states it met.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.student import load_student
from distill.rollout import collect
from netsim.policies import interpreted
from rlcc.commands.drift import DRIFT_LIMIT
from rlcc.drift import Drift, drift, error_in, seen_in
from rlcc.origin import made_by
from rlcc.recipe import deployment_of, load_recipe, teacher_path
from rlcc.reports.pages import table
from teachers.load import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "drift.md"
SEED = 501
"""No recipe has it, nor the rounds of one."""
ACC = "leaf-spine:2x8x2:25/100"
TRAFFIC: dict[str, tuple[tuple[str, bool], ...]] = {
    "acc": (
        (f"websearch:60%@{ACC}", True), (f"websearch:90%@{ACC}", True), (f"datamining:80%@{ACC}", True),
        (f"incast:12@{ACC}", True), (f"websearch:20%@{ACC}", False), (f"hadoop:60%@{ACC}", False),
        (f"all-to-all:8@{ACC}", False), ("incast:60@leaf-spine:4x16x2:25/100", False),
        ("websearch:60%@leaf-spine:2x8x2:100/400", False),
    ),
    "rl-cc": (
        ("many-to-one:64", True), ("many-to-one:1024", True), ("many-to-one:8192", True), ("many-to-one:16", False),
        ("long-short:129", False), ("websearch:60%", False), ("many-to-one:256@fat-tree:4", False),
    ),
}  # fmt: skip
"""By recipe: scenarios, and whether the student was made on them."""


@dataclass(frozen=True)
class DriftRow:
    """A network: how far it is from what the student was made on, and how far the student then is off its teacher
    (decisions that differ of a choice, else the root mean square of the action)."""

    scenario: str
    own: bool
    drift: Drift
    error: float


def rows(name: str, folder: Path) -> list[DriftRow]:
    """Returns the rows of the student in the folder, made by the recipe of this name."""
    path = ROOT / "recipes" / f"{name}.toml"
    recipe, hash = load_recipe(path), opened(folder, "student").hash
    student, teacher = load_student(folder / STUDENT_NAME), load(teacher_path(recipe, path))
    deployment = deployment_of(recipe, path)
    policy = interpreted(student)
    made_on = seen_in(hash, student, collect(policy, recipe.rollout, deployment))
    each = []
    for scenario, own in TRAFFIC[name]:
        options = recipe.rollout.model_copy(update={"scenarios": [scenario], "seeds": [SEED]})
        runs = collect(policy, options, deployment)
        each.append(
            DriftRow(
                scenario, own, drift(seen_in(hash, student, runs), made_on), error_in(runs, student, teacher, SEED)
            )
        )
        print(f"drift: {name}, {scenario}", file=sys.stderr, flush=True)
    return each


def section(name: str, each: Sequence[DriftRow]) -> str:
    heading = ["network", "made on it", "decisions", "apart", "beyond", "never met", "says", "off its teacher"]
    lines = [
        [
            f"`{row.scenario}`",
            "yes" if row.own else "",
            f"{row.drift.decisions:,}",
            f"{row.drift.apart:.3f}",
            f"{row.drift.beyond:.3f}",
            f"{row.drift.unseen:.3f}",
            "DRIFTED" if row.drift.beyond > DRIFT_LIMIT else "",
            f"{row.error:.4f}",
        ]
        for row in each
    ]
    return f"\n## {name}\n" + table(heading, lines)


def page(runs: Path) -> str:
    share = f"{DRIFT_LIMIT:.0%}"
    text = f"""# How far drift tells new traffic
{made_by("python -m bench.drift")}

Each student drives in networks with seed {SEED}, which nothing of its making had, beside where it was asked when it
drove in its recipe's rollouts: [rlcc drift](../how-to/drift.md), which says DRIFTED where over {share} of the
decisions are beyond. Off its teacher: the student's decisions in the states that it met; of RL-CC's multiplier the
root mean square error, of ACC's choice the part of the decisions that differ.
"""
    for name in TRAFFIC:
        text += section(name, rows(name, runs / name / "student"))
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.drift", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="finished runs; runs")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        write_atomically(options.out, page(options.runs))
    except InputError as error:
        print(f"drift: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
