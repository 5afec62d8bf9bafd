"""Makes docs/results/recipes.md, the results of all recipes. README, docs/index.md and docs/results.svg cite it.

python -m bench.recipes [RECIPE ..] [--runs FOLDER] [--out FILE]

runs every recipe, or those named, by `rlcc run`; what is in the folder of runs already is kept. The page keeps its rows
of recipes that are not named. About an hour on one core.
"""

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.student import load_student
from rlcc import cli
from rlcc.commands.console import print_verdict
from rlcc.gate.verdict import Verdict, parsed
from rlcc.origin import made_by, source
from rlcc.recipe import load_recipe
from rlcc.reports.pages import NONE, rows_of, table
from rlcc.shipped_recipes import recipes

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "recipes.md"
SHOWN = "rl-cc"
"""The recipe whose verdict is shown whole."""
RELATIVE = ("latency_mean_us", "queue_mean_us", "fct_mean_us", "fct_p99_us")
"""Metrics whose difference from the teacher's is a part of the teacher's."""
FAILS = re.compile(r"- (\S+) fails: ")
SOURCE = "source.txt"
"""In the folder of a run: the commit that it was made at."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.recipes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", nargs="*", help="by its name; all, where none is named")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="finished runs; runs")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    shown = options.recipe or list(recipes())
    try:
        for name in shown:
            if not (options.runs / name / "verdict").is_dir():
                _run(name, options.runs / name)
        kept = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
        write_atomically(options.out, page(options.runs, shown, kept).encode())
    except InputError as error:
        print(f"recipes: {error}", file=sys.stderr)
        return 2
    return 0


def _run(name: str, out: Path) -> None:
    """Run a recipe. A FAIL is a result, what could not run is not."""
    recipe, made_at = ROOT / "recipes" / f"{name}.toml", source()
    if cli.main(["run", str(recipe), "--out", str(out)]) > 1:
        raise InputError(f"`rlcc run {recipe}` could not run; its own sentence stands above")
    (out / SOURCE).write_text(made_at, encoding="utf-8")


def page(runs: Path, shown: Sequence[str], kept: str = "") -> str:
    """The page as Markdown, on the recipes of these names. ``kept``: the page before, whose rows of others stay."""
    verdicts = {name: verdict_of(runs / name / "verdict" / "verdict.json") for name in shown}
    costs = {_link(name): _row(runs / name, name, verdict) for name, verdict in verdicts.items()}
    differences = {name: [name, *_off(verdict)] for name, verdict in verdicts.items()}
    costs = _with_kept(costs, rows_of(kept, HEADING), [_link(name) for name in recipes()])
    differences = _with_kept(differences, rows_of(kept, OFF_HEADING), list(recipes()))
    others = [name for name in recipes() if name not in differences]
    left_out = f" Not run for this page: {', '.join(others)}." if others else ""
    whole = printed(verdicts[SHOWN], Path("runs", SHOWN, "verdict")) if SHOWN in verdicts else _text_of(kept)
    return f"""# What the recipes come to

{made_by(" ".join(["python -m bench.recipes", *(shown if list(shown) != list(recipes()) else [])]))}

This page has the result of each recipe of `recipes/`, from its teacher to its verdict, by
[`rlcc run`](../reference/run.md).{left_out}

## Recipes
Cycles are those of a whole decision, call to return, on `ibex-small` with one-cycle memories, compiled by clang -O2.
*Worst* is the worst case, and *us* is its time at the clock of the engine profile. *Proved* says how the worst case is
known:

- *yes*: no input takes more. If the proof is exact, an input that takes as many cycles ran on the Verilated core.
- *bounded*: no input takes more, by value ranges of the machine words. Test vectors compare the code with its program.
- *no*: the slowest test vector takes as many cycles.

{table(HEADING, list(costs.values()))}
{_failed(verdicts, kept)}## Largest difference from the teacher
The differences are student minus teacher, each the mean over the seeds, in the network in which it is largest. A "-" is
a metric that the recipe does not judge. Goodput is a share of the line rate and loss a share of the packets;
percentages are of the teacher's figure.

