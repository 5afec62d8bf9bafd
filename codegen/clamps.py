"""Inputs that stand right beside every clamp: one below its bound, on it, one above, and on the way to it.

A clamp that is moved is as wrong as one that is lost. It shows only near its bound, and only if nothing later hides it:
the RTT's bound, for instance, shows only with a base RTT so long that the inflation there is still small. Each bound is
therefore tried with base RTTs from 1025 ns to 4 ms, and rows are chosen in which one unit more would change the
outcome.
"""

from dataclasses import replace
from itertools import product

import numpy as np

from codegen.edges import exact, moved_by
from codegen.inputs import Columns, Row, columns_of, count, plausible_rows, split
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interface import PHASE_SHIFT
from decision.ir.interpret import trace
from decision.ir.program import Node, Op, Program

SURROUNDINGS = 40
ROWS_A_POINT = 3


def clamp_rows(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Row]]:
    """Labelled rows for every min and max of the program."""
    rows: list[tuple[str, Row]] = []
    for number, node in enumerate(program.nodes):
        if node.op not in (Op.MIN, Op.MAX):
            continue
        for bounded, bound in (node.args, node.args[::-1]):
            limit = program.nodes[bound]
            if limit.op is Op.CONST:
                rows += _at_constant(program, defaults, number, bounded, limit.imm, rng)
            elif limit.op is Op.PARAM:
                rows += _at_parameter(program, defaults, number, bounded, program.interface.param_names[limit.imm], rng)
    return rows


def _at_constant(
    program: Program, defaults: dict[str, int], clamp: int, bounded: int, limit: int, rng: np.random.Generator
) -> list[tuple[str, Row]]:
    node = program.nodes[bounded]
    points = _points(limit, node)
    if not points.size:
        return []
    inner = _until(program, bounded)
    rows: list[tuple[str, Row]] = []
    for key in moved_by(program, bounded):
        if key.startswith("params."):
            continue
        around = columns_of(program, _surroundings(program, defaults, rng))
        columns = exact(inner, bounded, around, key, points)
        rows += _visible(program, clamp, bounded, columns, points)
    return rows


def _at_parameter(
    program: Program, defaults: dict[str, int], clamp: int, bounded: int, name: str, rng: np.random.Generator
) -> list[tuple[str, Row]]:
    """The operator's bound is put beside the value that it bounds."""
    columns = columns_of(program, _surroundings(program, defaults, rng))
    values = trace(_until(program, bounded), *split(program, columns))[bounded]
    rows: list[tuple[str, Row]] = []
    for step in (-1, 0, 1):
        moved = columns | {f"params.{name}": np.clip(values + step, 1, U32_MAX)}
        kept = np.flatnonzero(values == trace(_until(program, bounded), *split(program, moved))[bounded])[:ROWS_A_POINT]
        label = f"edge:{_name(program.nodes[clamp])} bound {name} {step:+d}"
        rows += [(label, _row(moved, index)) for index in kept]
    return rows


def phase_rows(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Row]]:
    """Labelled rows for a program whose contexts keep a phase: in every phase, what is compared with an operator's
    parameter right below it, on it and above it."""
    if program.interface.new_phase is None:
        return []
    word, rows = f"context.{program.interface.context[0].name}", []
    below = (1 << PHASE_SHIFT) - 1
    for node in program.nodes:
        if node.op is not Op.GT:
            continue
        for compared, bound in (node.args, node.args[::-1]):
            limit = program.nodes[bound]  # a parameter, or one of some
            either = [limit] if limit.op is not Op.SELECT else [program.nodes[a] for a in limit.args[1:]]
            names = [program.interface.param_names[n.imm] for n in either if n.op is Op.PARAM]
            for name, phase in product(names, range(1 << 32 - PHASE_SHIFT)):
                columns = columns_of(program, _surroundings(program, defaults, rng))
                columns[word] = np.minimum(columns[word], below) | phase << PHASE_SHIFT
                values = trace(_until(program, compared), *split(program, columns))[compared]
                for step in (-1, 0, 1):
                    moved = columns | {f"params.{name}": np.clip(values + step, 0, U32_MAX)}
                    label = f"edge:phase {phase} {name} {step:+d}"
                    rows += [(label, _row(moved, index)) for index in range(ROWS_A_POINT)]
    return rows


