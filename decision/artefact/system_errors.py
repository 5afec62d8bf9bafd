"""Errors of the system, as a sentence that names the cause and how to mend it: the one place that knows its codes.

A full disk, a folder that may not be written, a limit of the process are nobody's defect. Python tells them as OSError,
compilers and libraries in words of their own; who asks gets the same sentence.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decision.artefact.errors import InputError

ANOTHER = "choose another place"
MENDS = {
    errno.ENOSPC: "free room there, or choose another place",
    errno.EDQUOT: "free room there, or choose another place",
    errno.EFBIG: "raise the limit of a file's size (`ulimit -f`)",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "let other programs close some",
    errno.ENOMEM: "give it more memory, or fewer processes (PYTHON_CPU_COUNT)",
    errno.EAGAIN: "raise the limit of processes (`ulimit -u`), or give fewer (PYTHON_CPU_COUNT)",
    errno.EIO: "look after the disk",
    errno.ESTALE: "look after the network's file system",
    errno.ENODEV: ANOTHER, errno.ENXIO: ANOTHER, errno.EINVAL: ANOTHER, errno.EBUSY: ANOTHER, errno.ELOOP: ANOTHER,
    errno.EACCES: ANOTHER, errno.EPERM: ANOTHER, errno.EROFS: ANOTHER, errno.ENOENT: ANOTHER, errno.ENOTDIR: ANOTHER,
    errno.EISDIR: ANOTHER, errno.EEXIST: ANOTHER, errno.ENOTEMPTY: ANOTHER, errno.ENAMETOOLONG: ANOTHER,
    errno.ETXTBSY: ANOTHER, errno.EXDEV: ANOTHER,
}  # fmt: skip
"""How to mend what is not rlcc's: by the system's code."""

SHORT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS, errno.EIO)
"""What others' sentences are searched for; a file that is not there has many causes."""
ZIG = {
    "NoSpaceLeft": errno.ENOSPC, "DiskQuota": errno.EDQUOT, "FileTooBig": errno.EFBIG, "AccessDenied": errno.EACCES,
    "ReadOnlyFileSystem": errno.EROFS, "ProcessFdQuotaExceeded": errno.EMFILE, "SystemResources": errno.ENOMEM,
}  # fmt: skip
"""Its words."""
PROBE_BYTES = 65536
NOBODYS = "a file that the system does not name"


def refusal(error: BaseException) -> str | None:
    """The sentence; None where it is no refusal of the system."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory; {MENDS[errno.ENOMEM]}"
    if isinstance(error, OSError) and error.errno in MENDS and (error.filename is not None or error.errno in SHORT):
        return sentence(error.errno, error.filename or NOBODYS)
    text = " ".join(str(error).split())
    if "can't start new thread" in text:
        return f"no further thread can be started; {MENDS[errno.EAGAIN]}"
    code = cause(text)
    return None if code is None else f"{text}: {MENDS[code]}"


def sentence(code: int, place: object) -> str:
    return f"{place}: {os.strerror(code).lower()}; {MENDS[code]}"


def cause(text: str) -> int | None:
    """The system's code that somebody else's sentence tells of."""
    words = {os.strerror(code): code for code in SHORT} | ZIG
    return next((code for word, code in words.items() if word in text), None)


@contextmanager
def writing_to(place: Path, work: Path | None = None) -> Iterator[None]:
    """An error while ``place`` is written, in the temporary ``work`` next to it, names ``place``; an error of another
    file names that file."""
    try:
        yield
    except OSError as error:
        within = (work or place.parent).absolute()
        if error.filename is None or Path(error.filename).absolute().is_relative_to(within):
            error.filename = str(place)
        raise


def check_room(*folders: Path) -> None:
    """InputError where one of the folders, which are there, takes nothing more: asked when a tool that writes there has
    failed."""
    for folder in folders:
        try:
            probe(folder)
        except OSError as error:
            if error.errno in MENDS:
                raise InputError(sentence(error.errno, folder)) from None


def probe(folder: Path) -> None:
    """OSError where nothing can be written there."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(PROBE_BYTES))
        file.flush()
