"""An initramfs: a cpio archive in the kernel's "newc" form (Documentation/driver-api/early-userspace/buffer-format).

Names are sorted and carry neither times nor owners, so that the same files give the same bytes. Archives may be joined.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

DIRECTORY, FILE = 0o040755, 0o100755
TRAILER = "TRAILER!!!"


def archive(files: Mapping[str, bytes]) -> bytes:
    """``files`` by path without a leading slash, all executable. Their folders come along."""
    entries = {name: (FILE, content) for name, content in files.items()}
    folders = {str(parent) for name in entries for parent in PurePosixPath(name).parents} - {"."}
    entries |= dict.fromkeys(folders, (DIRECTORY, b""))
    written = b"".join(_entry(i + 1, name, *entries[name]) for i, name in enumerate(sorted(entries)))
    return written + _entry(0, TRAILER, 0, b"")


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(f"{value:08X}".encode() for value in fields) + name.encode() + b"\0"
    return _padded(head) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
