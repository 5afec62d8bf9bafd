"""Keys of documents that have another name now: an old key is refused with the new one named."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True)
class RenamedFrom:
    """Marks a field whose key had another name: ``Annotated[float, RenamedFrom("within")]``."""

    key: str


def new_names(models: Iterable[type[BaseModel]]) -> dict[str, str]:
    """Returns the new key of each old one, over the fields of all models."""
    return {
        mark.key: name
        for model in models
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, RenamedFrom)
    }


def recorded(options: BaseModel) -> dict[str, Any]:
    """Returns the options as an artefact of format 1 records them: under the first name of each key.

    The names of recipe keys may change; the bytes of a student, and all that carries its hash, do not."""
    first = {new: old for old, new in new_names([type(options)]).items()}
    return {first.get(key, key): value for key, value in options.model_dump(mode="json").items()}


def from_record(model: type[BaseModel], table: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what ``recorded`` wrote under today's keys."""
    names = new_names([model])
    return {names.get(key, key): value for key, value in table.items()}
