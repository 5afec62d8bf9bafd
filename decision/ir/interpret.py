"""The NumPy meaning of a decision program: every back end is held to this one, bit for bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decision.ir.arrays import Integers
from decision.ir.program import INT64_MAX, STORAGE_RANGE, Op, Program


def evaluate(
    program: Program,
    event: Mapping[str, ArrayLike],
    params: Mapping[str, ArrayLike],
    state: Mapping[str, ArrayLike],
) -> tuple[tuple[Integers, ...], dict[str, Integers]]:
    """Decide for arrays of N inputs (scalars broadcast).

    Returns the knobs in the interface's order and the new contexts, all int64 [N]. Raises KeyError for a missing field
    and ValueError for a value that the field cannot hold.
    """
    values = trace(program, event, params, state)
    return tuple(values[n] for n in program.results), {s.name: values[s.node] for s in program.state}


def trace(
    program: Program,
    event: Mapping[str, ArrayLike],
    params: Mapping[str, ArrayLike],
    state: Mapping[str, ArrayLike],
    *,
    forced: Mapping[int, Integers] | None = None,
) -> list[Integers]:
    """The value of every node, in order: what a disagreeing back end is compared with to find where it went wrong.

    ``forced`` puts other values in place of a node's own: what would the decision be if the trees said this?
    """
    sources = [
        (Op.EVENT, [_column(event, s.name, s.storage) for s in program.interface.event]),
        (Op.PARAM, [_column(params, s.name, s.storage) for s in program.interface.params]),
        (Op.STATE, [_column(state, s.name, s.storage) for s in program.state]),
    ]
    columns = np.broadcast_arrays(*[column for _, group in sources for column in group])
    inputs: dict[Op, list[Integers]] = {}
    for op, group in sources:
        inputs[op], columns = list(columns[: len(group)]), columns[len(group) :]
    shape = inputs[Op.EVENT][0].shape

    values: list[Integers] = []
    decided: dict[tuple[Op, tuple[int, ...]], Integers] = {}
    """All outputs of the forest, or of the network, by their operands."""
    for number, node in enumerate(program.nodes):
        if forced and number in forced:
            values.append(np.broadcast_to(forced[number], shape))
            continue
        a = [values[i] for i in node.args]
        match node.op:
            case Op.CONST:
                v = np.full(shape, node.imm, dtype=np.int64)
            case Op.EVENT | Op.PARAM | Op.STATE:
                v = inputs[node.op][node.imm]
            case Op.ADD:
                v = a[0] + a[1]
            case Op.SUB:
                v = a[0] - a[1]
            case Op.MUL:
                v = a[0] * a[1]
            case Op.SHL:
                v = a[0] << node.imm
            case Op.SHR:
                v = a[0] >> node.imm
            case Op.MASK:
                v = a[0] & ((1 << node.imm) - 1)
            case Op.WRAP_SUB:
                v = (a[0] - a[1]) & 0xFFFFFFFF
            case Op.MUL_SHR:
                v = ((a[0].astype(np.uint64) * a[1].astype(np.uint64)) >> np.uint64(node.imm)).astype(np.int64)
            case Op.MIN:
                v = np.minimum(a[0], a[1])
            case Op.MAX:
                v = np.maximum(a[0], a[1])
            case Op.GT:
                v = (a[0] > a[1]).astype(np.int64)
            case Op.EQ:
                v = (a[0] == a[1]).astype(np.int64)
            case Op.SELECT:
                v = np.where(a[0] != 0, a[1], a[2])
            case Op.TABLE:
                table = np.asarray(program.tables[node.imm], dtype=np.int64)
                v = table[np.minimum(a[0], len(table) - 1) if forced else a[0]]  # what is forced may lie beyond
            case Op.TREES | Op.NETWORK:
                key = node.op, node.args
                if key not in decided:
                    rows = np.empty((int(np.prod(shape)), len(a)), dtype=np.int64)
                    for column, x in enumerate(a):
                        rows[:, column] = x.reshape(-1)
                    body = program.forest if node.op is Op.TREES else program.network
                    assert body is not None
                    decided[key] = body.evaluate(rows)
                v = decided[key][:, node.imm].reshape(shape)
        values.append(v)
    return values


def _column(source: Mapping[str, Any], name: str, storage: str) -> Integers:
    low, high = STORAGE_RANGE[storage]
    column = np.asarray(source[name])
    if column.dtype.kind not in "iu" or (column.size and (int(column.min()) < low or int(column.max()) > high)):
        raise ValueError(f"{name} must be integers in {low}..{high}")
    if column.dtype == np.uint64 and column.size and int(column.max()) > INT64_MAX:
        raise ValueError(f"{name} does not fit 64 bits")
    return np.atleast_1d(column.astype(np.int64))
