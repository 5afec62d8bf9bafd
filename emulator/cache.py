"""The user's cache folder, and things built into it once: built aside, then renamed, so that builders never collide."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from decision.errors import InputError
from decision.system_errors import probe
from decision.temporary import folder_beside, sweep

ELSEWHERE = "set XDG_CACHE_HOME to a folder that you may write and that has room"


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


def built_once(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder cache/kind/key. If it is not there, ``build`` fills a temporary folder, which is then renamed.

    Two builders may both build; the first rename wins, the other's folder is thrown away, and both see the same content
    because the key is the hash of all that goes in.
    """
    target = cache_folder() / kind / key
    sweep(target.parent)
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = folder_beside(target)
    except OSError as error:
        raise InputError(unwritable(error)) from error
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
