"""Output: a file, or an artefact's folder with its manifest, written whole or not at all."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import FORMAT, FORMATS, NAME, artefact_hash, sha256
from decision.artefact.system_errors import writing_to
from decision.artefact.temporary import REPLACED_SUFFIX, file_beside, folder_beside, sweep


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a whole file or nothing: a temporary file beside it, then a rename."""
    data = content.encode() if isinstance(content, str) else content
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = file_beside(path)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            beside.chmod(0o644)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


@contextmanager
def writing(
    folder: Path,
    kind: str,
    *,
    parents: Mapping[str, str] | None = None,
    tools: tuple[str, ...] = (),
    seed: int | None = None,
    details: dict[str, Any] | None = None,
) -> Iterator[Path]:
    """Write an artefact: fill the yielded folder; it gets its manifest and takes ``folder``'s place when all is well.

    ``details`` may be filled while writing. An existing folder is replaced only if it is an artefact of the same kind.
    """
    check_place(folder, kind)
    with writing_to(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = folder_beside(folder)
    try:
        with writing_to(folder, work):
            yield work
            _finish(work, folder, kind, parents or {}, tools, seed, details or {})
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _finish(
    work: Path,
    folder: Path,
    kind: str,
    parents: Mapping[str, str],
    tools: tuple[str, ...],
    seed: int | None,
    details: Mapping[str, Any],
) -> None:
    """Give the filled folder its manifest, and the place of ``folder``."""
    files = {str(p.relative_to(work)): sha256(p.read_bytes()) for p in sorted(work.rglob("*")) if p.is_file()}
    content = {
        "format": FORMATS.get(kind, FORMAT),
        "kind": kind,
        "hash": artefact_hash(kind, files, parents, details, seed),
        "files": files,
        "parents": dict(parents),
        "tools": {tool: metadata.version(tool) for tool in tools},
        "seed": seed,
        "details": details,
    }
    write_atomically(work / NAME, dump_json(content))
    work.chmod(0o755)
    if not folder.exists():
        work.rename(folder)
        return
    # The old one steps aside first: at no time is it half deleted under its own name.
    old = folder_beside(folder, REPLACED_SUFFIX)
    folder.rename(old / "replaced")
    work.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def check_place(folder: Path, kind: str) -> None:
    """InputError where ``folder`` holds something that an artefact of this kind must not replace. Asked before long
    work begins, and again when it is written. Leftovers of a killed run next to it are removed."""
    sweep(folder.parent)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is not a folder; choose another place for the {kind}")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        there = load_json(folder / NAME).get("kind")
    except (InputError, AttributeError):
        there = None
    if there != kind:
        raise InputError(f"{folder} holds something other than a {kind} of rlcc; choose an empty folder")
