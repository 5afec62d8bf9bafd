"""Pickles read without running anything of them: every class and function is a stand-in that only takes values.

A pickle names what is called to build its objects. Here those names lead to stand-ins, or to one of the few functions
that a caller allows, so a file can describe tensors, arrays and attributes, and cannot do anything.
"""

import io
import pickle
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Inert:
    """Stands in for an object of the pickle: takes its attributes, does nothing."""

    module, name = "", ""

    def __new__(cls, *arguments: Any, **named: Any) -> "Inert":
        return super().__new__(cls)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.state: dict[Any, Any] = {}

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, dict) else {}


@dataclass(frozen=True, slots=True)
class Allowed:
    """A function that the pickle may call, and cannot change."""

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise ValueError("its pickle is malformed")


def inert_class(module: str, name: str) -> type[Inert]:
    """A stand-in's class that keeps which class it stands for."""
    return type("InertOf", (Inert,), {"module": module, "name": name})


class InertUnpickler(pickle.Unpickler):
    """Builds stand-ins; ``find_class`` is overridden with what else is allowed."""

    def __init__(self, pickled: bytes) -> None:
        check_opcodes(pickled)
        super().__init__(io.BytesIO(pickled))

    def find_class(self, module: str, name: str) -> Any:
        return inert_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise ValueError("its pickle refers to what is outside of it")


def check_opcodes(pickled: bytes) -> None:
    """ValueError for pickles that make the unpickler itself reserve memory without bound."""
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name in ("PUT", "LONG_BINPUT") and int(argument or 0) > len(pickled):
            raise ValueError("its pickle is malformed")
        if opcode.name in ("BYTEARRAY8", "EXT1", "EXT2", "EXT4"):
            raise ValueError(f"its pickle uses {opcode.name}, which no network of layers needs")