{table(OFF_HEADING, list(differences.values()))}
## The verdict of recipes/{SHOWN}.toml
```text
{whole}
```
"""


HEADING = [
    "recipe",
    "verdict",
    "checks",
    "trees",
    "depth",
    "cycles, mean",
    "worst",
    "proved",
    "us",
    "code B",
    "tables B",
]
HEADING += ["context B", "budget us", "made at"]
OFF = {
    "goodput": "goodput",
    "latency_mean_us": "mean latency",
    "jain": "Jain fairness",
    "loss": "loss",
    "queue_mean_us": "mean queue",
    "fct_mean_us": "mean FCT",
    "fct_p99_us": "p99 FCT",
}


OFF_HEADING = ["recipe", *OFF.values()]


def _with_kept(made: Mapping[str, list[str]], kept: Sequence[list[str]], order: Sequence[str]) -> dict[str, list[str]]:
    """Returns the rows by their first cells, those that were made before those of the page before."""
    rows = {**{row[0]: row for row in kept}, **made}
    return {name: rows[name] for name in order if name in rows}


def _text_of(page: str) -> str:
    """Returns the verdict that the page shows whole. InputError where it shows none."""
    _, _, text = page.partition("```text\n")
    if not text:
        raise InputError(f"the page shows no verdict of {SHOWN} yet; name {SHOWN} too")
    return text.partition("\n```")[0]


def _link(name: str) -> str:
    return f"[{name}](../../recipes/{name}.toml)"


def verdict_of(path: Path) -> Verdict:
    return parsed(load_json(path), str(path))


def _row(folder: Path, name: str, verdict: Verdict) -> list[str]:
    """Returns the row of a recipe: the cost of its student."""
    ran = verdict.measured["emulation"]
    proved, bound = (verdict.measured[name] for name in ("worst_case_cycles", "bound_cycles"))
    worst = proved or bound or ran["cycles"]["max"]
    forest = load_student(folder / "student" / "student.json").forest
    made_at = folder / SOURCE
    budget = load_recipe(ROOT / "recipes" / f"{name}.toml").gate.budget
    return [
        _link(name),
        verdict.outcome,
        f"{len(verdict.checks) - len(verdict.failures())} of {len(verdict.checks)}",
        str(len(forest.trees)),
        str(forest.depth),
        f"{ran['cycles']['mean']:.0f}",
        str(worst),
        "yes" if proved else "bounded" if bound else "no",
        f"{worst / ran['clock_mhz']:.3f}",
        *(str(ran[key]) for key in ("code_bytes", "table_bytes", "context_bytes")),
        f"{budget / 1e6:g}",
        made_at.read_text(encoding="utf-8").strip() if made_at.exists() else NONE,
    ]


def _failed(verdicts: Mapping[str, Verdict], kept: str) -> str:
    """A line a check that fails, and an empty one; lines of the page before of recipes that were not run."""
    lines = [f"{line}\n" for line in kept.splitlines() if (m := FAILS.match(line)) and m[1] not in verdicts]
    lines += [
        f"- {name} fails: {check.name}, {check.value} where {check.limit} is allowed\n"
        for name, verdict in verdicts.items()
        for check in verdict.failures()
    ]
    return "".join([*lines, "\n"]) if lines else ""


def _off(verdict: Verdict) -> list[str]:
    """The greatest difference of each metric, signed; "-" where a recipe does not judge it."""
    cells = []
    for metric in OFF:
        judged = [row["difference"] for row in verdict.measured["fidelity"] if row["metric"] == metric]
        worst = max(judged, key=abs, default=None)
        shown = f"{worst:+.2%}" if worst is not None and metric in RELATIVE else f"{worst or 0:+.4f}"
        cells.append("-" if worst is None else shown)
    return cells


def printed(verdict: Verdict, folder: Path) -> str:
    """As `rlcc gate` prints it where the output is no terminal; ``folder``: the verdict's."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_verdict(verdict, folder)
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


if __name__ == "__main__":
    sys.exit(main())
