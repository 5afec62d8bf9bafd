"""The table: what became of each student, and how many of them are proved."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import drawn as package
from bench.drawn.judged import How, Row, judged
from bench.papers.found import table
from decision.documents import write_atomically
from decision.errors import InputError

PAGE = Path(__file__).parents[2] / "docs" / "generated" / "drawn.md"
MOST = 90
"""Characters of a reason in the table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    how = How()
    parser = argparse.ArgumentParser(
        prog="python -m bench.drawn", description=package.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=_seeds, default=range(100), metavar="FIRST-LAST", help="which students; 0-99")
    parser.add_argument("--profile", default=how.profile)
    parser.add_argument("--compiler", default=how.compiler)
    parser.add_argument("--opt", default=how.opt)
    parser.add_argument("--form", default=how.form, help="of the emitted trees")
    parser.add_argument("--prover-seconds", type=int, default=how.prover_seconds, help="CPU time of a proof; 60")
    parser.add_argument("--checker-seconds", type=int, default=how.checker_seconds, help="CPU time of a check; 120")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = vars(parser.parse_args(arguments))
    seeds, out = options.pop("seeds"), options.pop("out")
    how, rows = How(**options), list[Row]()
    try:
        for seed in seeds:
            rows.append(judged(seed, how))
            print(" | ".join(cells(rows[-1])), flush=True)
        write_atomically(out, page(rows, how))
    except InputError as error:
        print(f"drawn: {error}", file=sys.stderr)
        return 2
    return 0


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def page(rows: Sequence[Row], how: How) -> str:
    """As Markdown: the counts, then a row a student."""
    exact = sum(1 for r in rows if not r.proved.problem and r.proved.exact is not None)
    bounded = sum(1 for r in rows if not r.proved.problem and r.proved.exact is None)
    held = sum(1 for r in rows if r.checked and not r.checked.problem)
    return f"""# How many drawn students are proved
Made by `python -m bench.drawn`. Do not edit it.

Students {rows[0].seed} to {rows[-1].seed} of `bench/drawn/students.py`, {how.profile}, {how.compiler} {how.opt}, form
{how.form}. A proof (with the calibration of the cost model) may take {how.prover_seconds} s of CPU, a check of its
certificate {how.checker_seconds} s.

- proved, worst case exact: {exact} of {len(rows)}
- proved, worst case bounded: {bounded}
- not proved: {len(rows) - exact - bounded}
- certificate holds: {held} of {exact + bounded}

{table(["seed", "student", "prover", "CPU", "checker", "CPU"], [cells(r) for r in rows])}"""


def cells(row: Row) -> list[str]:
    """Of a student: the answers of prover and checker, each with its CPU time and memory."""
    p, c = row.proved, row.checked
    said = _short(p.problem) or (f"{p.exact} cycles" if p.exact is not None else f"at most {p.bound} cycles")
    answer = "" if c is None else _short(c.problem) or f"holds, {c.paths} paths, {c.questions} questions"
    spent = [f"{x.seconds:.1f} s, {x.mebibytes} MiB" if x else "" for x in (p, c)]
    return [str(row.seed), row.student, said, spent[0], answer, spent[1]]


def _short(reason: str) -> str:
    reason = reason.replace("|", "/").replace("\n", " ")
    return reason if len(reason) <= MOST else f"{reason[: MOST - 3]}..."


if __name__ == "__main__":
    sys.exit(main())
