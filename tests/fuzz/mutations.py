"""Damage to real files: bytes flipped, cut, doubled; values of JSON replaced by what no reader expects."""

import copy
import json
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

HEADROOM = 3 * 2**30
PATIENCE_S = 60

NASTY: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 255, 2**31, 2**32, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**300),
    *(0.5, -0.0, 1e308, 5e-324, "", "x", "0", "-1", "nan", "../../etc/passwd", "/etc/passwd"),
    *("a\x00b", "a\nb", "\x1b[2J"),
    *("\ud800", "é" * 50, "9" * 5000, [], {}, [[]], [{}], {"": {}}, [0] * 300, {"kind": []}, {"kind": "x"}),
    *([None], [[0, 0]]),
]  # fmt: skip
RAW = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "9" * 6000,
    "[" * 5000,
    '{"a":' * 900,
    '"\\u0000"',
    "tru",
    "\x00",
    "1.0e5",
]


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Some bytes of the file changed, or parts of it cut, doubled or moved."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        size = draw(st.sampled_from([1, 2, 4, 8, 64, 1000]))
        match draw(st.sampled_from(["flip", "cut", "drop", "double", "set", "insert"])):
            case "flip" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at:]
            case "drop":
                del data[at : at + size]
            case "double":
                data[at:at] = data[at : at + size]
            case "set":
                data[at : at + size] = draw(st.sampled_from([b"\x00", b"\xff"])) * size
            case _:
                data[at:at] = draw(st.binary(max_size=16) | st.sampled_from([raw.encode() for raw in RAW]))
    return bytes(data)


@st.composite
def twisted(draw: st.DrawFn, content: Any) -> Any:
    """A copy of JSON data in which one to three values are others, left out or doubled."""
    data = {"": json.loads(json.dumps(content))}
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(data))
        holder, key = draw(st.sampled_from(places))
        kind = draw(st.sampled_from(["nasty", "nasty", "near", "drop", "copy"]))
        if kind == "drop" and holder is not data:
            del holder[key]
        elif kind == "near" and isinstance(holder[key], int):
            holder[key] += draw(st.sampled_from([-1, 1, 2**16, -(2**33)]))
        elif kind == "copy":
            other, name = draw(st.sampled_from(places))
            holder[key] = json.loads(json.dumps(other[name])) if name in other or isinstance(other, list) else None
        else:
            holder[key] = copy.deepcopy(draw(st.sampled_from(NASTY)))
    return data[""]


@st.composite
def twisted_text(draw: st.DrawFn, content: Any) -> str:
    """The same as text, now and then with a token that JSON has not."""
    text = json.dumps(draw(twisted(content)))
    if draw(st.booleans()) and ": " in text:
        head, _, tail = text.partition(": ")
        text = f"{head}: {draw(st.sampled_from(RAW))}{draw(st.sampled_from(['', ',', tail]))}"
    return text


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every value, as its holder and its key there."""
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            yield holder, key
            if isinstance(value, dict | list):
                waiting.append(value)


class NotDone(Exception):
    """A reader that does not come to an end."""


@contextmanager
def bounded() -> Iterator[None]:
    """Memory and time of a reader: neither a bomb nor a loop goes unseen."""

    def stop(*_: object) -> None:
        raise NotDone(f"no end after {PATIENCE_S} s")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_S)
    resource.setrlimit(resource.RLIMIT_AS, (used + HEADROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
