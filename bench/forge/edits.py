"""Single edits of a document: at one place another value, an element more or less, a key that is unknown or twice.

An edit is a name and the document after it. Values that JSON cannot hold as data (NaN, a key twice, 10^4 digits) stand
in it as ``Raw``, which ``texts.dumped`` writes as it is.
"""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.forge.places import ForgeryPlace, Path, dropped, places, replaced, sampled

INVENTED = "no network loses a packet, for all inputs"
UNKNOWN = "zz_unknown"
LONG = 20_000
"""Characters of a long text."""
DIGITS = 10_000
DEPTH = 100_000


@dataclass(frozen=True)
class Raw:
    """Text that stands in a document as it is."""

    text: str


@dataclass(frozen=True)
class Twice:
    """The value of a key that stands twice: first with ``first``, then with ``last``."""

    first: Any
    last: Any


@dataclass(frozen=True)
class Edit:
    """``name``: what was done at the place, for example "x2"; ``content``: the whole document after it."""

    path: Path
    name: str
    content: Any


VOCABULARY: Mapping[str, tuple[str, ...]] = {
    "verdict": ("holds", "fails", "found", "undecided", "PASS", "QUICK PASS", "FAIL"),
    "kind": ("monotone", "step", "no_cycle", "no_rise_above", "recovers", "yields", "fixed_point", "ascending"),
    "model": ("exact", "bounded"),
    "compiler": ("clang", "gcc"),
    "group": ("equality", "proof", "budget", "teacher", "network"),
    "op": ("ADD", "add", "sub", "min", "max", "select"),
    "storage": ("uint32", "int32", "uint16", "int16", "uint8", "int8"),
    "ctype": ("uint32_t", "int32_t", "uint16_t", "int16_t", "uint8_t", "int8_t"),
}
"""Other words of fields that have few, by the last key of the path."""


def edits(document: Any, draw: random.Random, most: int = 3) -> Iterator[Edit]:
    """Single edits of a document over every field: of at most ``most`` places of a field, each in every way."""
    found = list(places(document))
    donors: dict[str, list[Any]] = {}
    for place in found:
        if place.leaf:
            donors.setdefault(place.field, []).append(place.value)
    for place in sampled(found, most, draw):
        for name, content in _values(place, donors, draw):
            yield Edit(place.path, name, replaced(document, place.path, content))
        if place.path:
            yield Edit(place.path, "drop", dropped(document, place.path))
            if isinstance(place.path[-1], str):
                yield from _twice(document, place)


def _twice(document: Any, place: ForgeryPlace) -> Iterator[Edit]:
    """The key twice, the true value first or last."""
    false = _other(place.value)
    for name, value in (("twice", Twice(place.value, false)), ("twice, true last", Twice(false, place.value))):
        yield Edit(place.path, name, replaced(document, place.path, value))


def _other(value: Any) -> Any:
    """A value of the same type that is another."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    return 0 if value is None else type(value)()


def _values(place: ForgeryPlace, donors: Mapping[str, list[Any]], draw: random.Random) -> Iterator[tuple[str, Any]]:
    """Other values of a place, each with the edit's name; none is the value itself."""
    value = place.value
    made = _candidates(place, donors, draw)
    for name, other in made:
        same = type(other) is type(value) and other == value and not isinstance(value, Raw | Twice)
        if not same:
            yield name, other


def _candidates(place: ForgeryPlace, donors: Mapping[str, list[Any]], draw: random.Random) -> Iterator[tuple[str, Any]]:
    value = place.value
    if isinstance(value, bool):
        yield from [("flip", not value), ("as number", int(value)), ("as text", str(value).lower()), ("null", None)]
    elif isinstance(value, int):
        yield from _integers(value)
    elif isinstance(value, float):
        yield from _floats(value)
    elif isinstance(value, str):
        yield from _strings(place, donors, draw)
    elif isinstance(value, list):
        yield from _lists(value)
    elif isinstance(value, dict):
        yield from _tables(value)
    else:
        yield from [("zero", 0), ("false", False), ("empty text", ""), ("empty table", {})]
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from [(token, Raw(token)) for token in ("NaN", "Infinity", "-Infinity", "1e999")]
        yield f"{DIGITS} digits", Raw("9" * DIGITS)


def _integers(value: int) -> Iterator[tuple[str, Any]]:
    yield from [("+1", value + 1), ("-1", value - 1), ("x2", value * 2), ("negated", -value), ("half", value // 2)]
    yield from [
        ("0", 0),
        ("minus one", -1),
        ("2^31", 2**31),
        ("2^63", 2**63),
        ("2^64", 2**64),
        ("-2^63-1", -(2**63) - 1),
    ]
    yield from [
        ("as float", Raw(f"{value}.0")),
        ("as text", str(value)),
        ("null", None),
        ("true", True),
        ("listed", [value]),
    ]


def _floats(value: float) -> Iterator[tuple[str, Any]]:
    up, down = math.nextafter(value, math.inf), math.nextafter(value, -math.inf)
    yield from [("+1", value + 1), ("-1", value - 1), ("x2", value * 2), ("negated", -value), ("half", value / 2)]
    yield from [("ulp up", up), ("ulp down", down), ("0.1 % up", value * 1.001), ("0.1 % down", value * 0.999)]
    yield from [("0", 0.0), ("as integer", int(value)), ("2^64", 2.0**64), ("as text", repr(value)), ("null", None)]


def _strings(place: ForgeryPlace, donors: Mapping[str, list[Any]], draw: random.Random) -> Iterator[tuple[str, Any]]:
    value = str(place.value)
    others = sorted({str(v) for v in donors.get(place.field, []) if isinstance(v, str)} - {value})
    if others:
        yield "another of the field", draw.choice(others)
    last = next((step for step in reversed(place.path) if isinstance(step, str)), "")
    for word in VOCABULARY.get(last, ()):
        yield f"word {word}", word
    if value:
        at = draw.randrange(len(value))
        yield "one character", value[:at] + ("0" if value[at] != "0" else "1") + value[at + 1 :]
        for index, digit in enumerate(value):
            if digit.isdigit():
                yield "one digit", value[:index] + str((int(digit) + 1) % 10) + value[index + 1 :]
                break
    yield from [("empty", ""), ("invented", INVENTED), ("upper case", value.upper()), ("blank added", value + " ")]
    yield from [("unicode", value + "\u202e\u00e9"), ("zero byte", value + "\x00"), ("long", "x" * LONG)]
    yield from [("path up", "../" + value), ("path from the root", "/etc/passwd"), ("null", None), ("as number", 0)]
    yield from [("listed", [value]), ("lone surrogate", Raw('"\\ud800"'))]


def _lists(value: list[Any]) -> Iterator[tuple[str, Any]]:
    yield from [("emptied", []), ("as table", {}), ("null", None), ("null added", [*value, None])]
    if value:
        yield from [("first doubled", [value[0], *value]), ("last doubled", [*value, value[-1]])]
        yield from [("last dropped", value[:-1]), ("wrapped", [value])]
        other = _other(value[-1])
        yield "another added", [*value, other]
    if len(value) > 1:
        yield from [("first two swapped", [value[1], value[0], *value[2:]]), ("reversed", value[::-1])]


def _tables(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from [("emptied", {}), ("as list", []), ("null", None), ("unknown key", {**value, UNKNOWN: 1})]
    yield "key of the language", {**value, "__class__": "object"}
    if len(value) > 1:
        yield "keys reversed", dict(reversed(value.items()))
        one, two = list(value)[:2]
        yield "two values swapped", {**value, one: value[two], two: value[one]}
