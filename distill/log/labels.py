"""Sources of a log's labels: its own columns, a teacher's weights, or a function of the user's. Labels are kept as
integers.

    decide(rows, state) -> outputs, state

``rows`` [T, window * features] are one agent's decisions in time, float64, as the policy sees them
(decision.policy.tree_decision.feature_names); ``state`` is None at an agent's first row, then what the call before
returned. ``outputs`` [T, K] stand where a network's would: the action map of policy.toml makes the decision of them.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.policy.actions import Choice, Table
from decision.policy.policy import Header
from decision.policy.records import Trajectories
from distill.rollout import integers_of

if TYPE_CHECKING:
    from teachers.teacher import Teacher

Decide = Callable[[Floats, Any], tuple[Any, Any]]
CHUNK = 4096
"""Rows of an agent in one call."""
BOUND = 1e-6
"""Beyond [-1, 1], of an output that an action map wants in there."""


class Labels(Protocol):
    """Decides what a policy would have decided in a log."""

    @property
    def needs_applied(self) -> bool:
        """Returns whether earlier decisions must be known before it can decide."""
        ...

    def details(self) -> dict[str, Any]:
        """Returns what the manifest says of it."""
        ...

    def decided(self, states: Trajectories, own: Mapping[str, Integers]) -> tuple[Integers, NDArray[np.bool_]]:
        """Returns the integers that are decided [N, values], and which rows are known [N]. ``own``: the log's label
        columns, in the order of ``states``."""
        ...


@dataclass(frozen=True)
class ColumnLabels:
    """The log's own."""

    names: tuple[str, ...]
    needs_applied: bool = False

    def details(self) -> dict[str, Any]:
        return {"from": "column"}

    def decided(self, states: Trajectories, own: Mapping[str, Integers]) -> tuple[Integers, NDArray[np.bool_]]:
        return np.stack([own[name] for name in self.names], axis=1), np.ones(len(states), dtype=bool)


@dataclass(frozen=True)
class TeacherLabels:
    """A teacher's weights."""

    teacher: Teacher
    needs_applied: bool = True

    @staticmethod
    def of(path: Path, policy: Path, header: Header) -> TeacherLabels:
        """From a folder or a weights file; the file has no policy.toml of its own. InputError where the teacher
        observes or sets something else than ``header``."""
        from teachers.load import load

        loaded = load(path, None if path.is_dir() else policy)
        other = [n for n in Header.model_fields if getattr(loaded.policy, n) != getattr(header, n)]
        if other:
            raise InputError(
                f"the {other[0]} of {path} is not that of {policy}; give the policy.toml that it was trained by"
            )
        return TeacherLabels(loaded)

    def details(self) -> dict[str, Any]:
        return {"from": "teacher", "name": self.teacher.policy.name, "sha256": self.teacher.hash}

    def decided(self, states: Trajectories, own: Mapping[str, Integers]) -> tuple[Integers, NDArray[np.bool_]]:
        from teachers.inference import decide

        values, known = decide(self.teacher, states)
        return integers_of(values, self.teacher.policy.header), known


