"""Memory of pure functions: judges compute each result once per process.

The judgement stays that of the whole program: the very commands run, and every result that depends on an edited byte is
computed again, since arguments are compared by their whole content. Remembered are only functions whose result follows
from their arguments (``REMEMBERED``), among them the checker's walk over the machine code: a ``Judge`` of the same
image, program, layouts, cuts and engine is the same walk. The checker's process of its own is left out: its work runs
in this one (``boundary.judged``), or nothing could be remembered. ``bench.forge`` asks the command line, in processes
that remember nothing, for a drawn sample of the same answers.
"""

import contextlib
import dataclasses
import functools
import hashlib
import importlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from pydantic import BaseModel

from codegen.body import Body
from decision.artefact.manifest import of_kind

REMEMBERED: tuple[tuple[str, str], ...] = (
    ("verify.check.recheck", "Judge"),
    ("verify.check.on_core", "calibrate"),
    ("verify.check.on_core", "run_executable"),
    ("emulator.compile", "find_compiler"),
    ("rlcc.gate.gate", "build_firmware"),
    ("rlcc.gate.gate", "run_vectors"),
    ("rlcc.gate.gate", "bounded"),
    ("rlcc.gate.comparison", "furthest"),
    ("rlcc.gate.comparison", "own_rollouts"),
    ("rlcc.gate.comparison", "driven_by"),
    ("rlcc.gate.comparison", "distance"),
    ("rlcc.gate.comparison", "distance_again"),
    ("rlcc.gate.behaviour", "decided_twice"),
    ("verify.check.boundary", "behaviour_again"),
    ("verify.check.boundary", "distance_again"),
    ("rlcc.handlers.gate", "page"),
    ("rlcc.gate.closed_loop", "run"),
)
"""Module and name of pure functions; for ``FILLED`` and ``BUILT`` see below."""
FILLED = ("codegen.differences", "fill")
BUILT = ("verify.check.recheck", "build_folder")


LATEST = 12
"""Results of a function that are remembered by default: those used last."""


@dataclass
class ForgeryMemory:
    """Results by function and arguments, ``latest`` of each function. ``asked``, ``found``: calls, and those of them
    that were remembered."""

    latest: int = LATEST
    results: dict[str, OrderedDict[str, Any]] = field(default_factory=dict)
    asked: int = 0
    found: int = 0

    def of(self, name: str, key: str, work: Callable[[], Any]) -> Any:
        """The function's result for arguments of this key; what it raises is not remembered."""
        self.asked += 1
        results = self.results.setdefault(name, OrderedDict())
        if key in results:
            self.found += 1
            results.move_to_end(key)
            return results[key]
        result = results[key] = work()
        if len(results) > self.latest:
            results.popitem(last=False)
        return result


def key_of(*parts: Any) -> str | None:
    """A hash of arguments; None where they cannot be written down, and nothing may be remembered. Progress is left out,
    an iterator is none that could be read twice."""
    digest = hashlib.sha256()
    try:
        for part in parts:
            if not _tells(part):
                _write(digest.update, part)
    except TypeError:
        return None
    return digest.hexdigest()


def _write(put: Callable[[bytes], Any], value: Any) -> None:
    """Everything that a value is equal by, in an order of its own; what objects keep of earlier work is none of it.
    TypeError where that is not known."""
    if isinstance(value, bytes):
        put(b"bytes %d " % len(value) + value)
    elif value is None or isinstance(value, bool | int | float | str | np.generic | np.dtype | PurePath | Enum):
        put(f"{type(value).__name__} {value!r};".encode())
    elif isinstance(value, np.ndarray):
        put(f"array {value.dtype.descr!r} {value.shape} ".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, BaseModel):
        _write_all(put, value, [(name, getattr(value, name)) for name in type(value).model_fields])
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _write_all(put, value, [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)])
    elif isinstance(value, Body):
        _write_all(put, value, sorted(vars(value).items()))
    elif isinstance(value, Mapping):
        _write_all(put, value, list(value.items()))
    elif isinstance(value, list | tuple):
        _write_all(put, value, list(enumerate(value)))
    elif isinstance(value, set | frozenset):
        _write_all(put, value, list(enumerate(sorted(value, key=repr))))
    else:
        raise TypeError(f"{type(value)} cannot be written down")


