"""Vectors of a network's firmware: beside those of every decision, inputs on both sides of whatever a network can do.

The vectors have each layer's unit and each gate at 0, between and saturated, and each entry of the tables. Sums are as
large as weights and states make them, and cells and hidden values are at their extremes. Walks are decisions one after
the other from a new flow. The first of many candidates that does something new is chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.inputs import (
    Columns,
    Row,
    anything_rows,
    columns_of,
    drawer,
    keys,
    plausible_rows,
    rows_from,
    split,
)
from codegen.networks.printer import inputs_of
from codegen.vectors import Vectors
from codegen.vectors import make as make_common
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interpret import evaluate, trace
from decision.ir.network import (
    ACTION_STEP_BITS,
    GATE_BITS,
    GATE_MAX,
    TANH_Q15,
    TANH_STEP_BITS,
    UNIT_BITS,
    Int8Network,
    Lstm,
    tanh_of,
)
from decision.ir.program import Op, Program

CANDIDATES = 4096
WALKS, STEPS = 8, 24


@dataclass(frozen=True)
class Entries:
    """How many entries of the two tables there are, or rows to choose among, and how many the vectors look up, or
    choose."""

    wanted: int
    hit: int


def make(program: Program, defaults: dict[str, int], *, seed: int) -> tuple[Vectors, Entries]:
    """Vectors for a program with a network; the same seed gives the same ones."""
    network = program.network
    assert isinstance(network, Int8Network)
    rng = np.random.default_rng([seed, 1])
    rows = [*_walks(program, defaults, rng), *_largest_sums(program, network, defaults, rng)]
    candidates = plausible_rows(program, defaults, rng, CANDIDATES // 2)
    candidates += anything_rows(program, rng, CANDIDATES // 4)
    candidates += _plausible_or_near_rest(program, defaults, [True] * (CANDIDATES // 4), rng)
    candidates += [_full_cells(program, row, rng) for row in candidates[:: 1 if network.lstm else 99]]
    rows += [("network:case", candidates[index]) for index in new_cases(_cases_of(program, candidates))]
    vectors, _ = make_common(program, defaults, seed=seed, more=rows)
    return vectors, _entries(network, _operands(program, {key: vectors.columns[key] for key in keys(program)}))


def new_cases(cases: NDArray[np.int64]) -> list[int]:
    """Rows that show a value of some column [N, columns] first, ascending."""
    first: set[int] = set()
    for column in cases.T:
        first |= set(np.unique(column, return_index=True)[1].tolist())
    return sorted(first)


def cases(network: Int8Network, operands: Integers) -> Integers:
    """Returns what each row of operands makes the network do, one column per place: units at 0, between, saturated;
    which entry of which table."""
    columns: list[Integers] = []
    x = operands[:, : network.inputs]
    for layer in network.layers:
        x = layer.matrix(x)
        columns.append((x > 0).astype(np.int64) + (x > layer.high))
        x = np.clip(x, 0, layer.high)
    if network.lstm is not None:
        more, x = _lstm_cases(network.lstm, x, operands[:, network.inputs :])
        columns += more
    z = network.output(x)
    if network.groups:
        return np.concatenate([*columns, network.chosen(z)], axis=1)
    table = np.array(network.action, dtype=np.int64)
    return np.concatenate([*columns, _side(z), _action_place(z), _last_bit(table, z + 2**15, ACTION_STEP_BITS)], axis=1)


def _lstm_cases(lstm: Lstm, x: Integers, state: Integers) -> tuple[list[Integers], Integers]:
    hidden, cell = state[:, : lstm.units], state[:, lstm.units :]
    z = lstm.input(x) + lstm.recurrent(hidden)
    new_hidden, new_cell = lstm(x, hidden, cell)
    spread = new_cell << (GATE_BITS - lstm.cell_bits)
    # Which entry a gate looks up: for all gates together, else there would be as many rows as entries times gates.
    entry = np.sort(_tanh_place(z), axis=1)[:, [0, lstm.units, -1]]
    sides = [_side(z), _side(spread), (np.abs(new_cell) == GATE_MAX).astype(np.int64)]
    ends = (np.abs(new_hidden) == lstm.hidden_max).astype(np.int64) * np.sign(new_hidden)
    # For a hidden value at its end, whether it had to be clamped: both factors are then nearly 1.
    gate = ((1 << UNIT_BITS) + tanh_of(np.clip(z[:, 3 * lstm.units :], -GATE_MAX, GATE_MAX))) >> 1
    size = np.abs(gate * tanh_of(np.clip(spread, -GATE_MAX, GATE_MAX)))
    clamped = ends * (size > (2 * lstm.hidden_max + 1) << (2 * UNIT_BITS - lstm.hidden_bits - 1))
    table = np.array(TANH_Q15, dtype=np.int64)
    bits = [_last_bit(table, np.abs(values), TANH_STEP_BITS) for values in (z[:, : lstm.units], spread)]
    return [*sides, ends, clamped, entry, _tanh_place(spread)[:, :1], *bits], new_hidden


def _side(z: Integers) -> Integers:
    return np.asarray(np.sign(z) * (1 + (np.abs(z) > GATE_MAX)), dtype=np.int64)


def _last_bit(table: Integers, size: Integers, bits: int) -> Integers:
    """Returns 2 where an interpolated value is just rounded up, 1 where just not, else 0."""
    held = np.clip(size, 0, (1 << bits) * (len(table) - 1) - 1)
    place, rest = held >> bits, held & ((1 << bits) - 1)
    part = ((table[place + 1] - table[place]) * rest) & ((1 << bits) - 1)
    half = 1 << (bits - 1)
    return np.asarray(2 * (part == half) + (part == half - 1), dtype=np.int64)


def _tanh_place(z: Integers) -> Integers:
    return np.asarray(np.minimum(np.abs(z), GATE_MAX) >> TANH_STEP_BITS, dtype=np.int64)


def _action_place(z: Integers) -> Integers:
    return np.asarray((np.clip(z, -GATE_MAX, GATE_MAX) + 2**15) >> ACTION_STEP_BITS, dtype=np.int64)


def _operands(program: Program, columns: Columns) -> Integers:
    values = trace(program, *split(program, columns))
    return np.stack([values[a] for a in inputs_of(program)], axis=1)


def _cases_of(program: Program, rows: list[Row]) -> Integers:
    assert isinstance(program.network, Int8Network)
    return cases(program.network, _operands(program, columns_of(program, rows)))


def _entries(network: Int8Network, operands: Integers) -> Entries:
    """Entries that some row looks up, of both tables."""
    x = operands[:, : network.inputs]
    for layer in network.layers:
        x = layer(x)
    if network.groups:
        rows = network.chosen(network.output(x))
        return Entries(sum(network.groups), sum(np.unique(column).size for column in rows.T))
    hit, entries = 0, len(network.action) - 1
    if network.lstm is not None:
        state = operands[:, network.inputs :]
        hidden, cell = state[:, : network.units], state[:, network.units :]
        z = network.lstm.input(x) + network.lstm.recurrent(hidden)
        x, new = network.lstm(x, hidden, cell)
        places = np.concatenate([_tanh_place(z), _tanh_place(new << (GATE_BITS - network.lstm.cell_bits))], axis=1)
        hit, entries = hit + np.unique(places).size, entries + 256
    return Entries(entries, hit + np.unique(_action_place(network.output(x))).size)


def _walks(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Row]]:
    """Decisions one after the other from a new flow: states as they come about."""
    decisions = []
    state = {s.name: np.zeros(WALKS, dtype=np.int64) for s in program.state}
    for step in range(STEPS):
        rows = _plausible_or_near_rest(program, defaults, [walk % 2 == 1 for walk in range(WALKS)], rng)
        for walk, row in enumerate(rows):
            row |= {f"context.{name}": int(values[walk]) for name, values in state.items()}
            decisions.append((f"network:walk {walk} decision {step}", row))
        _, state = evaluate(program, *split(program, columns_of(program, rows)))
    return decisions


def _plausible_or_near_rest(
    program: Program, defaults: dict[str, int], near_rest: Sequence[bool], rng: np.random.Generator
) -> list[Row]:
    """Plausible rows; where ``near_rest`` says so, decisions near the fixed point: little congestion, small actions,
    small states."""
    draw, numbers, changes = drawer(program, rng), [], []
    for near in near_rest:
        numbers.append(draw())
        changes.append(_rest(program, defaults, rng) if near else {})
    rows = rows_from(program, defaults, numbers)
    for row, change in zip(rows, changes, strict=True):
        if change:
            change["event.response_ns"] = (row["event.request_sent_ns"] + change["event.response_ns"]) & U32_MAX
            row |= change
    return rows


def _rest(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> Row:
    """Returns what a decision near the fixed point has; its response's time is that after the request. It is empty
    where the RTT without a queue is no parameter."""
    if "base_rtt_recip_q42" not in defaults:
        return {}
    base = 2**42 // max(1, defaults["base_rtt_recip_q42"])
    row = {"event.response_ns": int(base * rng.uniform(1.0, 4.0)), "context.rate_q30": int(2**30 / rng.uniform(1, 200))}
    for s in program.state:
        if s.name != "rate_q30":
            reach = 60 if s.storage == "int8" else int(2 ** rng.uniform(2, 14))
            row[f"context.{s.name}"] = int(rng.integers(-reach, reach + 1)) if s.storage != "uint16" else 0
    return row


def _full_cells(program: Program, row: Row, rng: np.random.Generator) -> Row:
    """The same with every cell at one of its ends, as after a long time of one kind of congestion."""
    cells = [f"context.{s.name}" for s in program.state if s.name.startswith("cell_")]
    return row | {key: int(rng.choice([-GATE_MAX, GATE_MAX])) for key in cells}


def _largest_sums(
    program: Program, network: Int8Network, defaults: dict[str, int], rng: np.random.Generator
) -> list[tuple[str, Row]]:
    """Every operand that stands in the context at the end where a row's weights make the sum largest, and smallest."""
    args = inputs_of(program)
    rows: list[tuple[str, Row]] = []
    weights: list[tuple[str, tuple[int, ...], int]] = []
    if network.layers:
        weights += [(f"fc0[{k}]", w, 0) for k, w in enumerate(network.layers[0].matrix.weights)]
    if network.lstm is not None:
        recurrent = network.lstm.recurrent.weights
        weights += [(f"recurrent[{k}]", w, network.inputs) for k, w in enumerate(recurrent)]
    plain = iter(plausible_rows(program, defaults, rng, 2 * len(weights)))
    for name, row_weights, offset in weights:
        for sign in (1, -1):
            row = next(plain)
            for k, weight in enumerate(row_weights):
                node = program.nodes[args[offset + k]]
                if node.op is Op.STATE:
                    field = program.state[node.imm].name
                    low, high = network.operand_range(offset + k)
                    row[f"context.{field}"] = high if weight * sign > 0 else low
            rows.append((f"network:{name} {'largest' if sign > 0 else 'smallest'}", row))
    for end in (-GATE_MAX - 1, GATE_MAX):
        cells = {f"context.{s.name}": end for s in program.state if s.name.startswith("cell_")}
        if cells:
            rows += [(f"network:cells {end}", row | cells) for row in plausible_rows(program, defaults, rng, 8)]
    return rows
