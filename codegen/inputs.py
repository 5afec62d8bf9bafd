"""Inputs of a decision as columns: "event.x", "params.x" and "flow.x", each an int64 array of one entry a row."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spec.program import STORAGE_RANGE, Program
from spec.signals import EVENT_NAMES, PARAM_NAMES, U32_MAX

Integers = NDArray[np.int64]
Row = dict[str, int]
Columns = dict[str, Integers]


def keys(program: Program) -> list[str]:
    return [
        *(f"event.{n}" for n in EVENT_NAMES),
        *(f"params.{n}" for n in PARAM_NAMES),
        *(f"flow.{s.name}" for s in program.state),
    ]


def split(program: Program, columns: Columns) -> tuple[Columns, Columns, Columns]:
    """Event, parameters and flow context, as ``spec.interpret`` takes them."""
    event = {name: columns[f"event.{name}"] for name in EVENT_NAMES}
    params = {name: columns[f"params.{name}"] for name in PARAM_NAMES}
    return event, params, {s.name: columns[f"flow.{s.name}"] for s in program.state}


def columns_of(program: Program, rows: Iterable[Row]) -> Columns:
    listed = list(rows)
    return {key: np.array([row[key] for row in listed], dtype=np.int64) for key in keys(program)}


def field_range(program: Program, key: str) -> tuple[int, int]:
    """What the field can hold."""
    group, name = key.split(".")
    if group != "flow":
        return 0, U32_MAX
    return STORAGE_RANGE[next(s.storage for s in program.state if s.name == name)]


def plausible(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> Row:
    """What a NIC in a datacenter could see."""

    def log_uniform(low: float, high: float) -> int:
        return int(np.exp(rng.uniform(np.log(low), np.log(high))))

    sent = int(rng.integers(0, 2**32))
    row = {
        "event.request_sent_ns": sent,
        "event.response_ns": (sent + log_uniform(4e3, 4e6)) & U32_MAX,
        "event.cnp_count": int(rng.geometric(0.5)) - 1,
        "event.nack_count": int(rng.geometric(0.8)) - 1,
        "event.sent_bytes": log_uniform(1e3, 1e7),
        "event.queue_bytes": log_uniform(1, 5e6) - 1,
    }
    row |= {f"params.{name}": value for name, value in defaults.items()}
    for s in program.state:
        low, high = STORAGE_RANGE[s.storage]
        row[f"flow.{s.name}"] = int(rng.integers(low // 4, high // 4)) if low < 0 else log_uniform(1, high + 1) - 1
    row["flow.rate_q30"] = 0 if rng.random() < 0.05 else log_uniform(2**10, 2**30 + 1)
    return row


def anything(program: Program, rng: np.random.Generator) -> Row:
    """Any bit pattern, also a corrupted context."""
    row = {}
    for key in keys(program):
        low, high = field_range(program, key)
        row[key] = int(rng.integers(low, high + 1))
    return row
