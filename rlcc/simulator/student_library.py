"""A student as a simulator of the user's has it: the emitted C as a shared library, and calls of it from Python.

The library has the structures of the emitted header (rlcc_policy.h), which the test vectors are packed in too:

    uint32_t rlcc_decide(context, const event *, const params *)   one knob; several: a fourth pointer, and void
    const uint32_t rlcc_AGENT_bytes                                size of a context; all zero is a new agent
    const rlcc_params rlcc_params_default                          the operator's parameters as they were trained

``event`` and ``params`` are the interface's: they stay the same from student to student. A context is each student's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.policy.student import Student

CTYPES = {
    "uint32_t": ctypes.c_uint32,
    "int32_t": ctypes.c_int32,
    "uint16_t": ctypes.c_uint16,
    "int16_t": ctypes.c_int16,
    "uint8_t": ctypes.c_uint8,
    "int8_t": ctypes.c_int8,
}


@dataclass
class DrivenStudent:
    """Decides for the agents of a simulator. ``library``: the shared library; ``params``: the operator's parameters."""

    student: Student
    library: Path
    layouts: Mapping[str, Mapping[str, Any]]
    params: Mapping[str, int]
    contexts: dict[Hashable, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._types = {name: _structure(name, layout) for name, layout in self.layouts.items()}
        self._event_fields = tuple(each["name"] for each in self.layouts.get("event", {}).get("fields", ()))
        self._decide = ctypes.CDLL(str(self.library)).rlcc_decide
        self._decide.restype = None if "action" in self._types else ctypes.c_uint32
        self._params = self._types["params"](**self.params) if "params" in self._types else None
        self._action = self._types["action"]() if "action" in self._types else None

    @property
    def agent(self) -> str:
        """Returns the kind of agent: flow, queue, network."""
        return self.student.observation.agents.agent

    @property
    def signals(self) -> tuple[str, ...]:
        """Returns the signals of an event."""
        return self.student.observation.agents.event_names

    @property
    def knobs(self) -> tuple[str, ...]:
        """Returns the knobs that a decision sets."""
        return self.student.observation.agents.knob_names

    def decide(self, agent: Hashable, event: Mapping[str, int]) -> dict[str, int]:
        """Decides for an agent by its own context; an agent that was never asked before is new. Returns the knobs.
        InputError where a signal is unknown, or no integer that it can hold; what is left out is 0."""
        context = self.contexts.get(agent)
        if context is None and "context" in self._types:
            context = self.contexts[agent] = self._types["context"]()
        given = self._event(event)
        handed = [None if each is None else ctypes.byref(each) for each in (context, given, self._params)]
        if self._action is None:
            return {self.knobs[0]: self._decide(*handed)}
        self._decide(*handed, ctypes.byref(self._action))
        return {name: getattr(self._action, name) for name in self.knobs}

    def forget(self, agent: Hashable) -> None:
        """Makes the agent new: it left, or another took its place."""
        self.contexts.pop(agent, None)

    def _event(self, event: Mapping[str, int]) -> Any:
        for name, value in event.items():
            if name not in self.signals:
                raise InputError(f"a decision has no signal {name!r}; there are {', '.join(self.signals)}")
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
                raise InputError(f"the signal {name} is {value!r}; give a whole number from 0 to {2**32 - 1}")
        kind = self._types.get("event")
        return None if kind is None else kind(**{name: event[name] for name in self._event_fields if name in event})


def _structure(name: str, layout: Mapping[str, Any]) -> type[ctypes.Structure]:
    fields = [(each["name"], CTYPES[each["ctype"]]) for each in layout["fields"]]
    made = type(name, (ctypes.Structure,), {"_fields_": fields})
    assert ctypes.sizeof(made) == layout["size"], f"{name} is laid out otherwise here"
    return made


@contextmanager
def driven(student: Student) -> Iterator[DrivenStudent]:
    """The student as a simulator has it, while the context lasts: the C as it would ship, compiled for this machine."""
    from codegen.emit import emit
    from emulator.firmware_folder import read_firmware
    from emulator.shared_library import shared_library

    with temporary.folder() as folder:
        with writing(folder / "student", "student", parents={"teacher": student.teacher}) as work:
            student.save(work)
        details = emit(folder / "student", folder / "firmware", target="generic", seed=1)
        with shared_library(read_firmware(folder / "firmware")) as library:
            yield DrivenStudent(student, library, details["layout"], details["params_default"])
