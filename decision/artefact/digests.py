"""Facts about source files, kept in the user's cache folder by the content of each file.

A process then parses only the files that changed since the last one. Anyone who can write to the cache folder can
change its facts (docs/explanation/soundness.md, A3).
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from decision.artefact.cache import cache_folder
from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from decision.artefact.output import write_atomically

Facts = list[str]
"""The SHA-256 of what determines results, then the imported names of a Python file."""


class Digests:
    """Facts by content. ``find`` computes those of a file's path and bytes; ``source``: the file of its code."""

    def __init__(self, find: Callable[[Path, bytes], Facts], source: Path) -> None:
        self._find = find
        self._code = _code_hash(source)
        self._source = source
        self._facts: dict[str, Facts] | None = None
        self._new = False

    def of(self, path: Path) -> Facts:
        """Returns the facts of a file; OSError if it cannot be read."""
        content = path.read_bytes()
        key = f"{path.stem == '__init__'} {path.suffix} {sha256(content)}"
        if self._facts is None:
            self._facts = self._read()
        if key not in self._facts:
            self._facts[key] = self._find(path, content)
            self._new = True
        return self._facts[key]

    def save(self) -> None:
        """Adds what is new to the file, unless the code was replaced while this process ran. A cache that cannot be
        written costs time, no more."""
        if self._new and self._code == _code_hash(self._source):
            self._new = False
            with suppress(OSError, InputError):
                write_atomically(self._file(), dump_json(self._read() | dict(self._facts or {})))

    def _file(self) -> Path:
        return cache_folder() / "sources" / f"{self._code}.json"

    def _read(self) -> dict[str, Facts]:
        try:
            data = load_json(self._file())
        except InputError:
            return {}
        return data if isinstance(data, dict) and all(map(_is_facts, data.values())) else {}


def _is_facts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


def _code_hash(source: Path) -> str:
    return sha256(sys.version.encode() + source.read_bytes() + Path(__file__).read_bytes())
