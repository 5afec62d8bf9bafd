"""Inputs of a decision as columns: "event.x", "params.x" and "context.x", each an int64 array of one entry a row."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import cast

import numpy as np

from decision.ir import exact
from decision.ir.arrays import Integers
from decision.ir.interface import STORAGE_RANGE, After, Geometric, LogUniform, Plausible, Uniform
from decision.ir.program import Program

Row = dict[str, int]
Columns = dict[str, Integers]


def keys(program: Program) -> list[str]:
    return [
        *(f"event.{name}" for name in program.interface.event_names),
        *(f"params.{name}" for name in program.interface.param_names),
        *(f"context.{s.name}" for s in program.state),
    ]


def split(program: Program, columns: Columns) -> tuple[Columns, Columns, Columns]:
    """Event, parameters and context, as ``decision.ir.interpret`` takes them."""
    event = {name: columns[f"event.{name}"] for name in program.interface.event_names}
    params = {name: columns[f"params.{name}"] for name in program.interface.param_names}
    return event, params, {s.name: columns[f"context.{s.name}"] for s in program.state}


def columns_of(program: Program, rows: Iterable[Row]) -> Columns:
    listed = list(rows)
    return {key: np.array([row[key] for row in listed], dtype=np.int64) for key in keys(program)}


def count(columns: Columns) -> int:
    """How many rows."""
    return next(iter(columns.values())).size


def field_range(program: Program, key: str) -> tuple[int, int]:
    """Returns the range of the field."""
    group, name = key.split(".")
    return STORAGE_RANGE[program.structures[group][name]]


def plausible(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> Row:
    """Returns a row that a network could show, with the parameters at their defaults."""
    row: Row = {}
    for signal in program.interface.event:
        assert signal.plausible is not None
        row[f"event.{signal.name}"] = _drawn(signal.plausible, row, rng)
    row |= {f"params.{name}": value for name, value in defaults.items()}
    for s in program.state:
        low, high = STORAGE_RANGE[s.storage]
        row[f"context.{s.name}"] = (
            int(rng.integers(low // 4, high // 4)) if low < 0 else _log_uniform(1, high + 1, rng) - 1
        )
    for signal in program.interface.context:
        assert signal.plausible is not None
        row[f"context.{signal.name}"] = _drawn(signal.plausible, row, rng)
    return row


def anything(program: Program, rng: np.random.Generator) -> Row:
    """Any bit pattern, also a corrupted context."""
    row = {}
    for key in keys(program):
        low, high = field_range(program, key)
        row[key] = int(rng.integers(low, high + 1))
    return row


def _drawn(values: Plausible, row: Row, rng: np.random.Generator) -> int:
    """``row``: what is drawn already of the same structure."""
    match values:
        case Uniform(low, high):
            return int(rng.integers(low, high + 1))
        case Geometric(probability):
            return int(exact.log(1.0 - rng.random()) / _log1p(-probability))
        case After(signal, delay):
            return (row[f"event.{signal}"] + _drawn(delay, row, rng)) & 0xFFFFFFFF
        case LogUniform(low, high, less, zero):
            if zero and rng.random() < zero:
                return 0
            return _log_uniform(low, high, rng) - less


def _log_uniform(low: float, high: float, rng: np.random.Generator) -> int:
    return int(exact.exp(rng.uniform(_log(float(low)), _log(float(high)))))


# Logarithms of the ends of signals' ranges: few numbers, each used for thousands of draws.
_log = lru_cache(maxsize=1024)(cast(Callable[[float], float], exact.log))
_log1p = lru_cache(maxsize=1024)(cast(Callable[[float], float], exact.log1p))
