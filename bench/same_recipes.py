"""Whole recipes on pretended processors: the same student, certificate and verdict on each.

    python -m bench.same_recipes RECIPE .. [--ends] [--runs FOLDER] [--out FILE]

Runs `rlcc run` of each recipe on the processors of bench/same_bytes.py, on all cores and on one. `--ends` takes the two
that differ in both: the first on all cores and the last on one. A finished run in the folder of runs is read, not run
again. The page keeps its rows of other recipes.
"""

import argparse
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from bench.same_bytes import ENVIRONMENTS, as_on
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.gate.verdict import parsed
from rlcc.origin import made_by, source
from rlcc.reports.pages import table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "same-recipes.md"
VERDICT = ("verdict", "verdict.json")
SOURCE = "source.txt"
"""In the folder of a run: the commit that it was made at."""
HEADING = ("recipe, processor", "cores", "verdict", "checks", "student", "firmware", "certificate", "made at")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if every processor gives the same row for a recipe, 1 if not, 2 if a run has no verdict."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.same_recipes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", nargs="+", help="a recipe's name, such as demo")
    parser.add_argument("--ends", action="store_true", help="the first processor on all cores, the last on one")
    parser.add_argument("--runs", type=Path, default=Path("build/same-recipes"), help="folder of finished runs")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    cores = len(os.sched_getaffinity(0))
    places = [(processor, count) for processor in ENVIRONMENTS for count in (cores, 1)]
    places = [places[0], places[-1]] if options.ends else places
    rows: list[list[str]] = []
    same = True
    try:
        for recipe in options.recipe:
            found: list[list[str]] = []
            for processor, count in places:
                out = options.runs / f"{processor}-{count}".replace(" ", "-") / recipe
                print(f"{recipe}: {processor}, cores: {count}", file=sys.stderr)
                if not out.joinpath(*VERDICT).exists():
                    run(recipe, out, ENVIRONMENTS[processor], count)
                found.append(outcome(out))
                rows.append([f"{recipe}, {processor}", str(count), *found[-1]])
            same = same and all(row[:-1] == found[0][:-1] for row in found)
    except InputError as error:
        print(f"same_recipes: {error}", file=sys.stderr)
        return 2
    rows = rows_of_others(options.out, options.recipe) + rows
    write_atomically(options.out, page([*options.recipe, *["--ends"] * options.ends], rows).encode())
    return 0 if same else 1


def run(recipe: str, out: Path, environment: Mapping[str, str], cores: int) -> None:
    """Runs a recipe in a process of its own. Raises InputError if it has no verdict; a FAIL is one."""
    made_at = source()
    command = ["run", str(ROOT / "recipes" / f"{recipe}.toml"), "--out", str(out.resolve())]
    done = as_on([sys.executable, "-m", "rlcc", *command], environment, cores)
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


def rows_of_others(page: Path, recipes: Collection[str]) -> list[list[str]]:
    """Returns the rows of a page, if there is one, that are of other recipes."""
    if not page.exists():
        return []
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    return [row for row in rows if row[2] in ("PASS", "FAIL") and row[0].partition(",")[0] not in recipes]


def page(arguments: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns the page as Markdown."""
    return f"""# The same verdicts on every processor
{made_by(" ".join(["python -m bench.same_recipes", *arguments]))}

Whole recipes from teacher to verdict, on pretended processors. [The steps alone](same-bytes.md) tell how a processor is
pretended.

{table(HEADING, rows)}
"""


if __name__ == "__main__":
    sys.exit(main())
