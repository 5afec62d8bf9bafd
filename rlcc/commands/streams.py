"""Standard input, output and error of the process: closed, full, or without a reader.

click and rich end a process whose reader has left with 1, which is FAIL here, and an OSError of a print names no file:
while a command runs both streams are watched, and tell of themselves.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

NAMES = ("standard input", "standard output", "standard error")


class LostStream(Exception):
    """A stream takes no more. Without a message where the reader has left (`rlcc doctor | head`): nobody is told."""

    def __init__(self, number: int, error: OSError) -> None:
        left = error.errno == errno.EPIPE
        super().__init__("" if left else f"{NAMES[number]}: {(error.strerror or '').lower()}; send it elsewhere")
        self.number = number

    def let_go(self) -> None:
        """The rest of its buffer is dropped: the interpreter would complain of it once more at its end."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.number)


class _Watched:
    """A stream whose refusals are told as its own."""

    def __init__(self, stream: TextIO, number: int) -> None:
        self._stream, self._number = stream, number

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            raise LostStream(self._number, error) from None

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise LostStream(self._number, error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def watched() -> Iterator[None]:
    """Refusals of both streams are ``Lost`` within, also of what is still in a buffer at the end."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Watched(stream, 1 + n)) for n, stream in enumerate(before))
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout, sys.stderr = before


def tell(text: str) -> None:
    """A line on standard error, if that takes one."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError as error:
        LostStream(2, error).let_go()


def closed() -> str | None:
    """Why a command cannot print; None where it can. Every other closed stream is opened, reading and writing nothing:
    the next file would take its number, and what a library prints would land in it."""
    for number in (0, 2):
        if _is_closed(number):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False))
    return f"{NAMES[1]} is closed; send it to a file, or to {os.devnull}" if sys.stdout is None else None


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False
