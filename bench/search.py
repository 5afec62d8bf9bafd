"""The fronts of searches as a page, and the best of their points beside the shipped recipe with seeds that neither was
chosen by: is one better in cycles and in the network, beyond chance?

A search's own figures flatter its best point: it was chosen by them. Here student, shipped student and teacher run in
the gate's networks with other seeds, the same for all. For each seed the network and metric count in which a student is
furthest off, in units of the recipe's tolerance. The page gives the mean of the paired differences, and its error.

    rlcc search recipes/NAME.toml --minutes 60
    python -m bench.search [NAME ...] [--seeds N] [--out FILE]      what is in runs/NAME/search
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pyarrow.parquet as pq

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.student import load_student
from distill.closeness import distance
from distill.driving import LATER_PS
from distill.rollout import teacher_policy
from netsim.policies import PolicySpec, interpreted
from netsim.result_store import Kept
from rlcc.gate import closed_loop
from rlcc.gate.closed_loop import Entry, PolicyMetrics
from rlcc.origin import made_by
from rlcc.recipe import Recipe, deployment_of, load_recipe, teacher_path
from rlcc.reports.pages import table
from rlcc.search.page import POINTS
from teachers.load import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "search.md"
KEPT = ROOT / "build" / "search"
RECIPES = ("rl-cc", "robust-in-flight")
FIRST_SEED = 701
"""No recipe, rollout or search has it, nor those that follow."""

Row = dict[str, Any]


def section(name: str, folder: Path, seeds: Sequence[int]) -> str:
    """Returns the section of one recipe: what was searched, the points that were made, and the comparison."""
    rows: list[Row] = pq.read_table(folder / POINTS).to_pylist()
    recipe = load_recipe(ROOT / "recipes" / f"{name}.toml")
    knobs = [column for column in rows[0] if column.startswith(("distill.", "emit.")) or column == "seed"]
    made = sorted((row for row in rows if row["cycles"] is not None), key=lambda row: row["cycles"])
    refused = [row for row in rows if row["problem"]]
    driven = sum(row["error_quick"] is not None for row in rows)
    text = f"\n## {name}\n{len(rows)} points, {driven} of them driven in short networks, {len(made)} made whole.\n\n"
    quick = sorted((row for row in rows if row["on_quick_front"]), key=lambda row: row["cycles_predicted"])
    heading = ["point", "differs from the recipe in", "cycles", "error", "noise", "furthest off", "tables", "front"]
    text += (
        ""
        if not made
        else table(
            heading,
            [
                [
                    _named(row),
                    _differs(row, rows[0], knobs),
                    f"{row['cycles']}{'' if row['proved'] else ' (not proved)'}",
                    f"{row['error']:.2f}",
                    f"{row['noise']:.2f}",
                    row["worst"],
                    f"{row['table_bytes']} B",
                    "yes" if row["on_front"] else "",
                ]
                for row in made
            ],
        )
    )
    for row in refused:
        told = f"error {row['error']:.2f}, {row['worst']}" if row["error"] is not None else "its network was not run"
        text += f"\nPoint {row['point']} was made and is out: {row['problem']}; {told}.\n"
    text += "\nThe front of the quick figures (predicted cycles, short networks):\n\n"
    text += table(
        ["point", "differs from the recipe in", "cycles", "error"],
        [
            [_named(r), _differs(r, rows[0], knobs), f"{r['cycles_predicted']:.0f}", f"{r['error_quick']:.2f}"]
            for r in quick
        ],
    )
    better = [row for row in made if row["point"] != 0 and row["cycles"] < rows[0]["cycles"]] if made else []
    if rows[0]["cycles"] is None or not better:
        return text + "\nNo point that was made takes fewer cycles than the recipe, so none is compared.\n"
    return text + "\n" + compared(name, recipe, folder, rows[0], better, seeds)


def compared(name: str, recipe: Recipe, folder: Path, own: Row, better: Sequence[Row], seeds: Sequence[int]) -> str:
    """Points of fewer cycles beside the shipped recipe's student."""
    path = ROOT / "recipes" / f"{name}.toml"
    theirs = teacher_policy(load(teacher_path(recipe, path)))
    students = {row["point"]: _student(folder, row["point"]) for row in (own, *better)}
    latency = recipe.rollout.decision_latency
    entries = [
        Entry("teacher", theirs, latency),
        Entry("itself", theirs, latency + LATER_PS),
        *(Entry(str(number), student, latency) for number, student in students.items()),
    ]
    networks = replace(recipe.gate.networks(deployment_of(recipe, path)), seeds=seeds)
    outcomes = closed_loop.run(entries, networks, Kept(KEPT))
    errors = {entry.name: _errors(entry.name, outcomes, recipe) for entry in entries}
    shipped = errors[str(own["point"])]
    rows = [["teacher, 10 ns later", "", _mean(errors["itself"]), ""]]
    for row in (own, *better):
        each = errors[str(row["point"])]
        apart = "" if row is own else _mean([a - b for a, b in zip(each, shipped, strict=True)], sign="+")
        rows.append([_named(row), str(row["cycles"]), _mean(each), apart])
    said = f"With {len(seeds)} seeds that none was chosen by, ± the standard error of the mean:\n\n"
    return said + table(["point", "cycles", "error", "more than the recipe's, paired"], rows)


