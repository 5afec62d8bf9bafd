"""A task on its way to another machine: pickled, and beside it the files that it names, each once by its content.

A path in a task stands for what is there (netsim.content): a shared library, a firmware folder. Over there it is a path
to the same bytes, for as long as the task runs. A path where nothing is stays as it is.
"""

import io
import pickle
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decision.artefact import temporary
from decision.artefact.manifest import sha256


@dataclass(frozen=True)
class Packed:
    """``files``: what the paths in ``pickled`` lead to, by the hash that stands there in their place."""

    pickled: bytes
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Packing:
    """Packing of many values; a path that several name is read once."""

    read: dict[Path, tuple[str, bytes]] = field(default_factory=dict)

    def packed(self, value: object) -> Packed:
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, self.read)
        pickler.dump(value)
        return Packed(buffer.getvalue(), pickler.files)


@contextmanager
def unpacked(packed: Packed) -> Iterator[Any]:
    """The value; its files are there until the end. They lie in the same place whenever this process unpacks them."""
    folder = temporary.steady()
    try:
        for name, held in packed.files.items():
            for place, data in pickle.loads(held).items():
                file = folder / name / place
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        yield _Unpickler(io.BytesIO(packed.pickled), folder).load()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, read: dict[Path, tuple[str, bytes]]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.read = read
        self.files: dict[str, bytes] = {}

    def persistent_id(self, value: object) -> tuple[str, str] | None:
        if not isinstance(value, Path) or not value.exists():
            return None
        if value not in self.read:
            held = _held(value)
            self.read[value] = sha256(held), held
        name, self.files[name] = self.read[value]
        return name, value.name


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, folder: Path) -> None:
        super().__init__(file)
        self.folder = folder

    def persistent_load(self, place: Any) -> Path:
        name, file = place
        return self.folder / str(name) / str(file)


def _held(path: Path) -> bytes:
    """A file, or all files of a folder, by their places in its parent's folder."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    return pickle.dumps({str(file.relative_to(path.parent)): file.read_bytes() for file in files})
