"""Rows of a run as JSON lines: a run that was stopped goes on where it was; rows of other code are not taken."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from dataclasses import field as default
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.forge.documents import Forgery
from bench.forge.subjects import ForgerySubject, hash_of
from decision.artefact.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
CODE = ("decision", "codegen", "emulator", "verify", "rlcc", "teachers", "netsim", "bench/forge")
"""Whose source decides on a row."""
DISAGREED = "disagreed"
"""The command line answers otherwise than the judge in the forger's process."""
WRONG = ("FALSE", "crashed", DISAGREED)
ORDER = (*WRONG, "weaker", "equal", "no claim", "refused")
"""Of outcomes, the worst first."""


@dataclass(frozen=True)
class ForgeryRow:
    """Results of a forgery. ``answers``: judge, outcome, its message, and if it accepted, meaning and reason."""

    subject: str
    document: str
    field: str
    path: list[str | int]
    edit: str
    sealed: bool
    answers: list[dict[str, Any]] = default(default_factory=list)
    seconds: float = 0.0

    @property
    def outcome(self) -> str:
        """The worst of its answers."""
        found = {answer["meaning"] or answer["outcome"] for answer in self.answers}
        return next((one for one in ORDER if one in found), "refused")


class ForgeryResults:
    """Rows by what they are of; ``fresh``: none of an earlier run is taken."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._path, self._rows = path, dict[str, ForgeryRow]()
        if fresh:
            path.unlink(missing_ok=True)
        if path.is_file():
            try:
                for line in path.read_text().splitlines():
                    key, row = json.loads(line)
                    self._rows[key] = ForgeryRow(**row)
            except (ValueError, TypeError) as error:
                raise InputError(f"{path} holds no results of a run ({error}); give --fresh") from None

    def of(self, subject: ForgerySubject, forgery: Forgery) -> ForgeryRow | None:
        """The row of a forgery that was judged before."""
        return self._rows.get(_key(subject, list(forgery.path), forgery.document, forgery.edit, forgery.sealed))

    def add(self, subject: ForgerySubject, row: ForgeryRow) -> None:
        key = _key(subject, row.path, row.document, row.edit, row.sealed)
        self._rows[key] = row
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps([key, asdict(row)]) + "\n")


def _key(subject: ForgerySubject, *parts: Any) -> str:
    return sha256(json.dumps([subject.name, hash_of(subject), code_hash(), *parts]).encode()).hexdigest()


@cache
def code_hash() -> str:
    """Over the source that decides."""
    digest = sha256()
    for package in CODE:
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def shown(row: ForgeryRow) -> str:
    """A false acceptance or a crash, whole."""
    place = "/".join(map(str, row.path)) or row.field
    lines = [f"{row.outcome}: {row.subject} {row.document} {place}: {row.edit}{'' if row.sealed else ', not sealed'}"]
    lines += [f"  {a['judge']}: {a['meaning'] or a['outcome']} {a['said']}" for a in row.answers]
    return "\n".join(lines)


def summary(rows: Iterable[ForgeryRow]) -> str:
    """Counts of outcomes, the worst first, in a line."""
    counts = Counter(row.outcome for row in rows)
    return ", ".join(f"{counts[name]} {name}" for name in ORDER) + f", {sum(counts.values())} forgeries"
