"""The table: what became of each student, and how many of them are proved."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bench import drawn as package
from bench.drawn.judged import Checked, DrawnRow, How, Proved, judged
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.origin import made_by, source
from rlcc.reports.pages import table

DOCS = Path(__file__).parents[2] / "docs" / "results"
PAGES = {
    ("clang", False): DOCS / "drawn.md",
    ("gcc", False): DOCS / "drawn-gcc.md",
    ("clang", True): DOCS / "drawn-wide.md",
}
"""The key: the compiler, and whether the students are drawn wider."""
MAX_CHARACTERS = 90
"""Characters of a reason in the table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    how = How()
    parser = argparse.ArgumentParser(
        prog="python -m bench.drawn", description=package.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=_seeds, metavar="FIRST-LAST", help="which students; 0-99, of wide ones 0-39")
    parser.add_argument("--wide", action="store_true", help="students that are drawn wider: bench/drawn/wide.py")
    parser.add_argument("--profile", default=how.profile)
    parser.add_argument("--compiler", default=how.compiler)
    parser.add_argument("--opt", default=how.opt)
    parser.add_argument("--form", default=how.form, help="of the emitted trees")
    parser.add_argument("--prover-seconds", type=int, default=how.prover_seconds, help="CPU time of a proof; 60")
    parser.add_argument(
        "--checker-seconds", type=int, default=how.checker_seconds, help="CPU time of a check; 120, 0 for none"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="rows as JSON: those that it has are taken from it, others added"
    )
    parser.add_argument(
        "--out", type=Path, help="the page; of all students and one of its compilers docs/results has it"
    )
    options = vars(parser.parse_args(arguments))
    seeds, out, results = options.pop("seeds"), options.pop("out"), options.pop("results")
    how = How(**options)
    seeds = seeds or _all(how)
    try:
        out = out or _page(seeds, how)
        rows = _read(results) if results and results.exists() else {}
        for seed in seeds:
            if seed not in rows:
                rows[seed] = replace(judged(seed, how), made_at=source())
                if results:
                    _append(results, rows[seed])
            print(" | ".join(cells(rows[seed])), flush=True)
        write_atomically(out, page([rows[seed] for seed in seeds], how))
    except InputError as error:
        print(f"drawn: {error}", file=sys.stderr)
        return 2
    return 0


def _all(how: How) -> range:
    """Returns the students of a page."""
    return range(40 if how.wide else 100)


def _page(seeds: range, how: How) -> Path:
    """Returns the path of a page that nobody has named; raises InputError if another would be in its place."""
    usual = How()
    others = (how.profile, how.opt, how.form) != (usual.profile, usual.opt, usual.form)
    if seeds != _all(how) or others or (how.compiler, how.wide) not in PAGES:
        raise InputError("docs/results has no page of these students compiled so; name one with --out")
    return PAGES[how.compiler, how.wide]


def _read(results: Path) -> dict[int, DrawnRow]:
    """Rows of an earlier run; InputError where the file is not one."""
    rows = {}
    try:
        for line in results.read_text().splitlines():
            row = json.loads(line)
            checked = Checked(**row["checked"]) if row["checked"] else None
            proved = Proved(**row["proved"])
            rows[row["seed"]] = DrawnRow(row["seed"], row["student"], proved, checked, row["made_at"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{results} does not hold the results of a run ({error}); give another file") from error
    return rows


def _append(results: Path, row: DrawnRow) -> None:
    """As a line; of the certificate nothing is kept."""
    text = json.dumps(asdict(replace(row, proved=replace(row.proved, certificate=None, cuts=()))))
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a") as file:
        file.write(text + "\n")


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def page(rows: Sequence[DrawnRow], how: How) -> str:
    """As Markdown: the counts, then a row a student."""
    exact = sum(1 for r in rows if not r.proved.problem and r.proved.exact is not None)
    bounded = sum(1 for r in rows if not r.proved.problem and r.proved.exact is None)
    checked = [r.checked for r in rows if r.checked]
    held = sum(1 for c in checked if not c.problem)
    weaker = sum(1 for c in checked if c.bound is not None)
    spent = sorted(r.proved.seconds for r in rows)
    commits = ", ".join(f"{count} of {made_at}" for made_at, count in Counter(r.made_at for r in rows).items())
    by = "" if how.compiler == How().compiler else f" by {how.compiler}"
    drawn = "students drawn wider" if how.wide else "drawn students"
    file = "wide.py" if how.wide else "students.py"
    return f"""# How many {drawn} are proved{by}
{made_by(f"python -m bench.drawn{_asked(how)}")}

Students {rows[0].seed} to {rows[-1].seed} of `bench/drawn/{file}`, {how.profile}, {how.compiler} {how.opt}, form
{how.form}. A proof (with the calibration of the cost model) may take {how.prover_seconds} s of CPU, a check of its
certificate {how.checker_seconds} s. Rows: {commits}.

- proved, worst case exact: {exact} of {len(rows)}
- proved, worst case bounded: {bounded}
- not proved: {len(rows) - exact - bounded}
- certificate holds: {held} of {len(checked)} that were checked{f", {weaker} of them for a bound" if weaker else ""}
- CPU time of a proof: {spent[len(spent) // 2]:.0f} s in the median, {spent[-1]:.0f} s at most

{_reasons(rows)}{table(["seed", "student", "prover", "CPU", "checker", "CPU"], [cells(r) for r in rows])}"""


def _asked(how: How) -> str:
    """The options that are not the defaults."""
    default = vars(How())
    asked = {name: value for name, value in vars(how).items() if value != default[name]}
    return "".join(f" --{name.replace('_', '-')}" + (f" {v}" if v is not True else "") for name, v in asked.items())


def _reasons(rows: Sequence[DrawnRow]) -> str:
    """Why what is not proved is not, in full."""
    reasons = [f"- student {r.seed}: {r.proved.problem}\n" for r in rows if r.proved.problem]
    reasons += [f"- certificate of {r.seed}: {r.checked.problem}\n" for r in rows if r.checked and r.checked.problem]
    return "".join(["What is not, and why:\n\n", *reasons, "\n"] if reasons else [])


def cells(row: DrawnRow) -> list[str]:
    """Returns the cells of a student: the answers of prover and checker, each with its CPU time and memory."""
    p, c = row.proved, row.checked
    said = _short(p.problem) or (f"{p.exact} cycles" if p.exact is not None else f"at most {p.bound} cycles")
    holds = "" if c is None else "holds" if c.bound is None else f"holds, at most {c.bound} cycles"
    answer = "" if c is None else _short(c.problem) or f"{holds}, {c.paths} paths, {c.questions} questions"
    spent = [f"{x.seconds:.1f} s, {x.mebibytes} MiB" if x else "" for x in (p, c)]
    return [str(row.seed), row.student, said, spent[0], answer, spent[1]]


def _short(reason: str) -> str:
    reason = reason.replace("|", "/").replace("\n", " ")
    return reason if len(reason) <= MAX_CHARACTERS else f"{reason[: MAX_CHARACTERS - 3]}..."


if __name__ == "__main__":
    sys.exit(main())
