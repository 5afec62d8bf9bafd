"""Inputs of a decision as columns: "event.x", "params.x" and "context.x", each an int64 array of one entry a row."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from decision.ir import exact
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
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


def plausible_rows(program: Program, defaults: dict[str, int], rng: np.random.Generator, count: int) -> list[Row]:
    """Returns rows that a network could show, with the parameters at their defaults."""
    draw = drawer(program, rng)
    return rows_from(program, defaults, [draw() for _ in range(count)])


def drawer(program: Program, rng: np.random.Generator) -> Callable[[], list[float]]:
    """Returns the function that draws the numbers of one plausible row."""
    draws = [_draw(values, rng) for _, values in _signals(program)]
    return lambda: [draw() for draw in draws]


def rows_from(program: Program, defaults: dict[str, int], numbers: Sequence[Sequence[float]]) -> list[Row]:
    """Returns the plausible rows of drawn numbers."""
    columns: Columns = {f"params.{name}": np.full(len(numbers), value) for name, value in defaults.items()}
    for (key, values), drawn in zip(_signals(program), zip(*numbers, strict=True), strict=bool(numbers)):
        columns[key] = _values(values, drawn, columns)
    return rows_of(columns)


def _signals(program: Program) -> list[tuple[str, Plausible | None]]:
    """Returns the signals of a row in the order of their draws. A later value of a key replaces an earlier one."""
    interface = program.interface
    return [
        *((f"event.{signal.name}", signal.plausible) for signal in interface.event),
        *((f"context.{s.name}", _any_size(*STORAGE_RANGE[s.storage])) for s in program.state),
        *((f"context.{signal.name}", signal.plausible) for signal in interface.context),
    ]


def anything_rows(program: Program, rng: np.random.Generator, count: int) -> list[Row]:
    """Returns rows of any bit pattern, also with a corrupted context."""
    names = keys(program)
    lows, highs = np.array([field_range(program, key) for key in names], dtype=np.int64).T
    table = rng.integers(lows, highs + 1, size=(count, len(names)))
    return rows_of(dict(zip(names, table.T, strict=True)))


def rows_of(columns: Columns) -> list[Row]:
    """Returns the rows of columns, as integers of Python."""
    lists = [column.tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _any_size(low: int, high: int) -> Plausible:
    """Returns the plausible values of a field of the context."""
    return Uniform(low // 4, high // 4 - 1) if low < 0 else LogUniform(1, high + 1, less=1)


def _draw(values: Plausible | None, rng: np.random.Generator) -> Callable[[], float]:
    """Returns the function that draws the number of one value: a Uniform's integer, of others one below 1. It is
    negative where a LogUniform is 0 instead."""
    match values:
        case Uniform(low, high):
            return lambda: int(rng.integers(low, high + 1))
        case After(_, delay):
            return _draw(delay, rng)
        case LogUniform(zero=zero) if zero:
            return lambda: -1.0 if rng.random() < zero else rng.random()
        case _:
            return rng.random


def _values(values: Plausible | None, numbers: Sequence[float], columns: Columns) -> Integers:
    """Returns the values of drawn numbers. ``columns``: what the same rows hold already."""
    match values:
        case Uniform():
            return np.array(numbers, dtype=np.int64)
        case Geometric(probability):
            return (exact.log(1.0 - np.array(numbers)) / exact.log1p(-probability)).astype(np.int64)
        case After(signal, delay):
            return (columns[f"event.{signal}"] + _values(delay, numbers, columns)) & U32_MAX
        case LogUniform(low, high, less):
            places, first, last = np.array(numbers), exact.log(float(low)), exact.log(float(high))
            sizes = exact.exp(first + (last - first) * np.maximum(places, 0.0)).astype(np.int64) - less
            return np.where(places < 0.0, 0, sizes)
    raise AssertionError(f"nobody says what is plausible: {values}")
