"""A simulator that is a command: JSON lines over its standard input and output.

rlcc writes        {"run": 1, "scenario": "s", "seed": 1001, "library": "/../policy.so", "agent": "flow",
                    "signals": [..], "knobs": [..], "params": {..}}
the command        {"decide": {"flow": "a", "request_sent_ns": 1, ..}}     answered by  {"rate_q20": 1048576}
writes             {"forget": "a"}                                         the agent is new from now on
                   {"row": {"flow": "a", "t_ps": 1000, ..}}                one decision, as a row of a log
                   {"rows": {"flow": ["a", ..], "t_ps": [1000, ..]}}       several, by column
                   {"done": 1}                                             the run is over; the next {"run": ..} follows

A command that loads the library decides by itself and sends rows only. It ends when its input ends.
"""

import json
import os
import selectors
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from decision.artefact.errors import InputError
from rlcc.simulator.protocol import Rows
from rlcc.simulator.student_library import DrivenStudent

SILENCE_S = 600.0
"""Longest time between two lines that a command writes, and between two parts of one that it reads."""
MAX_LINE_BYTES = 64 * 2**20
MAX_ROWS = 20_000_000
MESSAGES = ("decide", "forget", "row", "rows", "done")


@contextmanager
def command_simulator(command: str, silence_s: float = SILENCE_S) -> Iterator["CommandSimulator"]:
    """The command's process while the context lasts. InputError where it cannot be started."""
    words = shlex.split(command)
    if not words:
        raise InputError("--simulator is empty; give a command")
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise InputError(f"the simulator {words[0]} cannot be started: {error.strerror}") from None
    simulator = CommandSimulator(words, process, silence_s)
    try:
        yield simulator
    finally:
        simulator.end()


