"""The user's cache folder, and things built into it once: built aside, then renamed, so that builders never collide."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from decision.errors import InputError


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/rlcc, or ~/.cache/rlcc."""
    root = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = root if root.is_absolute() else Path.home() / ".cache"
    return base / "rlcc"


def built_once(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder cache/kind/key. If it is not there, ``build`` fills a temporary folder, which is then renamed.

    Two builders may both build; the first rename wins, the other's folder is thrown away, and both see the same content
    because the key is the hash of all that goes in.
    """
    target = cache_folder() / kind / key
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    except OSError as error:
        raise InputError(
            f"cannot write the cache folder {target.parent}: {error.strerror}; "
            "set XDG_CACHE_HOME to a folder you may write"
        ) from error
    try:
        build(work)
        try:
            work.rename(target)
        except OSError:
            if not target.is_dir():  # not another builder's: a real failure
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target
