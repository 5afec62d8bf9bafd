"""What a value means, as plain data to hash: two values have the same content where they are the same to a simulation.

Every field of a dataclass counts unless it is declared with ``compare=False``; so a new field is in every key at once.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from decision.documents import read_bytes
from decision.errors import InputError
from decision.manifest import sha256

SOURCES = (".py", ".toml", ".csv", ".cpp", ".hpp", ".sv", ".S", ".ld", ".c")
"""Files of a package that what it computes may depend on, beside what was compiled."""


def content(value: object) -> Any:
    """Of a file by its bytes, of an object that says it itself (``content()``) by that. InputError where a value means
    something in this process only."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, np.generic):
        return content(value.item())
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), sha256(np.ascontiguousarray(value).tobytes())]
    if isinstance(value, Path):
        return sha256(read_bytes(value))
    if isinstance(value, Mapping):
        return {str(key): content(value[key]) for key in sorted(value)}
    name = type(value).__name__
    if hasattr(value, "content"):
        return [name, content(value.content())]
    if isinstance(value, BaseModel):
        return [name, value.model_dump(mode="json")]
    if is_dataclass(value):
        return [name, {f.name: content(getattr(value, f.name)) for f in fields(value) if f.compare}]
    if isinstance(value, list | tuple):
        return [content(each) for each in value]
    raise InputError(f"a {name} has no content that a key could be made of; give it a method content()")


@cache
def package_hash(*paths: Path) -> str:
    """Over the sources in folders, and over compiled files: another build may compute something else."""
    lines = []
    for path in paths:
        files = [path] if path.is_file() else [p for p in sorted(path.rglob("*")) if p.is_file()]
        files = [p for p in files if p == path or (p.suffix in SOURCES and "__pycache__" not in p.parts)]
        lines += [f"{p.relative_to(path.parent)} {sha256(p.read_bytes())}" for p in files]
    return sha256("\n".join(lines).encode())
