"""Files of a folder that nobody has vouched for: each is opened once, without following links, and read whole.

The folder itself is opened first, and its files from there: renaming it, or a link in its place, changes nothing of
what is read. A file is looked at after it was opened, so nothing can take its place between a check and the reading.
"""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.errors import InputError

PLAIN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
"""A pipe without a writer is opened at once, and then refused."""
INSIDE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Folder:
    """An open folder. ``path`` is how it is called."""

    path: Path
    descriptor: int

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a file in it, ``name`` with plain parts between slashes. InputError where it is not there, not a
        plain file or over the limit, and where the file or a folder on the way is a link."""
        path = self.path / name
        *folders, file = name.split("/")
        at, opened = self.descriptor, list[int]()
        try:
            for folder in folders:
                at = os.open(folder, INSIDE, dir_fd=at)
                opened.append(at)
            return content_of(os.open(file, PLAIN | os.O_NOFOLLOW, dir_fd=at), path, limit)
        except FileNotFoundError:
            raise InputError(f"there is no file {path}") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise InputError(f"{path} is outside the folder or a link; make the folder again") from None
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        finally:
            for folder_descriptor in opened:
                os.close(folder_descriptor)

    def names(self, within: Collection[str]) -> Iterator[str]:
        """All that is in it, with slashes, down to files, links, special files, empty folders and those that are not
        ``within``."""
        try:
            yield from _names(self.descriptor, "", within)
        except OSError as error:  # something in it has become another thing meanwhile
            raise InputError(f"{self.path} cannot be listed: {error.strerror}") from None


@contextmanager
def open_folder(path: Path) -> Iterator[Folder]:
    """The folder, open while the context lasts. InputError where it is none, or a link."""
    try:
        descriptor = os.open(path, INSIDE)
    except OSError as error:
        raise InputError(f"{path} cannot be read as a folder: {error.strerror}") from None
    try:
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _names(descriptor: int, prefix: str, within: Collection[str]) -> Iterator[str]:
    with os.scandir(descriptor) as entries:
        found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    for name, is_folder in found:
        if not is_folder or prefix + name not in within:
            yield prefix + name
            continue
        inner = os.open(name, INSIDE, dir_fd=descriptor)
        try:
            yield from _names(inner, f"{prefix}{name}/", within)
        finally:
            os.close(inner)


def content_of(descriptor: int, path: Path, limit: int) -> bytes:
    """All that is in an open file, which is closed. InputError where it is not a plain file or over the limit."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(f"there is no file {path}; a folder, a pipe or a device is none")
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limit + 1)  # its size may be another than it was, or is not told (/proc)
    if len(content) > limit:
        raise InputError(f"{path} is over {limit // 2**20} MiB, more than any file rlcc writes")
    return content
