"""Places in a document of JSON or TOML: a path of keys and numbers to each value, and the field that it is of."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class ForgeryPlace:
    """``path`` from the document's root; ``value``: what stands there."""

    path: Path
    value: Any

    @property
    def leaf(self) -> bool:
        """Whether nothing lies within it."""
        return not (isinstance(self.value, dict | list) and self.value)

    @property
    def field(self) -> str:
        """Its name without positions in lists: "cuts[].holds.x10"."""
        return field_of(self.path)


def field_of(path: Path) -> str:
    """The name of a field: keys, and [] in place of positions."""
    text = "".join("[]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def places(document: Any, path: Path = ()) -> Iterator[ForgeryPlace]:
    """Every value of a document, each holder before what it holds; the document itself first."""
    yield ForgeryPlace(path, document)
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*path, index))


def value_at(document: Any, path: Path) -> Any:
    """The value at a place. KeyError, IndexError or TypeError where there is none."""
    for step in path:
        document = document[step]
    return document


def replaced(document: Any, path: Path, value: Any) -> Any:
    """A copy with another value at one place; only holders along the path are copied."""
    if not path:
        return value
    holder = copy.copy(document)
    holder[path[0]] = replaced(document[path[0]], path[1:], value)
    return holder


def dropped(document: Any, path: Path) -> Any:
    """A copy without the value at one place, which is not the root."""
    holder = copy.copy(value_at(document, path[:-1]))
    del holder[path[-1]]
    return replaced(document, path[:-1], holder)


def sampled(found: Sequence[ForgeryPlace], most: int, draw: Any) -> list[ForgeryPlace]:
    """Places of every field, at most so many of each, drawn: first, last and others in between."""
    by_field: dict[str, list[ForgeryPlace]] = {}
    for place in found:
        by_field.setdefault(place.field, []).append(place)
    chosen = []
    for group in by_field.values():
        if len(group) > most:
            ends = [group[0], group[-1]][:most]
            group = ends + draw.sample(group[1:-1], most - len(ends))
        chosen += group
    return chosen
