"""Documents as text: data with raw parts written out, and whole texts damaged: cut, deep, not UTF-8."""

import json
from collections.abc import Iterator
from typing import Any

from bench.forge.edits import DEPTH, DIGITS, Raw, Twice
from decision.artefact.documents import dump_json

MARK = "\ue000"
"""Around numbers of raw parts while the rest is dumped; no document of ours holds it."""


def dumped(document: Any, *, toml: bool = False) -> bytes:
    """The document as UTF-8 text of JSON, or of TOML in inline tables; raw parts as they are."""
    raws: list[str] = []
    data = _marked(document, raws, toml)
    if toml:
        entries = data.items() if isinstance(data, dict) else [("document", data)]
        text = "".join(f"{_key(key)} = {toml_text(value)}\n" for key, value in entries)
    else:
        text = json.dumps(data, indent=1) if raws else dump_json(data)
    for number, raw in reversed(list(enumerate(raws))):
        for form in (json.dumps(f"{MARK}{number}{MARK}"), json.dumps(f"{MARK}{number}{MARK}", ensure_ascii=False)):
            text = text.replace(form, raw)
    return text.encode("utf-8", "surrogatepass")


def _marked(value: Any, raws: list[str], toml: bool) -> Any:
    """The same with a mark in place of each raw part."""
    if isinstance(value, Raw):
        raws.append(
            {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(value.text, value.text) if toml else value.text
        )
        return f"{MARK}{len(raws) - 1}{MARK}"
    if isinstance(value, list):
        return [_marked(inner, raws, toml) for inner in value]
    if not isinstance(value, dict):
        return value
    content: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, Twice):
            raws.append(_key(key) if toml else json.dumps(key))
            content[f"{MARK}{len(raws) - 1}{MARK}"] = _marked(inner.first, raws, toml)
            content[key] = _marked(inner.last, raws, toml)
        else:
            content[key] = _marked(inner, raws, toml)
    return content


def toml_text(value: Any) -> str:
    """A value as TOML has it in one line; TOML has no null."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {toml_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    return '"none"' if value is None else json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def damaged(content: bytes, *, toml: bool = False) -> Iterator[tuple[str, bytes]]:
    """Whole texts, each with the damage's name."""
    nested = b"x = " + b"[" * DEPTH if toml else b"[" * DEPTH
    closed = nested + b"]" * DEPTH
    yield from [
        ("empty", b""),
        ("cut in half", content[: len(content) // 2]),
        ("cut at the end", content.rstrip()[:-1]),
    ]
    yield from [("byte order mark", b"\xef\xbb\xbf" + content), ("UTF-16", content.decode().encode("utf-16"))]
    yield from [("not UTF-8", content.replace(b'"', b'"\xff', 1)), ("zero byte", content + b"\x00")]
    yield from [("deep", nested), ("deep and closed", closed), ("text behind", content + b"{}")]
    for name, value in (("deep", "[" * DEPTH + "]" * DEPTH), ("long number", "9" * DIGITS)):
        if toml:
            yield f"{name} in a key", f"zz = {value}\n".encode() + content
        else:
            yield f"{name} in a key", content.replace(b"{", b'{"zz": ' + value.encode() + b", ", 1)
    yield "tables within each other", (b"x = " if toml else b"") + b'{"a": ' * DEPTH
    yield from [("null", b"null"), ("a number", b"1"), ("a list", b"[]"), ("an empty table", b"{}")]
