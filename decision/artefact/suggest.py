"""Suggestions for an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches


def alike(name: object, known: Iterable[str]) -> str:
    """Returns the nearest of the known names; nothing if none is near."""
    return "".join(get_close_matches(str(name)[:100], list(known), 1, 0.6))


def meant(name: object, known: Iterable[str]) -> str:
    """For the end of a sentence: " (did you mean trees?)", or nothing."""
    near = alike(name, known)
    return f" (did you mean {near}?)" if near else ""


def choices(name: object, known: Iterable[str]) -> str:
    """The names there are, and the one that was meant: "trees, depth (did you mean depth?)"."""
    names = list(known)
    return ", ".join(names) + meant(name, names)


def meant_word(text: object, known: Iterable[str]) -> str:
    """``meant`` of a name such as many-to-on:64, whose word before the colon is a known one."""
    word, colon, rest = str(text)[:100].partition(":")
    near = "" if word in (names := list(known)) else alike(word, names)
    return f" (did you mean {near}{colon}{rest}?)" if near else ""