@dataclass(frozen=True)
class FunctionLabels:
    """A function of the user's. ``name``: module and function; ``hash``: SHA-256 of its source, or "" where Python
    knows none."""

    function: Decide
    name: str
    hash: str
    header: Header
    needs_applied: bool = True

    @staticmethod
    def of(function: Decide, header: Header) -> FunctionLabels:
        """From a Python callable."""
        try:
            source = inspect.getsource(inspect.getmodule(function) or function)
        except (OSError, TypeError):
            source = ""
        name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', type(function).__name__)}"
        return FunctionLabels(function, name, hashlib.sha256(source.encode()).hexdigest() if source else "", header)

    @staticmethod
    def named(text: str, header: Header) -> FunctionLabels:
        """From "module:function"; the current folder is searched first, and the module's code is run. InputError where
        there is none, or it does not load."""
        module, colon, name = text.partition(":")
        if not colon or not module or not name.isidentifier():
            raise InputError(f"--labels {text}: write MODULE:FUNCTION, for example mine:decide")
        with _current_folder_first():
            try:
                loaded = import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module.partition(".")[0] and error.name != module:
                    raise InputError(f"--labels {text}: {module} needs {error.name}, which is not installed") from None
                raise InputError(
                    f"--labels {text}: there is no module {module} here or among those installed"
                ) from None
            except Exception as error:
                raise InputError(f"--labels {text}: {module} does not load: {_said(error)}") from None
        function = getattr(loaded, name, None)
        if not callable(function):
            offered = ", ".join(n for n, v in vars(loaded).items() if inspect.isfunction(v)) or "no function"
            raise InputError(f"--labels {text}: {module} has no function {name}; it has {offered}")
        return FunctionLabels.of(function, header)

    def details(self) -> dict[str, Any]:
        return {"from": "function", "name": self.name, "sha256": self.hash or None}

    def decided(self, states: Trajectories, own: Mapping[str, Integers]) -> tuple[Integers, NDArray[np.bool_]]:
        rows, known = states.float_rows(self.header.observation)
        starts = states.starts()
        outputs = np.zeros((len(states), self.header.action.outputs))
        for begin, end in zip(starts.tolist(), [*starts[1:].tolist(), len(states)], strict=True):
            state: Any = None
            for at in range(begin, end, CHUNK):
                part = slice(at, min(at + CHUNK, end))
                outputs[part], state = self._outputs(rows[part], state)
        return integers_of(self.header.action.decided(outputs), self.header), known

    def _outputs(self, rows: Floats, state: Any) -> tuple[Floats, Any]:
        """One call, held to its shape and range."""
        try:
            answer = self.function(rows, state)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"{self.name} fails on {len(rows)} rows: {_said(error)}") from None
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise InputError(f"{self.name} returns {type(answer).__name__}; return outputs and state, as a tuple")
        try:
            outputs = np.asarray(answer[0], dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{self.name} returns outputs that are no array of numbers") from None
        count = self.header.action.outputs
        if outputs.shape == (len(rows),) and count == 1:
            outputs = outputs[:, None]
        if outputs.shape != (len(rows), count):
            raise InputError(
                f"{self.name} returns outputs of shape {list(outputs.shape)} for {len(rows)} rows; the action map "
                f"{self.header.action.kind} takes [{len(rows)}, {count}]"
            )
        if not np.isfinite(outputs).all():
            raise InputError(f"{self.name} returns outputs that are not finite")
        if self.header.action.squashed and np.abs(outputs).max(initial=0) > 1 + BOUND:
            raise InputError(
                f"{self.name} returns {outputs.flat[int(np.abs(outputs).argmax())]:.6g}, and the action map "
                f"{self.header.action.kind} takes outputs in [-1, 1]; apply tanh or clip"
            )
        return outputs, answer[1]


def first_impossible(integers: Integers, header: Header) -> int | None:
    """Returns the first row of labels [N, values] that the action map cannot set; None where there is none. A table's
    multipliers are met to 2^-16."""
    action = header.action
    if isinstance(action, Table):
        entries = integers_of(np.asarray(action.multipliers)[:, None], header)[:, 0]
        wrong = np.abs(integers[:, 0, None] - entries[None, :]).min(axis=1) > 1
    elif isinstance(action, Choice):
        wrong, first = np.zeros(len(integers), dtype=bool), 0
        for columns in action.columns():
            its = integers[:, None, first : first + columns.shape[1]]
            wrong |= ~(its == columns[None, :, :]).all(axis=2).any(axis=1)
            first += columns.shape[1]
    else:
        return None  # ranges say it all (distill.log.columns)
    return int(np.flatnonzero(wrong)[0]) if wrong.any() else None


@contextmanager
def _current_folder_first() -> Any:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
