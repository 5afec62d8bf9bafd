"""Which lines of the mutated files a test executes, and what running it again would cost."""

import sys
import threading
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Line = tuple[str, int]
IMPORT: Hashable = "import"


class Trace:
    """Lines by who executed them: the imports, a test, or a fixture that several tests share."""

    def __init__(self, files: frozenset[str]) -> None:
        self.files = files
        self.lines: dict[Hashable, set[Line]] = defaultdict(set)
        self._now = self.lines[IMPORT]

    @contextmanager
    def of(self, who: Hashable) -> Iterator[None]:
        """Counts lines that run in here as theirs, and not as the surrounding one's."""
        before, self._now = self._now, self.lines[who]
        try:
            yield
        finally:
            self._now = before

    def start(self) -> None:
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        self._now.add((frame.f_code.co_filename, frame.f_lineno))
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._now.add((frame.f_code.co_filename, frame.f_lineno))
        return self._stepped
