"""Temporary folders and files whose names say whose they are: what a killed run left is removed by the next.

    .student.rlcc-4242-918273-1f3a9c20-k2x9q0_a       process 4242, which started 918273 ticks after this boot

A process is told by its number, its start and the boot and PID namespace that both belong to: what lives, also in a
container or on a machine that shares the folder, keeps its own.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.system_errors import check_room

PROC = Path("/proc")
MARK = re.compile(r"(?P<of>.*)rlcc-(?P<pid>\d+)-(?P<start>\d+)-(?P<where>[0-9a-f]{8})-[a-z0-9_]{8}", re.DOTALL)
REPLACED_SUFFIX = ".replaced."
"""In the name of what has made room for something new: it goes back where a run was killed just then."""


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix=_mark(), dir=place(), ignore_cleanup_errors=True) as name:
        yield Path(name)


def steady() -> Path:
    """The folder, not made, that this process gives the same name whenever it makes it."""
    return place() / f"{_mark()}steadily"


def place() -> Path:
    """Returns the folder of temporary files (TMPDIR, else /tmp), without those of runs that are gone. InputError says
    why there is none."""
    try:
        base = Path(tempfile.gettempdir())
    except FileNotFoundError:
        usual = Path(os.environ.get("TMPDIR", "/tmp"))
        check_room(usual)
        raise InputError(f"{usual}: temporary files cannot be written there; set TMPDIR to another folder") from None
    sweep(base)
    return base


def folder_beside(target: Path, what: str = ".") -> Path:
    """A new folder in the one of ``target``, under a name of its own."""
    sweep(target.parent)
    return Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}{what}{_mark()}"))


def file_beside(target: Path) -> tuple[int, Path]:
    """A new file in the folder of ``target``: its open descriptor, its name."""
    sweep(target.parent)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.{_mark()}")
    return handle, Path(name)


@cache
def sweep(parent: Path) -> None:
    """Remove from the folder what runs have left there that are gone; once a process."""
    with suppress(OSError):
        for left in parent.iterdir():
            mark = MARK.fullmatch(left.name)
            if mark is not None and _gone(mark) and left.lstat().st_uid == os.geteuid():
                if mark["of"].endswith(REPLACED_SUFFIX):
                    _back(left, parent / mark["of"][1 : -len(REPLACED_SUFFIX)])
                _remove(left)


def _back(left: Path, target: Path) -> None:
    """Moves the replaced folder back to its place, unless something else has it."""
    for old in left.iterdir():
        if not target.exists():
            old.rename(target)


def _remove(left: Path) -> None:
    if left.is_dir() and not left.is_symlink():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def _gone(mark: re.Match[str]) -> bool:
    return mark["where"] == _where() and _start(int(mark["pid"])) != int(mark["start"])


def _mark() -> str:
    pid = os.getpid()
    return f"rlcc-{pid}-{_start(pid)}-{_where()}-"


def _start(pid: int) -> int:
    """When the process started, in clock ticks since the boot; -1 where there is none, or one that has ended."""
    try:
        # The first thread's file: in the process's own, QEMU's user mode tells that process another time than others.
        state, *rest = (PROC / str(pid) / "task" / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return -1 if state in "ZX" else int(rest[18])


@cache
def _where() -> str:
    """The boot and the PID namespace that process numbers belong to."""
    boot = (PROC / "sys/kernel/random/boot_id").read_text()
    return hashlib.sha256(f"{boot} {(PROC / 'self/ns/pid').stat().st_ino}".encode()).hexdigest()[:8]