def _errors(who: str, outcomes: Sequence[PolicyMetrics], recipe: Recipe) -> list[float]:
    """Returns the error of each seed in units of the tolerance, in the network and metric that is furthest off."""

    def at(policy: str, k: int) -> dict[tuple[str, int], Mapping[str, float]]:
        return {(one.scenario, k): one.metrics[k] for one in outcomes if one.policy == policy}

    seeds = range(len(outcomes[0].seeds))
    return [distance(at(who, k), at("teacher", k), recipe.gate.tolerance).of_tolerance for k in seeds]


def _student(folder: Path, number: int) -> PolicySpec:
    return interpreted(load_student(folder / "points" / str(number) / "student" / STUDENT_NAME))


def _named(row: Row) -> str:
    return f"{row['point']}, the recipe" if row["point"] == 0 else str(row["point"])


def _differs(row: Row, own: Row, knobs: Sequence[str]) -> str:
    return ", ".join(f"{knob.partition('.')[2] or knob} {row[knob]}" for knob in knobs if row[knob] != own[knob])


def _mean(values: Sequence[float], sign: str = "") -> str:
    error = stdev(values) / sqrt(len(values))
    return f"{fmean(values):{sign}.2f} ±{error:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.search", description="Fronts of searches as a page.")
    parser.add_argument("names", nargs="*", help="recipes; by default rl-cc and robust-in-flight")
    parser.add_argument("--seeds", type=int, choices=range(2, 100), default=4, metavar="N", help="runs of each; 4")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs", help="where NAME/search is")
    parser.add_argument("--note", default="", help="what the searches had, for the page")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        sections = []
        for name in options.names or RECIPES:
            folder = options.runs / name / "search"
            if not (folder / POINTS).is_file():
                raise InputError(f"{folder} holds no search; run rlcc search recipes/{name}.toml first")
            sections.append(section(name, folder, range(FIRST_SEED, FIRST_SEED + options.seeds)))
        text = f"""# What a search finds beside the shipped recipes
{made_by("rlcc search recipes/rl-cc.toml && python -m bench.search")}

Error: in the network and metric of the gate that is furthest off its teacher's, how many times what the tolerance
allows, means over the gate's seeds; noise: the same of the teacher, 10 ns later, there. Nothing is shipped in place of
a recipe. [How a search goes](../how-to/search.md).

{options.note}
"""
        write_atomically(options.out, text.rstrip() + "\n" + "".join(sections))
    except InputError as error:
        print(f"search: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
