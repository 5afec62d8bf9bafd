"""Things built once into the cache folder: built aside, then renamed, so that builders never collide."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from decision.artefact.cache import cache_folder, unwritable
from decision.artefact.errors import InputError
from decision.artefact.temporary import folder_beside, sweep

HASHES = "contents.sha256"
"""In a folder that was built: the SHA-256 of each other file, under the folder's key."""


def built_once(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder cache/kind/key. If it is not there, ``build`` fills a temporary folder, which is then renamed.

    Two builders may both build; the first rename wins, the other's folder is thrown away, and both see the same content
    because the key is the hash of all that goes in. The built folder is hashed, and hashed again before each use: a
    folder that has changed is built again.
    """
    target = cache_folder() / kind / key
    sweep(target.parent)
    if target.is_dir():
        if _whole(target, key):
            return target
        shutil.rmtree(target, ignore_errors=True)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = folder_beside(target)
    except OSError as error:
        raise InputError(unwritable(error)) from error
    try:
        build(work)
        (work / HASHES).write_text(_hashes(work, key))
        try:
            work.rename(target)
        except OSError:
            if not _whole(target, key):  # not another builder's: a real failure
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def was_built(kind: str, key: str) -> bool:
    """Whether the folder cache/kind/key is there; ``built_once`` checks its content."""
    return (cache_folder() / kind / key).is_dir()


def _hashes(folder: Path, key: str) -> str:
    """A line with the key, then one a file: what ``HASHES`` holds. A link counts as what it leads to."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / HASHES]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}" for path in files]
    return "\n".join([key, *lines]) + "\n"


def _whole(folder: Path, key: str) -> bool:
    """Whether a folder holds what was built into it."""
    try:
        return (folder / HASHES).read_text() == _hashes(folder, key)
    except (OSError, UnicodeDecodeError):
        return False
