"""The command: prepare subjects, forge, judge, write the page; exit code 1 where a false statement was accepted."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from bench import forge as package
from bench.forge import results
from bench.forge.memory import ForgeryMemory, remembering
from bench.forge.own_subjects import MAKERS, made
from bench.forge.page import PAGE, page
from bench.forge.results import WRONG, ForgeryResults, ForgeryRow
from bench.forge.session import NAMES, asked_again, drawn, judged, prepared_copy
from bench.forge.subjects import MADE, ForgerySubject, finished, from_run
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically

WORK = Path("build") / "forge"


def main(arguments: Sequence[str] | None = None) -> int:
    """0: no false statement was accepted and no judge crashed; 1: some; 2: could not run, with a sentence on why."""
    options = _parser().parse_args(arguments)
    try:
        return _forge(options)
    except InputError as error:
        print(f"forge: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.forge", description=package.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subject", nargs="*", help=f"runs by name, and {', '.join(MAKERS)}; all")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="finished runs; runs")
    parser.add_argument("--work", type=Path, default=WORK, help=f"subjects and results; {WORK}")
    parser.add_argument("--prepare", action="store_true", help="only make subjects ready")
    parser.add_argument("--documents", default=",".join(NAMES), help="which, with commas between; all")
    parser.add_argument("--limit", type=int, default=0, help="forgeries of a document; 0: every one")
    parser.add_argument("--places", type=int, default=2, help="places of a field that are edited; 2")
    parser.add_argument("--seed", type=int, default=1, help="of the draws; 1")
    parser.add_argument("--sample", type=int, default=5, help="of a subject, asked of the command line as well; 5")
    parser.add_argument("--kept", action="store_true", help="judge nothing: only what was judged before, by this code")
    parser.add_argument("--fresh", action="store_true", help="take no earlier results")
    parser.add_argument("--out", type=Path, help=f"the page; {PAGE} of all subjects")
    return parser


def _forge(options: argparse.Namespace) -> int:
    memory = ForgeryMemory()
    with remembering(memory):
        subjects = [_subject(name, options) for name in options.subject or _all(options.runs)]
        if options.prepare:
            return 0
        rows = [row for subject in subjects for row in _through(subject, subjects, options)]
    for row in rows:
        if row.outcome in WRONG:
            print(results.shown(row))
    out = options.out or (None if options.subject else PAGE)
    if out is not None:
        write_atomically(out, page(rows, subjects, options).encode())
    print(results.summary(rows))
    return 1 if any(row.outcome in WRONG for row in rows) else 0


def _all(runs: Path) -> list[str]:
    there = sorted(run.name for run in runs.glob("*") if (run / "verdict" / "verdict.json").is_file())
    return [*MAKERS, *there]


def _subject(name: str, options: argparse.Namespace) -> ForgerySubject:
    if options.kept:
        place = options.work / (f"{name}{MADE}/{name}" if name in MAKERS else name)
        subject = finished(place)
        if subject is None:
            raise InputError(f"{place} holds no subject that was forged before; leave out --kept")
        return subject
    if name in MAKERS:
        return made(name, options.work, _say)
    return from_run(options.runs / name, options.work, _say)


def _through(subject: ForgerySubject, subjects: list[ForgerySubject], options: argparse.Namespace) -> list[ForgeryRow]:
    """Every drawn forgery of a subject; those that were judged before, of the same code, are taken from the results."""
    names = options.documents.split(",")
    if unknown := [name for name in names if name not in NAMES]:
        raise InputError(f"there is no document {unknown[0]!r}; choose among {', '.join(NAMES)}")
    others = [other for other in subjects if other is not subject]
    found = list(drawn(subject, others, names, options.seed, options.limit, options.places))
    kept = ForgeryResults(options.work / f"{subject.name}.jsonl", fresh=options.fresh)
    place = options.work if options.kept else prepared_copy(subject, options.work)
    rows, begin, fresh = [], time.monotonic(), 0
    for number, forgery in enumerate(found):
        row = kept.of(subject, forgery)
        if row is None and options.kept:
            continue
        if row is None:
            row = judged(subject, forgery, place)
            kept.add(subject, row)
            fresh += 1
        rows.append(row)
        if fresh and number % 50 == 49:
            left = (time.monotonic() - begin) / fresh * (len(found) - number - 1)
            _say(f"{subject.name}: {number + 1} of {len(found)}, about {left / 60:.0f} min left")
    if options.kept:
        return rows
    sample = Random(options.seed).sample(range(len(found)), min(options.sample, len(found)))
    again = asked_again(subject, [found[n] for n in sample], [rows[n] for n in sample], place)
    return [*rows, *again]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