@dataclass
class CommandSimulator:
    """A simulator behind pipes (rlcc.simulator.protocol.Simulator)."""

    words: list[str]
    process: "subprocess.Popen[bytes]"
    silence_s: float
    line_count: int = 0
    buffer: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._pipes = selectors.DefaultSelector()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            self._pipes.register(pipe, selectors.EVENT_READ)
        assert self.process.stdin is not None
        os.set_blocking(self.process.stdin.fileno(), False)

    @property
    def name(self) -> str:
        """Returns how sentences name it."""
        return f"the simulator {Path(self.words[0]).name}"

    def run(self, student: DrivenStudent, scenario: str, seed: int) -> Rows:
        """One run. InputError names the line of what is no message."""
        self._write(
            {
                "run": 1,
                "scenario": scenario,
                "seed": seed,
                "library": str(student.library),
                "agent": student.agent,
                "signals": list(student.signals),
                "knobs": list(student.knobs),
                "params": dict(student.params),
            }
        )
        columns: dict[str, list[Any]] = {}
        count = 0
        while True:
            kind, content = self._message()
            if kind == "done":
                if not count:
                    raise InputError(f"{self.name} ends the run {scenario}, seed {seed}, without a row")
                return columns
            if kind == "decide":
                self._decide(student, content)
            elif kind == "forget":
                student.forget(_hashable(content))
            else:
                count += self._take(kind, content, columns, count)

    def end(self) -> None:
        """Closes its input and waits a moment; a process that stays is killed."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._pipes.close()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _decide(self, student: DrivenStudent, content: Any) -> None:
        if not isinstance(content, dict) or student.agent not in content:
            raise self._wrong(f'"decide" names no {student.agent}')
        event = {name: value for name, value in content.items() if name != student.agent}
        try:
            knobs = student.decide(_hashable(content[student.agent]), event)
        except InputError as error:
            raise self._wrong(str(error)) from None
        self._write(knobs)

    def _take(self, kind: str, content: Any, columns: dict[str, list[Any]], count: int) -> int:
        """Adds rows to the columns; returns how many."""
        if not isinstance(content, dict) or not content:
            raise self._wrong(f'"{kind}" holds no columns')
        values = {name: [value] if kind == "row" else value for name, value in content.items()}
        if any(not isinstance(each, list) for each in values.values()):
            raise self._wrong('"rows" holds a column that is no list')
        lengths = {len(each) for each in values.values()}
        if len(lengths) > 1:
            raise self._wrong('"rows" holds columns of different lengths')
        if count and set(values) != set(columns):
            other = sorted(set(values) ^ set(columns))[0]
            raise self._wrong(f"rows differ in their columns: {other!r} is in some of them only")
        for name, each in values.items():
            columns.setdefault(name, []).extend(each)
        added = lengths.pop()
        if count + added > MAX_ROWS:
            raise self._wrong(f"a run has more than {MAX_ROWS:,} rows")
        return added

    def _message(self) -> tuple[str, Any]:
        line = self._line()
        self.line_count += 1
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            raise self._wrong(f"{line[:60]!r} is no JSON") from None
        kinds = [kind for kind in MESSAGES if isinstance(data, dict) and kind in data]
        if len(kinds) != 1 or len(data) != 1:
            raise self._wrong(f"{line[:60]!r} is no message; write one of {', '.join(MESSAGES)}")
        return kinds[0], data[kinds[0]]

    def _wrong(self, reason: str) -> InputError:
        return InputError(f"{self.name}, line {self.line_count} of its output: {reason}")

    def _write(self, message: dict[str, Any]) -> None:
        """Writes a line, and meanwhile keeps what the command says. InputError where it ends or reads nothing for too
        long."""
        pipe, left = self.process.stdin, memoryview(json.dumps(message).encode() + b"\n")
        assert pipe is not None
        try:
            if left := left[_taken(pipe, left) :]:
                self._write_waiting(pipe, left)
        except OSError:
            raise self._ended() from None

    def _write_waiting(self, pipe: IO[bytes], left: memoryview) -> None:
        """Writes what the pipe did not take at once."""
        self._pipes.register(pipe, selectors.EVENT_WRITE)
        try:
            due = time.monotonic() + self.silence_s
            while left:
                if pipe in self._ready(due, f"{self.name} reads nothing for {self.silence_s:g} s; the run is given up"):
                    left = left[_taken(pipe, left) :]
                    due = time.monotonic() + self.silence_s
                elif len(self.buffer) > MAX_LINE_BYTES:
                    raise InputError(f"{self.name} writes more than {MAX_LINE_BYTES} bytes and reads nothing")
        finally:
            self._pipes.unregister(pipe)

    def _line(self) -> str:
        """The next line of its output; what it says on stderr meanwhile is kept. InputError where it ends or is silent
        for too long."""
        due = time.monotonic() + self.silence_s
        searched = 0
        while (end := self.buffer.find(b"\n", searched)) < 0:
            searched = len(self.buffer)
            if searched > MAX_LINE_BYTES:
                raise self._wrong(f"a line is longer than {MAX_LINE_BYTES} bytes")
            self._ready(due, f"{self.name} says nothing for {self.silence_s:g} s; the run is given up")
        line = bytes(self.buffer[:end]).decode("utf-8", "replace")
        del self.buffer[: end + 1]
        return line

    def _ready(self, due: float, otherwise: str) -> set[Any]:
        """Waits for the pipes, keeps what the command says, and returns the pipes that were ready. InputError
        ``otherwise`` where none is until ``due``."""
        events = self._pipes.select(max(0.0, due - time.monotonic()))
        if not events:
            raise InputError(otherwise)
        for key, _ in events:
            if key.fileobj is self.process.stdin:
                continue
            chunk = os.read(key.fd, 1 << 16)
            if key.fileobj is self.process.stderr:
                self.errors = (self.errors + chunk)[-4096:]
                if not chunk:
                    self._pipes.unregister(key.fileobj)
            elif not chunk:
                raise self._ended()
            else:
                self.buffer += chunk
        return {key.fileobj for key, _ in events}

    def _ended(self) -> InputError:
        assert self.process.stderr is not None
        try:
            code: int | None = self.process.wait(timeout=2)
            os.set_blocking(self.process.stderr.fileno(), False)
            self.errors += self.process.stderr.read() or b""
        except subprocess.TimeoutExpired:
            code = None
        said = self.errors.decode("utf-8", "replace").strip().splitlines()
        how = f"with code {code}" if code is not None else "its output"
        last = f": {said[-1][:200]}" if said else ""
        return InputError(f"{self.name} ended {how} before its run was done{last}")


def _taken(pipe: IO[bytes], content: memoryview) -> int:
    """Returns how many bytes a pipe takes without waiting."""
    try:
        return os.write(pipe.fileno(), content)
    except BlockingIOError:
        return 0


def _hashable(agent: Any) -> Any:
    return json.dumps(agent) if isinstance(agent, list | dict) else agent
