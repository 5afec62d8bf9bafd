"""Test vectors: inputs with the outputs that the NumPy meaning of the program gives.

Random ones (plausible traffic, and any bit pattern) and edges: every threshold with its two neighbours, reached through
the raw inputs (a flow context holds past features; a current feature is driven by searching the raw signal it grows
with), extremes of each field, RTT wrap, the new flow.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spec.interpret import evaluate, trace
from spec.program import STORAGE_RANGE, Op, Program
from spec.signals import EVENT_NAMES, PARAM_NAMES, U32_MAX

Integers = NDArray[np.int64]
Row = dict[str, int]


@dataclass(frozen=True)
class Vectors:
    """``columns`` maps "event.x", "params.x", "flow.x", "expect.return", "expect.x" to int64 arrays."""

    kinds: tuple[str, ...]
    columns: dict[str, Integers]

    def __len__(self) -> int:
        return len(self.kinds)

    def to_csv(self) -> str:
        names = list(self.columns)
        table = [self.columns[name].tolist() for name in names]
        lines = [",".join(["kind", *names])]
        lines += [
            ",".join([kind, *map(str, row)]) for kind, row in zip(self.kinds, zip(*table, strict=True), strict=True)
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Edges:
    """How many of the points (threshold - 1, threshold, threshold + 1) the vectors hit exactly."""

    wanted: int
    hit: int


def make(program: Program, defaults: dict[str, int], *, seed: int, random_rows: int = 1024) -> tuple[Vectors, Edges]:
    """Vectors for ``program`` and the operator's default parameters; the same seed gives the same ones."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, Row]] = []
    rows += [("random", _plausible(program, defaults, rng)) for _ in range(random_rows)]
    rows += [("random:any", _any(program, rng)) for _ in range(random_rows // 2)]
    rows += _extremes(program, defaults, rng)
    edge_rows, edges = _thresholds(program, defaults, rng)
    rows += edge_rows
    columns = {key: np.array([row[key] for _, row in rows], dtype=np.int64) for key in _keys(program)}
    result, state = evaluate(program, *_split(program, columns))
    columns["expect.return"] = result
    columns |= {f"expect.{name}": values for name, values in state.items()}
    return Vectors(tuple(kind for kind, _ in rows), columns), edges


def _keys(program: Program) -> list[str]:
    return [
        *(f"event.{n}" for n in EVENT_NAMES),
        *(f"params.{n}" for n in PARAM_NAMES),
        *(f"flow.{s.name}" for s in program.state),
    ]


def _split(program: Program, columns: dict[str, Integers]) -> tuple[dict[str, Integers], ...]:
    groups = ("event", EVENT_NAMES), ("params", PARAM_NAMES), ("flow", [s.name for s in program.state])
    return tuple({name: columns[f"{group}.{name}"] for name in names} for group, names in groups)


def _storage(program: Program, key: str) -> tuple[int, int]:
    group, name = key.split(".")
    if group != "flow":
        return 0, U32_MAX
    return STORAGE_RANGE[next(s.storage for s in program.state if s.name == name)]


def _plausible(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> Row:
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


def _any(program: Program, rng: np.random.Generator) -> Row:
    """Any bit pattern, also a corrupted context."""
    row = {}
    for key in _keys(program):
        low, high = _storage(program, key)
        row[key] = int(rng.integers(low, high + 1))
    return row


def _extremes(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Row]]:
    rows = []
    for key in _keys(program):
        low, high = _storage(program, key)
        for value in sorted({low, -1, 0, 1, 2**30, 2**31 - 1, 2**31, high - 1, high}):
            if low <= value <= high:
                rows.append((f"edge:{key}={value}", _plausible(program, defaults, rng) | {key: value}))
    for before in (0, 1, 5000, 8192):
        wrapped = {"event.request_sent_ns": U32_MAX - before, "event.response_ns": 8191 - before & U32_MAX}
        rows.append((f"edge:rtt wraps {before} ns after the request", _plausible(program, defaults, rng) | wrapped))
    for end in (0, 1):
        row = {key: _storage(program, key)[end] for key in _keys(program)}
        rows.append((f"edge:every field {('least', 'greatest')[end]}", row))
    zeroed = {f"flow.{s.name}": 0 for s in program.state}
    rows += [("edge:new flow", _plausible(program, defaults, rng) | zeroed) for _ in range(8)]
    return rows


def _thresholds(
    program: Program, defaults: dict[str, int], rng: np.random.Generator
) -> tuple[list[tuple[str, Row]], Edges]:
    trees = next((node for node in program.nodes if node.op is Op.TREES), None)
    rows: list[tuple[str, Row]] = []
    wanted = hit = 0
    if trees is None:
        return rows, Edges(0, 0)
    for feature, thresholds in program.ensemble.thresholds().items():
        node = trees.args[feature]
        name = program.ensemble.features[feature]
        points = sorted({t + step for t in thresholds for step in (-1, 0, 1)})
        low, high = program.nodes[node].low, program.nodes[node].high
        points = [p for p in points if low <= p <= high]
        wanted += len(points)
        found = _drive(program, defaults, node, points, rng)
        hit += len(found)
        rows += [(f"edge:{name}={point}", row) for point, row in found.items()]
    return rows, Edges(wanted, hit)


def _drive(
    program: Program, defaults: dict[str, int], node: int, points: list[int], rng: np.random.Generator
) -> dict[int, Row]:
    """A row for each point at which the value of ``node`` is exactly the point."""
    if program.nodes[node].op is Op.STATE:
        key = f"flow.{program.state[program.nodes[node].imm].name}"
        return {point: _plausible(program, defaults, rng) | {key: point} for point in points}
    found: dict[int, Row] = {}
    for base, key, low, high in _drives(program, defaults, rng):
        left = [point for point in points if point not in found]
        if not left:
            break
        columns = {k: np.full(len(left), v, dtype=np.int64) for k, v in base.items()}
        for point, value, exact in zip(left, *_search(program, node, columns, key, low, high, left), strict=True):
            if exact:
                row = base | {key: int(value)}
                if key == "event.response_ns":
                    row[key] = (row["event.request_sent_ns"] + int(value)) & U32_MAX
                found[point] = row
    return found


def _drives(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> list[tuple[Row, str, int, int]]:
    """Raw signals that features grow with, each with surroundings in which it moves them in small steps."""
    drives: list[tuple[Row, str, int, int]] = []
    base_rtt = 2**32 // max(1, defaults["base_rtt_recip_q32"])
    for factor in (33, 9, 3, 2, 60):
        row = _plausible(program, defaults, rng)
        row["event.response_ns"] = (row["event.request_sent_ns"] + factor * base_rtt) & U32_MAX
        row["event.queue_bytes"] = factor * base_rtt * 12
        drives.append((row, "flow.rate_q30", 1, 2**30))
    for rate in (2**30, 2**26, 2**20, 2**16):
        row = _plausible(program, defaults, rng) | {"flow.rate_q30": rate}
        drives.append((row, "event.response_ns", 0, 2**22))
        drives.append((row, "event.queue_bytes", 0, 2**30))
    for sent in (256 << 10, 1 << 20, 1 << 30):
        row = _plausible(program, defaults, rng) | {"event.sent_bytes": sent}
        drives += [(row, "event.cnp_count", 0, 2**22), (row, "event.nack_count", 0, 2**22)]
    return drives


def _search(
    program: Program, node: int, columns: dict[str, Integers], key: str, low: int, high: int, points: list[int]
) -> tuple[Integers, NDArray[np.bool_]]:
    """Least raw value at which the node reaches each point (it grows with the raw value), and whether it hits it."""
    target = np.array(points, dtype=np.int64)
    value_at = _value_at(program, node, columns, key)
    lows, highs = np.full_like(target, low), np.full_like(target, high)
    for _ in range(33):
        middle = (lows + highs) // 2
        reached = value_at(middle) >= target
        highs = np.where(reached, middle, highs)
        lows = np.where(reached, lows, np.minimum(middle + 1, highs))
    return highs, value_at(highs) == target


def _value_at(program: Program, node: int, columns: dict[str, Integers], key: str) -> Callable[[Integers], Integers]:
    def value_at(raw: Integers) -> Integers:
        if key == "event.response_ns":
            raw = (columns["event.request_sent_ns"] + raw) & U32_MAX
        return trace(program, *_split(program, columns | {key: raw}))[node]

    return value_at
