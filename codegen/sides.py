"""Test vectors for a program without trees: inputs that send every choice of it both ways.

A choice is a comparison, a select, a minimum or a maximum. Candidates are plausible rows, in which a timestamp of the
context lies some time before the one of the event that it is subtracted from; the first row that shows a new side of
some choice is chosen.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.inputs import Columns, Row, anything_rows, columns_of, keys, plausible_rows, rows_of, split
from codegen.networks.vectors import new_cases
from codegen.vectors import Vectors
from codegen.vectors import make as make_common
from decision.ir import exact
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interpret import trace
from decision.ir.program import Op, Program

CANDIDATES = 16384
NEW_AGENTS = 16
"""One candidate of so many is a new agent."""


@dataclass(frozen=True)
class SideCount:
    """How many sides the choices of a program have, and how many of them vectors show."""

    wanted: int
    hit: int


def make(program: Program, defaults: dict[str, int], *, seed: int) -> tuple[Vectors, SideCount]:
    """Vectors of a program, and the sides they show; the same seed gives the same ones."""
    rng = np.random.default_rng([seed, 2])
    rows = candidates(program, defaults, rng)
    chosen = new_cases(sides(program, columns_of(program, rows)))
    vectors, _ = make_common(program, defaults, seed=seed, more=[("choice", rows[index]) for index in chosen])
    shown = sides(program, {key: vectors.columns[key] for key in keys(program)})
    return vectors, SideCount(2 * shown.shape[1], sum(len(np.unique(column)) for column in shown.T))


def candidates(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[Row]:
    """Rows with the parameters at their defaults, and a quarter as many of any bit pattern."""
    columns = columns_of(program, plausible_rows(program, defaults, rng, CANDIDATES))
    for stored, event in _timers(program):
        ago = np.asarray(exact.exp(rng.random(CANDIDATES) * 32 * float(exact.log(2.0)))).astype(np.int64)
        columns[stored] = (columns[event] - ago) & U32_MAX
    for name in [key for key in columns if key.startswith("context.")]:
        columns[name][::NEW_AGENTS] = 0
        columns[name][1::2][rng.random(CANDIDATES // 2) < 0.5] = 0
    return rows_of(columns) + anything_rows(program, rng, CANDIDATES // 4)


def sides(program: Program, columns: Columns) -> NDArray[np.int64]:
    """Returns 0 or 1 for each row and choice [N, choices]."""
    values = trace(program, *split(program, columns))
    count = len(next(iter(columns.values())))
    shown: list[Integers] = []
    for number, node in enumerate(program.nodes):
        if node.low == node.high or all(program.nodes[a].op is Op.CONST for a in node.args):
            continue
        match node.op:
            case Op.GT | Op.EQ:
                shown.append(values[number])
            case Op.MIN | Op.MAX:
                shown.append((values[node.args[0]] > values[node.args[1]]).astype(np.int64))
    return np.stack([np.broadcast_to(column, (count,)) for column in shown], axis=1)


def _timers(program: Program) -> list[tuple[str, str]]:
    """Keys of a timestamp of the context and of the one of the event that it is subtracted from."""
    found = []
    for node in program.nodes:
        if node.op is Op.WRAP_SUB:
            later, earlier = (program.key(program.nodes[a]) for a in node.args)
            if later and earlier and later.startswith("event.") and earlier.startswith("context."):
                found.append((earlier, later))
    return found