def _write_all(put: Callable[[bytes], Any], holder: Any, parts: Sequence[tuple[Any, Any]]) -> None:
    put(f"{type(holder).__name__} {len(parts)}(".encode())
    for name, part in parts:
        if not _tells(part):
            _write(put, name)
            _write(put, part)
    put(b")")


def _tells(part: Any) -> bool:
    """Whether an argument is a function that is told of progress."""
    return callable(part) and not isinstance(part, type) and not hasattr(part, "__dataclass_fields__")


@contextlib.contextmanager
def remembering(memory: ForgeryMemory, functions: Sequence[tuple[str, str]] = REMEMBERED) -> Iterator[ForgeryMemory]:
    """While the block runs, functions are remembered, and the checker runs in this process."""
    with contextlib.ExitStack() as stack:
        for module, name in functions:
            stack.enter_context(_replaced(module, name, functools.partial(_remembered, memory, name)))
        stack.enter_context(_replaced(*FILLED, functools.partial(_filled, memory)))
        stack.enter_context(_replaced(*BUILT, functools.partial(_built, memory)))
        stack.enter_context(_replaced("verify.check.boundary", "checked", lambda _: _checked_here))
        yield memory


@contextlib.contextmanager
def _replaced(module: str, name: str, made: Callable[[Any], Any]) -> Iterator[None]:
    holder = importlib.import_module(module)
    true = getattr(holder, name)
    setattr(holder, name, made(true))
    try:
        yield
    finally:
        setattr(holder, name, true)


def _remembered(memory: ForgeryMemory, name: str, true: Any) -> Any:
    """The function, its results remembered by all that it is called with."""

    def called(*parts: Any, **named: Any) -> Any:
        key = key_of(*parts, *sorted((k, v) for k, v in named.items() if not _tells(v)))
        if key is None:
            return true(*parts, **named)
        return memory.of(name, key, lambda: _whole(true(*parts, **named)))

    return called


def _whole(result: Any) -> Any:
    """An iterator's elements: a result is handed out more than once."""
    return list(result) if hasattr(result, "__next__") else result


def _filled(memory: ForgeryMemory, true: Any) -> Any:
    """Returns the emission of a body: the files, written again."""

    def called(folder: Path, body: Any, emission: Any, *rest: Any) -> Any:
        key = key_of(body, emission, *rest)
        if key is None:
            return true(folder, body, emission, *rest)

        def work() -> Any:
            details = true(folder, body, emission, *rest)
            return details, {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

        details, files = memory.of("fill", key, work)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return details

    return called


def _built(memory: ForgeryMemory, true: Any) -> Any:
    """A folder's build: by what lies in it, byte for byte."""

    def called(firmware: Any, **named: Any) -> Any:
        read = contents(firmware) if isinstance(firmware, Path) else firmware
        key = key_of(read, *sorted(named.items()))
        return memory.of("built", key, lambda: true(firmware, **named)) if key else true(firmware, **named)

    return called


def contents(folder: Path) -> list[tuple[str, str]]:
    """Names and hashes of all files in a folder; links and what is no file by what they are."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        kind = "link" if path.is_symlink() else "file" if path.is_file() else "folder" if path.is_dir() else "special"
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if kind == "file" else ""
        found.append((f"{kind} {path.relative_to(folder)}", digest))
    return found


def _checked_here(certificate: Any, firmware: Any, **named: Any) -> Any:
    """``verify.check.boundary.checked`` without its child process."""
    from verify.check.boundary import DEFAULT, judged

    said = named.get("progress") or (lambda _: None)
    limits, proofs, teacher = named.get("limits", DEFAULT), named.get("proofs"), named.get("teacher")
    read = of_kind(firmware, "firmware")
    return judged(certificate, read, named.get("solver", "bitwuzla"), said, limits, proofs, teacher)
