"""Meaning of a value, as plain data to hash: two values have the same content if they are the same to a simulation.

Every field of a dataclass counts unless it is declared with ``compare=False``; so a new field is in every key at once.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256


def content(value: object) -> Any:
    """Returns the content: of a file its bytes, of an object with a method ``content()`` the result of that. InputError
    where a value means something in this process only."""
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
