"""Things built once into the cache folder: built aside, then renamed, so that builders never collide."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from decision.artefact.cache import cache_folder, unwritable
from decision.artefact.errors import InputError
from decision.artefact.temporary import folder_beside, sweep

HASHES = "contents.sha256"
"""In a folder that was built: the SHA-256 of each other file, under the folder's key."""


def built_once(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder cache/kind/key. If it is not there, ``build`` fills a temporary folder, which is then renamed.

    A second builder of a kind waits for the first, whatever its key. On a file system without locks both build; the
    first rename wins, the other's folder is thrown away, and both see the same content because the key is the hash of
    all that goes in. The built folder is hashed, and hashed again before each use: a folder that has changed is built
    again.
    """
    target = cache_folder() / kind / key
    sweep(target.parent)
    if _whole(target, key):
        return target
    with _locked(target.parent):
        if not _whole(target, key):
            shutil.rmtree(target, ignore_errors=True)
            _built(target, key, build)
    return target


def _built(target: Path, key: str, build: Callable[[Path], None]) -> None:
    """Builds next to the target, then renames."""
    try:
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


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Makes the folder. No other process, or thread, has its lock while the block runs; the system frees the lock of a
    process that ends, however it does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise InputError(unwritable(error)) from error
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked meanwhile has it too
        os.close(handle)


def was_built(kind: str, key: str) -> bool:
    """Whether the folder cache/kind/key is there, with what was built into it."""
    return _whole(cache_folder() / kind / key, key)


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