def window_rows(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Row]]:
    """Returns labelled rows at the ends of time windows and one step beyond them.

    A window is tested by comparing the upper bits of a wrapping time with a constant. That time lies between the event
    and a field of the context. The rows set the field."""
    rows: list[tuple[str, Row]] = []
    for number, node in enumerate(program.nodes):
        if node.op is not Op.EQ or program.nodes[node.args[1]].op is not Op.CONST:
            continue
        upper = program.nodes[node.args[0]]
        field = _since_field(program, upper.args[0]) if upper.op is Op.SHR else None
        if field is None:
            continue
        first, last = (program.nodes[node.args[1]].imm + end << upper.imm for end in (0, 1))
        for point in sorted({0, first - 1, first, last - 1, last & U32_MAX, U32_MAX}):
            columns = columns_of(program, _surroundings(program, defaults, rng)[:ROWS_A_POINT])
            since = trace(_until(program, upper.args[0]), *split(program, columns))[upper.args[0]]
            columns[field] = columns[field] + since - point & U32_MAX
            label = f"edge:{_name(program.nodes[number])} {point}"
            rows += [(label, _row(columns, index)) for index in range(ROWS_A_POINT)]
    return rows


def _since_field(program: Program, number: int) -> str | None:
    """The key of the field that a node takes from a signal of the event, mod 2^32; None where it is no such node."""
    node = program.nodes[number]
    if node.op is not Op.WRAP_SUB:
        return None
    signal, field = (program.nodes[a] for a in node.args)
    taken = field.op is Op.STATE and program.state[field.imm].storage == "uint32"
    return program.key(field) if signal.op is Op.EVENT and taken else None


def _points(limit: int, node: Node) -> Integers:
    # A step or a few: a step of the inflation alone may vanish in what is computed of it.
    values = {limit - 1, limit, limit + 1, limit + 4, limit // 2, 3 * limit // 4}
    return np.array(sorted(p for p in values if node.low <= p <= node.high), dtype=np.int64)


def _visible(program: Program, clamp: int, bounded: int, columns: Columns, points: Integers) -> list[tuple[str, Row]]:
    """For each point the rows, a few, in which an error of the clamp shows most: by one unit up and by one down, else
    by half of its value; any where none does."""
    if not count(columns):
        return []
    values = trace(program, *split(program, columns))
    outputs = program.outputs
    shown = np.zeros(values[clamp].shape, dtype=np.int64)
    for wrong_value in (values[clamp] + 1, np.maximum(values[clamp] - 1, 0), values[clamp] // 2):
        wrong = trace(program, *split(program, columns), forced={clamp: wrong_value})
        shown += np.any([values[n] != wrong[n] for n in outputs], axis=0)
    rows = []
    for point in points:
        here = np.flatnonzero(values[bounded] == point)
        chosen = here[np.argsort(-shown[here], kind="stable")][:ROWS_A_POINT]
        label = f"edge:{_name(program.nodes[clamp])} clamps {int(point)}"
        rows += [(label, _row(columns, index)) for index in chosen]
    return rows


def _surroundings(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[Row]:
    """Plausible rows over all levels of the parameters; one in four at the context's own levels (at line rate a small
    inflation weighs most)."""
    interface, rows = program.interface, plausible_rows(program, defaults, rng, SURROUNDINGS)
    for index, row in enumerate(rows):
        row |= {f"params.{s.name}": s.levels[index % len(s.levels)] for s in interface.params if s.levels}
        if index % 4 == 0:
            row |= {f"context.{s.name}": s.levels[index // 4 % len(s.levels)] for s in interface.context if s.levels}
    return rows


def _until(program: Program, node: int) -> Program:
    return replace(program, nodes=program.nodes[: node + 1])


def _row(columns: Columns, index: int) -> Row:
    return {key: int(column[index]) for key, column in columns.items()}


def _name(node: Node) -> str:
    return node.name or node.op.name.lower()
