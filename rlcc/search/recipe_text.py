"""A recipe as TOML text: of a point, so that `rlcc run` takes it as it is."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def recipe_text(document: Mapping[str, Any], comment: str) -> str:
    """``document`` as TOML under a comment of one line or several."""
    lines = [f"# {line}" for line in comment.splitlines()]
    return "\n".join([*lines, *_table(document, ())]) + "\n"


def moved(document: Mapping[str, Any], here: Path, there: Path) -> dict[str, Any]:
    """The same in another folder: what it names by a path relative to its own is named anew."""

    def path(text: str) -> str:
        return Path(os.path.relpath((here / text).resolve(), there.resolve())).as_posix()

    copy = dict(document)
    for key in ("teacher", "network"):
        if isinstance(copy.get(key), str):
            copy[key] = path(copy[key])
    agents = {name: dict(agent) for name, agent in copy.get("agents", {}).items()}
    for agent in agents.values():
        if "teacher" in agent:
            agent["teacher"] = path(agent["teacher"])
        if str(agent.get("baseline", "")).endswith(".toml"):
            agent["baseline"] = path(agent["baseline"])
    return copy | ({"agents": agents} if agents else {})


def _table(table: Mapping[str, Any], place: tuple[str, ...]) -> list[str]:
    """Plain keys first: in TOML what follows a header belongs to it."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if not _has_header(value)]
    if place and (lines or not table):
        lines = ["", f"[{'.'.join(map(_key, place))}]", *lines]
    for key, value in table.items():
        inner = (*place, key)
        if isinstance(value, Mapping):
            lines += _table(value, inner)
        elif _has_header(value):
            for one in value:
                lines += [
                    "",
                    f"[[{'.'.join(map(_key, inner))}]]",
                    *(f"{_key(k)} = {_value(v)}" for k, v in one.items()),
                ]
    return lines


def _has_header(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
    )


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    """As JSON has it, but that TOML wants the one control character beyond ASCII's first 32 spelt out too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return "[" + ", ".join(map(_value, value)) + "]"
