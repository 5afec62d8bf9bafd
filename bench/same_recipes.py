"""Whole recipes on pretended processors: the same student, certificate and verdict on each.

    python -m bench.same_recipes RECIPE .. [--ends | --gates | --here] [--runs FOLDER] [--out FILE]

Runs `rlcc run` of each recipe on the processors of bench/same_bytes.py. Each is taken with all cores, then with one.
`--ends` takes the two that differ in both: the first on all cores and the last on one. `--gates` runs the whole recipe
on the first alone. The others take its student and firmware, on all cores, and make the rest: the vectors on the core,
the proof and the gate, with nothing remembered. `--here` runs it on the first alone. A finished run in the folder of
runs is read, not run again.

The page keeps its rows of other recipes, and those that other machines made of the same recipe, which are compared too:
rows of one commit whole, others by their certificates. A student's hash follows its rollouts', which name every option
of the network; a certificate's is of program and image.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.recipes import SOURCE
from bench.same_bytes import AVX512, ENVIRONMENTS, FOUND, as_on
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.gate.verdict import parsed
from rlcc.origin import made_by, processor, source
from rlcc.reports.pages import rows_of, table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "same-recipes.md"
VERDICT = ("verdict", "verdict.json")
MADE_ANEW = ("emulation", "certificate", "verdict", SOURCE)
HEADING = (
    "recipe",
    "processor",
    "as",
    "cores",
    "from",
    "verdict",
    "checks",
    "student",
    "firmware",
    "certificate",
    "made at",
)
COMPARED = slice(5, 10)
"""A row's cells from verdict to certificate."""


class RecipePlace(NamedTuple):
    """A processor of `ENVIRONMENTS`, the number of its cores, and whether the whole recipe runs there."""

    name: str
    cores: int
    whole: bool = True

    def folder(self, runs: Path, recipe: str) -> Path:
        return runs / f"{self.name}-{self.cores}".replace(" ", "-") / recipe


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if every processor gives the same row for a recipe, 1 if not, 2 if a run has no verdict."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.same_recipes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", nargs="+", help="a recipe's name, such as demo")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--ends", action="store_true", help="the first processor on all cores, the last on one")
    which.add_argument("--gates", action="store_true", help="on the others only what comes after the firmware")
    which.add_argument("--here", action="store_true", help="the first processor alone, on all cores")
    parser.add_argument("--runs", type=Path, default=Path("build/same-recipes"), help="folder of finished runs")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    rows = kept_rows(options.out)
    try:
        for recipe in options.recipe:
            for place in places(options.ends, options.gates, options.here):
                row = row_of(recipe, place, options.runs)
                rows = [other for other in rows if other[:5] != row[:5]] + [row]
    except InputError as error:
        print(f"same_recipes: {error}", file=sys.stderr)
        return 2
    rows.sort(key=lambda row: row[0])
    flags = ["--ends"] * options.ends + ["--gates"] * options.gates + ["--here"] * options.here
    write_atomically(options.out, page([*options.recipe, *flags], rows).encode())
    return 0 if all(agree([row for row in rows if row[0] == recipe]) for recipe in options.recipe) else 1


def agree(rows: Sequence[Sequence[str]]) -> bool:
    """Returns whether rows of a recipe have one verdict and one certificate, and those of one commit one of each
    artefact."""
    kinds = {(row[-1], *row[COMPARED]) for row in rows}
    commits = {row[-1] for row in rows}
    return len(kinds) == len(commits) and len({(row[COMPARED.start], row[COMPARED.stop - 1]) for row in rows}) == 1


def places(ends: bool, gates: bool, here: bool) -> Sequence[RecipePlace]:
    cores = len(os.sched_getaffinity(0))
    first, *others = ENVIRONMENTS
    if here:
        return [RecipePlace(first, cores)]
    if ends:
        return [RecipePlace(first, cores), RecipePlace(others[-1], 1)]
    if gates:
        return [RecipePlace(first, cores), *[RecipePlace(name, cores, whole=False) for name in others]]
    return [RecipePlace(name, count) for name in ENVIRONMENTS for count in (cores, 1)]


