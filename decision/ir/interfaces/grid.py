"""A model made elsewhere, asked by nobody in a network: its features on their grid in, its outputs out.

CatBoost, XGBoost, LightGBM, scikit-learn. A feature is an integer k that stands for ``k / 2^fraction_bits``; beyond the
range that its grid was declared for, a decision is defined but not the model's.
"""

import re
from collections.abc import Sequence
from typing import Any

from decision.artefact.errors import InputError
from decision.ir.forest import integer
from decision.ir.interface import STORAGE_RANGE, Interface, Knob, Signal, Uniform

NAME = "grid"
IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
PLAIN = re.compile(r"(?:(?!\*/|/\*)[ -~]){0,200}")


def grid(event: Sequence[Signal], knobs: Sequence[Knob]) -> Interface:
    """The interface of one model."""
    return Interface(NAME, agent="none", trigger="call", event=tuple(event), params=(), knobs=tuple(knobs))


def to_json(interface: Interface) -> dict[str, Any]:
    """Returns a grid as a file states it."""
    return {
        "name": interface.name,
        "event": [
            {
                "name": s.name,
                "unit": s.unit,
                "meaning": s.meaning,
                "storage": s.storage,
                "range": list(s.plausible_range),
            }
            for s in interface.event
        ],
        "knobs": [
            {"name": k.name, "unit": k.unit, "meaning": k.meaning, "storage": k.storage, "range": [k.low, k.high]}
            for k in interface.knobs
        ],
    }


def from_json(data: dict[str, Any]) -> Interface:
    """Inverse of ``to_json``."""
    try:
        event = [
            Signal(s["name"], s["unit"], s["meaning"], Uniform(*_two(s["range"])), s["storage"]) for s in data["event"]
        ]
        knobs = [Knob(k["name"], k["unit"], k["meaning"], *_two(k["range"]), k["storage"]) for k in data["knobs"]]
        if data["name"] != NAME:
            raise ValueError(f"its name is {data['name']!r}")
        _check(event, knobs)
        return grid(event, knobs)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the interface of the decision program is not readable: {error!r}; emit it again") from None


def _check(event: Sequence[Signal], knobs: Sequence[Knob]) -> None:
    """ValueError for what no C could hold: names, storage, ranges."""
    for group in (event, knobs):
        names = [each.name for each in group]
        if not names or len(set(names)) != len(names) or not all(IDENTIFIER.fullmatch(name) for name in names):
            raise ValueError(f"the names {names} are none in C, or one stands twice")
        for each in group:
            low, high = each.plausible_range if isinstance(each, Signal) else (each.low, each.high)
            least, most = STORAGE_RANGE[each.storage]
            if not least <= low <= high <= most:
                raise ValueError(f"{each.name} has the range {low}..{high}, which {each.storage} does not hold")
            if not all(PLAIN.fullmatch(text) for text in (each.unit, each.meaning)):
                raise ValueError(f"{each.name} has a unit or a meaning that cannot stand in a comment")


def _two(values: Any) -> tuple[int, int]:
    low, high = values
    return integer(low), integer(high)
