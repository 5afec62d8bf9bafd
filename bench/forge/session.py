"""One subject through all its forgeries: written into a copy, judged, explained, undone."""

import random
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.forge.documents import DOCUMENTS, Forgery, chosen, forgeries, parsed
from bench.forge.judges import Answer, Files
from bench.forge.results import Row
from bench.forge.subjects import Subject, copy_of
from bench.forge.truth import Case, explained


def drawn(subject: Subject, names: Iterable[str], seed: int, limit: int, most: int) -> Iterator[Forgery]:
    """Forgeries of the named documents, at most ``limit`` of each document; the same for the same seed."""
    for name in names:
        draw = random.Random(f"{seed} {subject.name} {name}")
        yield from chosen(list(forgeries(subject, name, draw, most)), limit, draw)


def judged(subject: Subject, forgery: Forgery, place: Path) -> Row:
    """Write a forgery among copies of the true documents, ask its judges, put the true ones back."""
    begin = time.process_time()
    files = Files(place)
    row = Row(subject.name, forgery.document, forgery.field, list(forgery.path), forgery.edit, forgery.sealed)
    try:
        forgery.write(files)
        for judge in forgery.judges:
            row.answers.append(_answered(subject, forgery, files, judge(files)))
    finally:
        restore(subject, place)
    return Row(**{**vars(row), "seconds": time.process_time() - begin})


def _answered(subject: Subject, forgery: Forgery, files: Files, answer: Answer) -> dict[str, Any]:
    meaning = reason = ""
    if answer.outcome == "accepted":
        document = DOCUMENTS[forgery.document]
        true, false = (parsed(document, document.file(f).read_bytes()) for f in (subject.files, files))
        case = Case(subject, forgery.document, forgery.path, forgery.edit, true, false, files, answer)
        found = explained(case)
        meaning, reason = found.meaning, found.reason
    kept = asdict(answer)
    kept.pop("rows")
    return {**kept, "meaning": meaning, "reason": reason}


def restore(subject: Subject, place: Path) -> None:
    """The true documents again, where any differs."""
    for path in [p for p in place.rglob("*") if not p.is_dir() or p.is_symlink()]:
        true = subject.files.root / path.relative_to(place)
        if path.is_symlink() or not true.is_file() or not path.is_file() or path.read_bytes() != true.read_bytes():
            path.unlink()
    for true in subject.files.root.rglob("*"):
        path = place / true.relative_to(subject.files.root)
        if true.is_dir():
            path.mkdir(exist_ok=True)
        elif not path.exists():
            shutil.copy(true, path)


def prepared_copy(subject: Subject, folder: Path) -> Path:
    """Where a subject's forgeries are written."""
    place = folder / f"{subject.name}.forged"
    copy_of(subject, place)
    return place
