"""The user's cache folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.system_errors import probe

ELSEWHERE = "set XDG_CACHE_HOME to a folder that you may write and that has room"


@contextmanager
def private_cache() -> Iterator[None]:
    """While it lasts nothing is taken from the user's cache, by this process and those that it starts: cores are built
    anew, and compilers begin with nothing."""
    before = os.environ.get("XDG_CACHE_HOME")
    with temporary.folder() as folder:
        os.environ["XDG_CACHE_HOME"] = str(folder)
        try:
            yield
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/rlcc, or ~/.cache/rlcc."""
    root = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (root if root.is_absolute() else Path.home() / ".cache") / "rlcc"
    except RuntimeError:
        raise InputError(f"there is no home folder for the cache (HOME is not set); {ELSEWHERE}") from None


def check_writable() -> None:
    """InputError where the cache folder takes nothing: no compiler runs without it."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe(folder)
    except OSError as error:
        raise InputError(unwritable(error)) from None


def unwritable(error: OSError) -> str:
    return f"cannot write the cache folder {cache_folder()}: {(error.strerror or '').lower()}; {ELSEWHERE}"
