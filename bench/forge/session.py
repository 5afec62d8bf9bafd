"""One subject through all its forgeries: written into a copy, judged, explained, undone."""

import random
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.forge.documents import BESIDE, DOCUMENTS, ForgedDocument, Forgery, chosen, forgeries, parsed
from bench.forge.files import file_forgeries
from bench.forge.judges import COMMANDS, FURTHER, Files, JudgeAnswer, in_a_process, read
from bench.forge.limits import limits
from bench.forge.mutants import code_mutants, data_mutants
from bench.forge.results import DISAGREED, ForgeryRow
from bench.forge.subjects import ForgerySubject, copy_of
from bench.forge.truth import TruthCase, explained
from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError

NAMES = (*DOCUMENTS, *BESIDE)
MUTANTS = 40
"""Of data, and of code, of a subject, where no limit is given."""


WALKS = 4
"""Forgeries of a document that have the checker walk all code anew, where such a walk takes long."""


def drawn(
    subject: ForgerySubject, others: Sequence[ForgerySubject], names: Iterable[str], seed: int, limit: int, most: int
) -> Iterator[Forgery]:
    """Forgeries of the named documents, at most ``limit`` of each document (0: all); the same for the same seed."""
    for name in names:
        draw = random.Random(f"{seed} {subject.name} {name}")
        if name == "files":
            yield from chosen(list(file_forgeries(subject, others, draw)), limit, draw)
        elif name == "limits":
            yield from limits(subject)
        elif name == "mutants of data":
            yield from data_mutants(subject, limit or MUTANTS, draw)
        elif name == "mutants of code":
            yield from code_mutants(subject, limit or MUTANTS, draw)
        else:
            walked = None if subject.small else WALKS
            yield from chosen(list(forgeries(subject, name, draw, most)), limit, draw, walked)


def judged(subject: ForgerySubject, forgery: Forgery, place: Path) -> ForgeryRow:
    """Write a forgery among copies of the true documents, ask its judges, put the true ones back."""
    begin = time.process_time()
    files = Files(place)
    row = ForgeryRow(subject.name, forgery.document, forgery.field, list(forgery.path), forgery.edit, forgery.sealed)
    try:
        written = _written(forgery, files)
        if written.outcome != "accepted":
            row.answers.append(_answered(subject, forgery, files, written))
        answer = written
        for judge in forgery.judges if written.outcome == "accepted" else ():
            if judge not in FURTHER or answer.outcome == "accepted":
                answer = judge(files)
                row.answers.append(_answered(subject, forgery, files, answer))
    finally:
        restore(subject, place)
    return ForgeryRow(**{**vars(row), "seconds": time.process_time() - begin})


def _written(forgery: Forgery, files: Files) -> JudgeAnswer:
    """A forgery that cannot be written, as a student that nothing can be emitted of, is refused there."""

    def write() -> str:
        forgery.write(files)
        return forgery.edit

    return read("written", write)


def asked_again(
    subject: ForgerySubject, forgeries: Sequence[Forgery], rows: Sequence[ForgeryRow], place: Path
) -> list[ForgeryRow]:
    """Returns the rows of forgeries whose judges answer otherwise as commands in processes of their own."""
    differing = []
    for forgery, row in zip(forgeries, rows, strict=True):
        files, answers = Files(place), []
        try:
            if _written(forgery, files).outcome == "accepted":
                for judge in forgery.judges:
                    if judge in COMMANDS:
                        answers.append(in_a_process(COMMANDS[judge](files), "the command line", place.parent / "cache"))
        finally:
            restore(subject, place)
        here = [a["outcome"] for a, judge in zip(row.answers, forgery.judges, strict=False) if judge in COMMANDS]
        if answers and [answer.outcome for answer in answers] != here:
            told = [{**asdict(answer), "meaning": DISAGREED, "reason": ""} for answer in answers]
            differing.append(ForgeryRow(**{**vars(row), "answers": [*row.answers, *told]}))
    return differing


def _answered(subject: ForgerySubject, forgery: Forgery, files: Files, answer: JudgeAnswer) -> dict[str, Any]:
    meaning = reason = ""
    if answer.outcome == "accepted":
        document = (DOCUMENTS | BESIDE)[forgery.document]
        true, false = (_data(document, f) for f in (subject.files, files))
        case = TruthCase(subject, forgery.document, forgery.path, forgery.edit, true, false, files, answer)
        found = explained(case)
        meaning, reason = found.meaning, found.reason
    kept = asdict(answer)
    kept.pop("rows")
    return {**kept, "meaning": meaning, "reason": reason}


def _data(document: ForgedDocument, files: Files) -> Any:
    """A document's data; None where there is none."""
    try:
        return parsed(document, read_bytes(document.file(files)))
    except (InputError, OSError):
        return None


def restore(subject: ForgerySubject, place: Path) -> None:
    """The true documents again, where any differs."""
    for path in [p for p in place.rglob("*") if not p.is_dir() or p.is_symlink()]:
        true = subject.files.root / path.relative_to(place)
        if path.is_symlink() or not (true.is_file() and path.is_file() and _equal(path, true)):
            path.unlink()
    for true in subject.files.root.rglob("*"):
        path = place / true.relative_to(subject.files.root)
        if true.is_file() and path.is_dir():
            shutil.rmtree(path)
        if true.is_dir():
            path.mkdir(exist_ok=True)
        elif not path.exists():
            shutil.copy(true, path)


def _equal(one: Path, other: Path) -> bool:
    """Whether two files have the same bytes; no more is read than the one that is true holds."""
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()


def prepared_copy(subject: ForgerySubject, folder: Path) -> Path:
    """Returns the folder in which a subject's forgeries are written."""
    place = folder / f"{subject.name}.forged"
    copy_of(subject, place)
    return place
