"""Plausible rows are what one draw after the other gives: a number a value, in the order of the signals."""

from typing import Any

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from triggered_students import triggered_student

from codegen.inputs import anything_rows, field_range, keys, plausible_rows
from decision.ir import exact
from decision.ir.forest import oblivious
from decision.ir.interface import STORAGE_RANGE, After, Geometric, LogUniform, Uniform
from decision.ir.program import Program

TREES = (oblivious(((0, 4),), (1, 2)),)
FLOWS = make_student([FEATURES["rate"], FEATURES["cnp_ratio"]], ACTIONS[0], TREES, window=2, acks=True)
STUDENTS = {"flows": FLOWS, "queues": triggered_student(1)}
ROWS = 40


def log_uniform(low: float, high: float, rng: np.random.Generator) -> int:
    return int(exact.exp(float(rng.uniform(exact.log(float(low)), exact.log(float(high))))))


def one_value(values: Any, row: dict[str, int], rng: np.random.Generator) -> int:
    match values:
        case Uniform(low, high):
            return int(rng.integers(low, high + 1))
        case Geometric(probability):
            return int(exact.log(1.0 - rng.random()) / exact.log1p(-probability))
        case After(signal, delay):
            return (row[f"event.{signal}"] + one_value(delay, row, rng)) % (1 << 32)
        case LogUniform(low, high, less, zero):
            return 0 if zero and rng.random() < zero else log_uniform(low, high, rng) - less
    raise AssertionError(values)


def one_row(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> dict[str, int]:
    row: dict[str, int] = {}
    for signal in program.interface.event:
        row[f"event.{signal.name}"] = one_value(signal.plausible, row, rng)
    for s in program.state:
        low, high = STORAGE_RANGE[s.storage]
        small = low < 0
        row[f"context.{s.name}"] = (
            int(rng.integers(low // 4, high // 4)) if small else log_uniform(1, high + 1, rng) - 1
        )
    for signal in program.interface.context:
        row[f"context.{signal.name}"] = one_value(signal.plausible, row, rng)
    return row | {f"params.{name}": value for name, value in defaults.items()}


@pytest.mark.parametrize("name", STUDENTS)
def test_rows_drawn_together_are_those_drawn_one_by_one(name: str) -> None:
    program, defaults = STUDENTS[name].program(), STUDENTS[name].params()
    together = plausible_rows(program, defaults, np.random.default_rng(5), ROWS)
    rng = np.random.default_rng(5)
    assert together == [one_row(program, defaults, rng) for _ in range(ROWS)]
    assert plausible_rows(program, defaults, rng, 0) == []


def test_every_kind_of_value_is_among_them() -> None:
    interfaces = [student.program().interface for student in STUDENTS.values()]
    kinds = {type(signal.plausible) for interface in interfaces for signal in (*interface.event, *interface.context)}
    assert kinds == {Uniform, Geometric, After, LogUniform}
    zeros = [getattr(s.plausible, "zero", 0) for interface in interfaces for s in interface.event]
    assert any(zeros)


@pytest.mark.parametrize("name", STUDENTS)
def test_any_bit_pattern_comes_as_one_by_one(name: str) -> None:
    program = STUDENTS[name].program()
    together = anything_rows(program, np.random.default_rng(5), ROWS)
    rng, ends = np.random.default_rng(5), [field_range(program, key) for key in keys(program)]
    assert [list(row.values()) for row in together] == [
        [int(rng.integers(low, high + 1)) for low, high in ends] for _ in range(ROWS)
    ]