def row_of(recipe: str, place: RecipePlace, runs: Path) -> list[str]:
    """Runs a recipe at a place, or reads what it came to there."""
    out = place.folder(runs, recipe)
    print(f"{recipe}: {place.name}, cores: {place.cores}", file=sys.stderr)
    if not out.joinpath(*VERDICT).exists():
        begun = (
            []
            if place.whole
            else begin_after_firmware(RecipePlace(next(iter(ENVIRONMENTS)), place.cores).folder(runs, recipe), out)
        )
        run(recipe, out, place, begun)
    pretended = place.name if ENVIRONMENTS[place.name] else "-"
    return [
        recipe,
        this_processor(),
        pretended,
        str(place.cores),
        "teacher" if place.whole else "firmware",
        *outcome(out),
    ]


def this_processor() -> str:
    """Returns its name for itself, its family and its widest vectors, for makers give several kinds one name."""
    info = Path("/proc/cpuinfo")
    family = re.search(r"^cpu family\s*: (\d+)$", info.read_text() if info.is_file() else "", re.MULTILINE)
    widest = "AVX-512" if AVX512 else "AVX2" if FOUND else "no AVX"
    return ", ".join([processor(), *([f"family {family[1]}"] if family else []), widest])


def begin_after_firmware(whole: Path, out: Path) -> Sequence[str]:
    """Copies a run but for what comes after its firmware; returns the flags with which `rlcc run` goes on there."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(whole, out, ignore=shutil.ignore_patterns(*MADE_ANEW))
    return ["--from", "emulate"]


def run(recipe: str, out: Path, place: RecipePlace, flags: Sequence[str]) -> None:
    """Runs a recipe in a process of its own, with an empty cache. Raises InputError if it has no verdict; a FAIL is
    one."""
    made_at = source()
    command = ["run", str(ROOT / "recipes" / f"{recipe}.toml"), "--out", str(out.resolve()), *flags]
    with TemporaryDirectory() as empty:
        environment = {**ENVIRONMENTS[place.name], "XDG_CACHE_HOME": empty}
        done = as_on([sys.executable, "-m", "rlcc", *command], environment, place.cores)
    if done.returncode > 1:
        raise InputError(f"`rlcc run recipes/{recipe}.toml` has no verdict: {done.stderr[-500:]}")
    (out / SOURCE).write_text(made_at, encoding="utf-8")


def outcome(out: Path) -> list[str]:
    """Returns a finished run's verdict, the checks passed, the first 12 digits of three hashes, "-" for none, and the
    commit."""
    verdict = parsed(load_json(out.joinpath(*VERDICT)), str(out))
    return [
        verdict.outcome,
        f"{len(verdict.checks) - len(verdict.failures())} of {len(verdict.checks)}",
        *(str(load_json(out / stage / "manifest.json")["hash"])[:12] for stage in ("student", "firmware")),
        str(verdict.measured.get("certificate") or "-")[:12],
        (out / SOURCE).read_text(encoding="utf-8"),
    ]


def kept_rows(page: Path) -> list[list[str]]:
    """Returns the rows of a page, if there is one."""
    return rows_of(page.read_text(encoding="utf-8"), HEADING) if page.exists() else []


def page(arguments: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns the page as Markdown."""
    return f"""# The same verdicts on every processor
{made_by(" ".join(["python -m bench.same_recipes", *arguments]))}

Recipes from teacher to verdict on several processors, and *as* on others: [the steps alone](same-bytes.md) tell how a
processor is pretended. A row *from* the teacher is of a whole run. One from the firmware takes the firmware of the run
above it, and makes what follows on that processor: the vectors on the core, the proof and the gate. Hashes of students
name every option of the network, so they may differ between commits; certificates are of program and image alone.

{table(HEADING, rows)}
"""


if __name__ == "__main__":
    sys.exit(main())
