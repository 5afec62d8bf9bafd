"""A network from a TOML file: the fields of Network by their names without the unit, sizes and times with theirs.

lossless = true
buffer = "32 MiB"
class_weights = [1, 3]
probe_gap = "4 us"
"""

import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from decision.documents import read_text
from decision.errors import InputError
from decision.quantity import parse_duration_ps, parse_rate_bps, parse_size_bytes
from netsim.network import Network


def _gbps(text: object) -> int:
    rate = parse_rate_bps(text)
    if rate % 10**9:
        raise InputError(f"{text!r} is not a whole number of Gb/s")
    return rate // 10**9


READERS: dict[str, Callable[[object], int]] = {"_ps": parse_duration_ps, "_bytes": parse_size_bytes, "_gbps": _gbps}
KEYS = {
    field.name.removesuffix(unit): (field.name, READERS.get(unit))
    for field in fields(Network)
    for unit in [next((u for u in READERS if field.name.endswith(u)), "")]
}
"""The field that each key stands for, and what reads its unit (None: a plain number, a truth value, a list)."""


def load(path: Path) -> Network:
    """The network of the file; InputError names the file, the key and what is wrong with it."""
    try:
        data = tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    given: dict[str, Any] = {}
    for key, value in data.items():
        if key not in KEYS:
            raise InputError(f"{path}: unknown key {key}; there are {', '.join(sorted(KEYS))}")
        name, reader = KEYS[key]
        try:
            given[name] = value if reader is None else reader(value)
        except InputError as error:
            raise InputError(f"{path}: {key}: {error}") from None
    if isinstance(given.get("class_weights"), list):
        given["class_weights"] = tuple(given["class_weights"])
    try:
        return Network(**given)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
