"""docs/results/forge.md: what became of all forgeries, by document and field, and each acceptance with its reason."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from bench.forge.results import WRONG, ForgeryRow, shown
from bench.forge.session import NAMES
from bench.forge.subjects import ForgerySubject
from rlcc.origin import made_by
from rlcc.reports.pages import table

Name = TypeVar("Name")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "forge.md"
HEADING = ["refused", "equal", "weaker", "no claim", *WRONG]


def page(rows: Sequence[ForgeryRow], subjects: Sequence[ForgerySubject], options: argparse.Namespace) -> str:
    """The page as Markdown."""
    counts = Counter(row.outcome for row in rows)
    seconds = sum(row.seconds for row in rows)
    return f"""# What becomes of forgeries
{made_by(_command(options))}

{len(rows):,} forgeries of {len(subjects)} subjects: {counts["FALSE"]} false statements accepted, {counts["crashed"]}
crashes. {seconds / 60:.0f} min of CPU. [Forgeries](../explanation/soundness.md#forgeries) says what is edited, and who
judges.

- refused: exit code 1 or 2 of every judge
- equal: accepted, and the same statement in other words
- weaker: accepted, and implied by the true statement
- no claim: accepted, and about a field that a page says is none
- FALSE: accepted, and none of these

## By document
{table(["document", "forgeries", *HEADING], _by_document(rows))}
## By subject
{table(["subject", "agent", "forgeries", *HEADING], _by_subject(rows, subjects))}
## Accepted, and why
{table(["document", "field", "judge", "forgeries", "meaning", "reason"], _accepted(rows))}
## By field
{table(["document", "field", "forgeries", *HEADING], _by_field(rows))}
{_wrong(rows)}"""


def _command(options: argparse.Namespace) -> str:
    """Returns the command that made the page, as far as it is not the usual one."""
    usual = {"documents": ",".join(NAMES), "limit": 0, "places": 2, "seed": 1, "kept": False}
    words = [f"--{name} {getattr(options, name)}" for name in usual if getattr(options, name) != usual[name]]
    said = [word.removesuffix(" True") if word.startswith("--kept") else word for word in words]
    return " ".join(["python -m bench.forge", *options.subject, *said])


def _cells(rows: Iterable[ForgeryRow]) -> list[str]:
    counts = Counter(row.outcome for row in rows)
    return [str(sum(counts.values())), *(str(counts[name]) for name in HEADING)]


def _groups(rows: Iterable[ForgeryRow], of: Callable[[ForgeryRow], Name]) -> dict[Name, list[ForgeryRow]]:
    groups: dict[Name, list[ForgeryRow]] = {}
    for row in rows:
        groups.setdefault(of(row), []).append(row)
    return groups


def _by_document(rows: Sequence[ForgeryRow]) -> list[list[str]]:
    return [[name, *_cells(group)] for name, group in _groups(rows, lambda row: row.document).items()]


def _by_subject(rows: Sequence[ForgeryRow], subjects: Sequence[ForgerySubject]) -> list[list[str]]:
    groups = _groups(rows, lambda row: row.subject)
    return [[subject.name, subject.agent, *_cells(groups.get(subject.name, []))] for subject in subjects]


def _by_field(rows: Sequence[ForgeryRow]) -> list[list[str]]:
    edited = [row for row in rows if not row.document.startswith("mutants")]
    groups = _groups(edited, lambda row: (row.document, _short(row.field)))
    return [[document, field, *_cells(group)] for (document, field), group in groups.items()]


def _accepted(rows: Sequence[ForgeryRow]) -> list[list[str]]:
    answers = [(row, a) for row in rows for a in row.answers if a["outcome"] == "accepted"]
    counts = Counter((r.document, _short(r.field), a["judge"], a["meaning"], a["reason"]) for r, a in answers)
    return [[d, f, j, str(n), m, why] for (d, f, j, m, why), n in sorted(counts.items())]


def _short(field: str) -> str:
    """The first two steps of a field: tables of many are one."""
    return ".".join(field.split(".")[:2])


def _wrong(rows: Sequence[ForgeryRow]) -> str:
    wrong = [shown(row) for row in rows if row.outcome in WRONG]
    return "".join(["## False, and crashed\n```text\n", *(f"{one}\n" for one in wrong), "```\n"] if wrong else [])
