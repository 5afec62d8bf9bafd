"""A network from a TOML file: the fields of Network by their names without the unit, sizes and times with theirs.

lossless = true
buffer = "32 MiB"
class_weights = [1, 3]
probe_gap = "4 us"
device = "bluefield3:4"     # the NICs of decision/devices/bluefield3.toml, four queue pairs a context
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.artefact.quantity import parse_duration_ps, parse_rate_bps, parse_size_bytes
from decision.artefact.suggest import choices
from netsim import failures
from netsim.devices import on_device
from netsim.network import Network


def _gbps(text: object) -> int:
    rate = parse_rate_bps(text)
    if rate % 10**9:
        raise InputError(f"{text!r} is not a whole number of Gb/s")
    return rate // 10**9


READERS: dict[str, Callable[[object], Any]] = {"_ps": parse_duration_ps, "_bytes": parse_size_bytes, "_gbps": _gbps}
KEYS = {
    field.name.removesuffix(unit): (field.name, READERS.get(unit))
    for field in fields(Network)
    for unit in [next((u for u in READERS if field.name.endswith(u)), "")]
}
KEYS["failures"] = ("failures", failures.read)
"""The field that each key stands for, and what reads its unit (None: a plain number, a truth value, a list)."""
DEVICE = "device"
"""The key that names the device of the NICs."""


def load(path: Path) -> Network:
    """The network of the file; InputError names the file, the key and what is wrong with it."""
    try:
        return from_table(tomllib.loads(read_text(path)), str(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None


def from_table(table: Mapping[str, Any], where: str) -> Network:
    """The network of a table of such keys; InputError begins with ``where``."""
    values: dict[str, Any] = {}
    device = None
    for key, value in table.items():
        if key == DEVICE:
            if not isinstance(value, str):
                raise InputError(f'{where}: device is {value!r}; name one, device = "bluefield3"')
            device = value
            continue
        if key not in KEYS:
            raise InputError(f"{where}: unknown key {key}; there are {choices(key, sorted([*KEYS, DEVICE]))}")
        name, reader = KEYS[key]
        try:
            values[name] = value if reader is None else reader(value)
        except InputError as error:
            raise InputError(f"{where}: {key}: {error}") from None
    for name in ("class_weights", "demotion"):
        if isinstance(values.get(name), list):
            values[name] = tuple(tuple(each) if isinstance(each, list) else each for each in values[name])
    try:
        network = Network(**values)
        return network if device is None else on_device(network, device)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
